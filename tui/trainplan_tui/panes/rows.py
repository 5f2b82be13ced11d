"""Rows of a pane as drawn lines with the boxes that can be edited in them, in the columns of the drawings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, Literal

from trainplan.finding import Finding
from trainplan.frozen import frozen
from trainplan.rows.table import Cells, FieldRow, FigureRow, cells
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, Role
from trainplan_tui.widgets.frame import rule

Kind = Literal["field", "figure", "finding", "rule", "picture"]

SIGNS: dict[str, tuple[str, Role]] = {"error": ("E", "error"), "warning": ("!", "warn"), "info": ("i", "dim")}


@frozen
class Box:
    """A value that can be edited: its plan path, its columns from 1 inside the brackets, its text, its choices."""

    path: str
    start: int
    end: int
    text: str
    choices: tuple[str, ...] = ()


@frozen
class BodyRow:
    """One line of a pane's body. An empty `id` cannot be reached by the cursor.

    A row of a table is drawn for `TABLE` columns. Where the window has only `room` of them, what stands before the first of its
    `edges` stays, the columns behind scroll, and none is cut: each ends at an edge. Without edges all of it has room.
    """

    id: str
    kind: Kind
    line: Line
    boxes: tuple[Box, ...] = ()
    edges: tuple[int, ...] = ()
    room: int = 0


TABLE: Final = 80
"""Columns that a table needs."""
STEP: Final = 10
"""Columns that a table moves by where no box says how far."""


def table_rows(rows: Sequence[BodyRow], edges: tuple[int, ...], width: int) -> list[BodyRow]:
    """Rows drawn for `TABLE` columns, which end at `edges`, as rows of a table in a window of `width`."""
    if width >= TABLE:
        return list(rows)
    return [BodyRow(row.id, row.kind, row.line, row.boxes, edges, width) for row in rows]


def shift_of(row: BodyRow, cell: int, *, typing: bool = False) -> int:
    """Columns that a table is moved by, so that a cell of the row under the cursor shows; cells go on behind the last box."""
    if not row.edges:
        return 0
    fixed, most, last = row.edges[0], row.edges[-1] - row.room, len(row.boxes) - 1
    least = row.boxes[min(cell, last)].end + 2 - row.room if last >= 0 else 0
    shifts = [edge - fixed for edge in row.edges if least <= edge - fixed < most] + [max(0, most)]
    further = 0 if typing else max(0, cell - max(last, 0))
    return min(shifts[min(further, len(shifts) - 1)], max(0, most)) if least > 0 or further else 0


def last_cell(row: BodyRow) -> int:
    """The last cell of a row: its last box, or what shows the end of its table."""
    last = max(0, len(row.boxes) - 1)
    if not row.edges:
        return last
    most = max(0, row.edges[-1] - row.room)
    return next(cell for cell in range(last, last + len(row.edges) + 1) if shift_of(row, cell) >= most)


def shifted_rows(rows: Sequence[BodyRow], at: int, cell: int, glyphs: Glyphs, *, typing: bool) -> Sequence[BodyRow]:
    """The rows of a body, the table under the cursor moved to its cell; other tables stand at their beginning."""
    if not any(row.edges for row in rows):
        return rows
    shift, found, place = shift_of(rows[at], cell, typing=typing), list[BodyRow](), 0
    for edges, group in groupby(rows, key=lambda row: row.edges):
        table = list(group)
        here = place <= at < place + len(table)
        found += [_shifted(row, shift if here else 0, glyphs) for row in table] if edges else table
        place += len(table)
    return found


def windowed(rows: Sequence[BodyRow], glyphs: Glyphs) -> list[Line]:
    """The lines of rows where no cursor goes: tables stand at their beginning."""
    return [_shifted(row, 0, glyphs).line if row.edges else row.line for row in rows]


def _shifted(row: BodyRow, shift: int, glyphs: Glyphs) -> BodyRow:
    """A row of a table as it stands in its window: only columns that are whole."""
    edges, room = row.edges, row.room
    left = min(edge for edge in edges if edge >= edges[0] + shift)
    more = edges[-1] > shift + room
    right = max(edge for edge in edges if edge < shift + room) if more else edges[-1]
    canvas = Canvas(TABLE, glyphs)
    canvas.spans(1, row.line)
    boxes = tuple(Box(box.path, box.start - shift, box.end - shift, box.text, box.choices) for box in row.boxes)
    line = canvas.scrolled(edges[0], range(left, max(left, right)), room, shift, more=more)
    return BodyRow(row.id, row.kind, line, boxes, edges, room)


@frozen
class Columns:
    """Where things stand at a width: from 80 as drawn; 64 to 79 without `rests on`; below with shorter labels."""

    label_end: int
    open: int
    value_end: int
    unit: int
    unit_end: int
    moved_end: int
    rests: int

    @property
    def close(self) -> int:
        """The column of the closing bracket."""
        return self.value_end + 1


def columns(width: int) -> Columns:
    """The columns for a body of this width."""
    if width >= 80:
        return Columns(26, 28, 41, 44, 53, 64, 66)
    if width >= 64:
        return Columns(26, 28, 41, 44, 53, 64, 0)
    return Columns(22, 24, 37, 40, 49, 60, 0)


def ledger_row(row: FieldRow | FigureRow, shown: Shown, width: int, glyphs: Glyphs) -> BodyRow:
    """A field with its box, or a figure."""
    told, at = cells(row, shown.estimate, shown.saved), columns(width)
    canvas = Canvas(width, glyphs)
    behind = canvas.put(4, told.label, end=at.label_end)
    box = _box(canvas, told, at, glyphs) if told.editable else None
    if box is None:
        end = at.value_end
        if not told.unit and not told.moved:  # a text that is longer than its column has the room of the two behind it
            end = min(max(end, behind + len(told.value)), at.moved_end)
        canvas.right(end, told.value, start=behind + 1, bold=shown.valid)
    finding = shown.finding_of(told.id) if told.editable else None
    wanted = told.editable and not told.value and finding is not None and finding.severity != "info"
    _around(canvas, told, at, "missing" if wanted else told.rests_on)
    _sign(canvas, finding)
    return BodyRow(told.id, "field" if told.editable else "figure", canvas.line(), (box,) if box else ())


def _box(canvas: Canvas, told: Cells, at: Columns, glyphs: Glyphs) -> Box:
    canvas.put(at.open, "[")
    canvas.put(at.close, "]")
    end = at.value_end
    if told.choices:
        canvas.put(end, glyphs.choice, "edit")
        end -= 2
    canvas.right(end, told.value, "edit", start=at.open + 1)
    return Box(told.id, at.open + 1, at.value_end, told.raw, told.choices)


def _around(canvas: Canvas, told: Cells, at: Columns, rests_on: str) -> None:
    canvas.put(at.unit, told.unit, "dim", end=at.unit_end)
    if told.moved:
        canvas.right(at.moved_end, told.moved, "moved", start=at.unit + 4)
    if at.rests:
        canvas.put(at.rests, rests_on, "dim", end=80)


def _sign(canvas: Canvas, finding: Finding | None) -> None:
    if finding is not None:
        canvas.put(2, *SIGNS[finding.severity])


def finding_row(finding: Finding, width: int, glyphs: Glyphs, home: str = "") -> BodyRow:
    """A finding in one line: what is so, then the pane it belongs to, then its code."""
    canvas = Canvas(width, glyphs)
    sign, role = SIGNS[finding.severity]
    canvas.put(2, sign, role)
    code = finding.code if len(finding.code) <= 4 else ""
    reach = width - (16 if home else 5)
    said = f"{finding.message}; {finding.fix}" if finding.fix and not home else finding.message
    canvas.put(4, said, "dim" if finding.severity == "info" else role, end=reach if code or home else width)
    if home:
        canvas.put(width - 14, home, "dim", end=width - 5)
    canvas.put(width - 3, code, "dim", end=width)
    return BodyRow(f"finding {finding.code} {finding.paths[0] if finding.paths else ''}", "finding", canvas.line())


def rule_row(title: str, width: int, glyphs: Glyphs) -> BodyRow:
    """A line across with a title."""
    return BodyRow("", "rule", rule(title, width, "", glyphs))


def note_row(text: str, width: int, glyphs: Glyphs, role: Role = "dim") -> BodyRow:
    """A sentence that cannot be reached."""
    canvas = Canvas(width, glyphs)
    canvas.put(4, text, role)
    return BodyRow("", "picture", canvas.line())


def heading(title: str, width: int, glyphs: Glyphs, right: str = "") -> Line:
    """The pane's name with the heads of the columns, or with a sentence at the right."""
    canvas, at = Canvas(width, glyphs), columns(min(width, 80))
    canvas.put(2, title, bold=True)
    if right:
        canvas.right(min(width, 80) - 1, right, "dim")
        return canvas.line()
    canvas.right(at.value_end, "value", "dim")
    canvas.put(at.unit, "unit", "dim")
    canvas.right(at.moved_end, "moved", "dim")
    if at.rests:
        canvas.put(at.rests, "rests on", "dim")
    return canvas.line()


def is_low(width: int, height: int) -> bool:
    """Whether the body of a window has so few rows that a pane may draw its ledger as a grid."""
    return height < 30 and width >= 80
