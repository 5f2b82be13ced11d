"""Pipeline ranks: which layers each holds, whether it has the embedding or the head, and how many microbatches wait on it.

A search puts the rank as a column; one plan runs the same wiring once for each rank.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import has_table
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_work as f
from trainplan.formulas import pipeline as p
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, given

V_SHAPED: Final = ("zb-v", "dualpipe")
"""Schedules in which the first rank holds both ends of the model."""

LEVEL: Final = ("gpipe", "zb-v", "dualpipe")
"""Schedules that keep as many microbatches on every rank."""

BY_ITSELF: Final = "torchtitan"
"""The framework that spreads layers which do not divide over chunks by itself, the ends a layer less."""

ONE: Final = given("microbatches in flight", 1.0, "1", "no pipeline", kind="default")

MOST_RANKS: Final = 1024
"""Pipeline ranks up to which the ledger is kept; a deeper pipeline is a mistake."""


def most_stages(s: Situation, layers: int) -> int:
    """Stages that have something to hold: torchtitan counts the embedding and the loss as a layer each."""
    return min(layers + 2 if s.plan.training.framework == BY_ITSELF else layers, MOST_RANKS)


@record
class Stage:
    """One pipeline rank. `first` and `last` are 1 where it holds the embedding or the head, else 0."""

    dense_layers: Figure
    expert_layers: Figure
    first: Figure
    last: Figure
    in_flight: Figure


def layer_counts(s: Situation, layers: int) -> tuple[int, ...]:
    """Layers of each pipeline stage: the plan's ends, even, one fewer on both ends, or as even as whole layers allow."""
    stages, parallel = _one(s["parallelism.pipeline"]), s.plan.parallelism
    first, last = parallel.first_stage_layers, parallel.last_stage_layers
    if stages > 1 and (first is not None or last is not None):
        return _with_ends(layers, stages, first, last)
    return _cut(s, layers, stages)


def end_layers(s: Situation, layers: Figure) -> tuple[Figure, Figure, Figure] | None:
    """Layers of the first rank, the most between, and of the last, where the plan or torchtitan says the ends and all is known."""
    ends, pipeline = (
        (s.plan.parallelism.first_stage_layers, s.plan.parallelism.last_stage_layers),
        s["parallelism.pipeline"],
    )
    if _one(pipeline) == 1:
        return None
    if ends == (None, None):
        return _own_ends(s, layers, pipeline)
    if isinstance(layers, Blocked) or _one(pipeline) > MOST_RANKS:
        return None
    counts = layer_counts(s, int(layers))
    between = max(counts[1:-1], default=0)
    return _end("first", counts[0]), _end("fullest", between), _end("last", counts[-1])


@lru_cache(1024)
def _end(name: str, count: int) -> Figure:
    source = "parallelism.first_stage_layers and its kin"
    return given(f"layers of the {name} rank", float(count), "1", source, kind="file")


def _own_ends(s: Situation, layers: Figure, pipeline: Figure) -> tuple[Figure, Figure, Figure] | None:
    """The same where torchtitan cuts chunks by itself, one after the other on the ranks."""
    if s.plan.training.framework != BY_ITSELF or s.plan.parallelism.schedule in V_SHAPED:
        return None
    cut = layers, pipeline, s["parallelism.virtual_pipeline"]
    return p.first_layers(*cut), p.fullest_layers(*cut), p.last_layers(*cut)


def turned_ends(s: Situation, layers: Figure) -> tuple[Figure, Figure, Figure] | None:
    """The same for torchtitan's V, whose first rank has the last chunk as well; None for every other schedule."""
    pipeline = s["parallelism.pipeline"]
    turned = s.plan.training.framework == BY_ITSELF and s.plan.parallelism.schedule == "zb-v"
    if not turned or _one(pipeline) == 1:
        return None
    first = p.turned_first_layers(layers, pipeline)
    return first, p.turned_fullest_layers(layers, pipeline), first


def _one(count: Any) -> int:
    """A figure as a whole number, or the first row of a column: all are the same where ends are given, and none or all are 1."""
    return int(count if isinstance(count, float) else count.flat[0])


def _cut(s: Situation, layers: int, parts: int) -> tuple[int, ...]:
    if s.plan.training.framework == BY_ITSELF and 1 < parts <= layers + 2 and layers % parts:
        return _weighed(layers, parts)
    return _shared(layers, parts)


def _weighed(layers: int, parts: int) -> tuple[int, ...]:
    """Embedding and head a layer each, what is over to the first ones: torchtitan b5bcd76, distributed/pipeline_parallel.py."""
    each, over = divmod(layers + 2, parts)
    counts = [each + (part < over) for part in range(parts)]
    return (counts[0] - 1, *counts[1:-1], counts[-1] - 1)


def _shared(layers: int, parts: int) -> tuple[int, ...]:
    """Even; one fewer on both ends where that makes the rest even, because embedding and head count as a layer each."""
    if parts > 1 and layers % parts and (layers + 2) % parts == 0:
        each = (layers + 2) // parts
        return (each - 1, *(each,) * (parts - 2), each - 1)
    return _even(layers, parts)


