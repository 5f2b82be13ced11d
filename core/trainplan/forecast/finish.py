"""The finish and the cost as distributions: thousands of histories of one plan, from its ranges and failure rates.

Seeded: the same plan, draws and seed give the same numbers. Utilization is drawn from the plan's range, else from a default
width by its evidence, which `assumptions` says. Prices and token counts are not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainplan.budgets.reliability import job_time
from trainplan.chances.odds import idle_share, stopped
from trainplan.chances.ranges import Ranges, ranges_of
from trainplan.estimation import Estimate
from trainplan.forecast.histories import Work, histories
from trainplan.forecast.spread import Driver, drivers
from trainplan.quantity.figure import KINDS, RANK, Blocked, Figure, Quantity, blocked, given

SEED: Final = 1
HALF_DAY: Final = 43200.0
QUANTILES: Final = (("p10", 0.10), ("p50", 0.50), ("p90", 0.90))


@dataclass(frozen=True, slots=True)
class Bin:
    """Half a day of the histogram: seconds from the start of the run at which it begins, and its share of histories."""

    begin: float
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Quantities by key, the histogram of the finish, what moves it, and what was assumed.

    `point_rank` is the share of histories that end before the point estimate; None where no finish can be told.
    """

    quantities: Mapping[str, Quantity]
    histogram: tuple[Bin, ...]
    drivers: tuple[Driver, ...]
    assumptions: tuple[str, ...]
    point_rank: float | None
    draws: int
    seed: int


def forecast(estimate: Estimate, draws: int = 10_000, seed: int = SEED) -> Forecast:
    """Finish (s from the start) and cost (the plan's currency) of `draws` histories; blocked as the wall time is."""
    stop = stopped(estimate)
    if stop is not None:
        return Forecast(_blocked(estimate, stop), (), (), (), None, draws, seed)
    import numpy as np

    generator = np.random.default_rng(seed)
    ranges = ranges_of(estimate)
    finish = _finishes(estimate, ranges, draws, generator)
    cost = _costs(estimate, finish)
    found = _Numbers(estimate, f"simulation, {draws:,} histories, seed {seed}")
    rank = float((finish < float(estimate.money.wall_time)).mean())
    quantities = {**found.finish(finish), **found.cost(cost), **found.chances(finish, cost)}
    return Forecast(quantities, _histogram(finish), drivers(estimate, ranges), ranges.said, rank, draws, seed)


def _blocked(estimate: Estimate, stop: Blocked) -> dict[str, Quantity]:
    calendar = estimate.plan.schedule
    found: dict[str, Quantity] = {f"forecast.finish.{name}": blocked(stop.code, "s") for name, _ in QUANTILES}
    found |= {f"forecast.cost.{name}": blocked(stop.code, "currency") for name, _ in QUANTILES}
    for key, asked in (("deadline", calendar.deadline), ("budget", calendar.budget)):
        found[f"forecast.chance_{key}"] = blocked("none" if asked is None else stop.code)
    return found


def _finishes(estimate: Estimate, ranges: Ranges, draws: int, generator: Any) -> Any:
    """Seconds of every history from its first step to its last, waits and evaluation that blocks among them."""
    import numpy as np

    compute = float(estimate.speed.compute_time) * ranges.value / _drawn(ranges, draws, generator)
    rate = np.exp(ranges.rate_spread * generator.standard_normal(draws))
    done = histories(_work(estimate, compute, float(estimate.faults.mtbf) / rate), draws, generator)
    s = estimate.situation
    busy = done.busy + done.short + float(estimate.evaluation.blocking_time)
    return busy + float(s["schedule.planned_downtime"]) + _waits(estimate, busy)


def _drawn(ranges: Ranges, draws: int, generator: Any) -> Any:
    if ranges.high <= ranges.low:
        return ranges.value
    mode = min(max(ranges.value, ranges.low), ranges.high)
    return generator.triangular(ranges.low, mode, ranges.high, draws)


