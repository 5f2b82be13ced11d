"""Reliability: how often the job fails, how often to save, and the overhead of every interval as a curve."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import time_said
from trainplan.rows.operation import RELIABILITY as LEDGER
from trainplan.views.overhead import OverheadCurve, overhead_curve, published_rates
from trainplan_tui.panes.ledger import findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, FAULTS
from trainplan_tui.panes.rows import BodyRow, note_row, rule_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.curves import COLUMNS, ROWS, WALL, Curve, curves, log_axis, log_column, log_columns
from trainplan_tui.widgets.frame import rule

RATED, BRIEF = (45, 55, 66, 75), (27, 37, 0, 0)
"""Last cells of the columns behind the source: of a broad side, and of one that has room for two."""
TICKS = (
    (10.0, "10s"),
    (60.0, "1min"),
    (180.0, "3"),
    (600.0, "10"),
    (1800.0, "30"),
    (3600.0, "1h"),
    (10800.0, "3h"),
    (36000.0, "10h"),
    (86400.0, "1d"),
)


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The ledger with the curve under it; findings follow."""
    found = findings_of(shown, BUDGETS[FAULTS], width, glyphs)
    body = ledger(LEDGER, shown, width, height, glyphs, [])
    place = next((i for i, row in enumerate(body) if row.kind == "rule" and i > 5), len(body))
    under = [rule_row("findings", width, glyphs), *found] if found else []
    return [*body[:place], *picture(shown, width, glyphs), *under, *body[place:]]


def picture(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Saving, lost work and their sum against the interval on a logarithmic axis; the interval in use as a column."""
    curve = overhead_curve(shown.estimate)
    if curve is None:
        return []
    legend = f"{glyphs.solid} sum  {glyphs.saving} saving  {glyphs.lost} lost work  {glyphs.mark} in use"
    title = f"overhead % against interval: {legend}"
    low, high = curve.chosen.interval / 12, curve.chosen.interval * 16
    columns = min(COLUMNS, width - WALL)
    points = [_nearest(curve, value) for value in log_columns(low, high, columns)]
    sums, saving, lost = ([100 * value for value in part] for part in zip(*points, strict=True))
    step = _step(min(sums))
    mark = log_column(curve.chosen.interval, low, high, columns)
    drawn = curves(
        (Curve(sums, glyphs.solid), Curve(saving, glyphs.saving), Curve(lost, glyphs.lost)),
        step,
        mark,
        ROWS,
        columns,
        glyphs,
    )
    axis = log_axis([tick for tick in TICKS if low <= tick[0] <= high], low, high, columns, glyphs)
    lines = [BodyRow("", "picture", line) for line in (*drawn, axis)]
    flat = " to ".join(time_said(edge) for edge in curve.flat)
    note = f"within 5 % of the least overhead from {flat}"
    return [rule_row(title, width, glyphs), *lines, note_row(note, width, glyphs)]


def _nearest(curve: OverheadCurve, interval: float) -> tuple[float, float, float]:
    point = min(curve.points, key=lambda one: abs(one.interval / interval - 1) + abs(interval / one.interval - 1))
    return point.total, point.saving, point.lost


def _step(least: float) -> float:
    """A round step so that the least sum stands in the lower half of the rows."""
    for step in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0):
        if least / step <= 2.5:
            return step
    return 20.0


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """Published failure rates and what each would mean for this plan."""
    rates = published_rates(shown.estimate)
    if not rates:
        return []
    lines = [rule("published rates, on this plan", width, "", glyphs)]
    ends = RATED if width >= RATED[-1] else BRIEF
    lines.append(_rated(("source", "per node-day", "between", "interval", "goodput"), ends, width, glyphs, head=True))
    for rate in rates:
        name = f"{rate.name}{'' if rate.verified else ' ?'}"
        times = time_said(rate.mtbf), time_said(rate.interval)
        lines.append(_rated((name, f"{rate.rate:.4g}", *times, f"{100 * rate.goodput:.1f} %"), ends, width, glyphs))
    mtbf = shown.estimate.faults.mtbf
    if isinstance(mtbf, Figure):
        lines.append(_rated(("this plan", "", time_said(float(mtbf)), "", ""), ends, width, glyphs))
    return lines


def _rated(texts: Sequence[str], ends: Sequence[int], width: int, glyphs: Glyphs, *, head: bool = False) -> Line:
    """One row of published rates; a column whose end is 0 has no room."""
    canvas, role = Canvas(width, glyphs), "dim" if head else "text"
    canvas.put(2, texts[0], role, end=ends[0] - 13)
    for end, text in zip(ends, texts[1:], strict=True):
        if end:
            canvas.right(end, text, role)
    return canvas.line()
