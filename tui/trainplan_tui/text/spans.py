"""Lines of spans: the one form in which text reaches the screen.

A line is a row of spans, a span is text in one role. The canvas lays text into fixed columns, numbered from 1 as in
the drawings, and nothing ever leaves its columns: longer text ends in a mark that it was cut.
It refuses styles and colours (roles only), markup of any kind, and text that could move the terminal's cursor.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from trainplan.frozen import frozen
from trainplan_tui.text.glyphs import UNICODE, Glyphs
from trainplan_tui.text.printable import cells, is_wide, printable

Role: TypeAlias = Literal["text", "dim", "edit", "moved", "warn", "error"]
ROLES: tuple[Role, ...] = ("text", "dim", "edit", "moved", "warn", "error")


class Look(NamedTuple):
    """How a cell is drawn: its role and three signs that colour never carries alone."""

    role: Role = "text"
    bold: bool = False
    reverse: bool = False
    underline: bool = False


class Span(NamedTuple):
    """Text in one look. `reverse` is the cursor, `underline` a match, `bold` the current pane and valid values."""

    text: str
    role: Role = "text"
    bold: bool = False
    reverse: bool = False
    underline: bool = False

    @property
    def look(self) -> Look:
        """How the text is drawn, without the text."""
        return Look(self.role, self.bold, self.reverse, self.underline)


Line: TypeAlias = tuple[Span, ...]
_PLAIN = Look()


def line_of(text: str, role: Role = "text", *, bold: bool = False) -> Line:
    """A line of one span, sanitised and not padded."""
    return (Span(printable(text), role, bold),)


def line_text(line: Line) -> str:
    """The characters of a line without looks."""
    return "".join(span.text for span in line)


def line_cells(line: Line) -> int:
    """Cells that a line occupies."""
    return sum(cells(span.text) for span in line)


def joined(*parts: Line) -> Line:
    """Lines written one after the other on one row."""
    return tuple(span for part in parts for span in part)


def clipped(text: str, width: int, more: str = UNICODE.more) -> str:
    """Printable text in at most `width` cells; when cut, its last cell is `more`."""
    shown = printable(text)
    if cells(shown) <= width:
        return shown
    if width <= 0:
        return ""
    kept, used = [], 0
    for character in shown:
        used += 2 if is_wide(character) else 1
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + more


@frozen
class _Cells:
    """The two rows under a canvas: characters (a wide one is followed by an empty string) and looks."""

    characters: list[str]
    looks: list[Look]

    def write(self, start: int, text: str, look: Look) -> int:
        """Write from index `start`; the index after the last cell. Halves of wide characters become blanks."""
        pieces = list(text) if text.isascii() else _pieces(text)
        stop = start + len(pieces)
        self._blank_half(start)
        self._blank_half(stop)
        self.characters[start:stop] = pieces
        self.looks[start:stop] = [look] * len(pieces)
        return stop

    def _blank_half(self, index: int) -> None:
        if 0 < index < len(self.characters) and not self.characters[index]:
            self.characters[index - 1 : index + 1] = [" ", " "]


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for character in text:
        pieces += [character, ""] if is_wide(character) else [character]
    return pieces


class Canvas:
    """One row of `width` blank cells to lay text into. Columns count from 1; ends are inclusive."""

    __slots__ = ("_cells", "_more", "width")

    def __init__(self, width: int, glyphs: Glyphs = UNICODE) -> None:
        self.width = width
        self._more = glyphs.more
        self._cells = _Cells([" "] * width, [_PLAIN] * width)

    def put(
        self,
        column: int,
        text: str,
        role: Role = "text",
        *,
        end: int | None = None,
        bold: bool = False,
        reverse: bool = False,
        underline: bool = False,
    ) -> int:
        """Write text from `column`, cut at `end` (the canvas when not given). The next free column."""
        start, stop = self._reach(column, end)
        shown = clipped(text, stop - start, self._more)
        return self._cells.write(start, shown, Look(role, bold, reverse, underline)) + 1 if shown else column

    def right(
        self,
        end: int,
        text: str,
        role: Role = "text",
        *,
        start: int = 1,
        bold: bool = False,
        reverse: bool = False,
        underline: bool = False,
    ) -> int:
        """Write text so that it ends in column `end`; cut when it would begin before `start`. Its first column."""
        first, stop = self._reach(start, end)
        shown = clipped(text, stop - first, self._more)
        begin = stop - cells(shown)
        self._cells.write(begin, shown, Look(role, bold, reverse, underline))
        return begin + 1

    def spans(self, column: int, line: Line, *, end: int | None = None) -> int:
        """Write the spans of a line one after the other from `column`. The next free column."""
        for text, role, bold, reverse, underline in line:
            column = self.put(column, text, role, end=end, bold=bold, reverse=reverse, underline=underline)
        return column

    def fill(self, column: int, glyph: str, role: Role = "text", *, end: int | None = None) -> None:
        """Repeat a glyph of one cell from `column` to `end`."""
        start, stop = self._reach(column, end)
        self._cells.write(start, glyph * (stop - start), Look(role))

    def wipe(self, column: int, end: int) -> None:
        """Blanks from `column` to `end`, and on to the end of a word that would be cut there: half a number is another one."""
        characters = self._cells.characters
        while end < self.width and characters[end - 1] != " " and characters[end] != " ":
            end += 1
        self.fill(column, " ", end=end)

    def cursor(self, column: int = 3, end: int | None = None) -> None:
        """Reverse the cells from `column` to `end` in one look, roles dropped: the cursor row, or its active cell."""
        start, stop = self._reach(column, end)
        self._cells.looks[start:stop] = [Look(reverse=True)] * (stop - start)

    def match(self, column: int, end: int) -> None:
        """Underline the cells from `column` to `end`, keeping their roles."""
        start, stop = self._reach(column, end)
        looks = self._cells.looks
        looks[start:stop] = [look._replace(underline=True) for look in looks[start:stop]]

    def scrolled(self, fixed: int, shown: range, width: int, shift: int, *, more: bool) -> Line:
        """The row in `width` cells: the first `fixed` stay, the `shown` ones stand `shift` cells to the left; the rest is left out.

        A mark says that `more` follows.
        """
        part = Canvas(width)
        for cells_, move in ((range(fixed), 0), (shown, shift)):
            for cell in cells_:
                part._cells.characters[cell - move] = self._cells.characters[cell]
                part._cells.looks[cell - move] = self._cells.looks[cell]
        if more:
            part.put(width, self._more, "dim")
        return part.line()

    def line(self) -> Line:
        """The row as spans, blanks included, neighbours of one look joined."""
        pairs = zip(self._cells.looks, self._cells.characters, strict=True)
        return tuple(Span("".join(map(itemgetter(1), run)), *look) for look, run in groupby(pairs, key=itemgetter(0)))

    def _reach(self, column: int, end: int | None) -> tuple[int, int]:
        start = min(max(column - 1, 0), self.width)
        stop = self.width if end is None else min(end, self.width)
        return start, max(start, stop)
