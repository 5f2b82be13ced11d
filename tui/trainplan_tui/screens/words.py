"""The strip's words: what a plan is worth in one line."""

from __future__ import annotations

import datetime as dt

from trainplan.estimation import Estimate
from trainplan.figure import Blocked, Figure
from trainplan.unit import significant
from trainplan_tui.shown import Shown
from trainplan_tui.widgets.strip import NOTHING, StripParts, Told

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
DAY = 86400.0


def strip_parts(shown: Shown) -> StripParts:
    """Date and cost of the point estimate, marked `~`; errors and warnings; the unsaved mark."""
    errors = sum(item.severity == "error" for item in shown.findings)
    warnings = sum(item.severity == "warning" for item in shown.findings)
    wall, before = shown.estimate.money.wall_time, shown.saved.money.wall_time
    room, over, share = _room(shown.estimate)
    return StripParts(
        name=shown.file.removesuffix(".toml"),
        unsaved=shown.unsaved,
        edits=f"{shown.edits} edit{'' if shown.edits == 1 else 's'}" if shown.edits else "",
        room=room,
        over=over,
        share=share,
        date=finish(shown.estimate),
        date_moved=_date_moved(before, wall),
        cost=_cost(shown.estimate),
        cost_moved=_cost_moved(shown),
        problem=_problem(wall),
        errors=errors,
        warnings=warnings,
        unsure=shown.trying,
    )


def _room(estimate: Estimate) -> tuple[Told, bool, str]:
    """What is free on the worst rank, or by how much it is over; and how full the device is."""
    headroom, total, usable = estimate.memory.headroom, estimate.memory.total, estimate.memory.usable
    if not isinstance(headroom, Figure) or not isinstance(total, Figure) or not isinstance(usable, Figure):
        return NOTHING, False, ""
    amount = f"{abs(float(headroom)) / 2**30:.1f}"
    return Told(f"{amount}GiB", f"{amount} GiB"), headroom < 0, f"{float(total) / float(usable) * 100:.1f} %"


def finish(estimate: Estimate) -> Told:
    """The day on which the run ends at this rate, or how long it takes where no start is given."""
    wall, start = estimate.money.wall_time, estimate.plan.schedule.start
    if not isinstance(wall, Figure):
        return NOTHING
    if start is None or wall > 3e9:
        days = f"~{significant(wall / DAY, 3)} d"
        return Told(days, days)
    try:
        end = dt.datetime.combine(start, dt.time()) + dt.timedelta(seconds=float(wall))
    except OverflowError:
        return Told("~after 9999")
    long = f"~{end.day} {end:%b %Y}"
    near = end.year == start.year or (end.year - start.year) * 12 + end.month - start.month <= 1
    return Told(f"~{end.day} {end:%b}" if near else long, long)


def _date_moved(before: Figure, after: Figure) -> Told:
    if not isinstance(before, Figure) or not isinstance(after, Figure) or before == after:
        return NOTHING
    delta = (float(after) - float(before)) / DAY
    if abs(delta) < 0.05:
        return NOTHING
    return Told(f"{delta:+,.1f}d", f"{delta:+,.1f} d")


def _cost(estimate: Estimate) -> Told:
    cost = estimate.money.cost
    if not isinstance(cost, Figure):
        return NOTHING
    return Told(
        f"~{amount(float(cost), estimate.plan.cluster.currency, 3)}",
        f"~{amount(float(cost), estimate.plan.cluster.currency, 4)}",
    )


def amount(value: float, currency: str, digits: int) -> str:
    """`$1.48M`: an amount for the strip."""
    sign = SIGNS.get(currency, f"{currency} ")
    for factor, prefix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{sign}{significant(value / factor, digits)}{prefix}"
    return f"{sign}{significant(value, digits)}"


def _cost_moved(shown: Shown) -> Told:
    before, after = shown.saved.money.cost, shown.estimate.money.cost
    if not isinstance(before, Figure) or not isinstance(after, Figure) or before == after:
        return NOTHING
    delta = float(after) - float(before)
    short = amount(abs(delta), "", 2).strip()
    sign = "+" if delta > 0 else "-"
    return Told(sign + short, f"{sign}{SIGNS.get(shown.plan.cluster.currency, '')}{short}")


def _problem(wall: Figure | Blocked) -> str:
    if not isinstance(wall, Blocked):
        return ""
    if wall.code.startswith("missing:"):
        return (
            f"no date: {wall.code.rsplit('.', 1)[-1].replace('_', ' ')} missing"
            if "utilization" not in wall.code
            else "no date: utilization missing"
        )
    return f"no date: see {wall.code}" if not wall.code.startswith("undefined") else "no date: not defined"
