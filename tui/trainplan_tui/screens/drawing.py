"""The screen as lines: strip, panes, heading, body, rule, inspector or sheet, footer; and the right side where it is wide."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.frozen import frozen
from trainplan_tui.panes.rows import BodyRow, Box, heading, is_low, shifted_rows
from trainplan_tui.panes.specs import PANES, Pane
from trainplan_tui.screens.words import strip_parts
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.printable import cells
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, Layout, footer, layout, panes_row, rule, scrolled, walled
from trainplan_tui.widgets.line import LineEdit
from trainplan_tui.widgets.strip import strip

LEDGER = 80
"""Columns of the ledger; what is to the right of it shows pictures and the inspector."""
WIDE = 120
BOX = 13
"""Cells of an ordinary box, one of them for the cursor."""


@frozen
class Typing:
    """What is being typed into which box, and what is wrong with it, if anything."""

    path: str
    line: LineEdit
    error: tuple[str, ...] = ()


@frozen
class View:
    """Everything that one picture of the app is drawn from, beside the plan."""

    width: int
    height: int
    pane: Pane
    row: int
    cell: int
    first: int
    glyphs: Glyphs
    entries: Sequence[Entry]
    typing: Typing | None = None
    message: str = ""
    mode: str = ""
    needle: str = ""
    part: int = 0


@frozen
class Picture:
    """Lines, the cell of the terminal's cursor, and the first row of the body that shows."""

    lines: list[Line]
    cursor: tuple[int, int]
    first: int


def ledger_width(width: int) -> int:
    """Columns of the ledger in a window."""
    return LEDGER if width >= WIDE else width


