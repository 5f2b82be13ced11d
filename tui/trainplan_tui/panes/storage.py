"""Storage: what fills the disks and when, what a checkpoint costs in time, and how full the system gets."""

from __future__ import annotations

import datetime as dt

from trainplan.quantity.figure import Figure
from trainplan.rows.operation import STORAGE as LEDGER
from trainplan_tui.panes.ledger import findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, STORAGE
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import Mark, stacked_bar
from trainplan_tui.widgets.frame import rule

BAR = 36
DAY = 86400.0


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The ledger, with a bar of the fullest moment under the peak."""
    found = findings_of(shown, BUDGETS[STORAGE], width, glyphs)
    body = ledger(LEDGER, shown, width, height, glyphs, found)
    place = next((i for i, row in enumerate(body) if row.id == "storage.peak"), -1)
    return [*body[: place + 1], *_fill(shown, width, glyphs), *body[place + 1 :]] if place >= 0 else body


def _fill(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    peak, usable = (shown.estimate.quantities.get(f"storage.{name}") for name in ("peak", "usable"))
    if not isinstance(peak, Figure) or not isinstance(usable, Figure):
        return []
    canvas = Canvas(width, glyphs)
    canvas.spans(4, _bar(float(peak), float(usable), BAR, glyphs))
    over = peak > usable
    canvas.put(42, f"{float(peak) / 1e12:,.1f} of {float(usable) / 1e12:,.0f} TB", "error" if over else "text", end=62)
    canvas.put(64, "OVER" if over else "alert: 2 saves", "error" if over else "dim", end=width)
    return [BodyRow("", "picture", canvas.line())]


def _bar(value: float, usable: float, room: int, glyphs: Glyphs) -> Line:
    parts = [(min(value, usable), glyphs.solid), (max(0.0, usable - value), glyphs.open)]
    return stacked_bar(parts, usable / room, room, (Mark(usable, glyphs.usable),), glyphs)


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """Space in use over the run, and the day on which it crosses the usable line."""
    from trainplan.views.space import space_curve

    curve = space_curve(shown.estimate)
    if curve is None or not curve.points:
        return []
    top = max(curve.peak, curve.usable or 0.0) or 1.0
    room, lines = width - 30, [rule("space in use over the run", width, "", glyphs)]
    last = curve.points[-1][0]
    for step in range(11):
        at = last * step / 10
        used = max((size for time, size in curve.points if time <= at), default=curve.points[0][1])
        canvas = Canvas(width, glyphs)
        canvas.put(2, _when(shown, at), "dim", end=14)
        canvas.spans(15, stacked_bar([(used, glyphs.solid)], top / room, room, (), glyphs))
        canvas.right(width - 1, f"{used / 1e12:,.2f} TB")
        lines.append(canvas.line())
    crossing = (
        "never crosses the usable line"
        if curve.crosses is None
        else f"crosses the usable line {_when(shown, curve.crosses)}"
    )
    canvas = Canvas(width, glyphs)
    canvas.put(2, crossing, "text" if curve.crosses is None else "error")
    return [*lines, canvas.line()]


def _when(shown: Shown, seconds: float) -> str:
    start = shown.plan.schedule.start
    if start is None or seconds > 3e9:
        return f"{seconds / DAY:.1f} d"
    return (dt.datetime.combine(start, dt.time()) + dt.timedelta(seconds=seconds)).date().isoformat()
