"""What kernels of 2026 change of a step: experts whose gate and quantization are in their products, attention in fp8.

Nothing here is fitted. What it gives is held against runs that no fit has seen (tests/golden/test_newer_steps.py).
"""

from __future__ import annotations

from trainplan.formula import formula

FUSED = (
    "TransformerEngine d0067d0, pytorch/ops/fused/grouped_mlp.py: one kernel multiplies, gates, weighs and quantizes"
)


@formula("bytes", source=FUSED)
def fused_expert_elementwise_bytes(
    tokens: float,
    share: float,
    hidden: float,
    split: float,
    norms: float,
    shared: float,
    attention: float,
    tensor: float,
    chosen: float,
) -> float:
    """As of a layer with grouped experts, without passes for the gate of routed ones; rows are laid and gathered."""
    stream = (6.0 + 2.0 * norms) * hidden / split
    inner = 3.0 * shared + 3.0 * attention + 8.0 * chosen * hidden
    return share * 2.0 * tokens * (stream + inner / tensor)


@formula(
    "FLOP/s",
    source="FlashAttention-3, arXiv 2407.08608: 740 TFLOP/s in 16 bits and close to 1,200 in fp8, forward; backward as forward",
)
def fp8_attention_rate(rate: float, gain: float) -> float:
    """Rate of a fused attention core whose products are in fp8."""
    return rate * gain
