"""One grid of cells fills the screen, and an edit sends only the cells that differ.

Strip, panes, heading, body, rule, inspector and footer are rows of this one widget, so an edit is one refresh.
It refuses scroll bars, focus, styles sheets and markup: rows are lines of spans, already laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import CompositorUpdate
from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.widget import Widget

from trainplan.frozen import Remembering, record
from trainplan_tui.text.colours import Ink, Palette
from trainplan_tui.text.printable import cells, is_wide, printable
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.wire import Cell, difference

GAP = 16
"""Unchanged cells between two regions that are drawn as one; what is sent of them is for `wire` to say."""

_NO_INK = Ink()
_BLANK: Cell = (" ", _NO_INK)


@record
class Row(Remembering):
    """A painted line: its runs of one ink, exactly as wide as the window, and its strip, for drawing."""

    runs: tuple[tuple[str, Ink], ...]
    strip: Strip

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """One entry a cell, for comparing. A blank shows no colour, so blanks that differ only in colour are equal."""
        cells: list[Cell] = []
        for text, ink in self.runs:
            blank = (" ", ink) if ink.reverse or ink.underline else _BLANK
            cells += [blank if piece == " " else (piece, ink) for piece in _pieces(text)]
        return tuple(cells)


class Grid(Widget, inherit_css=False):
    """Draws lines. `show` is the only way in."""

    DEFAULT_CSS = "Grid { width: 100%; height: 100%; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines: tuple[Line, ...] = ()
        self._rows: tuple[Row, ...] = ()
        self._frame = (0, 0)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines shown last."""
        return self._lines

    @property
    def rows(self) -> tuple[Row, ...]:
        """The same, painted."""
        return self._rows

    def show(self, lines: Sequence[Line], cursor: tuple[int, int] = (0, 0), width: int = 0) -> None:
        """Show these lines, top to bottom, and put the terminal's cursor on a cell (row, column, both from 0).

        `width` is the width of the window in cells; the app's when not given. Rows are cut and padded to it.
        """
        old, frame = self._rows, (width or self.app.size.width, len(lines))
        rows = self._painted(tuple(lines), frame)
        regions = tuple(changes(old, rows))
        place = Offset(cursor[1], cursor[0])
        moved, self.app.cursor_position = place != self.app.cursor_position, place
        if frame != self._frame:
            self.refresh()
        elif regions:
            self.refresh(*regions)
        elif moved:
            self.refresh(Region(place.x, place.y, 1, 1))
        self._frame = frame

    def render_line(self, y: int) -> Strip:
        """The strip of one row; blank below the last."""
        return self._rows[y].strip if y < len(self._rows) else Strip.blank(self.size.width)

    def _painted(self, lines: tuple[Line, ...], frame: tuple[int, int]) -> tuple[Row, ...]:
        """Paint the lines, taking over the rows of equal lines of the last frame."""
        kept = dict(zip(self._lines, self._rows, strict=True)) if frame[0] == self._frame[0] else {}
        self._lines = lines
        self._rows = tuple(kept.get(line) or paint(line, frame[0], self._palette) for line in lines)
        return self._rows


class Difference(CompositorUpdate):
    """What turns the rows that the terminal has into others."""

    def __init__(self, before: Sequence[Row], after: Sequence[Row]) -> None:
        self.before = before
        self.after = after

    def render_segments(self, console: Console) -> str:
        """Addresses and cells, as the terminal takes them."""
        return difference([row.cells for row in self.before], [row.cells for row in self.after])


def paint(line: Line, width: int, palette: Palette) -> Row:
    """One line as a row of exactly `width` cells. Every character passes the sanitiser here, whoever wrote it."""
    runs: list[tuple[str, Ink]] = []
    left = width
    for span in line:
        shown = _cut(printable(span.text), left)
        left -= cells(shown)
        _add(runs, shown, palette.ink(span.look))
    _add(runs, " " * left, _NO_INK)
    return Row(tuple(runs), Strip([Segment(text, _style(ink)) for text, ink in runs], width))


def _cut(text: str, width: int) -> str:
    """The text in at most `width` cells; half of a wide character is a blank."""
    if cells(text) <= width:
        return text
    pieces = list(_pieces(text))[: width + 1]
    halved = pieces.pop().startswith("\0")
    shown = "".join(piece for piece in pieces if not piece.startswith("\0"))
    return shown[:-1] + " " if halved else shown


def _add(runs: list[tuple[str, Ink]], text: str, ink: Ink) -> None:
    """Add a run. Blanks at its head take the ink to their left where nobody sees it: fewer colours, fewer bytes."""
    if runs and not (ink.reverse or ink.underline or runs[-1][1].reverse or runs[-1][1].underline):
        rest = text.lstrip(" ")
        runs[-1] = (runs[-1][0] + " " * (len(text) - len(rest)), runs[-1][1])
        text = rest
    if text and runs and runs[-1][1] == ink:
        runs[-1] = (runs[-1][0] + text, ink)
    elif text:
        runs.append((text, ink))


def changes(old: Sequence[Row], new: Sequence[Row], gap: int = GAP) -> Iterator[Region]:
    """Regions whose cells differ, one row high, runs at most `gap` cells apart joined."""
    for y, (before, after) in enumerate(zip(old, new, strict=False)):
        if before is not after and before.cells != after.cells:
            for start, stop in _runs(before.cells, after.cells, gap):
                yield Region(start, y, stop - start, 1)


def _runs(before: tuple[Cell, ...], after: tuple[Cell, ...], gap: int) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for x in (x for x, (was, now) in enumerate(zip(before, after, strict=False)) if was != now):
        if runs and x - runs[-1][1] <= gap:
            runs[-1] = (runs[-1][0], x + 1)
        else:
            runs.append((x, x + 1))
    return runs


def _pieces(text: str) -> Iterator[str]:
    """One piece a cell; the right half of a wide character is that character behind a NUL."""
    if text.isascii():
        yield from text
        return
    for character in text:
        yield character
        if is_wide(character):
            yield "\0" + character


@lru_cache(maxsize=256)
def _style(ink: Ink) -> Style | None:
    """No style at all for plain text: an empty style still sends a reset to each cell run."""
    if ink == _NO_INK:
        return None
    return Style(color=ink.colour, bold=ink.bold or None, reverse=ink.reverse or None, underline=ink.underline or None)
