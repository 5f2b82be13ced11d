"""What the forecast draws from: the ranges of a plan, and what each end of them does to the finish.

Ranges that the plan does not state are default widths, and every one of them is said. Needs no numpy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from trainplan.estimation import Estimate
from trainplan.formulas import reliability as f
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import time_said

WIDTHS: Final = {
    "measured-here": (0.97, 1.02),
    "measured-scaled": (0.90, 1.05),
    "measured-node": (0.80, 1.05),
    "published": (0.85, 1.08),
    "assumed": (0.70, 1.10),
}
"""Low and high of utilization over its value where the plan has no range, by evidence: product judgement."""

RATE_SPREAD: Final = 0.5
"""Standard deviation of the logarithm of the failure rate: published rates of like machines differ by factors of 2."""

TENTH: Final = 1.2815515655446004
"""Standard deviations from the median to the tenth and ninetieth of a hundred."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Utilization, least, stated and largest; the spread of the failure rate; and sentences on what was assumed."""

    low: float
    value: float
    high: float
    rate_spread: float
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Driver:
    """One quantity at both ends of its range, as text, and the expected finish (s) that follows at each."""

    name: str
    path: str
    low: str
    low_finish: float
    high: str
    high_finish: float

    @property
    def reach(self) -> float:
        """Seconds between the two ends."""
        return abs(self.high_finish - self.low_finish)


def ranges_of(estimate: Estimate) -> Ranges:
    """The ranges of a plan whose wall time follows."""
    claim = estimate.plan.utilization
    value = float(claim.value or 0.0)
    below, above = WIDTHS[claim.evidence]
    low = float(claim.low) if claim.low is not None else value * below
    high = float(claim.high) if claim.high is not None else min(value * above, 1.0)
    stated = claim.low is not None and claim.high is not None
    origin = "the plan's range" if stated else f"a default width for evidence {claim.evidence}"
    return Ranges(low, value, high, RATE_SPREAD, _said(estimate, low, value, high, origin))


def _said(estimate: Estimate, low: float, value: float, high: float, origin: str) -> tuple[str, ...]:
    s = estimate.situation
    restart = time_said(float(s["reliability.restart_time"]))
    spares = int(min(s["reliability.spare_nodes"], 10**9))
    return (
        f"utilization {low:.3f} to {high:.3f}, most often {value:.3f}: {origin}",
        f"failure rate: lognormal around the plan's, {math.exp(-TENTH * RATE_SPREAD):.2f} to "
        f"{math.exp(TENTH * RATE_SPREAD):.2f} times it in 80 of 100 histories",
        f"restart: exponential with a mean of {restart}, each drawn anew",
        f"{spares} spare nodes: once they are used up, replicas on missing nodes stand still until a repair ends",
        "not drawn: price, tokens, planned downtime, evaluation",
    )


def drivers(estimate: Estimate, ranges: Ranges) -> tuple[Driver, ...]:
    """What moves the expected finish, the farthest first."""
    found = (_utilization(estimate, ranges), _rate(estimate, ranges), _restart(estimate))
    return tuple(sorted(found, key=lambda driver: -driver.reach))


def _utilization(estimate: Estimate, ranges: Ranges) -> Driver:
    return Driver(
        "utilization",
        "utilization.value",
        f"{ranges.high:.3f}",
        _finish(estimate, speed=ranges.value / ranges.high),
        f"{ranges.low:.3f}",
        _finish(estimate, speed=ranges.value / ranges.low),
    )


def _rate(estimate: Estimate, ranges: Ranges) -> Driver:
    step = math.exp(TENTH * ranges.rate_spread)
    rate = float(estimate.situation["reliability.failures_per_node_day"])
    return Driver(
        "failure rate",
        "reliability.failures_per_node_day",
        f"{rate / step:.2g}",
        _finish(estimate, rate=1.0 / step),
        f"{rate * step:.2g}",
        _finish(estimate, rate=step),
    )


def _restart(estimate: Estimate) -> Driver:
    recovery = float(estimate.faults.recovery_time)
    ends = (recovery / 2.0, recovery * 2.0)
    low, high = (time_said(end) for end in ends)
    path = "reliability.restart_time"
    return Driver(
        "detection and restart", path, low, _finish(estimate, recovery=0.5), high, _finish(estimate, recovery=2.0)
    )


def _finish(estimate: Estimate, speed: float = 1.0, rate: float = 1.0, recovery: float = 1.0) -> float:
    """Expected wall time (s) with compute time, failure rate and recovery time multiplied; infinite where it never ends."""
    faults, s = estimate.faults, estimate.situation
    stall = float(estimate.checkpoint.checkpoint_stall)
    try:
        slow = float(
            f.slowdown(float(faults.interval), stall, float(faults.recovery_time) * recovery, float(faults.mtbf) / rate)
        )
    except OverflowError:
        return math.inf
    compute = float(estimate.speed.compute_time) * speed
    busy = float(f.busy_time(compute, slow, float(estimate.evaluation.blocking_time)))
    return busy + float(s["schedule.planned_downtime"]) + _waits(estimate, busy, recovery)


def _waits(estimate: Estimate, busy: float, recovery: float) -> float:
    """What lies between jobs whose starts take `recovery` times the plan's; infinite where a job is over before it trains."""
    s, gap, limit = (
        estimate.situation,
        estimate.situation["schedule.queue_gap"],
        estimate.plan.reliability.job_time_limit,
    )
    if limit is None or not isinstance(gap, Figure) or not math.isfinite(busy):
        return 0.0
    before = float(f.grace(float(estimate.speed.step_time), float(estimate.checkpoint.checkpoint_stall)))
    restart = float(s["reliability.restart_time"]) * recovery
    useful = float(f.time_in_job(float(limit), before, restart))
    return float(f.queue_time(float(f.job_count(busy, useful)), float(gap), restart)) if useful > 0.0 else math.inf
