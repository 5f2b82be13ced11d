"""Which pipeline schedules and shardings the released code of each framework has, and the nearest of them to one that it has not.

Forks have more: what is not here is no error. It does not say what a schedule or a sharding needs; the rules beside it do.
"""

from __future__ import annotations

from typing import Final

from trainplan.frozen import frozen


@frozen
class Released:
    """What one framework has of one kind, by the words of the plan format, and where that was read."""

    name: str
    words: tuple[str, ...]
    source: str
    verified: bool = True


SCHEDULES: Final[dict[str, Released]] = {
    "megatron": Released(
        "Megatron-LM",
        ("1f1b", "interleaved"),
        "Megatron-LM d98e8a6 (core 0.20.0), core/pipeline_parallel/schedules.py: get_forward_backward_func; combined_1f1b.py "
        "overlaps experts' transfers in the same two",
    ),
    "deepspeed": Released(
        "DeepSpeed",
        ("1f1b",),
        "DeepSpeed edaa722 (0.19.6), runtime/pipe/engine.py: train_batch runs TrainSchedule, synchronous 1F1B",
    ),
    "torchtitan": Released(
        "torchtitan",
        ("gpipe", "1f1b", "interleaved", "zb-v"),
        "torchtitan b5bcd76, distributed/pipeline_parallel.py, and PyTorch 00722e6, distributed/pipelining/schedules.py: GPipe, "
        "1F1B, Interleaved1F1B, ZBVZeroBubble. LoopedBFS, InterleavedZeroBubble and DualPipeV (half of DualPipe, one copy of "
        "the weights) have no word in the plan format",
    ),
    "fsdp": Released("FSDP", (), "PyTorch 0aafd81, distributed/fsdp/api.py: it shards data ranks and has no pipeline"),
    "maxtext": Released(
        "MaxText",
        ("gpipe", "interleaved"),
        "MaxText e591f30, docs/guides/optimization/sharding.md: only gPipe and circular pipelines; base.yml: circular idles as "
        "interleaved does",
    ),
}
"""Schedules by framework; none where it has no pipeline."""

SHARDINGS: Final[dict[str, Released]] = {
    "megatron": Released(
        "Megatron-LM",
        ("none", "zero-1", "zero-2", "zero-3", "hsdp"),
        "Megatron-LM d98e8a6, docs/user-guide/features/megatron_fsdp.md: no_shard, optim, optim_grads, optim_grads_params, HSDP",
    ),
    "deepspeed": Released(
        "DeepSpeed",
        ("none", "zero-1", "zero-2", "zero-3", "hsdp"),
        "DeepSpeed edaa722, runtime/zero/config.py: stages 0 to 3, and mics_shard_size, which shards inside a group",
    ),
    "torchtitan": Released(
        "torchtitan",
        ("none", "zero-2", "zero-3", "hsdp"),
        "torchtitan b5bcd76, config/configs.py: data_parallel_shard_degree and data_parallel_replicate_degree, "
        "fsdp_reshard_after_forward",
    ),
    "fsdp": Released(
        "FSDP",
        ("none", "zero-2", "zero-3", "hsdp"),
        "PyTorch 0aafd81, distributed/fsdp/api.py: NO_SHARD, SHARD_GRAD_OP, FULL_SHARD, HYBRID_SHARD",
    ),
    "maxtext": Released(
        "MaxText",
        ("none", "zero-1", "zero-3", "hsdp"),
        "MaxText e591f30, configs/base.yml: data and fsdp axes inside and across slices, shard_optimizer_over_data",
    ),
}
"""Shardings by framework."""

EXCHANGES: Final[dict[str, Released]] = {
    "megatron": Released(
        "Megatron-LM",
        ("ring", "all-to-all"),
        "Megatron-LM d98e8a6, core/transformer/transformer_config.py: cp_comm_type p2p, all_gather, a2a, a2a+p2p",
    ),
    "deepspeed": Released(
        "DeepSpeed",
        ("all-to-all",),
        "DeepSpeed edaa722, sequence/layer.py: Ulysses' all-to-all; no ring in the repository",
    ),
    "torchtitan": Released(
        "torchtitan",
        ("ring",),
        "torchtitan b5bcd76, distributed/context_parallel/api.py: keys and values are exchanged, heads stay",
    ),
    "fsdp": Released(
        "FSDP", (), "PyTorch 0aafd81, distributed/fsdp/api.py: it shards data ranks and has no context ranks"
    ),
    "maxtext": Released(
        "MaxText",
        ("ring", "all-to-all"),
        "MaxText e591f30, configs/types.py: context_parallel_strategy all_gather, ring, ulysses, usp",
    ),
}
"""How context ranks exchange keys, by framework; none where it has no such ranks."""

NEAREST: Final[dict[str, tuple[str, ...]]] = {
    "gpipe": ("1f1b",),
    "1f1b": ("gpipe",),
    "interleaved": ("1f1b",),
    "zb-h1": ("zb-v", "1f1b", "gpipe"),
    "zb-h2": ("zb-v", "1f1b", "gpipe"),
    "zb-v": ("interleaved", "1f1b", "gpipe"),
    "dualpipe": ("zb-v", "interleaved", "1f1b", "gpipe"),
    "zero-1": ("zero-2",),
    "zero-2": ("zero-1",),
}
"""What stands in for a word, nearest first: schedules by idle time, shardings by memory."""


LEFT_OUT: Final = "released code has not"
"""How a search's reason ends where only forks have the layout."""


def left_out(kind: str, has: Released) -> str:
    """The reason by which a search counts what only forks of a framework have."""
    return f"{kind} that {has.name}'s {LEFT_OUT}"


def used_schedule(schedule: str, virtual: float) -> str:
    """The schedule that runs: virtual stages of 1f1b are interleaved, and interleaved without them is 1f1b."""
    if schedule in ("1f1b", "interleaved"):
        return "interleaved" if virtual > 1 else "1f1b"
    return schedule


def nearest_word(word: str, has: Released) -> str | None:
    """The word that stands in for another in a framework, None where it has none."""
    return next((one for one in NEAREST.get(word, ()) if one in has.words), None)


def nearest_schedule(word: str, has: Released, virtual: float) -> str:
    """The schedule that stands in for another with so many virtual stages; where none runs with them, what to set besides."""
    near = (*NEAREST.get(word, ()), *has.words)
    runs = next((one for one in near if used_schedule(one, virtual) in has.words), None)
    if runs is not None:
        return used_schedule(runs, virtual)
    return f'schedule = "{nearest_word(word, has) or has.words[0]}" and virtual_pipeline = 1'
