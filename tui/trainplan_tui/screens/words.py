"""The strip's words: what a plan is worth in one line."""

from __future__ import annotations

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Blocked, Figure
from trainplan.rows.table import lacking
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.dates import DAY, finish_of, money
from trainplan_tui.widgets.strip import NOTHING, StripParts, Told

FINISH, COST = "forecast.finish.p50", "forecast.cost.p50"


def strip_parts(shown: Shown) -> StripParts:
    """Room, date, cost, findings. Date and cost are the forecast's P50; until it answers the point estimate, marked `~`."""
    counted = shown.counted
    errors = sum(item.severity == "error" for item in counted)
    warnings = sum(item.severity == "warning" for item in counted)
    room, over, share = _room(shown.estimate)
    middle = _forecasted(shown, FINISH)
    return StripParts(
        name=shown.file.removesuffix(".toml"),
        unsaved=shown.unsaved,
        edits="" if not shown.edits else "1 edit" if shown.edits == 1 else f"{shown.edits} fields edited",
        room=room,
        over=over,
        untold=_untold(shown.estimate.memory.headroom),
        share=share,
        middle=middle is not None,
        date=finish(shown.estimate) if middle is None else _date(shown, float(middle)),
        date_moved=_date_moved(*_both(shown, FINISH, "compute.wall_time")),
        cost=_cost(shown),
        cost_moved=_cost_moved(shown),
        problem=_problem(shown.estimate.money.wall_time),
        errors=errors,
        warnings=warnings,
        signed=_of(shown.estimate, "readiness.signed", 10),
        signed_moved=_signed_moved(shown),
        pilot=_of(shown.estimate, "pilot.passed", 7),
        unsure=shown.trying,
        pending=shown.pending,
    )


def _of(estimate: Estimate, key: str, count: int) -> str:
    """`5/10`."""
    value = estimate.quantities.get(key)
    return f"{int(value)}/{count}" if isinstance(value, Figure) else ""


def _signed_moved(shown: Shown) -> str:
    """Items that the unsaved edits would make stale."""
    before, after = (each.quantities.get("readiness.signed") for each in (shown.saved, shown.estimate))
    if not isinstance(before, Figure) or not isinstance(after, Figure) or float(before) == float(after):
        return ""
    return f"{int(after) - int(before):+d}"


def _forecasted(shown: Shown, key: str) -> Figure | None:
    value = shown.forecast.quantities.get(key) if shown.forecast is not None else None
    return value if isinstance(value, Figure) else None


def _both(shown: Shown, forecasted: str, point: str) -> tuple[float | None, float | None]:
    """Saved and present, of one kind: two quantiles or two point estimates, never one of each."""
    now = _forecasted(shown, forecasted)
    before = shown.saved_forecast.quantities.get(forecasted) if shown.saved_forecast is not None else None
    if now is None or not isinstance(before, Figure):
        now, before = shown.estimate.quantities.get(point), shown.saved.quantities.get(point)
    first = float(before) if isinstance(before, Figure) else None
    return first, float(now) if isinstance(now, Figure) else None


def _room(estimate: Estimate) -> tuple[Told, bool, str]:
    """What is free on the worst rank, or by how much it is over; and how full the device is."""
    headroom, total, usable = estimate.memory.headroom, estimate.memory.total, estimate.memory.usable
    if not isinstance(headroom, Figure) or not isinstance(total, Figure) or not isinstance(usable, Figure):
        return NOTHING, False, ""
    amount = f"{abs(float(headroom)) / 2**30:.1f}"
    return Told(f"{amount}GiB", f"{amount} GiB"), headroom < 0, f"{float(total) / float(usable) * 100:.1f} %"


def _untold(room: Figure | Blocked) -> str:
    """The finding that says why memory cannot be told; nothing where a field is missing, which its own row says."""
    if not isinstance(room, Blocked) or room.code == "none" or ":" in room.code:
        return ""
    return f"memory: see {room.code}"


def finish(estimate: Estimate) -> Told:
    """The day on which the run ends at this rate, or how long it takes where no start is given."""
    wall, start = estimate.money.wall_time, estimate.plan.schedule.start
    if not isinstance(wall, Figure):
        return NOTHING
    return Told(*(f"~{finish_of(start, float(wall), year, estimate.today)}" for year in (False, True)))


def _date(shown: Shown, seconds: float) -> Told:
    return Told(*(finish_of(shown.plan.schedule.start, seconds, year, shown.estimate.today) for year in (False, True)))


def _date_moved(before: float | None, after: float | None) -> Told:
    if before is None or after is None or abs(after - before) < 0.05 * DAY:
        return NOTHING
    delta = (after - before) / DAY
    return Told(f"{delta:+,.1f}d", f"{delta:+,.1f} d")


def _cost(shown: Shown) -> Told:
    middle, point = _forecasted(shown, COST), shown.estimate.money.cost
    value = point if middle is None else middle
    if not isinstance(value, Figure):
        return NOTHING
    mark = "~" if middle is None else ""
    return Told(*(mark + money(float(value), shown.plan.cluster.currency, digits) for digits in (3, 4)))


def _cost_moved(shown: Shown) -> Told:
    before, after = _both(shown, COST, "compute.cost")
    if before is None or after is None or abs(after - before) < 0.0005 * abs(before):
        return NOTHING
    sign = "+" if after > before else "-"
    delta = abs(after - before)
    return Told(sign + money(delta, "", 2), sign + money(delta, shown.plan.cluster.currency, 2))


def _problem(wall: Figure | Blocked) -> str:
    if not isinstance(wall, Blocked):
        return ""
    return f"no date: {lacking(wall.code)}"
