"""The arguments of Megatron-LM that a plan decides, by the names of its `arguments.py` (megatron-core 0.19.2).

What has no argument known here is refused in a sentence, never guessed. Learning rates, data paths and initialisation are
no part of a plan and are left to whoever launches.
"""

from __future__ import annotations

import shlex
from typing import Final

from trainplan.budgets.shape import keeps_scores
from trainplan.estimation import Estimate
from trainplan.interop.export.megatron_shape import (
    Arguments,
    attention_arguments,
    experts_arguments,
    flag,
    known,
    latent_arguments,
    model_arguments,
)
from trainplan.interop.export.run import (
    ExportError,
    Run,
    changing,
    heading,
    kinds,
    not_said,
    other_framework,
    refuse,
    save_steps,
    whole,
    whole_figure,
)

__all__ = ["SAID", "Arguments", "ExportError", "argument_lines", "megatron_arguments", "megatron_text", "whole"]


_OPTIMIZERS: Final = {"adamw": "adam", "sgd-momentum": "sgd"}
_PRECISIONS: Final[dict[str, Arguments]] = {
    "fp32": [],
    "bf16-mixed": [("--bf16", "")],
    "fp16-mixed": [("--fp16", "")],
    "fp8-mixed": [("--bf16", ""), ("--fp8-format", "hybrid")],
}
_BLOCKS: Final[Arguments] = [("--bf16", ""), ("--fp8-format", "e4m3"), ("--fp8-recipe", "mxfp8")]
"""fp8 of fused experts, which TransformerEngine has in scaled blocks alone: Megatron-Bridge's bf16_with_mxfp8_mixed."""

_LOSSES: Final[dict[str, Arguments]] = {
    "plain": [],
    "fused": [("--cross-entropy-loss-fusion", "")],
    "fused-in-place": [("--cross-entropy-loss-fusion", ""), ("--cross-entropy-fusion-impl", "te")],
}
_FSDP: Final[Arguments] = [
    ("--use-megatron-fsdp", ""),
    ("--use-distributed-optimizer", ""),
    ("--no-gradient-accumulation-fusion", ""),
    ("--ckpt-format", "fsdp_dtensor"),
]
"""Flags that Megatron-FSDP needs beside the strategy: README of Megatron-FSDP in NVIDIA/Megatron-LM, read in a copy."""

_SHARDINGS: Final[dict[str, Arguments]] = {
    "none": [],
    "zero-1": [("--use-distributed-optimizer", "")],
    "zero-2": [*_FSDP, ("--data-parallel-sharding-strategy", "optim_grads")],
    "zero-3": [*_FSDP, ("--data-parallel-sharding-strategy", "optim_grads_params")],
}
_OUTER: Final[Arguments] = [("--outer-dp-sharding-strategy", "no_shard")]
"""What stands beside zero-3 for groups that hold copies of one another, HSDP in the same README: states are whole in each group."""


UNPLANNED: Final = "learning rate, rotary base, norm epsilon, initialisation, data path"
"""What Megatron takes its own default for, or asks for, since no budget rests on it."""

SAID: Final = (
    "model",
    "data.sequence_length",
    "batch",
    *(
        f"training.{name}"
        for name in ("precision", "optimizer", "moment_dtype", "gradient_dtype", "attention", "loss", "dropout")
    ),
    *(f"training.{name}" for name in ("optimizer_offload", "activation_offload", "head")),
    *(f"training.{name}" for name in ("attention_precision", "expert_kernels", "cuda_graphs")),
    *(
        f"parallelism.{name}"
        for name in ("tensor", "pipeline", "virtual_pipeline", "context", "expert", "expert_tensor")
    ),
    *(
        f"parallelism.{name}"
        for name in ("sharding", "shard_size", "schedule", "sequence_parallel", "context_type", "recompute")
    ),
    *(f"parallelism.{name}" for name in ("first_stage_layers", "last_stage_layers", "bucket_elements")),
)
"""Plan fields that the arguments say, or that are refused."""


def megatron_text(run: Run) -> str:
    """The arguments one a line, under the plan's name and hash and what is not said. Raises ExportError."""
    lines = [*heading(run), *not_said(run, SAID, "for whoever launches"), f"not in a plan: {UNPLANNED}"]
    lines += [f"in the environment: {FUSED_MLP}"] if fuses(run.estimate) else []
    return (
        "\n".join([*(f"# {line}" for line in lines), *argument_lines(megatron_arguments(run.estimate, run.stop_after))])
        + "\n"
    )


