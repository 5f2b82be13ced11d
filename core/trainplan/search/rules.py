"""The rules of a layout on columns: what breaks one is out, counted under the words of the rule.

The rules are those of one plan, asked once for each combination of what they look at. A rule that fails for a part of a layout
counts all its continuations; a layout that breaks several counts under the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd
from typing import Any, Final

from trainplan.budgets import legality as lg
from trainplan.budgets import legality_stages as ls
from trainplan.budgets.layout import Layout, whole
from trainplan.budgets.legality import Rule
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import is_whole
from trainplan.checks.legality import MOST_BUBBLE
from trainplan.figure import Blocked, given
from trainplan.formulas.tokens import microbatches
from trainplan.plan.plan import Plan
from trainplan.search.columns import Chunk, along
from trainplan.search.sieve import Sieve
from trainplan.search.space import CONTEXT, EXPERT, EXPERT_TENSOR, MICRO, PIPELINE, SHARD, TENSOR, VIRTUAL, batches

DATA, MICROBATCHES = "data", "microbatches"

Looks = Mapping[Rule, tuple[str, ...]]
"""Rules in the order in which they are asked, and what each looks at: axes, replicas, microbatches."""

Known = dict[tuple[Rule, tuple[float, ...]], str | None]
"""Answers of rules by what they looked at."""

OF_NUMBERS: Final[Looks] = {
    lg.heads_and_widths: (TENSOR,),
    lg.tensor_domain: (TENSOR,),
    ls.layers_over_stages: (PIPELINE,),
    lg.experts: (EXPERT, EXPERT_TENSOR),
    lg.sequence: (TENSOR, CONTEXT),
    lg.context_heads: (TENSOR, CONTEXT),
}
OF_MESH: Final[Looks] = {lg.expert_mesh: (EXPERT_TENSOR, EXPERT, PIPELINE, TENSOR, CONTEXT, DATA)}
OF_STAGES: Final[Looks] = {ls.chunks: (VIRTUAL, PIPELINE, MICROBATCHES)}
OF_SCHEDULE: Final[Looks] = {
    ls.released_schedule: (VIRTUAL, PIPELINE),
    ls.schedule: (PIPELINE, MICROBATCHES),
}
OF_SHARDING: Final[Looks] = {lg.sharding: (PIPELINE,), lg.shard_group: (CONTEXT, SHARD, DATA)}

MESH: Final = "accelerators not divisible by tensor x pipeline x context"
NO_BATCH: Final = "fewer than 1 microbatch per replica"
BATCH: Final = "global batch not divisible by replicas x micro batch"
NO_PIPELINE: Final = "a schedule without a pipeline, the same as 1f1b"
NO_CHUNKS: Final = "interleaved without virtual stages, the same as 1f1b"
OTHER_CHUNKS: Final = "virtual stages without the interleaved schedule"
IDLE: Final = f"pipeline idle for more than {100 * MOST_BUBBLE:.0f} % of the ideal step, utilization assumed"


def sift_numbers(sieve: Sieve, plan: Plan) -> None:
    """Reject what no schedule and no sharding would make legal."""
    _ask(sieve, plan, OF_NUMBERS, {})
    _meshes(sieve, plan)
    _ask(sieve, plan, OF_MESH, {})
    _whole_batches(sieve, plan)
    _ask(sieve, plan, OF_STAGES, {})


def sift_schedule(sieve: Sieve, plan: Plan, *, forks: bool = True) -> None:
    """Reject what the plan's schedule makes illegal, idle, or the same as another, and without `forks` what only forks have."""
    _twins(sieve, plan.parallelism.schedule)
    _ask(sieve, plan, OF_SCHEDULE, {}, forks=forks)
    if plan.utilization.evidence == "assumed":
        _idle(sieve, plan)


def sift_sharding(sieve: Sieve, plan: Plan, known: Known, *, forks: bool = True) -> None:
    """Reject what the plan's sharding makes illegal, and without `forks` what only forks have.

    `known` are answers for the same sharding under another schedule.
    """
    _ask(sieve, plan, OF_SHARDING, known, forks=forks)


def _ask(sieve: Sieve, plan: Plan, rules: Looks, known: Known, *, forks: bool = True) -> None:
    for rule, names in rules.items():
        if sieve.lives and (SHARD not in names or SHARD in sieve.values):
            sieve.reject(_verdicts(rule, sieve.chunk(plan), names, known, forks))


def _verdicts(rule: Rule, here: Chunk, names: tuple[str, ...], known: Known, forks: bool) -> dict[str, Any]:
    """Rows that break a rule, by reason. Rows whose mesh or batch is impossible are not asked about."""
    import numpy as np

    place, values = np.zeros((1,), dtype=np.int64), list[Any]()
    for name in names:
        column = _column(here, name)
        one, where = np.unique(column, return_inverse=True)
        place = place * len(one) + where.reshape(np.shape(column))
        values.append(one)
    sizes, layout = tuple(len(one) for one in values), _layout(here)
    broken: dict[str, list[int]] = {}
    for index in np.unique(place).tolist():
        row = tuple(float(one[at]) for one, at in zip(values, np.unravel_index(index, sizes), strict=True))
        if (rule, row) not in known:
            known[rule, row] = _reason(rule, layout, names, row, forks)
        reason = known[rule, row]
        if reason is not None:
            broken.setdefault(reason, []).append(index)
    return {reason: np.isin(place, found) for reason, found in broken.items()}


def _column(here: Chunk, name: str) -> Any:
    """One thing that a rule looks at, as a column; nan where it is blocked."""
    known: dict[str, Any] = {DATA: here.mesh.data, MICROBATCHES: here.tokens.microbatches}
    column: Any = known[name] if name in known else here.situation[name]
    return float("nan") if isinstance(column, Blocked) else column


def _layout(here: Chunk) -> Layout:
    """What rules look at, but for the numbers of a row."""
    length = here.tokens.stretches[-1].sequence_length
    return Layout(
        Situation(here.situation.plan), here.model.shape, whole(here.mesh.world_size), None, None, whole(length)
    )


def _reason(rule: Rule, layout: Layout, names: tuple[str, ...], row: tuple[float, ...], forks: bool) -> str | None:
    """The words of the first error that a combination makes of a rule, None where it breaks none."""
    if any(value != value for value in row):  # blocked
        return None
    told = dict(zip(names, row, strict=True))
    data, count = (int(told.pop(name)) if name in told else None for name in (DATA, MICROBATCHES))
    numbers = {path: given(path, value, "1", "the layout", kind="default") for path, value in told.items()}
    asked = replace(layout, situation=layout.situation.replaced(numbers), data=data, microbatches=count)
    out = (found for found in rule(asked) if found.severity == "error" or (found.unreleased and not forks))
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
    """A layout counts once: a pipeline of one rank as 1f1b, virtual stages as interleaved."""
    if schedule != "1f1b":
        sieve.reject({NO_PIPELINE: along(PIPELINE, sieve.values[PIPELINE]) == 1.0})
    virtual = along(VIRTUAL, sieve.values[VIRTUAL])
    if schedule == "interleaved":
        sieve.reject({NO_CHUNKS: virtual == 1.0})
    else:
        sieve.reject({OTHER_CHUNKS: virtual > 1.0})


def _idle(sieve: Sieve, plan: Plan) -> None:
    """P3: a bubble that nobody measured with its utilization."""
    bubble: Any = sieve.chunk(plan).bubble()
    if not isinstance(bubble, Blocked):
        sieve.reject({IDLE: bubble > MOST_BUBBLE})
