"""The memory ledger on columns of layouts: the same ranks and instants as for one plan, with the rank as first axis.

Ranks that hold the same parts are one: the first of them keeps the most microbatches. It says the worst rank's total and no
more; where that total comes from is what the ledger of the plan itself says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainplan.budgets.memory.budget import common_parts, no_ledger, visible
from trainplan.budgets.memory.instants import rank_instants, reserved
from trainplan.budgets.memory.stages import Stage, held_layers, holds_ends, in_flight
from trainplan.budgets.memory.states import states
from trainplan.budgets.memory.work import work
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, TokenBudget, longest
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, blocked, given, total

Rank = tuple[float, float, float, float, float]
"""Dense layers, expert layers, 1 with the embedding, 1 with the head, and the rank itself."""

MOST_KNOWN: Final = 4096
"""Pipelines whose ranks are remembered."""


@record
class Peak:
    """Bytes on the worst rank: what the driver shows, and states alone."""

    total: Any
    states: Any


def memory_peak(s: Situation, model: ModelBudget, mesh: MeshBudget, tokens: TokenBudget) -> Peak:
    """The worst rank's total on every row, nan where the mesh is impossible; blocked where a field is missing."""
    inside, microbatches = longest(tokens, s, mesh.data)
    reason = no_ledger(inside, model, mesh, microbatches)
    if reason is not None:
        return Peak(blocked(reason, "bytes"), blocked(reason, "bytes"))
    common = common_parts(inside, model, mesh, microbatches)
    stage = _stage(inside, model, microbatches)
    kept = states(stage, common.parts, common.recipe)
    extra = work(inside, model, stage, common.parts, common.recipe, common.layers, common.cut)
    instants = rank_instants(inside, common, stage, kept, extra)
    shown = visible(inside, _worst(reserved(inside, instants)))
    return Peak(shown, _worst(total(weights=kept.weights, gradients=kept.gradients, optimizer=kept.optimizer)))


def _worst(column: Any) -> Any:
    """The largest over the ranks, which are the first axis."""
    return column.max(axis=0)


def _stage(s: Situation, model: ModelBudget, microbatches: Figure) -> Stage:
    """The pipeline ranks of every row as one stage, whose numbers have the rank as first axis."""
    import numpy as np

    pipelines, chunks = np.broadcast_arrays(s["parallelism.pipeline"], s["parallelism.virtual_pipeline"])
    places = zip(pipelines.ravel().tolist(), chunks.ravel().tolist(), strict=True)
    ranks = [_ranks(s, model, pipeline, virtual) for pipeline, virtual in places]
    most = max(len(one) for one in ranks)
    table = np.array([one + one[-1:] * (most - len(one)) for one in ranks])  # place x rank x number
    dense, sparse, first, last, rank = np.moveaxis(table, 0, -1).transpose(1, 0, 2).reshape(5, most, *pipelines.shape)
    depth = 1 if pipelines.max() == 1.0 else 2  # rows with a pipeline and rows without one come in chunks of their own
    return Stage(dense, sparse, first, last, in_flight(s, microbatches, rank, depth))


_KNOWN: dict[tuple[object, ...], list[Rank]] = {}
"""Ranks by everything that decides them; a search asks for the same ones in every chunk."""


def _ranks(s: Situation, model: ModelBudget, pipeline: float, virtual: float) -> list[Rank]:
    """The first rank of each kind, of one pipeline."""
    parallel, depths = s.plan.parallelism, s.value("model.mtp.num_nextn_predict_layers")
    ends = parallel.first_stage_layers, parallel.last_stage_layers
    key = (s.plan.training.framework, model.shape.sparse, depths, parallel.schedule, *ends, pipeline, virtual)
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = list(_distinct(s, model, pipeline, virtual))
    return found


def _distinct(s: Situation, model: ModelBudget, pipeline: float, virtual: float) -> Iterator[Rank]:
    """Each rank that holds other parts than those before it."""
    here = s.replaced({"parallelism.pipeline": _count(pipeline), "parallelism.virtual_pipeline": _count(virtual)})
    held = held_layers(here, model)
    seen: set[tuple[float, ...]] = set()
    for rank, counts in enumerate(held):
        first, last = holds_ends(s.plan.parallelism.schedule, rank, len(held))
        key = (float(counts[0]), float(counts[1]), float(first), float(last))
        if key not in seen:
            seen.add(key)
            yield *key, float(rank)


def _count(value: float) -> Figure:
    return given("pipeline ranks or chunks", value, "1", "the layout", kind="default")
