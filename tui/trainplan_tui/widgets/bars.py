"""Pictures of amounts as text: stacked bars, passes, waterfall, ranges, ladder and histogram.

Every number in a picture stands in a row as well, so a picture only has to be right to a cell. Ends are rounded from
running sums, so parts meet and equal sums end in the same column.
It refuses eighth blocks, braille and frames, and colour: glyphs tell categories apart. Curves are in `curves`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite, log2
from typing import Literal, NamedTuple, TypeAlias

from trainplan_tui.text.glyphs import UNICODE, Glyphs
from trainplan_tui.text.spans import Canvas, Line, Span

MEMORY_CELLS = 40
"""Cells of a memory bar that stand for all usable memory."""
MEMORY_ROOM = 44
"""Cells of a memory bar in all: what lies past usable still shows for four cells."""
PASSES_CELLS = 24
PASSES_FROM, PASSES_TO = 0.5, 16.0

_FAR = 1e6
"""Cells past every window."""

RungState: TypeAlias = Literal["passed", "stale", "open"]


class Mark(NamedTuple):
    """A place on the axis of a bar, drawn where the bar leaves it free."""

    value: float
    glyph: str


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Bytes on one rank, in the order of the bar. `rest` is temporaries, buffers and the allocator."""

    activations: float
    weights: float
    logits: float
    gradients: float
    optimizer: float
    rest: float


def stacked_bar(
    parts: Sequence[tuple[float, str]],
    per_cell: float,
    room: int,
    marks: Sequence[Mark] = (),
    glyphs: Glyphs = UNICODE,
) -> Line:
    """Amounts one after the other, each in its glyph, `per_cell` of their unit to a cell, in `room` cells.

    What goes past the room ends in `»`. An amount that is not finite, or below zero, counts as nothing.
    """
    canvas = Canvas(room, glyphs)
    for value, glyph in marks:
        column = _cell(value, per_cell)
        if column < room:
            canvas.put(column + 1, glyph, "dim")
    ends = [_cell(total, per_cell) for total in accumulate(_amount(part) for part, _ in parts)]
    start = 0
    for end, (_, glyph) in zip(ends, parts, strict=True):
        canvas.fill(min(start, room) + 1, glyph, end=min(end, room))
        start = max(start, end)
    if ends and ends[-1] > room:
        canvas.put(room, glyphs.goes_on, bold=True)
    return canvas.line()


def memory_bar(parts: MemoryParts, usable: float, target: float, glyphs: Glyphs = UNICODE) -> Line:
    """One rank's memory: 40 cells are `usable` bytes, with marks at `target` bytes and at usable."""
    stack = [
        (parts.activations, glyphs.activations),
        (parts.weights, glyphs.weights),
        (parts.logits, glyphs.logits),
        (parts.gradients, glyphs.gradients),
        (parts.optimizer, glyphs.optimizer),
        (parts.rest, glyphs.rest),
    ]
    marks = [Mark(target, glyphs.mark), Mark(usable, glyphs.usable)]
    return stacked_bar(stack, usable / MEMORY_CELLS, MEMORY_ROOM, marks, glyphs)


def passes_bar(passes: float, limit: float, glyphs: Glyphs = UNICODE) -> Line:
    """Passes over one source on a logarithmic axis from 1/2 to 16, with marks at one pass and at the limit."""
    canvas = Canvas(PASSES_CELLS, glyphs)
    for mark in (1.0, limit):
        canvas.put(_passes_cell(mark) + 1, glyphs.mark, "dim")
    length = _passes_cell(passes)
    if passes > 0 and length == 0:
        canvas.put(1, glyphs.zero)
    elif length:
        canvas.fill(1, glyphs.solid, end=length)
    if passes > PASSES_TO:
        canvas.put(PASSES_CELLS, glyphs.goes_on, bold=True)
    return canvas.line()


def passes_axis(glyphs: Glyphs = UNICODE) -> str:
    """The heading of passes bars: `½    1   2    4   8    16`; one cell wider than the bars."""
    labels = [(0.5, glyphs.half), (1.0, "1"), (2.0, "2"), (4.0, "4"), (8.0, "8"), (16.0, "16")]
    canvas = Canvas(PASSES_CELLS + 1, glyphs)
    for value, label in labels:
        canvas.put(_passes_cell(value) + 1, label)
    return "".join(span.text for span in canvas.line())


def waterfall(parts: Sequence[float], per_cell: float, room: int, glyphs: Glyphs = UNICODE) -> tuple[Line, ...]:
    """One line a part, each starting where the last ended; a part of no cell is a tick, never nothing."""
    lines: list[Line] = []
    start = 0
    for total in accumulate(_amount(part) for part in parts):
        end = min(_cell(total, per_cell), room)
        canvas = Canvas(room, glyphs)
        if end > start:
            canvas.fill(start + 1, glyphs.solid, end=end)
        else:
            canvas.put(min(start, room - 1) + 1, glyphs.zero)
        lines.append(canvas.line())
        start = max(start, end)
    return tuple(lines)


def total_bar(amount: float, per_cell: float, room: int, glyphs: Glyphs = UNICODE) -> Line:
    """A sum on the axis of a waterfall."""
    return stacked_bar([(amount, glyphs.heavy)], per_cell, room, (), glyphs)


def range_bar(low: float, high: float, least: float, most: float, room: int, glyphs: Glyphs = UNICODE) -> Line:
    """What lies between two values, on an axis from `least` to `most`; at least one cell."""
    canvas = Canvas(room, glyphs)
    per_cell = (most - least) / room if most > least else 1.0
    start = min(_cell(low - least, per_cell), room - 1)
    canvas.fill(start + 1, glyphs.solid, end=max(start + 1, _cell(high - least, per_cell)))
    return canvas.line()


def ladder(rungs: Sequence[tuple[str, RungState]], width: int, glyphs: Glyphs = UNICODE) -> Line:
    """The rungs in order, each three cells of its state and its name: `███ unit ▒▒▒ node ░░░ full`."""
    states: dict[RungState, str] = {"passed": glyphs.solid, "stale": glyphs.stale, "open": glyphs.open}
    canvas = Canvas(width, glyphs)
    canvas.spans(1, tuple(Span(f"{states[state] * 3} {name} ") for name, state in rungs))
    return canvas.line()


def histogram(shares: Sequence[float], room: int, glyphs: Glyphs = UNICODE) -> tuple[Line, ...]:
    """One bar a row, the largest share as long as the room; a share above nothing has at least a tick."""
    longest = max((_amount(share) for share in shares), default=0.0)
    lines: list[Line] = []
    for share in shares:
        bar = stacked_bar([(share, glyphs.solid)], longest / room if longest else 1.0, room, (), glyphs)
        tick = share > 0 and bar[0].text.startswith(" ")
        lines.append((Span(glyphs.zero + " " * (room - 1)),) if tick else bar)
    return tuple(lines)


def _amount(value: float) -> float:
    return value if isfinite(value) and value > 0 else 0.0


def _cell(value: float, per_cell: float) -> int:
    """Cells up to a value, rounded; nothing when the axis has no length."""
    return int(min(_amount(value) / per_cell, _FAR) + 0.5) if per_cell > 0 else 0


def _passes_cell(passes: float) -> int:
    if not passes > PASSES_FROM:
        return 0
    last = PASSES_CELLS - 1
    octaves = log2(min(passes, PASSES_TO) / PASSES_FROM) / log2(PASSES_TO / PASSES_FROM)
    return int(octaves * last + 0.5)
