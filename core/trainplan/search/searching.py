"""Every legal layout of a plan's cluster, in chunks: rules first, then memory, then time.

Made for a thread of its own: each step of the iteration is a few milliseconds, tells what is done, and can be the last. Memory
is bounded by a chunk and the few layouts that are kept. The plan's global batch stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainplan.plan.plan import Plan
from trainplan.search.pieces import NUMBERS, Piece, pieces
from trainplan.search.ranking import Rows
from trainplan.search.rules import Known, sift_numbers, sift_schedule, sift_sharding, sift_stages, without_idle
from trainplan.search.sieve import CUT, Sieve, everything
from trainplan.search.space import (
    GROUPS,
    PIPELINE,
    RECOMPUTES,
    SCHEDULES,
    SHARD,
    SHARDINGS,
    Space,
    Stages,
    fields_of,
    space,
)

if TYPE_CHECKING:
    from trainplan.search.judging import Judge


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One layout that fits: its fields by path, seconds of a step, bytes sent in it, bytes on the worst rank."""

    fields: Mapping[str, Any]
    step: float
    sent: float
    memory: float
    above_target: bool


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What is known so far: how many were considered, settled, legal and fitting, why others were rejected, and the best.

    `usable` and `target` are bytes, nan where nothing says them; `nearest` is the legal layout that needs least memory.
    """

    space: Space
    settled: int
    legal: int
    fitting: int
    rejected: Mapping[str, int]
    usable: float
    target: float
    nearest: Rows
    fastest: Rows
    leanest: Rows
    front: Rows
    groups: tuple[Plan, ...]

    @property
    def considered(self) -> int:
        """Every combination of the swept fields."""
        return self.space.considered

    def layouts(self, rows: Rows) -> tuple[Found, ...]:
        """Rows as layouts with their fields."""
        told = zip(rows.step.tolist(), rows.sent.tolist(), rows.memory.tolist(), rows.above.tolist(), strict=True)
        return tuple(Found(self._fields(rows, place), *row) for place, row in enumerate(told))

    def best(self, order: str = "time", count: int = 10) -> tuple[Found, ...]:
        """The best few of an order, best first."""
        rows = self.leanest if order == "memory" else self.fastest
        return self.layouts(rows.best(order, count))

    def _fields(self, rows: Rows, place: int) -> dict[str, Any]:
        numbers = dict(zip(NUMBERS, (int(one) for one in rows.numbers[place]), strict=True))
        return fields_of(self.groups[int(rows.group[place])], numbers)


def searching(plan: Plan, *, forks: bool = False) -> Iterator[Search]:
    """What is known after each chunk; the last one is the whole search. It may be left at any of them.

    `forks` lets in schedules and shardings that the released code of the plan's framework has not.
    """
    from trainplan.search.judging import judge_of

    found, tally = space(plan, forks=forks), dict[str, int]()
    judge = judge_of(plan, tally)
    for words, piece in _pieces(found, tally):
        judge.judge(words, piece)
        yield _known(found, judge)
    yield _known(found, judge)


def searched(plan: Plan, *, forks: bool = False) -> Search:
    """The whole search at once."""
    *_, last = searching(plan, forks=forks)
    return last


def legal_pieces(plan: Plan, tally: dict[str, int], *, forks: bool = False) -> Iterator[tuple[Plan, Piece]]:
    """Every legal layout in pieces, with the plan of their words; what the rules reject goes to the tally by reason."""
    return _pieces(space(plan, forks=forks), tally)


def _pieces(found: Space, tally: dict[str, int]) -> Iterator[tuple[Plan, Piece]]:
    sieve, known = _sieve(found, tally), Known()
    sift_numbers(
        sieve, found.of_words(found.stages[0], sharding="none", schedule="1f1b", deep=True), known, found.let_in()
    )
    for place, stages in enumerate(found.stages):
        part = sieve.only(PIPELINE, sieve.values[CUT] == place)
        if part.lives:
            yield from _legal(found, stages, part, known)


def _sieve(found: Space, tally: dict[str, int]) -> Sieve:
    """Every number of the space; a pipeline that is cut in several ways is several of them."""
    import numpy as np

    pipelines = [(pipeline, place) for place, stages in enumerate(found.stages) for pipeline in stages.pipelines]
    values = {path: np.array(one) for path, one in found.axes.items()}
    values[PIPELINE], values[CUT] = np.array(pipelines).reshape(-1, 2).T
    return everything(values, found.shards * len(SCHEDULES) * len(RECOMPUTES), tally)


def _legal(found: Space, stages: Stages, sieve: Sieve, known: Known) -> Iterator[tuple[Plan, Piece]]:
    """Legal layouts of one cut in pieces, with the plan of their words."""
    sift_stages(sieve, found.of_words(stages, sharding="none", schedule="1f1b", deep=True), known)
    for schedule in GROUPS if sieve.lives else ():
        part = sieve.fork(found.shards * len(RECOMPUTES))
        sift_schedule(
            part, found.of_words(stages, sharding="none", schedule=schedule, deep=True), known, found.let_in()
        )
        if part.lives:
            yield from _sharded(found, stages, part, schedule, known)


def _sharded(found: Space, stages: Stages, sieve: Sieve, schedule: str, known: Known) -> Iterator[tuple[Plan, Piece]]:
    """Legal layouts of one schedule; those with a pipeline and those without come in pieces of their own."""
    import numpy as np

    for sharding in SHARDINGS:
        part = sieve.fork(len(RECOMPUTES), {SHARD: np.array(found.shard_sizes)} if sharding == "hsdp" else None)
        words = found.of_words(stages, sharding=sharding, schedule=schedule, deep=True)
        sift_sharding(part, words, known, found.let_in())
        for deep in (False, True):
            plan = found.of_words(stages, sharding=sharding, schedule=schedule, deep=deep)
            half = part.only(PIPELINE, (part.values[PIPELINE] > 1) == deep)
            busy = (without_idle(plan, piece, half) for piece in pieces(half))
            yield from ((plan, piece) for piece in busy if piece.alive.any())


def _known(found: Space, judge: Judge) -> Search:
    rejected = dict(judge.tally)
    return Search(
        found,
        sum(rejected.values()) + judge.fitting,
        judge.legal,
        judge.fitting,
        rejected,
        judge.usable,
        judge.target,
        judge.nearest,
        judge.fastest,
        judge.leanest,
        judge.front,
        tuple(judge.groups),
    )