def _work(estimate: Estimate, compute: Any, mtbf: Any) -> Work:
    s = estimate.situation
    nodes, rate = float(s["cluster.nodes"]), float(s["reliability.failures_per_node_day"])
    every = rate * nodes + float(s["reliability.fixed_failures_per_day"])
    return Work(
        compute=compute,
        mtbf=mtbf,
        interval=float(estimate.faults.interval),
        stall=float(estimate.checkpoint.checkpoint_stall),
        detection=float(s["reliability.detection_time"]),
        restart=float(s["reliability.restart_time"]),
        node_share=rate * nodes / every if every > 0 else 0.0,
        spares=int(min(s["reliability.spare_nodes"], 10**6)),
        repair=float(s["reliability.repair_time"]),
        idle_share=idle_share(estimate, nodes),
    )


def _waits(estimate: Estimate, busy: Any) -> Any:
    """Waits and starts between the jobs of a time-limited run."""
    import numpy as np

    s = estimate.situation
    if estimate.plan.reliability.job_time_limit is None:
        return 0.0
    useful = float(job_time(s, estimate.speed.longest_step, estimate.checkpoint.checkpoint_stall))
    between = float(s["schedule.queue_gap"]) + float(s["reliability.restart_time"])
    return (np.ceil(busy / useful) - 1.0) * between


def _costs(estimate: Estimate, finish: Any) -> Any:
    """Money of every history, counted as `compute.cost` is; None where the cost cannot follow."""
    cost, wall = estimate.money.cost, estimate.money.wall_time
    if not isinstance(cost, Figure):
        return None
    s = estimate.situation
    price = float(s["cluster.price_per_accelerator_hour"])
    beside = float(estimate.evaluation.separate_hours)
    timed = float(estimate.money.accelerator_hours) + float(estimate.money.spare_hours)
    return (finish / float(wall) * timed + beside) * price


def _histogram(finish: Any) -> tuple[Bin, ...]:
    """Shares by half-days from the start of the run, the extreme thousandths left out."""
    import numpy as np

    low, high = (float(value) for value in np.quantile(finish, (0.001, 0.999)))
    begin, end = int(low // HALF_DAY), int(high // HALF_DAY) + 1
    step = max(1, -(-(end - begin) // 200))
    edges = np.arange(begin, end + step, step) * HALF_DAY
    counts, _ = np.histogram(finish, edges)
    return tuple(Bin(float(edge), float(count) / len(finish)) for edge, count in zip(edges[:-1], counts, strict=True))


class _Numbers:
    """Figures of one simulation: given, because their story is the histories and not a formula."""

    def __init__(self, estimate: Estimate, source: str) -> None:
        self._estimate, self._source = estimate, source
        self._kind = KINDS[min(estimate.money.wall_time.rank, RANK["default"])]

    def _given(self, key: str, value: float, unit: str) -> Figure:
        return given(key, value, unit, self._source, kind=self._kind, verified=False)

    def finish(self, finish: Any) -> dict[str, Quantity]:
        import numpy as np

        values = np.quantile(finish, [share for _, share in QUANTILES])
        return {
            f"forecast.finish.{name}": self._given(f"forecast.finish.{name}", float(value), "s")
            for (name, _), value in zip(QUANTILES, values, strict=True)
        }

    def cost(self, cost: Any) -> dict[str, Quantity]:
        import numpy as np

        told = self._estimate.money.cost
        if isinstance(told, Blocked):
            return {f"forecast.cost.{name}": blocked(told.code, "currency") for name, _ in QUANTILES}
        values = np.quantile(cost, [share for _, share in QUANTILES])
        return {
            f"forecast.cost.{name}": self._given(f"forecast.cost.{name}", float(value), "currency")
            for (name, _), value in zip(QUANTILES, values, strict=True)
        }

    def chances(self, finish: Any, cost: Any) -> dict[str, Quantity]:
        available, budget = self._estimate.money.available_time, self._estimate.plan.schedule.budget
        found: dict[str, Quantity] = {
            "forecast.chance_deadline": blocked("none"),
            "forecast.chance_budget": blocked("none"),
        }
        if isinstance(available, Blocked):
            found["forecast.chance_deadline"] = blocked(available.code)
        else:
            share = float((finish <= float(available)).mean())
            found["forecast.chance_deadline"] = self._given("forecast.chance_deadline", share, "1")
        if budget is not None and isinstance(self._estimate.money.cost, Blocked):
            found["forecast.chance_budget"] = blocked(self._estimate.money.cost.code)
        elif budget is not None:
            share = float((cost <= float(budget)).mean())
            found["forecast.chance_budget"] = self._given("forecast.chance_budget", share, "1")
        return found
