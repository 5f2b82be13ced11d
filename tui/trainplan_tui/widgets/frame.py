"""The rows around the body: panes row, rule, footer, the small window, and which row of the window is what.

Pure functions on plain data; rows are lines of exactly the width asked for.
It refuses the strip, whose order of dropping words is long enough for a file of its own (`strip`).
"""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.frozen import frozen
from trainplan_tui.text.glyphs import UNICODE, Glyphs
from trainplan_tui.text.printable import cells, printable
from trainplan_tui.text.spans import Canvas, Line, Span, line_cells

LEAST = (60, 15)
"""The least window, columns and rows."""
TALL = 18
"""From this height the inspector has two rows."""


@frozen
class PaneName:
    """A pane in the panes row: its digit, its name of at most 8 letters, and its full name."""

    digit: str
    short: str
    full: str


@frozen
class Entry:
    """A key that works now, and the word for what it does."""

    key: str
    word: str

    @property
    def text(self) -> str:
        """As it stands in the footer."""
        return printable(f"{self.key} {self.word}".strip())


def panes_row(
    names: Sequence[PaneName], current: int, marks: Sequence[str], width: int, glyphs: Glyphs = UNICODE
) -> Line:
    """The row of pane names; the current one is bold between brackets.

    Below 80 columns digits and the current name; from 80 short names; from 120 full names, each with its mark
    (`!2`, `E1`, or empty), as far as they fit.
    """
    if width < 80:
        return _panes(_digits(names, current), width, glyphs)
    if width >= 120:
        for wide in (_spacious(names, current, marks, full=True), _spacious(names, current, marks, full=False)):
            if line_cells(wide) <= width:
                return _panes(wide, width, glyphs)
    return _panes(_tight(names, current), width, glyphs)


def _panes(line: Line, width: int, glyphs: Glyphs) -> Line:
    canvas = Canvas(width, glyphs)
    canvas.spans(1, line)
    return canvas.line()


def _digits(names: Sequence[PaneName], current: int) -> Line:
    texts = [f"[{name.digit}{name.short}]" if i == current else name.digit for i, name in enumerate(names)]
    return _marked(texts, current, " ")


def _tight(names: Sequence[PaneName], current: int) -> Line:
    """The two blanks beside the current name become its brackets, so that marking it costs no width."""
    line = [Span("[" if current == 0 else " ", bold=current == 0)]
    for i, name in enumerate(names):
        after = "]" if i == current else "[" if i + 1 == current else " "
        line.append(Span(printable(name.digit + name.short), bold=i == current))
        line.append(Span(after, bold=after != " "))
    return tuple(line)


def _spacious(names: Sequence[PaneName], current: int, marks: Sequence[str], *, full: bool) -> Line:
    texts: list[str] = []
    for i, name in enumerate(names):
        mark = marks[i] if i < len(marks) else ""
        text = " ".join(filter(None, (name.digit, name.full if full else name.short, mark)))
        texts.append(f"[{text}]" if i == current else text)
    return (Span(" "), *_marked(texts, current, "  "))


def _marked(texts: Sequence[str], current: int, gap: str) -> Line:
    line: list[Span] = []
    for i, text in enumerate(texts):
        line.append(Span(printable(text), bold=i == current))
        line.append(Span(gap))
    return tuple(line[:-1])


def footer(
    entries: Sequence[Entry],
    width: int,
    *,
    mode: str = "",
    message: str = "",
    glyphs: Glyphs = UNICODE,
) -> Line:
    """The keys that work now, most used first. What does not fit is dropped from the end, never the first or the last.

    `mode` (`editing`, `choosing`, ...) stands before them. A `message`, the result of an action, takes the left part
    and leaves only as many keys as fit beside it: the last, or none where the message needs all the room.
    """
    gap = "   " if mode else "  "
    head = f" {mode}   " if mode else f" {message}  " if message else ""
    least = entries[-1:] if message else [*entries[:1], *entries[1:][-1:]]
    shown = _fitting(entries, least, width - cells(printable(head)), gap)
    text = gap.join(entry.text for entry in shown)
    if not head and cells(text) < width:
        head = " "
    canvas = Canvas(width, glyphs)
    if message:
        if cells(head.rstrip()) > width - cells(text) - 2:
            text = ""
        canvas.put(1, head.rstrip(), end=width - cells(text) - 2 if text else width)
        canvas.right(width, text, "dim")
        return canvas.line()
    column = canvas.put(1, head, bold=True) if head.strip() else 1 + len(head)
    canvas.put(column, text, "dim")
    return canvas.line()


