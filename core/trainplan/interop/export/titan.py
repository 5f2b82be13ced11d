"""A run as torchtitan reads it: Python for release 0.3.0, which has no TOML any more, and TOML for 0.2.2, the last that read it.

torchtitan builds models by name: a plan whose shape is none of its models is refused. Field names and choices are those of
`torchtitan/config` in both releases. Learning rates and data sets are no part of a plan and stay as torchtitan has them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from trainplan.estimation import Estimate
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
)
from trainplan.interop.export.titan_models import TitanModel, titan_model

Settings = list[tuple[str, Any]]
"""`section.field` with its value, in order."""

SCHEDULES: Final = {"gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "Interleaved1F1B", "zb-v": "ZBVZeroBubble"}
_DTYPES: Final = {
    "fp32": ("float32", "float32"),
    "bf16-mixed": ("float32", "bfloat16"),
    "bf16-pure": ("bfloat16", "bfloat16"),
}
SAID: Final = (
    "model",
    *(f"data.{name}" for name in ("sequence_length", "document_mask")),
    "batch",
    *(
        f"training.{name}"
        for name in ("precision", "optimizer", "moment_dtype", "gradient_dtype", "kernels", "dropout")
    ),
    *(f"training.{name}" for name in ("optimizer_offload", "activation_offload", "attention")),
    *(
        f"parallelism.{name}"
        for name in ("tensor", "pipeline", "virtual_pipeline", "context", "expert", "expert_tensor")
    ),
    *(
        f"parallelism.{name}"
        for name in ("sharding", "shard_size", "schedule", "sequence_parallel", "context_type", "recompute")
    ),
    *(f"parallelism.{name}" for name in ("reshard_after_forward", "first_stage_layers", "last_stage_layers")),
)


def titan_module(run: Run) -> str:
    """A Python module for torchtitan 0.3.0, started with `--module FILE --config trainplan`. Raises ExportError."""
    model, settings = _model(run), [*_training(run.estimate), *_parallelism(run), *_saving(run.estimate)]
    recompute = run.estimate.plan.parallelism.recompute
    words = {"none": "None", "selective": "SelectiveAC.Config()", "full": "FullAC.Config()"}
    policy = words[recompute].partition(".")[0]
    lines = [*(f"# {line}" for line in _told(run)), ""]
    lines += [f"from torchtitan.distributed.activation_checkpoint import {policy}"] if recompute != "none" else []
    lines += [f"from torchtitan.models.{model.name}.config_registry import {model.function}"]
    lines += ["from torchtitan.trainer import Trainer", "", "", "def trainplan() -> Trainer.Config:"]
    lines += [f"    config = {model.function}()"]
    if model.run_layers != model.layers:
        lines += [f"    config.model_spec.model.layers = config.model_spec.model.layers[:{model.run_layers}]"]
    split = run.estimate.plan.parallelism.pipeline > 1 or run.estimate.plan.parallelism.expert > 1
    if split or run.estimate.situation.written("training.cuda_graphs"):
        graphs = run.estimate.plan.training.cuda_graphs == "full-iteration"
        refuse({"training.cuda_graphs with stages or expert ranks": split and graphs}, "torchtitan")
        lines += [] if graphs else ["    config.training.disable_cuda_graphs = True"]  # 0.3.0 captures them by default
    lines += [f"    config.{path} = {value!r}" for path, value in settings]
    return "\n".join([*lines, f"    config.activation_checkpoint = {words[recompute]}", "    return config"]) + "\n"


def titan_toml(run: Run) -> str:
    """A TOML job configuration for torchtitan 0.2.2. Raises ExportError."""
    model, e = _model(run), run.estimate
    refuse(
        {
            "parallelism.sequence_parallel": e.plan.parallelism.tensor > 1 and not e.plan.parallelism.sequence_parallel,
            "training.cuda_graphs": e.plan.training.cuda_graphs != "none",
        },
        _OLD,
    )
    if model.run_layers != model.layers:
        raise ExportError(
            f"rung {run.rung} takes {model.run_layers} of {model.layers} layers, which {_OLD} TOML cannot say"
        )
    mode = e.plan.parallelism.recompute
    recompute = [("mode", mode), *([("selective_ac_option", "op")] if mode == "selective" else [])]
    settings: Settings = [
        ("job.description", run.plan.name or "trainplan"),
        ("model.name", model.name),
        ("model.flavor", model.flavor),
        ("optimizer.name", "AdamW"),
        *_training(e),
        *(pair for pair in _parallelism(run) if pair[0] != "parallelism.enable_sequence_parallel"),
        *_saving(e),
        *((f"activation_checkpoint.{name}", value) for name, value in recompute),
    ]
    return "\n".join([*(f"# {line}" for line in _told(run)), *_tables(settings)]) + "\n"


def _model(run: Run) -> TitanModel:
    if run.estimate.situation.word("training.framework") != "torchtitan":
        raise other_framework(run.estimate, "torchtitan")
    return titan_model(run)


_OLD: Final = "torchtitan 0.2.2"


def _tables(settings: Settings) -> list[str]:
    lines: list[str] = []
    for section in dict.fromkeys(path.partition(".")[0] for path, _ in settings):
        rows = [(path.partition(".")[2], value) for path, value in settings if path.startswith(f"{section}.")]
        lines += ["", f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in rows)]
    return lines


def _told(run: Run) -> list[str]:
    told = [*heading(run), *not_said(run, SAID, "torchtitan has its own or no word for it")]
    if run.stop_after:
        told.append(f"the job's time limit stops it: torchtitan has no word for {run.stop_after:,} of its steps")
    told += ["context_type ring is what torchtitan does"] if run.estimate.plan.parallelism.context > 1 else []
    return [*told, "not in a plan: learning rate, data set, tokenizer folder"]


def _training(e: Estimate) -> Settings:
    t, s = e.plan.training, e.situation
    _refuse_training(e)
    if t.precision not in _DTYPES:
        raise ExportError(f'training.precision is "{t.precision}", for which no torchtitan setting is known here')
    if len(kinds(e)) > 1:
        raise changing(e, "the batch or the sequence length changes during the run; torchtitan says one of each")
    micro, pipeline = whole(e, "batch.micro_batch_sequences"), int(e.plan.parallelism.pipeline)
    dtype, compute = _DTYPES[t.precision]
    compiled = s.word("training.kernels") == "torch-compile"
    return [
        ("training.local_batch_size", micro * (whole(e, "tokens.microbatches") if pipeline > 1 else 1)),
        ("training.global_batch_size", kinds(e).pop()[1]),
        ("training.seq_len", kinds(e).pop()[0]),
        ("training.steps", whole(e, "tokens.steps")),
        ("training.dtype", dtype),
        ("training.mixed_precision_param", compute),
        ("training.mixed_precision_reduce", "float32"),
        ("compile.enable", compiled),
        *([("compile.components", ["model", "loss"])] if compiled else []),
    ]


def _refuse_training(e: Estimate) -> None:
    t, s = e.plan.training, e.situation
    refuse(
        {
            "training.optimizer": t.optimizer != "adamw",
            "training.moment_dtype": t.moment_dtype != "fp32",
            "training.gradient_dtype": s.word("training.gradient_dtype") != "fp32",
            "training.kernels": s.word("training.kernels") == "megatron-te",
            "training.attention": t.attention != "flash",
            "training.attention_precision": t.attention_precision != "16-bit",
            "training.expert_kernels": t.expert_kernels != "grouped",
            "training.dropout": float(t.dropout) > 0.0,
            "training.optimizer_offload": t.optimizer_offload,
            "training.activation_offload": t.activation_offload,
        },
        "torchtitan",
    )


def _parallelism(run: Run) -> Settings:
    e, p = run.estimate, run.estimate.plan.parallelism
    ring = p.context == 1 or p.context_type == "ring"
    uneven = p.pipeline > 1 and bool(p.first_stage_layers or p.last_stage_layers)
    refuse(
        {
            "parallelism.context_type": not ring,
            "parallelism.expert_tensor": p.expert_tensor not in (1, 1 if p.expert > 1 else p.tensor),
            "parallelism.first_stage_layers": uneven,
            "parallelism.schedule": p.pipeline > 1 and p.schedule not in SCHEDULES,
        },
        "torchtitan",
    )
    return [
        *_data_parallel(e),
        ("parallelism.tensor_parallel_degree", int(p.tensor)),
        ("parallelism.enable_sequence_parallel", p.sequence_parallel),
        *(_pipeline(e) if p.pipeline > 1 else []),
        ("parallelism.context_parallel_degree", int(p.context)),
        ("parallelism.expert_parallel_degree", int(p.expert)),
    ]


def _data_parallel(e: Estimate) -> Settings:
    """Replicas and shards; torchtitan shards parameters or nothing, and keeps gathered ones where the plan says zero-2."""
    p, degree, sharding = (
        e.plan.parallelism,
        whole(e, "parallelism.data"),
        e.situation.word("parallelism.sharding") or "",
    )
    if sharding == "zero-1":
        raise ExportError("parallelism.sharding is zero-1; torchtitan shards parameters, gradients and states together")
    shard = 1 if sharding == "none" else _group(e, degree) if sharding == "hsdp" else degree
    kept = sharding == "zero-2" or not p.reshard_after_forward
    return [
        ("parallelism.data_parallel_replicate_degree", degree // shard),
        ("parallelism.data_parallel_shard_degree", shard),
        ("parallelism.fsdp_reshard_after_forward", "never" if kept else "always"),
    ]


def _group(e: Estimate, degree: int) -> int:
    """Data ranks of a shard group: torchtitan shards over them and all context ranks beside them (distributed/parallel_dims.py)."""
    p = e.plan.parallelism
    shard, rest = divmod(int(p.shard_size or degree * p.context), int(p.context))
    if rest or not shard or degree % shard:
        raise ExportError(
            f"parallelism.shard_size is {int(p.shard_size or 0):,}; torchtitan shards over all {int(p.context):,} context ranks "
            f"and a divisor of {degree:,} replicas"
        )
    return shard


def _pipeline(e: Estimate) -> Settings:
    p, layers = e.plan.parallelism, whole(e, "model.num_hidden_layers")
    stages = int(p.pipeline) * (2 if p.schedule == "zb-v" else int(p.virtual_pipeline))
    ends = 1 if layers % stages else 0
    each = -(-(layers + 2 * ends) // stages)
    if -(-(layers + 2 * ends) // each) != stages:
        raise ExportError(f"no layers_per_stage of torchtitan cuts {layers} layers into {stages} chunks")
    return [
        ("parallelism.pipeline_parallel_degree", int(p.pipeline)),
        ("parallelism.pipeline_parallel_schedule", SCHEDULES[p.schedule]),
        ("parallelism.pipeline_parallel_layers_per_stage", each),
        ("parallelism.pipeline_parallel_first_stage_less_layers", ends),
        ("parallelism.pipeline_parallel_last_stage_less_layers", ends),
        ("parallelism.pipeline_parallel_microbatch_size", whole(e, "batch.micro_batch_sequences")),
    ]


def _saving(e: Estimate) -> Settings:
    storage, steps, folder = e.plan.storage, save_steps(e), e.plan.paths.checkpoints
    return [
        ("checkpoint.enable", True),
        *([("checkpoint.folder", folder)] if folder else []),
        *([("checkpoint.interval", steps)] if steps else []),
        ("checkpoint.keep_latest_k", max(2, int(storage.keep_full_local))),
        ("checkpoint.async_mode", "async" if storage.async_checkpoint else "disabled"),
        ("checkpoint.last_save_model_only", False),
    ]
