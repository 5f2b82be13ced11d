"""Findings C8 and C14: a deadline and a budget that the evidence does not reach, or that a forecast of the plan seldom keeps."""

from __future__ import annotations

import datetime as dt
import math
from functools import lru_cache
from typing import Final

from trainplan.chances.money import amount_by, amount_time
from trainplan.chances.odds import GOOD, Odds, odds
from trainplan.checks.amounts import at_least
from trainplan.estimation import Estimate
from trainplan.finding import Finding, Severity
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.unit import whole

DAY: Final = 86_400
MOST_DAYS: Final = 36_500
NODES_TRIED: Final = 4096
"""Numbers of nodes among which one is looked for that the batch divides over."""
NINE: Final = "nine of ten histories"
SELDOM: Final = 50.0
"""Weight of a warning of a chance; the same for all chances, so that no fix is offered that leaves one too small."""


def deadline(estimate: Estimate) -> list[Finding]:
    """C8: more utilization than the evidence shows, no time at all, or a chance below nine in ten to be done in time."""
    need, use, money = estimate.money.required_utilization, estimate.speed.utilization, estimate.money
    if not isinstance(money.available_time, Figure):
        return []
    found = odds(estimate)
    if not isinstance(need, Figure):
        if need.code != "C8":
            return []
        fix = _in_time(estimate, found) or "a later deadline"
        paths = _too_late(estimate, money.available_time)
        return [Finding("C8", "error", "compute", "no time is left before the deadline", fix, paths, 1e5)]
    best = estimate.plan.utilization.high or use
    if isinstance(best, Blocked):
        return []
    if need <= best:
        return _seldom_in_time(estimate, found, float(money.available_time))
    accelerators = money.required_accelerators
    nodes = f"; {whole(accelerators)} accelerators would meet it" if isinstance(accelerators, Figure) else ""
    message = f"the deadline needs utilization {need:.3f}, and the evidence shows {best:.3f}{nodes}"
    return [_of_deadline("error", message, _in_time(estimate, found), 1e5)]


def _of_deadline(severity: Severity, message: str, fix: str, weight: float) -> Finding:
    fix = fix or "more nodes or a later deadline"
    return Finding("C8", severity, "compute", message, fix, ("schedule.deadline", "cluster.nodes"), weight)


def _seldom_in_time(estimate: Estimate, found: Odds | None, available: float) -> list[Finding]:
    chance = found.within(available) if found is not None else 1.0
    if chance >= GOOD:
        return []
    day = _day_of(estimate, found)
    told = f"; {NINE} end by {day}" if day is not None else ""
    message = f"the deadline is kept with a chance of about {_percent(chance)}{told}"
    return [_of_deadline("warning", message, _in_time(estimate, found), SELDOM)]


def _percent(chance: float) -> str:
    """A chance as far as it can be told: `26 %`, `under 1 %`."""
    return "under 1 %" if chance < 0.01 else f"{100 * chance:.0f} %"


def _too_late(estimate: Estimate, available: Figure) -> tuple[str, ...]:
    """The field that leaves no time: downtime that is longer than all of it, else the deadline."""
    fields = ("schedule.deadline", "schedule.planned_downtime")
    return fields[::-1] if estimate.situation[fields[1]] >= available else fields[:1]


def _in_time(estimate: Estimate, found: Odds | None) -> str:
    """The fewest nodes of which nine in ten histories are in time, and the day by which so many of these are; none without."""
    need, wall = estimate.money.required_accelerators, estimate.money.wall_time
    longer = _good_finish(found) / float(wall) if found is not None and isinstance(wall, Figure) else 1.0
    known = isinstance(need, Figure) and math.isfinite(longer)
    told = [_nodes(estimate, float(need) * max(longer, 1.0))] if known else []
    day = _day_of(estimate, found)
    return " or ".join([*told, *([f"deadline = {day}"] if day is not None else [])])


@lru_cache(maxsize=2)
def _good_finish(found: Odds | None) -> float:
    """The time (s) by which nine in ten histories end; kept, because messages and fixes of two findings ask for it."""
    return found.by(GOOD) if found is not None else math.inf


def _day_of(estimate: Estimate, found: Odds | None) -> dt.date | None:
    """The day before whose start nine in ten histories end."""
    start, finish = estimate.plan.schedule.start, _good_finish(found)
    if start is None or finish >= MOST_DAYS * DAY:
        return None
    end = start.toordinal() + math.ceil(finish / DAY)
    return dt.date.fromordinal(end) if end <= dt.date.max.toordinal() else None


def _nodes(estimate: Estimate, accelerators: float) -> str:
    """From how many nodes on accelerators suffice; the first of them that the mesh and every batch divide over, if one is near."""
    s, mesh = estimate.situation, estimate.plan.parallelism
    per_node, group = int(s["cluster.accelerators_per_node"]), int(mesh.tensor * mesh.pipeline * mesh.context)
    batches, micro = (
        [one.global_batch_sequences for one in estimate.tokens.stretches],
        int(s["batch.micro_batch_sequences"]),
    )
    fewest = math.ceil(accelerators / per_node)
    if not all(isinstance(batch, Figure) for batch in batches):
        return f"{fewest:,} nodes"
    for nodes in range(fewest, fewest + min(fewest, NODES_TRIED) + 1):
        replicas, rest = divmod(nodes * per_node, group)
        if not rest and not any(batch % (replicas * micro) for batch in batches):
            return f"{nodes:,} nodes"
    return f"{fewest:,} nodes, over which the batch does not divide"


def budget(estimate: Estimate) -> list[Finding]:
    """C14: the cost at this rate is above the budget, or a chance below nine in ten to stay within it."""
    amount, cost = estimate.plan.schedule.budget, estimate.money.cost
    if amount is None or not isinstance(cost, Figure):
        return []
    found, currency = odds(estimate), estimate.plan.cluster.currency
    if cost <= amount:
        return _seldom_within(estimate, found, float(amount))
    message = f"the run costs {whole(cost)} {currency}, {whole(cost - amount)} above the budget"
    return [Finding("C14", "error", "compute", message, _enough(estimate, found), ("schedule.budget",), 1e5)]


def _seldom_within(estimate: Estimate, found: Odds | None, amount: float) -> list[Finding]:
    until = amount_time(estimate, amount)
    if found is None or until is None or (chance := found.within(until)) >= GOOD:
        return []
    message = (
        f"the budget is kept with a chance of about {_percent(chance)}; {NINE} cost up to {_cost_of(estimate, found)}"
    )
    return [Finding("C14", "warning", "compute", message, _enough(estimate, found), ("schedule.budget",), SELDOM)]


def _cost_of(estimate: Estimate, found: Odds | None) -> str:
    """What nine in ten histories cost at most, or the cost at this rate where no finish can be told."""
    finish, cost = _good_finish(found), estimate.money.cost
    amount = amount_by(estimate, finish) if math.isfinite(finish) else float(cost) if isinstance(cost, Figure) else 0.0
    return f"{at_least(amount):,.0f} {estimate.plan.cluster.currency}"


def _enough(estimate: Estimate, found: Odds | None) -> str:
    keeps = f", which {NINE} keep" if math.isfinite(_good_finish(found)) else ""
    return f"a budget of {_cost_of(estimate, found)} at least{keeps}, fewer tokens or a faster layout"


CALENDAR_CHECKS: Final = (deadline, budget)
