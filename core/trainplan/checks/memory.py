"""Findings M1 to M14 on the ledger: what does not fit, what is too close, and the single change that would fit.

M8 reads the retries of a log and is said by calibration.
"""

from __future__ import annotations

from typing import Final

from trainplan.alternatives.reverse import changed, tried
from trainplan.checks.host import HOST_CHECKS
from trainplan.checks.legality import LEGALITY_CHECKS
from trainplan.checks.resume import resume_fits
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount

GIB: Final = 2.0**30
DECIDES: Final = {
    "activations": ("parallelism.recompute", "batch.micro_batch_sequences"),
    "logits": ("training.loss", "batch.micro_batch_sequences"),
    "attention_temporaries": ("training.attention", "parallelism.recompute"),
}
"""The fields that decide a category first; the others are decided by the sharding."""


def _gib(value: float) -> str:
    return f"{value / GIB:,.1f} GiB"


def fits(estimate: Estimate) -> list[Finding]:
    """M1: the worst rank is above usable memory (error) or above the target (warning)."""
    memory, target = estimate.memory, estimate.situation["memory.target_fraction"]
    if not isinstance(memory.total, Figure) or not isinstance(memory.usable, Figure) or not memory.table:
        return []
    share = float(memory.total / memory.usable)
    if share <= target:
        return []
    over = share > 1.0
    where = f"rank {int(memory.worst_rank)} at the {memory.worst_instant}"
    limit = "" if over else f"; the target is {100 * float(target):.0f} %"
    message = f"{where} holds {_gib(memory.total)} of {_gib(memory.usable)} usable, {100 * share:.1f} %{limit}"
    severity, paths = ("error" if over else "warning"), _paths(estimate)
    return [Finding("M1", severity, "memory", message, "", paths, 1e4 * share, untried="single changes that fit")]


def _paths(estimate: Estimate) -> tuple[str, ...]:
    memory = estimate.memory
    parts = memory.table[int(memory.worst_rank)].worst.parts
    largest = max(parts, key=lambda name: float(parts[name]))
    return (*DECIDES.get(largest, ("parallelism.sharding",)), "parallelism.tensor")


def nominal_memory(estimate: Estimate) -> list[Finding]:
    """M2: the nominal size of the part is entered as what can be used."""
    own, part = estimate.plan.cluster.memory_per_accelerator, estimate.situation.part
    nominal, runtime = (
        (None, None) if part is None else (part.get("memory_nominal"), part.get("memory_per_accelerator"))
    )
    if own is None or nominal is None or abs(float(own) / nominal.value - 1) > 1e-6:
        return []
    message = (
        f"memory_per_accelerator is the nominal size of {estimate.plan.cluster.accelerator}, which no program gets"
    )
    fix = "what the driver reports" if runtime is None else f"{_gib(runtime.value)}, as the runtime reports"
    return [Finding("M2", "error", "memory", message, fix, ("cluster.memory_per_accelerator",), 900)]


def uneven_ranks(estimate: Estimate) -> list[Finding]:
    """M3: the fullest rank holds more than 1.25 times the emptiest."""
    totals = [float(rank.total) for rank in estimate.memory.table]
    if len(totals) < 2 or max(totals) <= 1.25 * min(totals):
        return []
    most, least = totals.index(max(totals)), totals.index(min(totals))
    message = f"rank {most} holds {_gib(max(totals))} and rank {least} {_gib(min(totals))}, {max(totals) / min(totals):.2f} times"
    end = "first_stage_layers" if 0 in (most, least) else "last_stage_layers"
    step = "fewer" if most in (0, len(totals) - 1) else "more"
    fix = f"{step} layers at that end: {end}; the embedding and the head count as a layer each"
    return [Finding("M3", "warning", "memory", message, fix, (f"parallelism.{end}", "parallelism.pipeline"), 60)]