def body_rows(shown: Shown, pane: Pane, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The rows of a pane for a window."""
    parts = _wide_layout(height) if width >= WIDE else layout(height)
    return pane.rows(shown, ledger_width(width), len(parts.body), glyphs, view)


def reachable(rows: Sequence[BodyRow]) -> list[int]:
    """Positions of the rows that the cursor can reach."""
    return [position for position, row in enumerate(rows) if row.id]


def is_sketchable(pane: Pane, width: int, height: int) -> bool:
    """Whether findings that come later move no row: they have no column of their own, and the table is cut anyway."""
    return width < WIDE and len(layout(height).body) <= len(pane.table.rows)


def draw(shown: Shown, view: View, rows: Sequence[BodyRow]) -> Picture:
    """The whole picture without a sheet."""
    parts = _wide_layout(view.height) if view.width >= WIDE else layout(view.height)
    return _draw(shown, view, rows, parts, ())


def draw_with_sheet(shown: Shown, view: View, rows: Sequence[BodyRow], sheet: Sequence[Line], page: bool) -> Picture:
    """The picture with a sheet in place of inspector, rule and body rows, or of the whole body."""
    parts = layout(view.height, len(sheet))
    if page:
        parts = Layout(range(0), range(0), range(0), range(2, view.height - 1), view.height - 1)
    return _draw(shown, view, rows, parts, sheet)


def sheet_rows(height: int, wanted: int, page: bool) -> int:
    """Rows that a sheet gets."""
    return height - 3 if page else len(layout(height, wanted).sheet)


def _wide_layout(height: int) -> Layout:
    """From 120 columns on the inspector stands at the right, and its rows belong to the body."""
    return Layout(range(3, height - 1), range(0), range(0), range(0), height - 1)


def _draw(shown: Shown, view: View, rows: Sequence[BodyRow], parts: Layout, sheet: Sequence[Line]) -> Picture:
    width, glyphs = view.width, view.glyphs
    first = scrolled(view.first, len(parts.body), view.row, len(rows))
    lines: list[Line] = [()] * view.height
    lines[0] = strip(strip_parts(shown), width, glyphs)
    names = [pane.name for pane in PANES]
    lines[1] = panes_row(names, PANES.index(view.pane), _marks(shown), width, glyphs)
    lines[2] = heading(
        view.pane.title,
        ledger_width(width),
        glyphs,
        _part(view, shown, low=is_low(ledger_width(width), len(parts.body))),
    )
    cursor = (2, 0)
    rows = shifted_rows(rows, view.row, view.cell, glyphs, typing=view.typing is not None) if rows else rows
    for place, position in zip(parts.body, range(first, len(rows)), strict=False):
        here = position == view.row and bool(rows[position].id)
        lines[place], column = _row_line(rows[position], here, view)
        if position == view.row:
            cursor = (place, column)
    _under_body(lines, shown, view, rows, parts)
    for place, line in zip(parts.sheet, sheet, strict=False):
        lines[place] = line
    if width >= WIDE and parts.body:
        _right(lines, shown, view, rows, parts)
    left = _left_of_message(lines, view, parts)
    lines[parts.footer] = footer(view.entries, width, mode="" if left else view.mode, message=left, glyphs=glyphs)
    return Picture(lines, cursor, first)


def _left_of_message(lines: list[Line], view: View, parts: Layout) -> str:
    """What of the message is for the footer. One that it would cut stands over the inspector, or over the end of a sheet."""
    if len(view.message) * 2 < view.width:
        return view.message
    from trainplan_tui.screens.messages import end_of, is_cut, spread

    if not is_cut(view.message, view.width):
        return view.message
    if view.width >= WIDE and not parts.sheet:
        return ""  # it stands at the right
    places = parts.inspector or end_of(parts.sheet, view.message, view.width)
    return spread(lines, view.message, view.width, places, view.glyphs)


def _marks(shown: Shown) -> list[str]:
    found: list[str] = []
    for pane in PANES:
        mine = [item for item in (*shown.findings, *shown.review_findings) if item.budget in pane.budgets]
        errors = sum(item.severity == "error" for item in mine)
        warnings = sum(item.severity == "warning" for item in mine)
        found.append(f"E{errors}" if errors else f"!{warnings}" if warnings else "")
    return found


def _row_line(row: BodyRow, here: bool, view: View) -> tuple[Line, int]:
    """A row's line with the cursor, the match and the text being typed on it; the column of the cursor from 0."""
    if not here and not (view.needle and row.id):
        return row.line, 0
    canvas = Canvas(ledger_width(view.width), view.glyphs)
    canvas.spans(1, row.line)
    _underline(canvas, row, view.needle)
    if not here:
        return canvas.line(), 0
    canvas.put(1, ">")
    behind = view.typing is None and view.cell >= len(row.boxes)
    box = None if behind else row.boxes[min(view.cell, len(row.boxes) - 1)]
    if view.typing is not None and box is not None:
        column = _typed(canvas, row, box, view.typing)
        return canvas.line(), column
    if box is not None and len(row.boxes) > 1:
        canvas.cursor(box.start, box.end)
    else:
        canvas.cursor(3)
    return canvas.line(), box.end - 1 if box is not None else 3


def _underline(canvas: Canvas, row: BodyRow, needle: str) -> None:
    text = "".join(span.text for span in row.line).lower()
    at = text.find(needle.lower()) if needle else -1
    if at >= 0:
        canvas.match(at + 1, at + len(needle))


def _typed(canvas: Canvas, row: BodyRow, box: Box, typing: Typing) -> int:
    """The line editor inside a box: only what is selected, or the cell of the cursor, is reversed.

    A box that is narrower than most grows to the right as long as text is typed into it, over what stands beside it.
    """
    width = box.end - box.start + 1
    room = min(BOX, canvas.width - box.start)
    wanted = min(cells(typing.line.text) + 1, room)
    if wanted > width:
        width = wanted
        bracket = box.start + width
        beside = [other.end + 1 for other in row.boxes if box.end < other.start <= bracket + 2]
        canvas.wipe(bracket, max([bracket, *beside]))
        canvas.put(bracket, "]")
    seen, end = typing.line.view(width), box.start + width - 1
    if typing.error:
        canvas.put(2, "E", "error")
    canvas.put(box.start, seen.text, "error" if typing.error else "edit", end=end)
    if typing.line.all_selected:
        canvas.cursor(box.start, min(end, box.start + len(typing.line.text) - 1))
    else:
        canvas.cursor(box.start + seen.column, box.start + seen.column)
    return box.start - 1 + seen.column


def _part(view: View, shown: Shown, *, low: bool) -> str:
    """What the heading says in place of the heads of columns: what else there is, or which view it is."""
    numbered = f"view {view.part + 1} of {view.pane.views(shown)}" if view.part else ""
    return view.pane.hint(view.part, low=low) or numbered


def _under_body(lines: list[Line], shown: Shown, view: View, rows: Sequence[BodyRow], parts: Layout) -> None:
    if not parts.rule or not rows or shown.pending:
        return
    from trainplan_tui.panes.inspector import told  # first when the figures stand

    row = rows[min(view.row, len(rows) - 1)]
    key, sentences = told(row, shown, view.cell)
    places = reachable(rows)
    position = f"row {places.index(view.row) + 1} of {len(places)}" if view.row in places else ""
    lines[parts.rule.start] = rule(key, view.width, "" if view.typing else position, view.glyphs)
    room = len(parts.inspector)
    wrong = view.typing.error if view.typing else ()
    text = _fitted(wrong or sentences, view.width - 2, room)
    for index, place in enumerate(parts.inspector):
        if index < len(text):
            canvas = Canvas(view.width, view.glyphs)
            canvas.put(2, text[index], "error" if wrong else "text")
            lines[place] = canvas.line()


def _fitted(sentences: Sequence[str], width: int, room: int) -> list[str]:
    """Sentences as lines: each begins its own where all fit in two, else one runs into the next.

    A sentence that goes on under the last line is too long for it there, so that the cut shows.
    """
    from trainplan_tui.panes.inspector import wrapped

    each = [wrapped(sentence, width) for sentence in sentences]
    if sum(map(len, each)) > 2 and len(sentences[0]) > width:
        each = [wrapped(" ".join(sentences), width)]
    shown = [line for pieces in each for line in pieces]
    ends = {sum(map(len, each[: at + 1])) for at in range(len(each))}
    if len(shown) > room > 0 and room not in ends:
        shown[room - 1] = f"{shown[room - 1]} {shown[room]}"
    return shown[:room]


def _right(lines: list[Line], shown: Shown, view: View, rows: Sequence[BodyRow], parts: Layout) -> None:
    """The side right of the ledger: the row in full, the pane's picture, then what the unsaved edits moved."""
    from trainplan_tui.panes.inspector import moves

    width, places = view.width - LEDGER - 2, range(2, parts.footer)
    found = [*_inspected(shown, view, rows, width), (), *view.pane.side(shown, width, view.glyphs, view.part)]
    moved = moves(shown, width, max(4, len(places) - len(found) - 4))
    if moved:
        found += [(), rule("what it moved", width, "", view.glyphs)]
        found += [_sentence(line, width, view.glyphs) for line in moved]
    for index, place in enumerate(places):
        lines[place] = walled(lines[place], found[index] if index < len(found) else (), LEDGER, view.glyphs)


def _inspected(shown: Shown, view: View, rows: Sequence[BodyRow], width: int) -> list[Line]:
    """Which row of those that can be reached, as no rule says it; then the row, or what is wrong with what is typed."""
    if not rows:
        return []
    reached = reachable(rows)
    at = f"row {reached.index(view.row) + 1} of {len(reached)}" if view.row in reached and not view.typing else ""
    error = view.typing.error if view.typing else ()
    from trainplan_tui.panes.inspector import side, wrapped
    from trainplan_tui.screens.messages import is_cut

    said = [*wrapped(view.message, width - 2), ""] if is_cut(view.message, view.width) else []
    text = list(error) or [*said, *side(rows[min(view.row, len(rows) - 1)], shown, width, view.cell, view.glyphs)]
    return [_sentence(line, width, view.glyphs, bold=i == 1) for i, line in enumerate([at, *text])]


def _sentence(text: str, width: int, glyphs: Glyphs, *, bold: bool = False) -> Line:
    canvas = Canvas(width, glyphs)
    canvas.put(1, text, bold=bold)
    return canvas.line()