def argument_lines(arguments: list[tuple[str, str]]) -> list[str]:
    """One argument a line, its value quoted for a shell."""
    return [f"{name} {shlex.quote(value)}".rstrip() if value else name for name, value in arguments]


def megatron_arguments(estimate: Estimate, stop_after: int = 0) -> Arguments:
    """The arguments of a plan. Raises ExportError where the plan lacks a field or asks for what has no argument here.

    `stop_after` are steps after which the program stops though the run has more; 0 for none.
    """
    if estimate.situation.word("training.framework") != "megatron":
        raise other_framework(estimate, "megatron")
    parts = (
        model_arguments,
        attention_arguments,
        experts_arguments,
        latent_arguments,
        _layout,
        _batch,
        _training,
        _saving,
    )
    found = [argument for part in parts for argument in part(estimate)]
    return [*found, ("--exit-interval", f"{stop_after}")] if stop_after else found


def _layout(e: Estimate) -> Arguments:
    p, found = e.plan.parallelism, list[tuple[str, str]]()
    degrees = {
        "--tensor-model-parallel-size": p.tensor,
        "--pipeline-model-parallel-size": p.pipeline,
        "--context-parallel-size": p.context,
        "--expert-model-parallel-size": p.expert,
        "--expert-tensor-parallel-size": p.expert_tensor,
    }
    experts = bool(e.situation.value("model.moe.num_experts"))
    found += [(name, f"{int(value)}") for name, value in degrees.items() if experts or "expert" not in name]
    if p.virtual_pipeline > 1:
        found.append(("--num-virtual-stages-per-pipeline-rank", f"{int(p.virtual_pipeline)}"))
    if p.first_stage_layers:
        found.append(("--decoder-first-pipeline-num-layers", f"{int(p.first_stage_layers)}"))
    if p.last_stage_layers:
        found.append(("--decoder-last-pipeline-num-layers", f"{int(p.last_stage_layers)}"))
    if p.context > 1:
        found.append(("--cp-comm-type", "p2p" if p.context_type == "ring" else "a2a"))
    return [*found, *flag(p.sequence_parallel and p.tensor > 1, "--sequence-parallel"), *_sharding(e)]


def _sharding(e: Estimate) -> Arguments:
    if e.plan.parallelism.schedule not in ("1f1b", "interleaved"):
        raise ExportError(f"parallelism.schedule {e.plan.parallelism.schedule} has no Megatron argument known here")
    if e.plan.parallelism.sharding != "hsdp":
        return known(e, "parallelism.sharding", _SHARDINGS)
    size = e.plan.parallelism.shard_size
    if size is None:
        raise ExportError("parallelism.shard_size is missing; hsdp has no other size of its groups")
    ranks = whole(e, "parallelism.data") * int(e.plan.parallelism.context)
    copies, rest = divmod(ranks, int(size))
    if rest or not copies:
        raise ExportError(f"parallelism.shard_size is {int(size):,}; groups of it do not divide {ranks:,} replicas")
    return [*_SHARDINGS["zero-3"], ("--num-distributed-optimizer-instances", f"{copies}"), *_OUTER]


def _batch(e: Estimate) -> Arguments:
    lengths = {length for length, _ in kinds(e)}
    if len(lengths) > 1:
        raise changing(e, "the sequence length changes during the run; Megatron arguments say one")
    found: Arguments = [
        ("--seq-length", f"{lengths.pop()}"),
        ("--micro-batch-size", f"{whole(e, 'batch.micro_batch_sequences')}"),
    ]
    if len(kinds(e)) > 1:
        return [*found, *_batches(e)]
    return [
        *found,
        ("--global-batch-size", f"{kinds(e).pop()[1]}"),
        ("--train-iters", f"{whole(e, 'tokens.steps')}"),
    ]


def _batches(e: Estimate) -> Arguments:
    """Batches by tokens: `--step-batch-size-schedule` of megatron-core 0.19.2, whose thresholds are tokens where a length is said.

    It goes with samples, not with iterations, and `--rampup-batch-size` is deprecated beside it.
    """
    batches = [(one, whole_figure(e, one.global_batch_sequences)) for one in e.tokens.stretches]
    steps = [f"{whole_figure(e, one.begin)}:{batch}" for one, batch in batches]
    samples = sum(whole_figure(e, one.steps) * batch for one, batch in batches)
    return [("--step-batch-size-schedule", " ".join(steps)), ("--train-samples", f"{samples}")]