def large_logits(estimate: Estimate) -> list[Finding]:
    """M4: logits above 15 % of usable with a loss that copies them."""
    memory, kernel = estimate.memory, estimate.situation.word("training.loss")
    megatron = estimate.plan.training.framework == "megatron"
    copies = ("plain", "compiled", "fused") if megatron else ("plain", "compiled")
    if not memory.table or not isinstance(memory.usable, Figure) or kernel not in copies:
        return []
    most = max(float(instant.part("logits")) for rank in memory.table for instant in rank.instants)
    if most <= 0.15 * memory.usable:
        return []
    message = f"logits take {_gib(most)} at the {kernel} loss, {100 * most / float(memory.usable):.0f} % of usable"
    fix = 'loss = "fused-in-place"' if megatron else 'loss = "fused" or "chunked"'
    return [Finding("M4", "warning", "memory", message, fix, ("training.loss",), 70)]


def repeated_reduction(estimate: Estimate) -> list[Finding]:
    """M5: gradients or weights that are sharded are moved again for every microbatch."""
    kind, count = estimate.situation.word("parallelism.sharding"), estimate.tokens.microbatches
    pipeline = estimate.plan.parallelism.pipeline
    if not isinstance(count, Figure) or count <= 1:
        return []
    paths = ("parallelism.sharding", "batch.micro_batch_sequences")
    if kind == "zero-2" and pipeline > 1:
        message = f"zero-2 with a pipeline reduces gradients in each of {int(count)} microbatches"
        return [Finding("M5", "warning", "memory", message, 'sharding = "zero-1"', paths, 40)]
    if kind in ("zero-3", "hsdp") and count >= 8 and estimate.plan.parallelism.reshard_after_forward:
        message = f"{kind} gathers weights again in each of {int(count)} microbatches"
        fix = 'larger microbatches, or reshard_after_forward = false, or sharding = "zero-1"'
        return [Finding("M5", "warning", "memory", message, fix, paths, 40)]
    return []


def where_to_read(estimate: Estimate) -> list[Finding]:
    """M6: logs that come from the last pipeline rank only do not show the peak."""
    memory, pipeline = estimate.memory, int(estimate.plan.parallelism.pipeline)
    if len(memory.table) < 2 or not isinstance(memory.worst_rank, Figure) or int(memory.worst_rank) == pipeline - 1:
        return []
    message = f"the peak is on rank {int(memory.worst_rank)}; a log of the last pipeline rank does not show it"
    return [Finding("M6", "info", "memory", message, "log every rank's peak", ("parallelism.pipeline",), 10)]


def fewer_nodes(estimate: Estimate) -> list[Finding]:
    """M7: with half the replicas the shards grow and the plan no longer fits."""
    memory, nodes = estimate.memory, estimate.plan.cluster.nodes
    sharded = estimate.situation.word("parallelism.sharding") not in ("none", "hsdp")
    if (
        not isinstance(memory.total, Figure)
        or not isinstance(memory.usable, Figure)
        or nodes is None
        or nodes < 2
        or not sharded
        or memory.total > memory.usable
    ):
        return []
    half = int(nodes) // 2
    trial = tried(changed(estimate.plan, {"cluster.nodes": half}))
    if trial.total is None or trial.total <= float(memory.usable):
        return []
    message = f"resumed on {half:,} nodes the shards grow: {_gib(trial.total)} of {_gib(memory.usable)} usable"
    fix = "keep spare nodes, or plan the layout for fewer"
    return [Finding("M7", "warning", "memory", message, fix, ("cluster.nodes", "parallelism.sharding"), 30)]


def balanced_routing(estimate: Estimate) -> list[Finding]:
    """M9: experts without an allowance for uneven routing."""
    factor = estimate.situation["training.moe_imbalance"]
    if estimate.model.shape.expert_layers is None or factor > 1.0 or estimate.situation["parallelism.expert"] == 1.0:
        return []
    message = "routing is taken as even; the fullest expert rank decides memory"
    return [Finding("M9", "warning", "memory", message, "moe_imbalance = 1.2", ("training.moe_imbalance",), 40)]


