"""Curves as text on a logarithmic axis: the overhead of checkpoints against their interval.

The useful part of such a curve is its left end, which a linear axis hides.
It refuses to choose a scale or to compute a curve: values come one a column, from whoever knows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite, log
from typing import NamedTuple

from trainplan_tui.text.glyphs import UNICODE, Glyphs
from trainplan_tui.text.spans import Canvas, Line

ROWS = 7
COLUMNS = 66
LABEL = 5
WALL = LABEL + 1
"""Cells of the numbers beside the curve, and with the wall that follows them."""


class Curve(NamedTuple):
    """One value a column, in the unit of the axis, and the glyph that draws it."""

    values: Sequence[float]
    glyph: str


def log_columns(low: float, high: float, columns: int = COLUMNS) -> tuple[float, ...]:
    """The values under the columns of a logarithmic axis, `low` under the first and `high` under the last."""
    step = log(high / low) / (columns - 1)
    return tuple(low * exp(step * column) for column in range(columns))


def log_column(value: float, low: float, high: float, columns: int = COLUMNS) -> int:
    """The column, from 0, that stands nearest to a value; the first or last for what lies outside."""
    if not value > low:
        return 0
    return min(columns - 1, int(log(value / low) / log(high / low) * (columns - 1) + 0.5))


def curves(
    drawn: Sequence[Curve],
    step: float,
    mark: int | None = None,
    rows: int = ROWS,
    columns: int = COLUMNS,
    glyphs: Glyphs = UNICODE,
) -> tuple[Line, ...]:
    """Curves over each other, the first on top, on rows `step` apart from the highest down to zero.

    Each row begins with its number and a wall. `mark` is the column in use, drawn where no curve is.
    """
    return tuple(_row(drawn, row, step, mark, columns, glyphs) for row in range(rows - 1, -1, -1))


def _row(drawn: Sequence[Curve], row: int, step: float, mark: int | None, columns: int, glyphs: Glyphs) -> Line:
    canvas = Canvas(WALL + columns, glyphs)
    canvas.right(LABEL - 1, f"{row * step:g}", "dim")
    canvas.put(WALL, glyphs.wall, "dim")
    if mark is not None:
        canvas.put(LABEL + 2 + mark, glyphs.mark, "dim")
    for curve in reversed(drawn):
        for column, value in enumerate(curve.values[:columns]):
            if isfinite(value) and int(value / step + 0.5) == row and value >= 0:
                canvas.put(LABEL + 2 + column, curve.glyph)
    return canvas.line()


def log_axis(
    ticks: Sequence[tuple[float, str]], low: float, high: float, columns: int = COLUMNS, glyphs: Glyphs = UNICODE
) -> Line:
    """The labels under a logarithmic axis, each beginning at its column; one that would touch the last is left out."""
    canvas = Canvas(WALL + columns, glyphs)
    free = 1
    for value, label in ticks:
        column = LABEL + 2 + log_column(value, low, high, columns)
        column = min(column, LABEL + 2 + columns - len(label))
        if column >= free:
            free = canvas.put(column, label, "dim") + 1
    return canvas.line()
