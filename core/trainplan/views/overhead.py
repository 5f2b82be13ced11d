"""Overhead against the checkpoint interval: what saving costs, what failures cost, their sum, and where the plan stands.

The optimum is flat: the curve says how flat. Published failure rates are laid beside the plan's own, not put in its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainplan.catalogue import Fact, entry
from trainplan.estimation import Estimate
from trainplan.formulas import reliability as f
from trainplan.quantity.figure import Figure

PRESETS = (
    ("optimistic", "failures-llama-3.1-405b"),
    ("usual", "failures-rsc-1"),
    ("pessimistic", "failures-opt-175b"),
)
"""Published rates that stand for a good, a usual and a bad machine."""


@dataclass(frozen=True, slots=True)
class OverheadPoint:
    """At an interval (s): shares of productive time lost to saving and to failures, and both together."""

    interval: float
    saving: float
    lost: float
    total: float


@dataclass(frozen=True, slots=True)
class OverheadCurve:
    """Points at even steps of the interval's logarithm, and the marks, all in seconds.

    `optimum` is Daly's, `floor` the shortest feasible interval, `chosen` the one in use, `longest` the job's time limit.
    `flat` are the intervals between which the overhead stays within 5 % of its least.
    """

    points: tuple[OverheadPoint, ...]
    optimum: float
    floor: float
    chosen: OverheadPoint
    longest: float | None
    flat: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """What a published failure rate (per node-day) would mean for the plan: times in seconds, goodput, failures."""

    name: str
    title: str
    rate: float
    source: str
    verified: bool
    mtbf: float
    interval: float
    goodput: float
    failures: float


@dataclass(frozen=True, slots=True)
class _Regime:
    """Stall, recovery and time between failures (s)."""

    stall: float
    recovery: float
    mtbf: float

    def at(self, interval: float) -> OverheadPoint:
        saving = self.stall / interval
        try:
            total = float(f.slowdown(interval, self.stall, self.recovery, self.mtbf)) - 1.0
        except OverflowError:
            total = math.inf
        return OverheadPoint(interval, saving, total - saving, total)


def overhead_curve(estimate: Estimate, count: int = 121, decades: float = 1.25) -> OverheadCurve | None:
    """The curve around the interval in use, `decades` to either side at the least; None where it cannot follow."""
    regime = _regime(estimate)
    faults = estimate.faults
    marks = [_number(value) for value in (faults.daly_interval, faults.shortest_interval, faults.interval)]
    if regime is None or None in marks:
        return None
    optimum, floor, chosen = (max(mark or 0.0, 1e-9) for mark in marks)
    low, high = min(optimum, chosen) / 10**decades, max(optimum, chosen) * 10**decades
    points = tuple(regime.at(low * (high / low) ** (place / (count - 1))) for place in range(count))
    limit = estimate.plan.reliability.job_time_limit
    longest = None if limit is None else float(limit)
    return OverheadCurve(points, optimum, floor, regime.at(chosen), longest, _flat(points))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None


def _regime(estimate: Estimate) -> _Regime | None:
    stall = _number(estimate.checkpoint.checkpoint_stall)
    recovery, mtbf = _number(estimate.faults.recovery_time), _number(estimate.faults.mtbf)
    return None if stall is None or recovery is None or mtbf is None else _Regime(stall, recovery, mtbf)


def _flat(points: tuple[OverheadPoint, ...]) -> tuple[float, float]:
    least = min(point.total for point in points)
    inside = [point.interval for point in points if point.total <= least * 1.05]
    return inside[0], inside[-1]


def published_rates(estimate: Estimate) -> tuple[PublishedRate, ...]:
    """The plan at three published failure rates, its fixed rate unchanged; empty where times cannot follow."""
    regime, compute = _regime(estimate), _number(estimate.speed.compute_time)
    nodes, fixed = estimate.situation["cluster.nodes"], estimate.situation["reliability.fixed_failures_per_day"]
    if regime is None or compute is None or not isinstance(nodes, Figure):
        return ()
    found = [_at_rate(estimate, regime, compute, float(nodes), float(fixed), *preset) for preset in PRESETS]
    return tuple(rate for rate in found if rate is not None)


def _at_rate(
    estimate: Estimate, regime: _Regime, compute: float, nodes: float, fixed: float, name: str, key: str
) -> PublishedRate | None:
    run = entry("evidence", key)
    if run is None:
        return None
    rate: Fact = run["failures_per_node_day"]
    mtbf = float(f.time_between_failures(float(rate.value), nodes, fixed))
    interval = max(float(f.daly_interval(regime.stall, mtbf)), _number(estimate.faults.shortest_interval) or 0.0)
    slow = _Regime(regime.stall, regime.recovery, mtbf).at(interval).total + 1.0
    failures = compute * slow / mtbf
    return PublishedRate(
        name, run.title, float(rate.value), rate.source, rate.verified, mtbf, interval, 1.0 / slow, failures
    )
