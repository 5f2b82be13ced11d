"""Findings C23, M19 and P15: kernels of 2026 that a part or framework has not, memory of graphs, and what others gained by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainplan.budgets.kernels import family_of
from trainplan.estimation import Estimate
from trainplan.finding import Finding

BLACKWELL: Final = ("blackwell", "blackwell-ultra")
FP8_ATTENTION: Final = (*BLACKWELL, "hopper")
GRAPHED: Final = ("megatron", "torchtitan")
"""Frameworks that launch an iteration as one graph."""

Told = tuple[str, str, tuple[str, ...]]
"""A message, its fix, and the paths that it names beside the field."""


def unsupported_kernels(estimate: Estimate) -> list[Finding]:
    """C23: kernels that are Megatron's with TransformerEngine alone, of newer parts, in fp8, or that need one another.

    TransformerEngine d0067d0, ops/fused/grouped_mlp.py: sm100, MXFP8 or NVFP4; its fp8 attention is a part of an fp8 recipe.
    Megatron-LM d98e8a6, core/transformer/moe/experts.py: fused experts are whole on each tensor rank; cuda_graph.md and
    paged_stash.md: rows of experts have fixed room in a graph with fused experts alone. torchtitan b5bcd76, trainer.py: no graph
    with stages, nor with expert ranks unless their dispatch has a fixed room.
    """
    return [
        Finding("C23", "warning", "compute", told, fix, (path, *paths), 60)
        for path, found in (
            ("training.expert_kernels", _experts(estimate)),
            ("training.attention_precision", _attention(estimate)),
            ("training.cuda_graphs", _graphs(estimate)),
        )
        for told, fix, paths in found
    ]


def _experts(estimate: Estimate) -> Iterator[Told]:
    training, part = estimate.plan.training, estimate.plan.cluster.accelerator
    if training.expert_kernels == "grouped" or estimate.model.shape.expert_layers is None:
        return
    told, fix = "fused experts", 'expert_kernels = "grouped"'
    if training.framework != "megatron":
        yield f"{told} with {training.framework}: counted as Megatron-LM has them", fix, ("training.framework",)
    elif part is not None and family_of(part) not in BLACKWELL:
        yield f"{told}: TransformerEngine has them for Blackwell alone", fix, ("cluster.accelerator",)
    elif training.precision != "fp8-mixed":
        yield f"{told}: TransformerEngine has them in fp8 alone", fix, ("training.precision",)
    elif training.kernels == "torch-eager":
        yield f"{told} are TransformerEngine's, and kernels are Megatron-LM's own", fix, ("training.kernels",)
    elif estimate.plan.parallelism.expert_tensor > 1:
        fix = f"expert_tensor = 1, or {fix}"
        yield f"{told} are not split over tensor ranks", fix, ("parallelism.expert_tensor",)


def _attention(estimate: Estimate) -> Iterator[Told]:
    training, part = estimate.plan.training, estimate.plan.cluster.accelerator
    if training.attention_precision == "16-bit":
        return
    told, fix = "attention in fp8", 'attention_precision = "16-bit"'
    if training.framework != "megatron":
        yield f"{told} with {training.framework}: counted as TransformerEngine has it", fix, ("training.framework",)
    elif part is not None and family_of(part) not in FP8_ATTENTION:
        yield f"{told}: TransformerEngine has it for Hopper and Blackwell alone", fix, ("cluster.accelerator",)
    elif training.precision != "fp8-mixed":
        yield f"{told} belongs to an fp8 recipe, and precision is {training.precision}", fix, ("training.precision",)


def _graphs(estimate: Estimate) -> Iterator[Told]:
    training, parallelism = estimate.plan.training, estimate.plan.parallelism
    if training.cuda_graphs == "none":
        return
    told, fix = "a full-iteration graph", 'cuda_graphs = "none"'
    if training.framework not in GRAPHED:
        yield f"{told} with {training.framework}: counted as Megatron-LM has it", fix, ("training.framework",)
    elif training.framework == "torchtitan" and parallelism.pipeline > 1:
        yield f"{told}: torchtitan refuses it with pipeline stages", fix, ("parallelism.pipeline",)
    elif training.framework == "torchtitan" and parallelism.expert > 1:
        yield f"{told}: torchtitan takes it with expert ranks of fixed room alone", fix, ("parallelism.expert",)
    elif training.framework == "megatron" and training.expert_kernels == "grouped" and _sparse(estimate):
        fits = family_of(estimate.plan.cluster.accelerator) in BLACKWELL and training.precision == "fp8-mixed"
        fix = f'expert_kernels = "fused", or {fix}' if fits else fix
        yield f"{told} of a model with experts needs fused ones", fix, ("training.expert_kernels",)


def _sparse(estimate: Estimate) -> bool:
    return estimate.model.shape.expert_layers is not None


def memory_of_graphs(estimate: Estimate) -> list[Finding]:
    """M19: a graph keeps buffers of its own, which no formula here has; and experts in it a room that is fixed.

    Megatron-Bridge 067f987, docs/performance-guide.md: typically a few gigabytes, and models with stages may take over 10.
    """
    plan, s = estimate.plan, estimate.situation
    if plan.training.cuda_graphs == "none" or s.written("memory.runtime_overhead"):
        return []
    most = "stages may take more than 10 GB" if plan.parallelism.pipeline > 1 else "a few GB"
    room = (
        "; rows of experts have a fixed room, 1.5 times the mean in Megatron-Bridge's recipes"
        if _sparse(estimate)
        else ""
    )
    message = f"buffers of a full-iteration graph are not counted: {most}, by Megatron-Bridge's guide{room}"
    fix = "give memory.runtime_overhead as a run had it"
    paths = ("memory.runtime_overhead", "training.cuda_graphs")
    return [Finding("M19", "warning", "memory", message, fix, paths, 30)]


def newer_experts(estimate: Estimate) -> list[Finding]:
    """P15: experts in fp8 on Blackwell with grouped kernels, whose numbers are of software until April 2026.

    Megatron-Bridge 067f987, docs/performance-summary-archive.md, 26.04.01 against 26.06, mxfp8, where the layout stayed: on GB200
    DeepSeek-V3 4,256 to 4,969 tokens/s, Qwen3-30B 26,112 to 40,706, Qwen3-235B 5,680 to 7,376; on GB300 31,744 to 45,275 and
    6,944 to 9,015; on B300 30,720 to 40,769. Recipes of pull requests 3983, 4211 and 4226.
    """
    training = estimate.plan.training
    if not _sparse(estimate) or training.framework != "megatron" or training.precision != "fp8-mixed":
        return []
    decided = estimate.situation.written("training.expert_kernels")
    if decided or family_of(estimate.plan.cluster.accelerator) not in BLACKWELL:
        return []
    message = (
        "step predicted as of software until April 2026; with fused experts, hidden dispatch, a full-iteration graph and "
        "mostly fp8 attention, six layouts ran 1.17 to 1.56 times as fast in June"
    )
    fix = "say in the plan which of the four the run has"
    paths = (
        "training.expert_kernels",
        "parallelism.overlap_expert",
        "training.cuda_graphs",
        "training.attention_precision",
    )
    return [Finding("P15", "info", "parallelism", message, fix, paths, 12)]


NEWER_CHECKS: Final = (unsupported_kernels, memory_of_graphs, newer_experts)
