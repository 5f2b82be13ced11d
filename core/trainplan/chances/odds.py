"""The finish of a plan as a distribution, summed up in place of drawn: utilization, failure rate and failures.

It stands on what `forecast.finish` simulates: utilization is triangular over its range, the failure rate lognormal around the
plan's, failures Poisson. For each of some rates and some luck with failures, the utilization that just ends in time is solved
for, and the share of the range above it counted. A test holds it against the simulation. Needs no numpy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Final

from trainplan.budgets.reliability import job_time
from trainplan.chances.moments import Cost, Short, failure_cost, shortage
from trainplan.chances.ranges import Ranges, ranges_of
from trainplan.estimation import Estimate
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure

GOOD: Final = 0.90
"""The chance with which a date or an amount is promised: P90 is the one that an approver has to know."""

MOST_SLOWDOWN: Final = 100.0
"""Past it a job makes no progress between failures, and no finish is told."""

MOST_CYCLES: Final = 30.0
"""Failures in one interval, its save and a restart, past which none of them ends within any time."""

CLOSE: Final = 1e-4
"""How near a time, or its chance, has to be."""

_STEP: Final = 0.5


def _normal(most: float, step: float) -> tuple[tuple[float, float], ...]:
    """Standard deviations from -most to most, each with its share of a normal distribution."""
    count = round(2.0 * most / step) + 1
    places = [step * place - most for place in range(count)]
    weights = [math.exp(-place * place / 2.0) for place in places]
    return tuple((place, weight / sum(weights)) for place, weight in zip(places, weights, strict=True))


RATES: Final = _normal(3.5, _STEP)
LUCK: Final = _normal(2.7, 0.9)


@record
class _AtRate:
    """One failure rate with its share: what a second of compute becomes, its variance, and the shortage of nodes.

    `bare` is a second of compute with its saves and no failure; `between` seconds between failures; `slope` what a rate adds.
    """

    share: float
    busy: float
    variance: float
    slope: float
    bare: float
    between: float
    pace: float
    short: Short
    ramp: tuple[tuple[float, float], ...]
    cost: Cost


@record
class _Lost:
    """What failures cost (s): the mean of all; the chance of none; of at least one, the mean and the variance."""

    mean: float
    none: float
    once: float
    variance: float

    def at(self, luck: float) -> float:
        """The cost of at least one failure at so many standard deviations."""
        shape = max(self.once * self.once / self.variance, 1e-12)
        root = 1.0 - 1.0 / (9.0 * shape) + luck / (3.0 * math.sqrt(shape))
        return self.once * max(root, 0.0) ** 3

    def below(self, seconds: float) -> float:
        """The chance that at least one failure costs no more."""
        if seconds <= 0.0 or self.once <= 0.0:
            return float(seconds > 0.0)
        shape = max(self.once * self.once / self.variance, 1e-12)
        root = (seconds / self.once) ** (1.0 / 3.0) - 1.0 + 1.0 / (9.0 * shape)
        return 0.5 * math.erfc(-root * 3.0 * math.sqrt(shape) / math.sqrt(2.0))


@record
class Odds:
    """A plan whose finish can be told. Times are seconds from the start of the run."""

    ranges: Ranges
    compute: float
    still: float
    blocking: float
    useful: float
    between: float
    idle: float
    repair: float
    rates: tuple[_AtRate, ...]
    wall: float

    def within(self, seconds: float) -> float:
        """The share of histories that end by then."""
        busy = self._busy_until(seconds - self.still)
        if busy <= 0.0:
            return 0.0
        return min(1.0, sum(rate.share * self._kept(rate, busy) for rate in self.rates))

    def by(self, share: float) -> float:
        """The time by which so large a share of histories has ended; infinite where no time is found."""
        low, high, under, over = 0.0, self.wall, -share, self.within(self.wall) - share
        while over < 0.0:
            low, high, under, over = high, 1.25 * high, over, self.within(1.25 * high) - share
            if high > 1e4 * self.wall:
                return math.inf
        while high - low > CLOSE * high and over > CLOSE:
            middle = low + (high - low) * min(max(under / (under - over), 0.1), 0.9)
            found = self.within(middle) - share
            low, high, under, over = (middle, high, found, over) if found < 0.0 else (low, middle, under, found)
        return high

    def _busy_until(self, seconds: float) -> float:
        """What of a time is left for training, waits between its jobs and evaluation that stops it taken off."""
        if self.useful == math.inf:
            return seconds - self.blocking
        jobs = math.floor((seconds + self.between) / (self.useful + self.between))
        return max(jobs * self.useful, seconds - jobs * self.between) - self.blocking

    def _kept(self, rate: _AtRate, busy: float) -> float:
        """The chance at one failure rate: over luck with failures, the share of utilization that is fast enough.

        What failures cost is nothing where none comes, else a gamma with its mean and variance, by Wilson and Hilferty.
        """
        if self.ranges.high - self.ranges.low <= 1e-9 * self.ranges.high:
            return self._kept_at(rate, busy)
        lost = self._lost(rate, self._without_shortage(rate, busy) / rate.busy)
        found = lost.none * self._faster(self.compute * self.ranges.value * rate.bare / busy)
        for luck, share in LUCK:
            left = self._without_shortage(rate, busy - (lost.at(luck) - lost.mean))
            if left > 0.0:
                faster = self._faster(self.compute * self.ranges.value * rate.busy / left)
                found += (1.0 - lost.none) * share * faster
        return found

    def _kept_at(self, rate: _AtRate, busy: float) -> float:
        """The same of a utilization that is known."""
        lost, left = self._lost(rate, self.compute), busy - self.compute * rate.bare
        return (lost.none + (1.0 - lost.none) * lost.below(left)) if left >= 0.0 else 0.0

    def _lost(self, rate: _AtRate, compute: float) -> _Lost:
        """What failures and the want of nodes cost so much compute, nothing with the chance that none comes."""
        mean = compute * (rate.busy - rate.bare) + self._short(rate, compute * rate.busy)
        none = math.exp(-compute * rate.bare / rate.between)
        some = max(1.0 - none, 1e-12)
        square = (self._variance(rate, compute) + mean * mean) / some
        once = mean / some
        return _Lost(mean, none, once, max(square - once * once, 1e-12 * square, 1e-30))

    def _without_shortage(self, rate: _AtRate, seconds: float) -> float:
        busy = seconds
        for _ in range(3):
            if busy <= 0.0:
                return 0.0
            busy = seconds * busy / (busy + self._short(rate, busy))
        return busy

    def _short(self, rate: _AtRate, busy: float) -> float:
        """Mean time lost for want of nodes: repairs are short of nodes only once failures have come."""
        if not rate.ramp:
            return 0.0
        if busy < self.repair:
            return self.idle * _between(rate.ramp, busy)
        return self.idle * (rate.short.mean * (busy - self.repair) + rate.ramp[-1][1])

    def _variance(self, rate: _AtRate, compute: float) -> float:
        """Of the busy time: failures and their length, nodes that are short, and the rates beside this one.

        A node that fails is short until its repair or the end: the mean and the square of that, over the moments of failures.
        """
        busy, repair = compute * rate.busy, self.repair
        alone = compute * rate.variance + (compute * rate.slope) ** 2 / 12.0
        if not rate.ramp:
            return max(alone, 1e-12)
        span = min(busy, repair)
        square = span * span * (busy - span + span / 3.0) / repair * rate.short.variance
        together = 2.0 * rate.cost.mean * rate.pace * span * (busy - span / 2.0) * rate.short.bare
        return max(alone + self.idle * (self.idle * square + together), 1e-12)

    def _faster(self, use: float) -> float:
        """The share of the range of utilization at or above a value."""
        low, high = self.ranges.low, self.ranges.high
        mode = min(max(self.ranges.value, low), high)
        if use <= low or use >= high:
            return float(use <= low)
        if use <= mode:
            return 1.0 - (use - low) ** 2 / ((high - low) * (mode - low))
        return (high - use) ** 2 / ((high - low) * (high - mode))


def _between(ramp: tuple[tuple[float, float], ...], at: float) -> float:
    for (before, low), (after, high) in pairwise(ramp):
        if at <= after:
            return low + (high - low) * (at - before) / (after - before)
    return ramp[-1][1]


def stopped(estimate: Estimate) -> Blocked | None:
    """Why no finish can be told: a mesh that is not whole, what blocks the wall time, a job that gets nowhere between failures."""
    wall, slow = estimate.money.wall_time, estimate.faults.slowdown
    for value in (estimate.mesh.data, wall, slow):
        if isinstance(value, Blocked):
            return value
    return Blocked("R1", "s") if slow > MOST_SLOWDOWN else None


def idle_share(estimate: Estimate, nodes: float) -> float:
    """Share of the job that stands still while one node is short: the replicas that lie on it."""
    data = estimate.mesh.data
    replicas = float(data) if isinstance(data, Figure) else 1.0
    return min(1.0, max(1.0 / nodes, 1.0 / replicas))


@lru_cache(maxsize=2)
def odds(estimate: Estimate) -> Odds | None:
    """The finish of a plan as a distribution; None where no finish can be told. Kept of the last two: two findings ask for it."""
    if stopped(estimate) is not None:
        return None
    s, ranges = estimate.situation, ranges_of(estimate)
    nodes = float(s["cluster.nodes"])
    limited = estimate.plan.reliability.job_time_limit is not None
    useful = job_time(s, estimate.speed.longest_step, estimate.checkpoint.checkpoint_stall) if limited else math.inf
    return Odds(
        ranges=ranges,
        compute=float(estimate.speed.compute_time),
        still=float(s["schedule.planned_downtime"]),
        blocking=float(estimate.evaluation.blocking_time),
        useful=float(useful),
        between=float(s["schedule.queue_gap"]) + float(s["reliability.restart_time"]) if limited else 0.0,
        idle=idle_share(estimate, nodes),
        repair=float(s["reliability.repair_time"]),
        rates=_rates(estimate, ranges, nodes),
        wall=float(estimate.money.wall_time),
    )


def _rates(estimate: Estimate, ranges: Ranges, nodes: float) -> tuple[_AtRate, ...]:
    s, mtbf = estimate.situation, float(estimate.faults.mtbf)
    interval, stall = float(estimate.faults.interval), float(estimate.checkpoint.checkpoint_stall)
    detection, restart = float(s["reliability.detection_time"]), float(s["reliability.restart_time"])
    by_node = float(s["reliability.failures_per_node_day"]) * nodes
    every = by_node + float(s["reliability.fixed_failures_per_day"])
    of_nodes, repair = by_node / every if every > 0.0 else 0.0, float(s["reliability.repair_time"])
    spares, cycle = float(s["reliability.spare_nodes"]), interval + stall
    found: list[_AtRate] = []
    for deviations, share in RATES:
        between = mtbf / math.exp(ranges.rate_spread * deviations)
        if cycle + detection + restart > MOST_CYCLES * between:  # such histories do not end
            continue
        cost = failure_cost(cycle, detection, restart, between)
        a_piece = math.expm1(cycle / between)
        busy = (cycle + a_piece * cost.mean) / interval
        variance = a_piece * (cost.variance + (1.0 + a_piece) * cost.mean**2) / interval
        nearby = _busy(cycle, detection, restart, between * math.exp(-ranges.rate_spread * _STEP / 2.0), interval)
        pace = of_nodes * a_piece / interval / busy
        short = shortage(pace * repair, spares)
        ramp = _ramp(pace, repair, spares) if short.mean > 0.0 and repair > 0.0 else ()
        found.append(
            _AtRate(share, busy, variance, 2.0 * (nearby - busy), cycle / interval, between, pace, short, ramp, cost)
        )
    return tuple(found)


def _busy(cycle: float, detection: float, restart: float, mtbf: float, interval: float) -> float:
    cost = failure_cost(cycle, detection, restart, mtbf)
    return (cycle + math.expm1(cycle / mtbf) * cost.mean) / interval


def _ramp(pace: float, repair: float, spares: float) -> tuple[tuple[float, float], ...]:
    """Node-seconds short from the start until each quarter of the first repair, by the trapezoid rule."""
    places = [repair * quarter / 4.0 for quarter in range(5)]
    means = [shortage(pace * place, spares).mean for place in places]
    found, total = [(0.0, 0.0)], 0.0
    for place in range(4):
        total += 0.5 * (means[place] + means[place + 1]) * repair / 4.0
        found.append((places[place + 1], total))
    return tuple(found)
