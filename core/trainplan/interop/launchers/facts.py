"""What follows from what launch files say: nodes from a world size, tokens from steps, shardings from stages and copies.

Definitions alone: world = tensor x pipeline x context x data; batch = micro x accumulation x data (DeepSpeed's
docs/_pages/config-json.md; Megatron-LM training/arguments.py). What contradicts them is a problem that names both places.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.interop.launchers.telling import Said, Telling

_DEGREES: Final = ("tensor", "pipeline", "context")
_STAGES: Final = ("none", "zero-1", "zero-2", "zero-3")


def settle(t: Telling) -> None:
    """Fill plan paths from the facts under `run.`; what cannot follow is left out."""
    _vocabulary(t)
    _stage(t)
    _world(t)
    _batch(t)
    _groups(t)
    _tokens(t)


def follow(t: Telling, path: str, value: Any, *origins: str) -> None:
    """A value that follows from others: it stands where the first of them stands, in the words of all."""
    said = [t.said[origin] for origin in origins if origin in t.said]
    if said and path not in t.said:
        words = ", ".join(dict.fromkeys(one.words for one in said))
        t.say(path, value, said[0].place, words, implied=all(one.implied for one in said))


def whole(t: Telling, path: str) -> int | None:
    """A whole number that is said; None else."""
    value = t.value(path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _vocabulary(t: Telling) -> None:
    """A padded vocabulary stands for the model's own where no file says that; without either the tokenizer has it."""
    padded = whole(t, "run.padded_vocabulary")
    if "model.vocab_size" in t.said:
        return
    if padded:
        place = t.said["run.padded_vocabulary"].place
        t.notes.append(f"{place}: the vocabulary of {padded:,} is the padded one; the tokenizer's own is no larger")
        follow(t, "model.vocab_size", padded, "run.padded_vocabulary")
    elif "run.no_vocabulary" in t.said:
        place = t.said["run.no_vocabulary"].place
        t.notes.append(f"{place}: no --vocab-size: the tokenizer says it, which is not read; left out")


def _stage(t: Telling) -> None:
    stage = whole(t, "run.zero_stage")
    if stage is None or not 0 <= stage < len(_STAGES):
        return
    sharding = _STAGES[stage]
    kept = t.value("training.gradient_dtype") == "fp32" or (whole(t, "parallelism.pipeline") or 1) > 1
    if stage == 0 and kept and t.value("training.precision") == "bf16-mixed":
        t.notes.append(
            f"{t.said['run.zero_stage'].place}: stage 0 with bf16 and a pipeline, or gradients in fp32, shards optimizer "
            "states all the same (DeepSpeed edaa722, runtime/engine.py, bf16_optimizer.py): parallelism.sharding is zero-1"
        )
        sharding = "zero-1"
    follow(t, "parallelism.sharding", sharding, "run.zero_stage")


def _model_ranks(t: Telling) -> int:
    """Accelerators of one replica, in ranks that do not share its data."""
    ranks = 1
    for name in _DEGREES:
        ranks *= whole(t, f"parallelism.{name}") or 1
    return ranks


