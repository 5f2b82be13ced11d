"""The rules of a layout on columns: what breaks one is out, counted under the words of the rule.

The rules are those of one plan, asked once in a search for each combination of what they look at. A rule that fails for a part of
a layout counts all its continuations; a layout that breaks several counts under the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd, prod
from typing import Any, Final

from trainplan.budgets.layout import Layout, whole
from trainplan.budgets.legality import context as lc
from trainplan.budgets.legality import experts as le
from trainplan.budgets.legality import fp8 as lf
from trainplan.budgets.legality import heads as lh
from trainplan.budgets.legality import released as lr
from trainplan.budgets.legality import rules as lg
from trainplan.budgets.legality import stages as ls
from trainplan.budgets.legality.rules import Rule
from trainplan.budgets.pipeline import SPLIT, schedule_bubble
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import is_whole
from trainplan.checks.legality import MOST_BUBBLE
from trainplan.formulas.tokens import microbatches
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, given
from trainplan.search.columns import Chunk, along, chunk
from trainplan.search.pieces import Piece
from trainplan.search.sieve import Sieve
from trainplan.search.space import (
    CONTEXT,
    EXPERT,
    EXPERT_TENSOR,
    MICRO,
    PIPELINE,
    SHARD,
    TENSOR,
    VIRTUAL,
    batches,
    keeps_gathered,
)

DATA, MICROBATCHES, RANKS = "data", "microbatches", "data x context"

SCHEDULE, SHARDING = ("schedule",), ("sharding",)
ENDS = ("first_stage_layers", "last_stage_layers")

Looks = Mapping[Rule, tuple[str | tuple[str, ...], ...]]
"""Rules in the order in which they are asked, and what each looks at: axes, replicas, microbatches; words in a tuple."""

Known = dict[tuple[Rule, tuple[object, ...], tuple[float, ...]], str | None]
"""Answers of rules by the words, the length and the numbers that they looked at, in one search."""

Words = frozenset[str]
"""Schedules, shardings, ranks and exchanges that a search lets in although only forks of the framework have them."""

OF_NUMBERS: Final[Looks] = {
    lh.heads_and_widths: (TENSOR,),
    lg.tensor_domain: (TENSOR,),
    lg.experts: (EXPERT, EXPERT_TENSOR),
    lc.sequence: (TENSOR, CONTEXT, MICRO),
    lc.context_heads: (TENSOR, CONTEXT),
    lc.context_kernel: (CONTEXT,),
    lc.balanced_ring: (CONTEXT,),
    le.expert_sequence: (TENSOR,),
    lr.windows_in_ring: (CONTEXT,),
    lf.fp8_sizes: (TENSOR, EXPERT_TENSOR),
    lf.fp8_tokens: (TENSOR, CONTEXT, MICRO),
    lr.own_ranks: (TENSOR, CONTEXT, EXPERT),
    lr.exchange: (CONTEXT,),
    le.tensor_in_experts: (TENSOR, EXPERT, EXPERT_TENSOR),
}
OF_MESH: Final[Looks] = {
    lg.second_mesh: (EXPERT_TENSOR, EXPERT, PIPELINE),
    lg.one_mesh: (EXPERT_TENSOR, EXPERT, TENSOR, RANKS),
    le.split_experts: (EXPERT_TENSOR, EXPERT, TENSOR, DATA),
}
OF_STAGES: Final[Looks] = {
    ls.layers_over_stages: (ENDS, PIPELINE),
    ls.chunks: (VIRTUAL, PIPELINE, MICROBATCHES),
    lr.uneven_chunks: (ENDS, VIRTUAL, PIPELINE),
    lr.even_stages: (ENDS, VIRTUAL, PIPELINE, MICROBATCHES),
    lr.beside_stages: (PIPELINE,),
    lr.offloaded_stages: (PIPELINE,),
    lr.tied_stages: (PIPELINE,),
    lr.prediction_alone: (PIPELINE, CONTEXT),
    lf.accumulated_fp8: (PIPELINE, MICROBATCHES),
}
OF_SCHEDULE: Final[Looks] = {
    ls.released_schedule: (SCHEDULE, VIRTUAL, PIPELINE),
    ls.schedule: (SCHEDULE, PIPELINE, MICROBATCHES),
    ls.filled_stages: (SCHEDULE, VIRTUAL, PIPELINE, MICROBATCHES),
    lr.fixed_chunks: (SCHEDULE, VIRTUAL),
}
OF_SHARDING: Final[Looks] = {
    lg.sharding: (SHARDING, PIPELINE),
    lg.shard_group: (SHARDING, SHARD, RANKS),
    le.sharded_experts: (SHARDING, EXPERT, EXPERT_TENSOR, TENSOR, CONTEXT, PIPELINE),
    le.experts_in_group: (SHARDING, SHARD, EXPERT, TENSOR),
    le.replicated_experts: (SHARDING, EXPERT, TENSOR, CONTEXT),
    le.replicated_groups: (SHARDING, SHARD, EXPERT, EXPERT_TENSOR, PIPELINE, RANKS),
    lr.sequence_groups: (SHARDING, CONTEXT),
    lr.group_of_one: (SHARDING, SHARD, DATA),
    lr.shared_states: (SHARDING,),
}

MESH: Final = "accelerators not divisible by tensor x pipeline x context"
NO_BATCH: Final = "fewer than 1 microbatch per replica"
BATCH: Final = "global batch not divisible by replicas x micro batch"
NO_PIPELINE: Final = "a schedule without a pipeline, the same as 1f1b"
NO_CHUNKS: Final = "interleaved without virtual stages, the same as 1f1b"
OTHER_CHUNKS: Final = "virtual stages without the interleaved schedule"
ONE_GROUP: Final = "hsdp of one group, the same as zero-3"
STAYS: Final = "zero-3 whose gathered weights stay over a pipeline, the same as zero-2"
IDLE: Final = f"pipeline idle for more than {100 * MOST_BUBBLE:.0f} % of the ideal step, utilization assumed"


def sift_numbers(sieve: Sieve, plan: Plan, known: Known, let_in: Words) -> None:
    """Reject what no cut, schedule or sharding would make legal; `known` are answers of this search so far."""
    _ask(sieve, plan, OF_NUMBERS, known, let_in)
    _meshes(sieve, plan)
    _ask(sieve, plan, OF_MESH, known)
    _whole_batches(sieve, plan)


def sift_stages(sieve: Sieve, plan: Plan, known: Known) -> None:
    """Reject what the plan's cut of the pipeline makes illegal."""
    _ask(sieve, plan, OF_STAGES, known)