def _training(e: Estimate) -> Arguments:
    scaled = fuses(e) and e.plan.training.precision == "fp8-mixed"
    found: Arguments = [
        *(_BLOCKS if scaled else known(e, "training.precision", _PRECISIONS)),
        ("--optimizer", known(e, "training.optimizer", _OPTIMIZERS)),
    ]
    gradient, precision = e.situation.word("training.gradient_dtype"), e.plan.training.precision
    found += flag(gradient == "fp32" and precision != "fp32", "--accumulate-allreduce-grads-in-fp32")
    found += flag(gradient == "bf16" and precision in ("bf16-mixed", "fp8-mixed"), "--grad-reduce-in-bf16")
    found += _kernels(e) + _states(e)
    if e.plan.parallelism.recompute == "selective":
        found.append(("--recompute-granularity", "selective"))
    if e.plan.parallelism.recompute == "full":
        found += [
            ("--recompute-granularity", "full"),
            ("--recompute-method", "uniform"),
            ("--recompute-num-layers", "1"),
        ]
    return found


def _kernels(e: Estimate) -> Arguments:
    """Attention, loss and dropout; Megatron's own dropout is 0.1 where nothing is said."""
    training = e.plan.training
    head = e.situation.word("training.head") == "gathered"
    refuse({"training.activation_offload": training.activation_offload, "training.head": head}, "Megatron")
    found: Arguments = [
        *([("--transformer-impl", "local")] if e.situation.word("training.kernels") == "torch-eager" else []),
        ("--attention-backend", "unfused" if keeps_scores(e.situation) else "flash"),
        ("--attention-dropout", f"{float(training.dropout):g}"),
        ("--hidden-dropout", f"{float(training.dropout):g}"),
    ]
    return found + known(e, "training.loss", _LOSSES) + _newer(e)


FUSED_MLP: Final = "NVTE_CUTEDSL_FUSED_GROUPED_MLP=1"
"""What TransformerEngine asks of the environment of fused experts: Megatron-LM d98e8a6, core/transformer/moe/experts.py."""


def fuses(e: Estimate) -> bool:
    """Whether routed experts run in kernels with their gate."""
    return e.plan.training.expert_kernels == "fused" and bool(e.situation.value("model.moe.num_experts"))


def _newer(e: Estimate) -> Arguments:
    """Kernels of experts and a graph of a step: docs/user-guide/features of cuda_graph and paged_stash, at d98e8a6.

    Rows of experts have a fixed room in a graph: 1.5 times the mean as in Megatron-Bridge's recipes, or what the plan has.
    """
    training, experts = e.plan.training, bool(e.situation.value("model.moe.num_experts"))
    refuse({"training.attention_precision": training.attention_precision == "fp8"}, "Megatron")
    found: Arguments = [("--moe-grouped-gemm", "")] if experts else []
    if fuses(e):
        found += [("--use-transformer-engine-op-fuser", ""), ("--moe-mlp-glu-interleave-size", "32")]
    if training.cuda_graphs == "none":
        return found
    found += [("--cuda-graph-impl", "full_iteration"), ("--no-check-for-nan-in-loss-and-grad", "")]
    if not experts:
        return found
    if not fuses(e):
        raise ExportError("training.cuda_graphs full-iteration: a model with experts needs expert_kernels fused for it")
    room = max(1.5, float(training.moe_imbalance))
    return [
        *found,
        ("--moe-token-dispatcher-type", "flex"),
        ("--moe-flex-dispatcher-backend", "hybridep"),
        ("--moe-expert-rank-capacity-factor", f"{room:g}"),
        ("--moe-paged-stash", ""),
    ]


def _states(e: Estimate) -> Arguments:
    training, found = e.plan.training, list[tuple[str, str]]()
    if training.moment_dtype == "bf16" or training.optimizer_offload:
        found.append(("--use-precision-aware-optimizer", ""))
    if training.moment_dtype == "bf16":
        found += [("--exp-avg-dtype", "bf16"), ("--exp-avg-sq-dtype", "bf16")]
    found += flag(training.optimizer_offload, "--optimizer-cpu-offload")
    bucket = e.plan.parallelism.bucket_elements
    return [*found, ("--ddp-bucket-size", f"{int(bucket)}")] if bucket else found


def _saving(e: Estimate) -> Arguments:
    found: Arguments = []
    steps = save_steps(e)
    if steps is not None:
        found.append(("--save-interval", f"{steps}"))
    folder = e.plan.paths.checkpoints
    found += [("--save", folder), ("--load", folder)] if folder else []
    found += flag(e.plan.storage.async_checkpoint, "--async-save")
    return [*found, ("--exit-signal-handler", "")]
