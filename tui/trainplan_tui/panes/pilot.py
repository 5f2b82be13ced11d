"""Pilot: the seven rungs, each check with its measured value and its threshold, and what is stale and why."""

from __future__ import annotations

from typing import Final

from trainplan.review.ladder import CheckState
from trainplan.review.state import RungReview
from trainplan_tui.panes.rows import SIGNS, TABLE, BodyRow, Box, finding_row, note_row, rule_row, table_rows
from trainplan_tui.panes.standing import RUNG_ROLES, ladder_line
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import rule

PREFIX: Final = "pilot."
METRIC, MEASURED, LIMIT, STATE, FILE = 18, 49, 59, 71, 79
"""First cells of the columns after the rung's name."""
EDGES: Final = (MEASURED - 2, MEASURED + 8, LIMIT + 10, FILE - 2, 80)
"""Where columns end; the rung and its check are one."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """Heads, one line a check, the ladder, what was found."""
    reviewed = shown.reviewed
    found = [finding_row(item, width, glyphs) for item in reviewed.findings if item.budget == "pilot"]
    told = table_rows([_heads(max(width, TABLE), glyphs)], EDGES, width)
    for one in reviewed.now.rungs:
        told += _rung(one, shown, width, glyphs)
    return [*told, *_ladder(reviewed.now.rungs, width, glyphs), *found, *_nothing(reviewed.now.rungs, width, glyphs)]


def _heads(width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    for column, word in ((5, "rung"), (METRIC, "check"), (LIMIT, "threshold"), (STATE, "state"), (FILE - 2, "file")):
        canvas.put(column, word, "dim")
    canvas.right(MEASURED + 7, "measured", "dim")
    return BodyRow("", "picture", canvas.line())


def _rung(one: RungReview, shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    rung = one.rung
    whole = [_check(one, check, place, max(width, TABLE), glyphs) for place, check in enumerate(rung.checks)]
    found = table_rows(whole, EDGES, width)
    why = f"waived: {rung.reason}" if one.state == "waived" else ""
    why = why or (f"waits for {rung.waits_for}" if one.state == "waiting" else "")
    why = why or (f"stale since {one.changed[0]}" if one.state == "stale" else "")
    return [*found, *([note_row(f"    {why}", width, glyphs, "warn")] if why else [])]


def _check(one: RungReview, check: CheckState, place: int, width: int, glyphs: Glyphs) -> BodyRow:
    canvas, rung, path = Canvas(width, glyphs), one.rung, f"{PREFIX}{one.rung.name}.checks.{check.metric}"
    if place == 0:
        canvas.put(3, str(rung.number))
        canvas.put(5, rung.name, bold=True, end=METRIC - 2)
    state = state_of(one, check)
    if state in ("failed", "stale"):
        canvas.put(2, *SIGNS["error" if state == "failed" else "warning"])
    canvas.put(METRIC, check.metric.replace("_", " "), end=MEASURED - 2)
    measured = "" if check.measured is None else f"{check.measured:.6g}"
    boxes = (
        _box(canvas, f"{path}.measured", MEASURED, MEASURED + 7, measured),
        _box(canvas, f"{path}.pass_if", LIMIT, LIMIT + 9, check.pass_if),
    )
    canvas.put(
        STATE,
        "STALE" if state == "stale" else state,
        RUNG_ROLES.get(state, "dim" if state == "open" else "text"),
        end=FILE - 2,
    )
    canvas.put(FILE, glyphs.ticked if check.evidence else glyphs.dot, "dim")
    return BodyRow(path, "field", canvas.line(), boxes)


def state_of(one: RungReview, check: CheckState) -> str:
    """A check's verdict, or its rung's state where the check alone would pass."""
    return one.state if check.verdict == "passed" and one.state in ("stale", "waiting", "waived") else check.verdict


def _box(canvas: Canvas, path: str, start: int, end: int, text: str) -> Box:
    canvas.put(start - 1, "[")
    canvas.put(end + 1, "]")
    canvas.right(end, text, "edit", start=start)
    return Box(path, start, end, text)


def _ladder(rungs: tuple[RungReview, ...], width: int, glyphs: Glyphs) -> list[BodyRow]:
    passed = sum(one.state == "passed" for one in rungs)
    title = rule_row(f"passed {passed} of {len(rungs)}, in order", width, glyphs)
    return [title, BodyRow("", "picture", ladder_line(rungs, width, glyphs))]


def _nothing(rungs: tuple[RungReview, ...], width: int, glyphs: Glyphs) -> list[BodyRow]:
    if any(check.measured is not None for one in rungs for check in one.rung.checks):
        return []
    return [note_row("No rung measured. C shows the launch line of a rung, L takes its log", width, glyphs)]


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """What each rung feeds into the plan."""
    lines = [rule("what each rung feeds", width, "", glyphs)]
    for one in shown.reviewed.now.rungs:
        canvas = Canvas(width, glyphs)
        canvas.put(2, f"{one.rung.number} {one.rung.name}", end=18)
        canvas.put(19, one.state, RUNG_ROLES.get(one.state, "dim"))
        canvas.put(28, one.rung.feeds, end=width)
        lines.append(canvas.line())
    return lines
