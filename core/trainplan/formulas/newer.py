"""What kernels of 2026 change of a step beside what they leave out: attention in fp8.

It is not fitted. What it gives is held against runs that no fit has seen (tests/golden/test_newer_steps.py).
"""

from __future__ import annotations

from trainplan.quantity.formula import formula


@formula(
    "FLOP/s",
    source="FlashAttention-3, arXiv 2407.08608: 740 TFLOP/s in 16 bits and close to 1,200 in fp8, forward; backward as forward",
)
def fp8_attention_rate(rate: float, gain: float) -> float:
    """Rate of a fused attention core whose products are in fp8."""
    return rate * gain
