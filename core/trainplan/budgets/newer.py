"""Kernels of 2026 that a plan may name: experts fused with their gate, a step launched as one graph, attention in fp8.

It is imported where a plan names one of them, not before.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.situation import Situation
from trainplan.formulas import newer as f
from trainplan.quantity.figure import Figure, given

LAUNCHED: Final = given(
    "an iteration launched as one graph",
    0.0,
    "s",
    "Megatron-LM d98e8a6, docs/user-guide/features/cuda_graph.md: all of an iteration but the optimizer is one graph",
    kind="file",
)


def newer_figures(s: Situation, attention: Figure, speedup: Figure, gain: Figure) -> dict[str, Figure]:
    """What the plan's newer kernels change of its conditions, by their names.

    `attention` is the core's rate, `speedup` what dense products gain from fp8, `gain` what a core gains from it. Fused experts
    gain what dense products do: their quantization is no pass of its own. A full-iteration graph has no launches to wait for, in
    layers with experts neither, whose rows have a fixed room then.
    """
    training, found = s.plan.training, dict[str, Figure]()
    if training.attention_precision == "fp8" and training.attention == "flash":
        found["attention"] = f.fp8_attention_rate(attention, gain)
    if training.expert_kernels == "fused":
        found["expert_speedup"] = speedup
    if training.cuda_graphs == "full-iteration":
        found |= {"host_floor": LAUNCHED, "expert_floor": LAUNCHED}
    return found