def _fitting(entries: Sequence[Entry], least: Sequence[Entry], width: int, gap: str) -> list[Entry]:
    """As many entries as fit, in order, taken from the front, but always those in `least`. At 80 columns nine."""
    kept = list(entries)
    if width <= 80:
        kept = [*entries[:8], *entries[8:][-1:]]
    while len(kept) > len(least) and cells(gap.join(entry.text for entry in kept)) > width:
        kept.pop(-2 if len(kept) > 1 else 0)
    return kept if len(kept) > len(least) else list(least)


def rule(title: str, width: int, position: str = "", glyphs: Glyphs = UNICODE) -> Line:
    """A rule with a title at the left and a position at the right, either of them left out when empty."""
    canvas = Canvas(width, glyphs)
    canvas.fill(1, glyphs.rule, "dim")
    reach = width - 2
    if position:
        reach = canvas.right(width - 2, f" {position} ", "dim") - 2
    if title:
        canvas.put(3, f" {title} ", end=reach, bold=True)
    return canvas.line()


def walled(left: Line, right: Line, column: int, glyphs: Glyphs) -> Line:
    """What stands left, in so many cells, a wall, and what stands right of it; a rule at the right grows out of the wall."""
    canvas = Canvas(column, glyphs)
    canvas.spans(1, left)
    if right and right[0].text.startswith(glyphs.rule * 2):
        return (*canvas.line(), Span(glyphs.branch, "dim"), *right, Span(glyphs.rule, "dim"))
    return (*canvas.line(), Span(glyphs.wall, "dim"), Span(" "), *right)


def small_window(
    width: int, height: int, strip: Line, entries: Sequence[Entry], glyphs: Glyphs = UNICODE, message: str = ""
) -> list[Line]:
    """The one screen below the least window: what is needed, the strip, the keys that still work, and what the last one did."""
    from trainplan_tui.text.folding import folded

    needed = f"{LEAST[0]}x{LEAST[1]} is the least; this is {width}x{height}."
    rows: list[Line] = [(Span(needed),), strip, (Span("   ".join(entry.text for entry in entries)),)]
    rows += [(Span(line),) for line in folded(message, width - 1)]
    return [_panes(row, width, glyphs) for row in rows[:height]]


def too_small(width: int, height: int) -> bool:
    """Whether a window is below the least."""
    return width < LEAST[0] or height < LEAST[1]


@frozen
class Layout:
    """Which rows of the window are what. Rows count from 0; a range that is empty is not drawn.

    Row 0 is the strip, 1 the panes, 2 the heading.
    """

    body: range
    rule: range
    inspector: range
    sheet: range
    footer: int


def layout(height: int, sheet: int = 0, least_body: int = 3) -> Layout:
    """Rows of a window. A sheet of so many rows takes them from the bottom up: inspector, rule, then body rows.

    At least `least_body` rows of the body stay, so that what the sheet is about is seen; the sheet gets what is left.
    """
    footer_row = height - 1
    inspector = range(footer_row - (2 if height >= TALL else 1), footer_row)
    rule_rows = range(inspector.start - 1, inspector.start)
    if not sheet:
        return Layout(range(3, rule_rows.start), rule_rows, inspector, range(0), footer_row)
    top = max(min(footer_row - sheet, rule_rows.start), min(3 + least_body, footer_row))
    return Layout(range(3, top), range(0), range(0), range(top, footer_row), footer_row)


def scrolled(first: int, rows: int, keep: int, total: int) -> int:
    """The first row of the body to show, moved by the least that keeps row `keep` among the `rows` that show."""
    if rows <= 0:
        return 0
    first = min(max(first, keep - rows + 1), keep)
    return max(0, min(first, total - rows))
