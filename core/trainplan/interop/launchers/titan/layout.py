"""How a torchtitan configuration splits a model and a batch, in the plan's terms; names of all ages of its TOML.

pytorch/torchtitan 238fa9953: config/job_config.py, distributed/{parallel_dims,pipeline_parallel,fsdp}.py.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.interop.launchers.settings import Settings

_SECTIONS: Final = ("parallelism", "training", "experimental")
_SCHEDULES: Final = {
    "1F1B": "1f1b",
    "GPipe": "gpipe",
    "Interleaved1F1B": "interleaved",
    "ZBVZeroBubble": "zb-v",
    "DualPipeV": "",
    "InterleavedZeroBubble": "",
    "PipelineScheduleSingle": "",
    "PipelineScheduleMulti": "",
    "_PipelineScheduleRuntime": "",
    "LoopedBFS": "",
}


def layout(s: Settings) -> None:
    """Everything under `parallelism.`, and the batch."""
    tensor = _degree(s, "parallelism.tensor", "tensor_parallel_degree")
    s.used.update((*names_of("pipeline_parallel_schedule"), *names_of("pipeline_parallel_layers_per_stage")))
    pipeline = _degree(s, "parallelism.pipeline", "pipeline_parallel_degree")
    _degree(s, "parallelism.context", "context_parallel_degree")
    _degree(s, "parallelism.expert", "expert_parallel_degree")
    own = _degree(s, "parallelism.expert_tensor", "expert_tensor_parallel_degree")
    if own == 1:
        s.telling.said.pop("parallelism.expert_tensor", None)
    if tensor > 1:
        names = ("parallelism.enable_sequence_parallel",)
        whole = s.flag(*names)
        s.say("parallelism.sequence_parallel", whole, *names)
    s.used.add("parallelism.enable_sequence_parallel")
    if pipeline > 1:
        _pipeline(s, pipeline)
    _data(s, pipeline)
    _batch(s, pipeline)


def names_of(field: str) -> tuple[str, ...]:
    """A field under every section that it ever stood in."""
    return tuple(f"{section}.{field}" for section in _SECTIONS)


def _degree(s: Settings, path: str, field: str) -> int:
    value = s.count(*names_of(field))
    s.say(path, value, *names_of(field))
    return value or 1


def _pipeline(s: Settings, pipeline: int) -> None:
    names = names_of("pipeline_parallel_schedule")
    word = s.word(_SCHEDULES, *names)
    if word and not _SCHEDULES[word]:
        found = next(s.found[name] for name in names if name in s.found)
        s.telling.notes.append(
            f"{found.place}: {found.words} is no schedule of a plan; parallelism.schedule is left out"
        )
    elif word:
        s.say("parallelism.schedule", _SCHEDULES[word], *names)
    each = s.count(*names_of("pipeline_parallel_layers_per_stage"))
    layers = s.telling.value("model.num_hidden_layers")
    if word == "Interleaved1F1B":
        chunks = 2  # pipeline_llm: looped schedules have two stages on a rank where nothing says how many
        if each and layers:
            less = [
                s.count(f"parallelism.pipeline_parallel_{end}_stage_less_layers", least=0) for end in ("first", "last")
            ]
            counted = layers + sum(1 if one is None else one for one in less)
            chunks = -(-counted // each) // pipeline
        if chunks > 1:
            s.say("parallelism.virtual_pipeline", chunks, *names_of("pipeline_parallel_layers_per_stage"), *names)


def _data(s: Settings, pipeline: int) -> None:
    """Replicas and shards; -1 shards are all that is left over."""
    copies = s.count(*names_of("data_parallel_replicate_degree")) or 1
    names = (*names_of("data_parallel_shard_degree"), "training.data_parallel_degree")
    shards = s.count(*names, least=-1)
    if shards == 0:
        found = next(s.found[name] for name in names if name in s.found)
        s.telling.problems.append(f"{found.place}: {found.words}. A whole number from 1, or -1, is right")
        return
    first = next((name for name in names if name in s.found), "")
    place: Any = s.telling.said["training.framework"].place
    if copies > 1:
        s.say("parallelism.sharding", "none" if shards == 1 else "hsdp", *names_of("data_parallel_replicate_degree"))
        if shards and shards > 1:
            context = s.telling.value("parallelism.context") or 1
            s.say("parallelism.shard_size", shards * context, *names)
        elif shards != 1:
            s.say("run.shard_copies", copies, *names_of("data_parallel_replicate_degree"))
    elif shards is not None:
        s.say("parallelism.sharding", "none" if shards == 1 else "zero-3", *names)
    else:
        s.telling.say("parallelism.sharding", "zero-3", place, "no data_parallel_shard_degree", implied=True)
    if shards and shards > 0 and first:
        s.say("run.replicas", copies * shards, first)
    kept = s.word(("default", "always", "never"), "parallelism.fsdp_reshard_after_forward")
    if kept in ("always", "never"):
        s.say("parallelism.reshard_after_forward", kept == "always", "parallelism.fsdp_reshard_after_forward")
    elif pipeline > 1 and shards != 1:
        s.telling.say(
            "parallelism.reshard_after_forward", False, place, "kept between microbatches of a pipeline", implied=True
        )


def _batch(s: Settings, pipeline: int) -> None:
    """Sequences of one data rank; with a pipeline they are cut into microbatches."""
    local = s.count("training.local_batch_size", "training.batch_size")
    names = ("training.local_batch_size", "training.batch_size")
    micro = s.count(*names_of("pipeline_parallel_microbatch_size"))
    if pipeline > 1:
        s.say("batch.micro_batch_sequences", micro or 1, *names_of("pipeline_parallel_microbatch_size"), *names)
    else:
        s.say("batch.micro_batch_sequences", local, *names)
    total = s.count("training.global_batch_size", least=-1)
    if total and total > 0:
        s.say("batch.global_batch_sequences", total, "training.global_batch_size")
    else:
        s.say("run.replica_batch", local, *names)
    length = s.count("training.seq_len", "training.max_context_length")
    s.say("data.sequence_length", length, "training.seq_len", "training.max_context_length")
    _tokens(s, length, pipeline)
    s.say("run.steps", s.count("training.steps"), "training.steps")


def _tokens(s: Settings, length: int | None, pipeline: int) -> None:
    """The new form counts tokens: of one microbatch on one data rank, and of a step."""
    each = s.count("training.num_tokens_per_microbatch_per_dp_rank")
    total = s.count("training.num_tokens_per_train_step", least=-1)
    times = s.count("parallelism.num_pp_microbatches")
    if length is None:
        return
    for name, value in (("num_tokens_per_microbatch_per_dp_rank", each), ("num_tokens_per_train_step", total)):
        if value and value > 0 and value % length:
            found = s.found[f"training.{name}"]
            s.telling.problems.append(
                f"{found.place}: {found.words}. A multiple of the {length:,} tokens of a sequence is right"
            )
            return
    s.say(
        "batch.micro_batch_sequences",
        each // length if each else None,
        "training.num_tokens_per_microbatch_per_dp_rank",
    )
    if total and total > 0:
        s.say("batch.global_batch_sequences", total // length, "training.num_tokens_per_train_step")
    elif each:
        local = each // length * (times if times and pipeline > 1 else 1)
        s.say("run.replica_batch", local, "training.num_tokens_per_microbatch_per_dp_rank")