def _world(t: Telling) -> None:
    """Nodes, accelerators of a node and the world: any two give the third."""
    _replicas(t)
    if "cluster.accelerators_per_node" not in t.said and (whole(t, "run.tasks_per_node") or 1) > 1:
        follow(t, "cluster.accelerators_per_node", whole(t, "run.tasks_per_node"), "run.tasks_per_node")
    nodes, each = whole(t, "cluster.nodes"), whole(t, "cluster.accelerators_per_node")
    world = whole(t, "run.world_size")
    if nodes and each:
        follow(t, "run.world_size", nodes * each, "cluster.nodes", "cluster.accelerators_per_node")
        if world and world != nodes * each:
            _differ(
                t, "run.world_size", f"{nodes:,} nodes of {each:,} are {nodes * each:,} accelerators", "cluster.nodes"
            )
    elif world and each:
        if world % each:
            _differ(t, "run.world_size", f"{each:,} on a node do not divide it", "cluster.accelerators_per_node")
            return
        follow(t, "cluster.nodes", world // each, "run.world_size", "cluster.accelerators_per_node")
    elif world and nodes and not world % nodes:
        follow(t, "cluster.accelerators_per_node", world // nodes, "run.world_size", "cluster.nodes")
    elif world:
        place = t.said["run.world_size"].place
        t.notes.append(f"{place}: {world:,} accelerators in all; on how many nodes is not said. Set cluster.nodes")


def _replicas(t: Telling) -> None:
    """The world from DeepSpeed's three numbers, or from a data-parallel degree."""
    total, micro, times = (whole(t, f"{path}") for path in (*_DEEP, "run.accumulation"))
    if total and micro and times and "run.replicas" not in t.said and "run.shared_batch" in t.said:
        if total % (micro * times):
            _differ(
                t,
                "batch.global_batch_sequences",
                f"{micro:,} x {times:,} sequences do not divide it",
                "run.accumulation",
            )
            return
        follow(t, "run.replicas", total // (micro * times), *_DEEP, "run.accumulation")
    replicas = whole(t, "run.replicas")
    if replicas:
        follow(t, "run.world_size", replicas * _model_ranks(t), "run.replicas")


_DEEP: Final = ("batch.global_batch_sequences", "batch.micro_batch_sequences")


def _differ(t: Telling, path: str, why: str, other: str) -> None:
    one, two = t.said[path], t.said[other]
    t.problems.append(f"{one.place}: {one.words}: {why} ({two.words} at {two.place}). One of them is right")


def _batch(t: Telling) -> None:
    """A batch that is not said: what all replicas compute at a time, once or as often as gradients are accumulated."""
    if "batch.global_batch_sequences" in t.said:
        return
    world, micro = whole(t, "run.world_size"), whole(t, "batch.micro_batch_sequences")
    times = whole(t, "run.accumulation") or (1 if t.value("run.one_microbatch") else None)
    ranks, local = _model_ranks(t), whole(t, "run.replica_batch")
    if world and local and not world % ranks:
        follow(t, "batch.global_batch_sequences", world // ranks * local, "run.replica_batch", "run.world_size")
    elif world and micro and times and not world % ranks:
        origins = ("batch.micro_batch_sequences", "run.accumulation", "run.one_microbatch", "run.world_size")
        follow(t, "batch.global_batch_sequences", world // ranks * micro * times, *origins)


def _groups(t: Telling) -> None:
    """Groups of hsdp from the copies of them: ranks that share no data are sharded too where a context is split."""
    copies, world = whole(t, "run.shard_copies"), whole(t, "run.world_size")
    if copies is None or "parallelism.shard_size" in t.said:
        return
    ranks = world // (_model_ranks(t) // (whole(t, "parallelism.context") or 1)) if world else None
    if ranks and not ranks % copies:
        follow(t, "parallelism.shard_size", ranks // copies, "run.shard_copies")


def _tokens(t: Telling) -> None:
    if "data.train_tokens" in t.said:
        return
    length, samples, steps = whole(t, "data.sequence_length"), whole(t, "run.samples"), whole(t, "run.steps")
    if whole(t, "run.tokens"):
        follow(t, "data.train_tokens", whole(t, "run.tokens"), "run.tokens")
    elif samples and length:
        follow(t, "data.train_tokens", samples * length, "run.samples", "data.sequence_length")
    elif steps and length and whole(t, "batch.global_batch_sequences"):
        origins = ("run.steps", "batch.global_batch_sequences", "data.sequence_length")
        follow(t, "data.train_tokens", _consumed(t, steps, length), *origins)
    elif steps:
        t.notes.append(
            f"{t.said['run.steps'].place}: {steps:,} steps of a batch or length that is not said; data.train_tokens is left out"
        )


def _consumed(t: Telling, steps: int, length: int) -> int:
    """Tokens of so many steps; a step begins with the batch of the tokens before it."""
    entries: Any = t.value("batch.schedule")
    if not entries:
        return steps * int(t.value("batch.global_batch_sequences")) * length
    tokens = 0
    for entry, after in zip(entries, [*entries[1:], None], strict=True):
        size = entry["global_batch_sequences"] * length
        due = steps if after is None else max(0, -((tokens - after["from_tokens"]) // size))
        taken = min(steps, due)
        tokens, steps = tokens + taken * size, steps - taken
    return tokens


def plan_paths(t: Telling) -> dict[str, Said]:
    """What is said of plan fields, facts left out."""
    return {path: said for path, said in t.said.items() if not path.startswith("run.")}
