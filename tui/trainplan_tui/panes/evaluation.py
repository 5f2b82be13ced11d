"""Evaluation: the tasks, what each costs, and the smallest difference that each can show."""

from __future__ import annotations

from trainplan.budgets.evaluation import TaskBudget
from trainplan.figure import Figure
from trainplan.ledgers_operation import EVALUATION as LEDGER
from trainplan.unit import duration, prefixed
from trainplan_tui.panes.ledger import findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, EVALUATION
from trainplan_tui.panes.rows import BodyRow, note_row
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import stacked_bar
from trainplan_tui.widgets.frame import rule

ENDS = ((30, "items"), (36, "shots"), (46, "kind"), (55, "tokens"), (64, "time"), (72, "std err"), (80, "shows"))


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """Fields, the tasks as a table, what follows, findings."""
    found = findings_of(shown, BUDGETS[EVALUATION], width, glyphs)
    body = ledger(LEDGER, shown, width, height, glyphs, found)
    place = next((i for i, row in enumerate(body) if row.kind == "rule"), len(body))
    return [*body[: place + 1], *_tasks(shown, width, glyphs), *body[place:]]


def _tasks(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    tasks = shown.estimate.evaluation.rows
    if not tasks:
        return [note_row("No tasks. Evaluation costs nothing and shows nothing: [[evaluation.tasks]]", width, glyphs)]
    head = Canvas(width, glyphs)
    head.put(4, "task", "dim")
    for end, word in ENDS:
        head.right(min(end, width), word, "dim")
    return [BodyRow("", "picture", head.line()), *(_task(task, width, glyphs) for task in tasks)]


def _task(task: TaskBudget, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.put(4, task.name, end=22)
    told = (
        _whole(task.items),
        _whole(task.shots),
        "generate" if task.generates else "choice",
        " ".join(prefixed(task.tokens, 3)).replace(" ", "") if isinstance(task.tokens, Figure) else "?",
        " ".join(duration(task.time)).strip() if isinstance(task.time, Figure) else "?",
        _points(task.standard_error),
        _points(task.smallest_difference),
    )
    for (end, _), text in zip(ENDS, told, strict=True):
        canvas.right(min(end, width), text)
    return BodyRow(f"evaluation.tasks.{task.name}.standard_error", "figure", canvas.line())


def _whole(value: Figure) -> str:
    return f"{value:,.0f}" if isinstance(value, Figure) else "?"


def _points(value: Figure) -> str:
    return f"{100 * value:.1f} pp" if isinstance(value, Figure) else "?"


def side(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The smallest real difference of each task as a bar: shorter tells more."""
    tasks = [task for task in shown.estimate.evaluation.rows if isinstance(task.smallest_difference, Figure)]
    if not tasks:
        return []
    most, room = max(float(task.smallest_difference) for task in tasks), width - 32
    lines = [rule("smallest difference that a task can show", width, "", glyphs)]
    for task in tasks:
        canvas = Canvas(width, glyphs)
        canvas.put(2, task.name, end=20)
        canvas.spans(21, stacked_bar([(float(task.smallest_difference), glyphs.solid)], most / room, room, (), glyphs))
        canvas.right(width - 1, _points(task.smallest_difference))
        lines.append(canvas.line())
    return lines
