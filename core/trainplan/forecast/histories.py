"""Histories of a run, drawn event by event: work until the next checkpoint, failures in it, restarts that may fail too.

Vectorised over histories and their failures; numpy is imported inside. Plain seconds in and out: it knows no plan. Failures
are Poisson. Every attempt at an interval and its save loses what it had done when a failure comes, and every restart is
drawn anew; the expectation is Daly's (FGCS 22(3), 2006). Past a mean of `MOST_EVENTS` failures a history, sums over
failures are drawn from their normal limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

MOST_EVENTS = 64.0
"""Mean failures of a history up to which every one of them is drawn."""

MOST_ROUNDS = 200
"""Restarts in a row that are drawn one by one; past them the mean of what is left is added."""

MOST_FAILURES = 1e15
"""Failures of one history; a job that fails more often never ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What a history has to do. Times in seconds; `compute` and `mtbf` may be columns, one value a history."""

    compute: Any
    mtbf: Any
    interval: float
    stall: float
    detection: float
    restart: float
    restart_varies: bool = True
    node_share: float = 0.0
    spares: int = 0
    repair: float = 0.0
    idle_share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """One value a history: seconds of work, saves, losses and restarts; seconds lost for want of nodes; failures."""

    busy: Any
    short: Any
    failures: Any


def histories(work: Work, draws: int, generator: Any) -> Histories:
    """`draws` histories. `generator` is a numpy Generator; the same one gives the same histories."""
    import numpy as np

    compute = np.broadcast_to(np.asarray(work.compute, dtype=float), draws)
    mtbf = np.broadcast_to(np.asarray(work.mtbf, dtype=float), draws)
    cycle = work.interval + work.stall
    pieces = compute / work.interval
    with np.errstate(over="ignore"):
        expected = generator.gamma(pieces, 1.0) * np.expm1(cycle / mtbf)
    failures = generator.poisson(np.minimum(expected, MOST_FAILURES))
    if failures.mean() > MOST_EVENTS:
        return _in_the_mean(work, pieces, mtbf, failures, generator)
    owner = np.repeat(np.arange(draws), failures)
    spent = _lost(cycle, mtbf[owner], generator) + _recovered(work, mtbf[owner], generator)
    busy = pieces * cycle + np.bincount(owner, spent, draws)
    return Histories(busy, _short(work, owner, busy, generator), failures)


def _lost(cycle: float, mtbf: Any, generator: Any) -> Any:
    """Work lost to each failure: an exponential time that ends inside the interval and its save."""
    import numpy as np

    return -mtbf * np.log1p(generator.random(len(mtbf)) * np.expm1(-cycle / mtbf))


def _recovered(work: Work, mtbf: Any, generator: Any) -> Any:
    """Time from each failure until work goes on; a failure during a restart begins another one."""
    import numpy as np

    spent = np.zeros(len(mtbf))
    open_ = np.arange(len(mtbf))
    for _ in range(MOST_ROUNDS):
        if not len(open_):
            return spent
        wanted = np.full(len(open_), work.detection + work.restart)
        if work.restart_varies:
            wanted = work.detection + work.restart * generator.standard_exponential(len(open_))
        until = mtbf[open_] * generator.standard_exponential(len(open_))
        spent[open_] += np.minimum(wanted, until)
        open_ = open_[until < wanted]
    spent[open_] += _restored(work, mtbf[open_])
    return spent


def _stays(work: Work, mtbf: Any) -> Any:
    """Chance that a restart ends before the next failure."""
    import numpy as np

    if work.restart_varies:
        return np.maximum(np.exp(-work.detection / mtbf) / (1.0 + work.restart / mtbf), 1e-100)
    return np.maximum(np.exp(-(work.detection + work.restart) / mtbf), 1e-100)


def _restored(work: Work, mtbf: Any) -> Any:
    """Mean time from a failure until work goes on, restarts that fail among it."""
    stays = _stays(work, mtbf)
    return mtbf * (1.0 - stays) / stays


def _restored_spread(work: Work, mtbf: Any) -> Any:
    """Variance of that time. One attempt ends by a restart or a failure; its mean square is 2 x the integral of t P(longer)."""
    import numpy as np

    fixed = work.detection + (0.0 if work.restart_varies else work.restart)
    left = np.exp(-fixed / mtbf)
    square = 2.0 * mtbf * (mtbf - left * (fixed + mtbf))
    if work.restart_varies and work.restart > 0.0:
        tail = mtbf * work.restart / (mtbf + work.restart)
        square = square + 2.0 * left * tail * (fixed + tail)
    mean = _restored(work, mtbf)
    return np.maximum(square * (1.0 + mean / mtbf) / _stays(work, mtbf) - mean * mean, 0.0)


def _short(work: Work, owner: Any, busy: Any, generator: Any) -> Any:
    """Time lost because no spare was left: while a node is short, the replicas on it stand still.

    A spare taken by one failure is back when that node is repaired; failure j waits for the node of failure j - spares.
    """
    import numpy as np

    draws = len(busy)
    if work.node_share <= 0.0 or work.repair <= 0.0 or not len(owner):
        return np.zeros(draws)
    owner = owner[generator.random(len(owner)) < work.node_share]
    times, place = _times(owner, busy, generator)
    chosen = np.flatnonzero(place >= work.spares)
    back = np.minimum(times[chosen - work.spares] + work.repair, busy[owner[chosen]])
    without = np.maximum(back - times[chosen], 0.0)
    return np.bincount(owner[chosen], without, draws) * work.idle_share


def _times(owner: Any, busy: Any, generator: Any) -> tuple[Any, Any]:
    """Moments of failures, sorted in each history as Poisson events are, and the place of each in its history."""
    import numpy as np

    counts = np.bincount(owner, minlength=len(busy))
    gaps = counts + 1
    ends = np.cumsum(gaps)
    summed = np.cumsum(generator.standard_exponential(int(ends[-1])))
    before = np.concatenate(([0.0], summed[ends[:-1] - 1]))
    whole = summed[ends - 1] - before
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    index = np.repeat(ends - gaps, counts) + place
    return (summed[index] - before[owner]) / whole[owner] * busy[owner], place


def _in_the_mean(work: Work, pieces: Any, mtbf: Any, failures: Any, generator: Any) -> Histories:
    """Many failures in every history: their sums are normal, and the shortage of nodes is its long-run mean."""
    import numpy as np

    cycle = work.interval + work.stall
    left = 1.0 / np.expm1(cycle / mtbf)
    lost, lost_spread = mtbf - cycle * left, mtbf * mtbf - cycle * cycle * left * (1.0 + left)
    restored = _restored(work, mtbf)
    spread = np.sqrt(failures * (np.maximum(lost_spread, 0.0) + _restored_spread(work, mtbf)))
    drawn = failures * (lost + restored) + spread * generator.standard_normal(len(failures))
    busy = pieces * cycle + np.maximum(drawn, 0.0)
    return Histories(busy, _mean_shortage(work, failures / busy) * busy * work.idle_share, failures)


def _mean_shortage(work: Work, pace: Any) -> Any:
    """Mean of nodes in repair past the spares, Poisson by their normal limit. `pace` is failures a second."""
    import numpy as np

    rate = work.node_share * work.repair * pace
    width = np.sqrt(rate) + 1e-12
    over = (rate - work.spares) / width
    below = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in over.tolist()])
    return width * np.exp(-over * over / 2.0) / math.sqrt(2.0 * math.pi) + (rate - work.spares) * below