def sift_schedule(sieve: Sieve, plan: Plan, known: Known, let_in: Words) -> None:
    """Reject what the plan's schedule makes illegal, idle, or the same as another, and what only forks have but for `let_in`.

    1f1b stands for interleaved too: which of the two a row is, its virtual stages say.
    """
    _twins(sieve, plan.parallelism.schedule)
    _ask(sieve, plan, OF_SCHEDULE, known, let_in)
    if plan.utilization.evidence == "assumed":
        _idle(sieve, plan)


def sift_sharding(sieve: Sieve, plan: Plan, known: Known, let_in: Words) -> None:
    """Reject what the plan's sharding makes illegal or the same as another, and what only forks have but for `let_in`."""
    _ask(sieve, plan, OF_SHARDING, known, let_in)
    if plan.parallelism.sharding == "hsdp" and sieve.lives:
        sieve.reject({ONE_GROUP: _column(sieve.chunk(plan), RANKS) == along(SHARD, sieve.values[SHARD])})
    if keeps_gathered(plan) and sieve.lives:
        sieve.reject({STAYS: along(PIPELINE, sieve.values[PIPELINE]) > 1.0})


def _ask(sieve: Sieve, plan: Plan, rules: Looks, known: Known, let_in: Words = frozenset()) -> None:
    for rule, looks in rules.items():
        if sieve.lives and (SHARD not in looks or SHARD in sieve.values):
            words = tuple(getattr(plan.parallelism, name) for look in looks if isinstance(look, tuple) for name in look)
            names = tuple(look for look in looks if isinstance(look, str))
            for place in sieve.chunk(plan).ruled():
                if sieve.lives:
                    sieve.reject(_verdicts(rule, words, sieve.chunk(plan), names, known, let_in, place))


def _verdicts(
    rule: Rule,
    words: tuple[object, ...],
    here: Chunk,
    names: tuple[str, ...],
    known: Known,
    let_in: Words,
    stretch: int,
) -> dict[str, Any]:
    """Rows that break a rule in a stretch of the run, by reason. Rows whose mesh or batch is impossible are not asked about."""
    import numpy as np

    place, values = _places(here, names, stretch)
    layout, reasons = _layout(here, stretch), list[str]()
    length = float(layout.sequence_length or 0)
    of_place = np.zeros(prod(len(one) for one in values), dtype=np.uint8)
    for index in _present(place, len(of_place)):
        where = np.unravel_index(index, [len(one) for one in values])
        row = tuple(float(one[at]) for one, at in zip(values, where, strict=True))
        asked = (rule, words, (length, *row))
        if asked not in known:
            known[asked] = _reason(rule, layout, names, row, let_in)
        reason = known[asked]
        if reason is not None:
            if reason not in reasons:
                reasons.append(reason)
            of_place[index] = reasons.index(reason) + 1
    told = of_place[place]
    return {reason: told == number for number, reason in enumerate(reasons, 1)}


