"""Evaluation: the tasks, what each costs, and the smallest difference that each can show."""

from __future__ import annotations

from trainplan.quantity.figure import Figure
from trainplan.rows.operation import EVALUATION as LEDGER
from trainplan.views.listings import tasks
from trainplan_tui.panes.ledger import findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, EVALUATION
from trainplan_tui.panes.rows import TABLE, BodyRow, note_row, table_rows
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import stacked_bar
from trainplan_tui.widgets.frame import rule

NAME = 22
"""Last cell of the task's name."""
ENDS = (30, 36, 45, 53, 64, 72, 80)
"""Last cells of the columns after the task's name."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """Fields, the tasks as a table, what follows, findings."""
    found = findings_of(shown, BUDGETS[EVALUATION], width, glyphs)
    body = ledger(LEDGER, shown, width, height, glyphs, found)
    place = next((i for i, row in enumerate(body) if row.kind == "rule"), len(body))
    return [*body[: place + 1], *_tasks(shown, width, glyphs), *body[place:]]


def _tasks(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    listing = tasks(shown.estimate)
    if not listing.rows:
        empty = note_row("No tasks. Evaluation costs nothing and shows nothing. enter adds one", width, glyphs)
        return [BodyRow("evaluation.tasks", "figure", empty.line)]
    whole = max(width, TABLE)
    head = Canvas(whole, glyphs)
    head.put(4, listing.heads[0], "dim")
    for end, word in zip(ENDS, listing.heads[1:], strict=True):
        head.right(end, word, "dim")
    found = [BodyRow("", "picture", head.line()), *(_task(row, whole, glyphs) for row in listing.rows)]
    return table_rows(found, (NAME, *ENDS), width)


def _task(texts: tuple[str, ...], width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.put(4, texts[0], end=NAME)
    for before, end, text in zip((NAME, *ENDS), ENDS, texts[1:], strict=False):
        canvas.right(end, text, start=before + 2)
    return BodyRow(f"evaluation.tasks.{texts[0]}.standard_error", "figure", canvas.line())


def _points(value: Figure) -> str:
    return f"{100 * value:.1f} pp" if isinstance(value, Figure) else "?"


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """The smallest real difference of each task as a bar: shorter tells more."""
    told = [task for task in shown.estimate.evaluation.rows if isinstance(task.smallest_difference, Figure)]
    if not told:
        return []
    most, room = max(float(task.smallest_difference) for task in told), width - 32
    lines = [rule("smallest difference that a task can show", width, "", glyphs)]
    for task in told:
        canvas = Canvas(width, glyphs)
        canvas.put(2, task.name, end=20)
        canvas.spans(21, stacked_bar([(float(task.smallest_difference), glyphs.solid)], most / room, room, (), glyphs))
        canvas.right(width - 1, _points(task.smallest_difference))
        lines.append(canvas.line())
    return lines
