"""Findings C23, M19 and P15: kernels of 2026 that a part or framework has not, memory of graphs, and what others gained by them."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.kernels import family_of
from trainplan.estimation import Estimate
from trainplan.finding import Finding

BLACKWELL: Final = ("blackwell", "blackwell-ultra")
NEWER: Final = (
    ("expert_kernels", "grouped", "fused experts", BLACKWELL, "Blackwell"),
    ("attention_precision", "16-bit", "attention in fp8", (*BLACKWELL, "hopper"), "Hopper and Blackwell"),
    ("cuda_graphs", "none", "a full-iteration graph", (), ""),
)
"""Fields of training, what they are without, how they are called, and the families that TransformerEngine has them for."""


def unsupported_kernels(estimate: Estimate) -> list[Finding]:
    """C23: kernels that are Megatron's with TransformerEngine alone, of newer parts, in fp8, or that need one another.

    TransformerEngine d0067d0, ops/fused/grouped_mlp.py: sm100, MXFP8 or NVFP4; Megatron-LM d98e8a6,
    docs/user-guide/features/cuda_graph.md and paged_stash.md: rows of experts have fixed room in a graph with fused experts alone;
    torchtitan 1ec9e87, docs/dsv3_671b_dist_moe_256gpu_report.md, has one graph of a step too.
    """
    training, family = estimate.plan.training, family_of(estimate.plan.cluster.accelerator)
    found, experts = list[Finding](), estimate.model.shape.expert_layers is not None
    for field, without, name, families, parts in NEWER:
        if getattr(training, field) == without or (field == "expert_kernels" and not experts):
            continue
        path, part = f"training.{field}", estimate.plan.cluster.accelerator
        grouped = experts and training.expert_kernels != "fused"
        if training.framework not in (("megatron", "torchtitan") if field == "cuda_graphs" else ("megatron",)):
            told, paths = f"{name} with {training.framework}: counted as Megatron-LM has it", ("training.framework",)
        elif families and part is not None and family not in families:
            told, paths = f"{name}: TransformerEngine has it for {parts} alone", ("cluster.accelerator",)
        elif field == "expert_kernels" and training.precision != "fp8-mixed":
            told, paths = f"{name}: TransformerEngine has it in fp8 alone", ("training.precision",)
        elif field == "cuda_graphs" and training.framework == "megatron" and grouped:
            told, paths = f"{name} of a model with experts needs fused ones", ("training.expert_kernels",)
        else:
            continue
        found.append(Finding("C23", "warning", "compute", told, f'{field} = "{without}"', (path, *paths), 60))
    return found


def memory_of_graphs(estimate: Estimate) -> list[Finding]:
    """M19: a graph keeps buffers of its own, which no formula here has.

    Megatron-Bridge 067f987, docs/performance-guide.md: a few gigabytes, and more than 10 with stages.
    """
    plan, s = estimate.plan, estimate.situation
    if plan.training.cuda_graphs == "none" or s.written("memory.runtime_overhead"):
        return []
    most = "more than 10 GB with pipeline stages" if plan.parallelism.pipeline > 1 else "a few GB"
    message = f"buffers of a full-iteration graph are not counted: {most}, as Megatron-Bridge tells"
    fix = "runtime_overhead as a run has it"
    paths = ("memory.runtime_overhead", "training.cuda_graphs")
    return [Finding("M19", "warning", "memory", message, fix, paths, 30)]


def newer_experts(estimate: Estimate) -> list[Finding]:
    """P15: experts in fp8 on Blackwell with grouped kernels, whose numbers are of software until April 2026.

    Megatron-Bridge 067f987, docs/performance-summary-archive.md, 26.04.01 against 26.06, same layouts, mxfp8: DeepSeek-V3 on
    GB300 4,992 to 6,338 tokens/s, Qwen3-30B 31,744 to 45,275, Qwen3-235B 6,944 to 9,015; recipes of pull requests 3983 and 4211.
    """
    training = estimate.plan.training
    if (
        estimate.model.shape.expert_layers is None
        or training.framework != "megatron"
        or training.precision != "fp8-mixed"
    ):
        return []
    if family_of(estimate.plan.cluster.accelerator) not in BLACKWELL or training.expert_kernels == "fused":
        return []
    message = (
        "step predicted as of software until April 2026; with fused experts, fp8 attention, hidden dispatch and a "
        "full-iteration graph the same layouts ran 1.27 to 1.43 times as fast"
    )
    fix = 'expert_kernels = "fused" if the run has them'
    return [Finding("P15", "info", "parallelism", message, fix, ("training.expert_kernels",), 12)]


NEWER_CHECKS: Final = (unsupported_kernels, memory_of_graphs, newer_experts)
