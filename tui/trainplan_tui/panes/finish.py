"""The finish and the cost as people quote them: three quantiles in a low window, the histogram and what moves it in a wide one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.unit import numbered
from trainplan.rows.table import lacking
from trainplan_tui.panes.rows import BodyRow, note_row, rule_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.dates import day, finish_of, money
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import rule

if TYPE_CHECKING:
    from trainplan.forecast.finish import Bin, Forecast
    from trainplan.forecast.spread import Driver

QUANTILES = ("p10", "p50", "p90")
LABEL, SHARE, BARS = 2, 19, 21
MOST_BINS = 16
HALF_DAY = 43200.0


def quantile_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """A rule that says how they were found, and the three finishes with their costs."""
    found, start = shown.forecast, shown.plan.schedule.start
    since = f" from {start}" if start is not None else ""
    if _why(shown):
        how = f"cannot be drawn{since}"
    elif found is not None:
        how = f"{numbered(found.draws, 'draw')}{since}{_chances(found)}"
    else:
        how = f"draws pending{since}"
    return [rule_row(f"finish, cost: {how}", width, glyphs), _quantiles(shown, min(width, 80), glyphs)]


def _chances(found: Forecast) -> str:
    """Shares of histories that meet the plan's deadline and budget, where it has them."""
    told = {name: found.quantities[f"forecast.chance_{name}"] for name in ("deadline", "budget")}
    words = [f", {name} {100 * chance:.3g} %" for name, chance in told.items() if isinstance(chance, Figure)]
    return "".join(words)


def _quantiles(shown: Shown, width: int, glyphs: Glyphs) -> BodyRow:
    if _why(shown):
        return note_row(f"no finish: {_why(shown)}", width, glyphs, "warn")
    if shown.forecast is None:
        return note_row("P10, P50 and P90 are being simulated", width, glyphs)
    told = [_quantile(shown.forecast, name, shown) for name in QUANTILES]
    canvas = Canvas(width, glyphs)
    canvas.put(4 if width >= 80 else 2, told[0], end=30)
    canvas.put((width - len(told[1])) // 2 + 1, told[1], bold=True)
    canvas.right(width - 1, told[2])
    return BodyRow("", "picture", canvas.line())


def _quantile(found: Forecast, name: str, shown: Shown) -> str:
    finish, cost = found.quantities[f"forecast.finish.{name}"], found.quantities[f"forecast.cost.{name}"]
    if not isinstance(finish, Figure):
        return ""
    told = f"{name.upper()} {finish_of(shown.plan.schedule.start, float(finish), year=False)}"
    return f"{told}  {money(float(cost), shown.plan.cluster.currency, 4)}" if isinstance(cost, Figure) else told


def _why(shown: Shown) -> str:
    """Why there is no finish, empty where there is or may be one: histories of a run without a length need no waiting for."""
    found, wall = shown.forecast, shown.estimate.money.wall_time
    finish = wall if found is None else found.quantities["forecast.finish.p50"]
    return lacking(finish.code) if isinstance(finish, Blocked) else ""


def side(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The histogram with its quantiles, then what moves the date, from low to high."""
    found = shown.forecast
    if found is None or not found.histogram:
        return []
    drawn = [rule(f"finish, {found.draws:,} draws", width, "", glyphs)]
    drawn += _histogram(found, shown, width, glyphs)
    drawn.append(_quantiles(shown, width, glyphs).line)
    drawn.append(_point(shown, found, width, glyphs))
    drawn.append(rule("what moves the date, low to high", width, "", glyphs))
    return [*drawn, *(_driver(one, found, width, glyphs) for one in found.drivers)]


def _histogram(found: Forecast, shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    bins = _merged(found.histogram)
    most = max(one.share for one in bins)
    told = {name: found.quantities[f"forecast.finish.{name}"] for name in QUANTILES}
    ends = {name: float(value) for name, value in told.items() if isinstance(value, Figure)}
    room = width - BARS - 8
    lines: list[Line] = []
    for place, one in enumerate(bins):
        after = bins[place + 1].begin if place + 1 < len(bins) else float("inf")
        canvas = Canvas(width, glyphs)
        canvas.put(LABEL, _begin(shown.plan.schedule.start, one.begin), "dim")
        canvas.right(SHARE, f"{100 * one.share:.1f} %")
        canvas.put(BARS, glyphs.solid * round(room * one.share / most), "moved")
        marks = " ".join(name.upper() for name, end in ends.items() if one.begin <= end < after)
        canvas.right(width - 1, marks, bold=True)
        lines.append(canvas.line())
    return lines


def _merged(bins: tuple[Bin, ...]) -> tuple[Bin, ...]:
    """Neighbours together until all fit: a picture of fewer, wider bars says the same."""
    from trainplan.forecast.finish import Bin

    while len(bins) > MOST_BINS:
        pairs = [bins[place : place + 2] for place in range(0, len(bins), 2)]
        bins = tuple(Bin(pair[0].begin, sum(one.share for one in pair)) for pair in pairs)
    return bins


def _begin(start: dt.date | None, seconds: float) -> str:
    half = "am" if seconds / HALF_DAY % 2 < 1 else "pm"
    told = day(start, seconds)
    return f"{told.day:02} {told:%b} {half}" if told is not None else f"day {seconds / 86400:,.1f}"


def _point(shown: Shown, found: Forecast, width: int, glyphs: Glyphs) -> Line:
    canvas, wall = Canvas(width, glyphs), shown.estimate.money.wall_time
    if found.point_rank is not None and isinstance(wall, Figure):
        told = f"the point estimate {float(wall) / 86400:,.2f} d lies at P{100 * found.point_rank:.0f}"
        canvas.put(LABEL, told, "dim")
    return canvas.line()


def _driver(one: Driver, found: Forecast, width: int, glyphs: Glyphs) -> Line:
    """One quantity: its low end with its finish, a bar from finish to finish, its high end with its finish."""
    reached = [time for other in found.drivers for time in (other.low_finish, other.high_finish)]
    least, most = min(reached), max(reached)
    from_, to = sorted((one.low_finish, one.high_finish))
    low, high = (one.low, one.high) if one.low_finish <= one.high_finish else (one.high, one.low)
    canvas = Canvas(width, glyphs)
    canvas.put(LABEL, one.name, end=LABEL + 17)
    canvas.right(LABEL + 26, low)
    canvas.right(LABEL + 35, f"{from_ / 86400:,.1f} d")
    room = width - LABEL - 37 - 20
    per = (most - least) / room if most > least else 1.0
    left = round((from_ - least) / per)
    canvas.put(LABEL + 37 + left, glyphs.solid * max(1, round((to - from_) / per)), "moved")
    canvas.right(width - 10, f"{to / 86400:,.1f} d")
    canvas.right(width - 1, high)
    return canvas.line()