def loss_scale(estimate: Estimate) -> list[Finding]:
    """M11: fp16 with a loss scale above 100 B parameters."""
    parameters = estimate.model.parameters
    fp16 = estimate.plan.training.precision == "fp16-mixed"
    if not fp16 or not isinstance(parameters, Figure) or parameters <= 1e11:
        return []
    message = f"fp16 at {amount(parameters, 3)} parameters: OPT-175B met its loss scale's floor again and again"
    return [Finding("M11", "warning", "memory", message, 'precision = "bf16-mixed"', ("training.precision",), 45)]


def compute_copies(estimate: Estimate) -> list[Finding]:
    """M12: fp8 compute keeps 16-bit weights and adds copies; it does not lower weight memory."""
    if estimate.plan.training.precision != "fp8-mixed":
        return []
    message = (
        "fp8 compute adds copies of weights that are not in the ledger; a run that fits in bf16 may not fit in fp8"
    )
    return [Finding("M12", "info", "memory", message, "measure one device", ("training.precision",), 20)]


def sharded_peak(estimate: Estimate) -> list[Finding]:
    """M13: sharding gradients lowers what stays, and can raise the peak by a full-size bucket."""
    if estimate.situation.word("parallelism.sharding") != "zero-2" or estimate.plan.training.framework != "megatron":
        return []
    message = "zero-2 holds less between steps, but its peak can be above zero-1: a full-size bucket while it reduces"
    return [Finding("M13", "info", "memory", message, "measure both", ("parallelism.sharding",), 15)]


def whole_gradients(estimate: Estimate) -> list[Finding]:
    """M16: under no_sync gradients stay whole between microbatches, and the plan does not say whether they do.

    Accelerate's and Transformers' default (transformers issue 29425, accelerate pull request 2531); tnt pull request 1057 saw
    3.25 GB a rank become 52 GB. torchtitan reduces in every microbatch.
    """
    s, memory, path = estimate.situation, estimate.memory, "training.gradient_accumulation"
    many = isinstance(estimate.tokens.microbatches, Figure) and estimate.tokens.microbatches > 1
    if estimate.plan.training.framework != "fsdp" or s.written(path) or not many or not memory.table:
        return []
    usable = memory.usable
    if s.word("parallelism.sharding") in ("none", "zero-1") or not isinstance(usable, Figure) or memory.total > usable:
        return []
    total = tried(estimate.plan, {path: "full"}).memory.total
    if not isinstance(total, Figure) or total <= usable:
        return []
    message = (
        f"where no_sync holds between microbatches, gradients stay whole: {_gib(total)} of {_gib(memory.usable)} usable"
    )
    fix = "sync_each_batch in Accelerate, and gradient_accumulation said here"
    return [Finding("M16", "warning", "memory", message, fix, (path,), 45)]


def moments_of_pure_bf16(estimate: Estimate) -> list[Finding]:
    """M17: PyTorch's AdamW keeps moments in the type of the weights, and the plan leaves theirs at fp32.

    llama-cookbook issue 120: 70 B in pure bf16 on 16 A100 held 42 GB allocated, of which 8 bytes a parameter are 33 GiB.
    """
    training, path = estimate.plan.training, "training.moment_dtype"
    if (
        training.framework not in ("torchtitan", "fsdp")
        or training.precision != "bf16-pure"
        or estimate.situation.written(path)
    ):
        return []
    if training.optimizer != "adamw" or training.optimizer_offload or not estimate.memory.table:
        return []
    saved = float(estimate.memory.total - tried(estimate.plan, {path: "bf16"}).memory.total)
    message = f"moments are taken as fp32; AdamW of PyTorch makes them like the weights, bf16, {_gib(saved)} less"
    return [Finding("M17", "warning", "memory", message, 'moment_dtype = "bf16"', (path, "training.precision"), 50)]


MEMORY_CHECKS: Final = (
    *LEGALITY_CHECKS,
    fits,
    nominal_memory,
    uneven_ranks,
    large_logits,
    repeated_reduction,
    where_to_read,
    fewer_nodes,
    balanced_routing,
    *HOST_CHECKS,
    loss_scale,
    compute_copies,
    sharded_peak,
    whole_gradients,
    moments_of_pure_bf16,
    resume_fits,
)
