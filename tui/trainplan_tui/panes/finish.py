"""The finish and the cost as people quote them: three quantiles in a low window, the histogram and what moves it in a wide one."""

from __future__ import annotations

import datetime as dt
from itertools import groupby
from math import isfinite
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
NAMED = 23
"""Last cell of what moves the date."""
BROAD = 70
"""Columns of a side from which both ends of what moves the date stand beside a bar, and three quantiles in a row."""
DAY, HALF_DAY = 86400.0, 43200.0


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
    return [rule_row(f"finish, cost: {how}", width, glyphs), *_quantiles(shown, min(width, 80), glyphs)]


def _chances(found: Forecast) -> str:
    """Shares of histories that meet the plan's deadline and budget, where it has them."""
    told = {name: found.quantities[f"forecast.chance_{name}"] for name in ("deadline", "budget")}
    words = [f", {name} {100 * chance:.3g} %" for name, chance in told.items() if isinstance(chance, Figure)]
    return "".join(words)


def _quantiles(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Three quantiles in a row, or one under the other where that has no room."""
    if _why(shown):
        return [note_row(f"no finish: {_why(shown)}", width, glyphs, "warn")]
    if shown.forecast is None:
        return [note_row("P10, P50 and P90 are being simulated", width, glyphs)]
    told = [_quantile(shown.forecast, name, shown) for name in QUANTILES]
    if 2 * max(map(len, told)) + len(told[1]) + 8 > width:
        return [note_row(each, width, glyphs, "text") for each in told]
    canvas = Canvas(width, glyphs)
    canvas.put(4 if width >= 80 else 2, told[0], end=30)
    canvas.put((width - len(told[1])) // 2 + 1, told[1], bold=True)
    canvas.right(width - 1, told[2])
    return [BodyRow("", "picture", canvas.line())]


def _quantile(found: Forecast, name: str, shown: Shown) -> str:
    finish, cost = found.quantities[f"forecast.finish.{name}"], found.quantities[f"forecast.cost.{name}"]
    if not isinstance(finish, Figure):
        return ""
    told = (
        f"{name.upper()} {finish_of(shown.plan.schedule.start, float(finish), year=False, today=shown.estimate.today)}"
    )
    return f"{told}  {money(float(cost), shown.plan.cluster.currency, 4)}" if isinstance(cost, Figure) else told


def _why(shown: Shown) -> str:
    """Why there is no finish, empty where there is or may be one: histories of a run without a length need no waiting for."""
    found, wall = shown.forecast, shown.estimate.money.wall_time
    finish = wall if found is None else found.quantities["forecast.finish.p50"]
    return lacking(finish.code) if isinstance(finish, Blocked) else ""


def side(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The histogram with its quantiles, then what moves the date, from early to late."""
    found = shown.forecast
    if found is None or not found.histogram:
        return []
    bins, days = _merged(found.histogram)
    rows = f"{found.draws:,} draws" if days < 1 else f"{numbered(days, 'day')} a row"
    drawn = [rule(f"finish, {rows}", width, "", glyphs)]
    drawn += _histogram(found, bins, days, shown, width, glyphs)
    drawn += [row.line for row in _quantiles(shown, width, glyphs)] if width >= BROAD else []
    drawn += _point(shown, found, width, glyphs)
    drawn.append(
        rule("what moves the date, early to late" if width >= BROAD else "date, early to late", width, "", glyphs)
    )
    draw = _driver if width >= BROAD else _ends
    return [*drawn, *(line for one in found.drivers for line in draw(one, found, width, glyphs))]


def _histogram(
    found: Forecast, bins: tuple[Bin, ...], days: float, shown: Shown, width: int, glyphs: Glyphs
) -> list[Line]:
    most = max(one.share for one in bins)
    told = {name: found.quantities[f"forecast.finish.{name}"] for name in QUANTILES}
    ends = {name: float(value) for name, value in told.items() if isinstance(value, Figure)}
    room = width - BARS - 8
    lines: list[Line] = []
    for place, one in enumerate(bins):
        after = bins[place + 1].begin if place + 1 < len(bins) else float("inf")
        canvas = Canvas(width, glyphs)
        canvas.put(LABEL, _begin(shown.plan.schedule.start, one.begin, days), "dim")
        canvas.right(SHARE, f"{100 * one.share:.1f} %")
        canvas.put(BARS, glyphs.solid * round(room * one.share / most), "moved")
        marks = " ".join(name.upper() for name, end in ends.items() if one.begin <= end < after)
        canvas.right(width - 1, marks, bold=True)
        lines.append(canvas.line())
    return lines


def _merged(bins: tuple[Bin, ...]) -> tuple[tuple[Bin, ...], float]:
    """Neighbours together until all fit, and the days of each: half a day, else whole days from the first day of the run on.

    A picture of fewer, wider bars says the same.
    """
    from trainplan.forecast.finish import Bin

    days = (bins[1].begin - bins[0].begin) / DAY if len(bins) > 1 else 0.5
    while len(bins) > MOST_BINS:
        days = 1.0 if days < 1 else 2 * days
        places = groupby(bins, key=lambda one: one.begin // (days * DAY))
        bins = tuple(Bin(place * days * DAY, sum(one.share for one in each)) for place, each in places)
    return bins, days


def _begin(start: dt.date | None, seconds: float, days: float) -> str:
    half = "" if days % 1 == 0 else " am" if seconds / HALF_DAY % 2 < 1 else " pm"
    told = day(start, seconds)
    return f"{told.day:02} {told:%b}{half}" if told is not None else f"day {seconds / 86400:,.1f}"


def _point(shown: Shown, found: Forecast, width: int, glyphs: Glyphs) -> list[Line]:
    wall = shown.estimate.money.wall_time
    if found.point_rank is None or not isinstance(wall, Figure):
        return []
    point = "the point estimate" if width >= BROAD else "point estimate"
    return [note(f"{point} {float(wall) / DAY:,.2f} d lies at P{100 * found.point_rank:.0f}", width, glyphs)]


def note(text: str, width: int, glyphs: Glyphs) -> Line:
    """A dim line of the side."""
    canvas = Canvas(width, glyphs)
    canvas.put(LABEL, text, "dim")
    return canvas.line()


def _ends(one: Driver, found: Forecast, width: int, glyphs: Glyphs) -> list[Line]:
    """One quantity where a bar has no room: its name, and both ends with their finishes under it."""
    (from_, early), (to, late) = sorted(((one.low_finish, one.low), (one.high_finish, one.high)))
    canvas = Canvas(width, glyphs)
    canvas.put(LABEL + 1, f"{early}: {days_of(from_)}, {late}: {days_of(to)}")
    return [note(one.name, width, glyphs), canvas.line()]


def days_of(seconds: float) -> str:
    """`24.1 d`."""
    return f"{seconds / DAY:,.1f} d" if isfinite(seconds) else "never"


def _driver(one: Driver, found: Forecast, width: int, glyphs: Glyphs) -> list[Line]:
    """One quantity: the end that finishes early, a bar from finish to finish, the end that finishes late."""
    reached = [time for other in found.drivers for time in (other.low_finish, other.high_finish) if isfinite(time)]
    least, most = min(reached), max(reached)
    (from_, early), (to, late) = sorted(((one.low_finish, one.low), (one.high_finish, one.high)))
    canvas = Canvas(width, glyphs)
    canvas.put(LABEL, one.name, end=NAMED)
    canvas.right(NAMED + 8, early)
    canvas.right(NAMED + 17, days_of(from_))
    room = width - NAMED - 19 - 20
    per = (most - least) / room if most > least else 1.0
    left, right = (round((min(end, most) - least) / per) for end in (from_, to))
    canvas.put(NAMED + 19 + left, glyphs.solid * max(1, right - left), "moved")
    canvas.right(width - 10, days_of(to))
    canvas.right(width - 1, late)
    return [canvas.line()]