def _places(here: Chunk, names: tuple[str, ...], stretch: int) -> tuple[Any, list[Any]]:
    """The place of each row in the grid of all values that a rule looks at, and these values."""
    import numpy as np

    place, values = np.zeros((1,), dtype=np.int64), list[Any]()
    for name in names:
        column = _column(here, name, stretch)
        one, where = np.unique(column, return_inverse=True)
        place = place * len(one) + where.reshape(np.shape(column))
        values.append(one)
    return place, values


def _present(place: Any, count: int) -> list[int]:
    """The places that some row has."""
    import numpy as np

    seen = np.zeros(count, dtype=bool)
    seen[place.reshape(-1)] = True
    return np.flatnonzero(seen).tolist()


def _column(here: Chunk, name: str, stretch: int | None = None) -> Any:
    """One thing that a rule looks at in a stretch, as a column; nan where it is blocked."""
    if name == RANKS:
        return _column(here, DATA) * _column(here, CONTEXT)
    told = {DATA: lambda: here.mesh.data, MICROBATCHES: lambda: here.microbatches(stretch)}
    column: Any = told[name]() if name in told else here.situation[name]
    return float("nan") if isinstance(column, Blocked) else column


def _layout(here: Chunk, stretch: int) -> Layout:
    """What rules look at in a stretch, but for the numbers of a row."""
    length = here.tokens.stretches[stretch].sequence_length
    return Layout(
        Situation(here.situation.plan), here.model.shape, whole(here.mesh.world_size), None, None, whole(length)
    )


def _reason(rule: Rule, layout: Layout, names: tuple[str, ...], row: tuple[float, ...], let_in: Words) -> str | None:
    """The words of the first error that a combination makes of a rule, None where it breaks none."""
    if any(value != value for value in row):  # blocked
        return None
    told = dict(zip(names, row, strict=True))
    if RANKS in told:
        told |= {DATA: told.pop(RANKS), CONTEXT: 1.0}
    data, count = (int(told.pop(name)) if name in told else None for name in (DATA, MICROBATCHES))
    numbers = {path: given(path, value, "1", "the layout", kind="default") for path, value in told.items()}
    asked = replace(layout, situation=layout.situation.replaced(numbers), data=data, microbatches=count)
    out = (found for found in rule(asked) if found.severity == "error" or found.unreleased not in {None, *let_in})
    return next((found.reason for found in out), None)


def _meshes(sieve: Sieve, plan: Plan) -> None:
    """G1: whole replicas."""
    import numpy as np

    data: Any = sieve.chunk(plan).mesh.data
    if not isinstance(data, Blocked):
        sieve.reject({MESH: np.isnan(data)})


def _whole_batches(sieve: Sieve, plan: Plan) -> None:
    """G2: every batch of the plan divides over replicas x micro batch."""
    data, counts = sieve.chunk(plan).mesh.data, batches(plan)
    if not counts or isinstance(data, Blocked) or not sieve.lives:
        return
    micro: Any = along(MICRO, sieve.values[MICRO])
    least: Any = microbatches(min(counts), micro, data)
    every: Any = is_whole(microbatches(gcd(*counts), micro, data))
    sieve.reject({NO_BATCH: ~every & (least < 1.0), BATCH: ~every})


def _twins(sieve: Sieve, schedule: str) -> None:
    """A layout counts once: a pipeline of one rank as 1f1b, virtual stages as interleaved, and none as 1f1b."""
    alone = along(PIPELINE, sieve.values[PIPELINE]) == 1.0
    chunks = along(VIRTUAL, sieve.values[VIRTUAL]) > 1.0
    if schedule == "1f1b":  # each row is one of the two, and the other of them is out
        for reason, rows in {OTHER_CHUNKS: chunks, NO_PIPELINE: ~chunks & alone, NO_CHUNKS: ~chunks & ~alone}.items():
            sieve.count(reason, rows)
    else:
        sieve.reject({NO_PIPELINE: alone, OTHER_CHUNKS: chunks})


def _idle(sieve: Sieve, plan: Plan) -> None:
    """P3: a bubble that nobody measured with its utilization; what recompute adds to it is known of pieces alone."""
    here = sieve.chunk(plan)
    bubble: Any = here.run_bubble(schedule_bubble)
    if not isinstance(bubble, Blocked):
        sieve.reject({IDLE: bubble > MOST_BUBBLE})


def without_idle(plan: Plan, piece: Piece, sieve: Sieve) -> Piece:
    """The same of a piece, whose layouts differ in recompute: what is computed again keeps a split backward waiting."""
    import numpy as np

    if plan.utilization.evidence != "assumed" or plan.parallelism.schedule not in SPLIT:
        return piece
    bubble: Any = chunk(plan, piece.columns(), sieve.models).run_bubble()
    if isinstance(bubble, Blocked):
        return piece
    out = piece.alive & (bubble > MOST_BUBBLE)
    sieve.note(IDLE, int(np.count_nonzero(out)))
    return replace(piece, alive=piece.alive & ~out)
