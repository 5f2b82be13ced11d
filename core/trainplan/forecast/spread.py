"""What moves the expected finish: each end of the ranges of a plan, the farthest first. Needs no numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainplan.chances.ranges import TENTH, Ranges
from trainplan.estimation import Estimate
from trainplan.formulas import reliability as f
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import time_said


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
    before = float(f.grace(float(estimate.speed.longest_step), float(estimate.checkpoint.checkpoint_stall)))
    restart = float(s["reliability.restart_time"]) * recovery
    useful = float(f.time_in_job(float(limit), before, restart))
    return float(f.queue_time(float(f.job_count(busy, useful)), float(gap), restart)) if useful > 0.0 else math.inf