@lru_cache(1024)
def _even(layers: int, stages: int) -> tuple[int, ...]:
    return tuple(layers * (rank + 1) // stages - layers * rank // stages for rank in range(stages))


def _with_ends(layers: int, stages: int, first: float | None, last: float | None) -> tuple[int, ...]:
    """The ends as the plan says, the rest even between the others."""
    ends = (0 if first is None else int(first)) + (0 if last is None else int(last))
    free = stages - (first is not None) - (last is not None)
    middle = _even(max(layers - ends, 0), free) if free else ()
    return (*(() if first is None else (int(first),)), *middle, *(() if last is None else (int(last),)))


def chunk_layers(s: Situation, sparse: tuple[bool, ...]) -> list[tuple[int, int]]:
    """Dense and expert layers of each pipeline rank, over all its chunks."""
    counts, turned = _by_chunk(s, len(sparse)), s.plan.parallelism.schedule == "zb-v"
    return list(_over_ranks(sparse, counts, int(s["parallelism.pipeline"]), turned))


@lru_cache(1024)
def _over_ranks(
    sparse: tuple[bool, ...], counts: tuple[int, ...], pipeline: int, turned: bool
) -> tuple[tuple[int, int], ...]:
    before = list(accumulate(sparse, initial=0))
    found = [(0, 0)] * pipeline
    start = 0
    for chunk, count in enumerate(counts):
        first, last = min(start, len(sparse)), min(start + count, len(sparse))
        rank = 2 * pipeline - 1 - chunk if turned and chunk >= pipeline else chunk % pipeline
        experts = before[last] - before[first]
        found[rank] = (found[rank][0] + count - experts, found[rank][1] + experts)
        start += count
    return tuple(found)


def _by_chunk(s: Situation, layers: int) -> tuple[int, ...]:
    """Layers of each chunk. A rank counts no more chunks than can hold a layer, the embedding or the loss: others are empty."""
    pipeline, schedule = int(s["parallelism.pipeline"]), s.plan.parallelism.schedule
    virtual = min(int(s["parallelism.virtual_pipeline"]), -(-(layers + 2) // pipeline))
    if schedule == "zb-v" and pipeline > 1:
        return _cut(s, layers, 2 * pipeline)
    ends = s.plan.parallelism.first_stage_layers, s.plan.parallelism.last_stage_layers
    if virtual > 1 and pipeline > 1 and ends == (None, None):
        return _cut(s, layers, pipeline * virtual)
    return layer_counts(s, layers)


def _mirrored(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """DualPipe: each rank holds its stage and the mirrored one."""
    return [(a + c, b + d) for (a, b), (c, d) in zip(found, reversed(found), strict=True)]


def stages(s: Situation, model: ModelBudget, microbatches: Figure) -> list[Stage]:
    """Every pipeline rank of a plan, from 0.

    Where a schedule keeps as many microbatches on every rank, those that hold the same are one stage.
    """
    schedule = s.plan.parallelism.schedule
    held = _held_by(tuple(held_layers(s, model)), schedule)
    level = schedule in LEVEL
    known: dict[tuple[Figure, ...], Stage] = {}
    found: list[Stage] = []
    for dense, sparse, first, last, place in held:
        same = known.get((dense, sparse, first, last)) if level else None
        if same is None:
            same = Stage(dense, sparse, first, last, in_flight(s, microbatches, place, len(held)))
            known[dense, sparse, first, last] = same
        found.append(same)
    return found


def held_layers(s: Situation, model: ModelBudget) -> list[tuple[int, int]]:
    """Dense and expert layers of every pipeline rank, prediction depths with them."""
    layers = chunk_layers(s, model.shape.sparse)
    dual = s.plan.parallelism.schedule == "dualpipe" and len(layers) > 1
    held = _mirrored(layers) if dual else layers
    held[-1] = _with_prediction(s, model, held[-1])
    return held


def _with_prediction(s: Situation, model: ModelBudget, counts: tuple[int, int]) -> tuple[int, int]:
    """Prediction depths add a block each, of the last layer's kind, on the last rank."""
    if not has_table(s, "mtp"):
        return counts
    depth = int(s["model.mtp.num_nextn_predict_layers"])
    return (counts[0], counts[1] + depth) if model.shape.sparse[-1] else (counts[0] + depth, counts[1])


def holds_ends(schedule: str, rank: int, ranks: int) -> tuple[bool, bool]:
    """Whether a rank holds the embedding, and whether it holds the head."""
    both = schedule == "dualpipe" and ranks > 1
    first, last = rank == 0 or (both and rank == ranks - 1), rank == ranks - 1
    return first, first if schedule in V_SHAPED and ranks > 1 else last


@lru_cache(64)
def _held_by(held: tuple[tuple[int, int], ...], schedule: str) -> tuple[tuple[Figure, ...], ...]:
    """What each rank holds, as the first fields of `Stage`, and its place; the same in every plan with such a pipeline."""
    found: list[tuple[Figure, ...]] = []
    for rank, (dense, sparse) in enumerate(held):
        first, last = holds_ends(schedule, rank, len(held))
        told = {
            f"dense layers of rank {rank}": dense,
            f"expert layers of rank {rank}": sparse,
            f"rank {rank} holds the embedding": first,
            f"rank {rank} holds the head": last,
            "pipeline rank": rank,
        }
        source = "layers over the pipeline ranks"
        found.append(tuple([given(name, float(one), "1", source, kind="default") for name, one in told.items()]))
    return tuple(found)


def in_flight(s: Situation, microbatches: Figure, rank: Figure, ranks: int) -> Figure:
    """Microbatches whose activations a rank holds at once, by schedule."""
    if ranks == 1:
        return ONE
    stages, schedule = s["parallelism.pipeline"], s.plan.parallelism.schedule
    if schedule == "gpipe":
        return microbatches
    if schedule == "zb-h2":
        return f.twice_in_flight(microbatches, stages, rank)
    if schedule == "zb-v":
        return f.level_in_flight(microbatches, stages)
    if schedule == "dualpipe":
        return f.dual_in_flight(microbatches, stages)
    return f.one_forward_one_backward(microbatches, stages, s["parallelism.virtual_pipeline"], rank)
