"""Readiness: the ten items with what was checked, who signed, and why an old sign-off is stale; then who acts next."""

from __future__ import annotations

import datetime as dt
from typing import Final

from trainplan.review.state import ORDER, ItemState, Review
from trainplan_tui.panes.rows import TABLE, BodyRow, finding_row, note_row, rule_row, table_rows
from trainplan_tui.panes.standing import ladder_line
from trainplan_tui.state.dossier import Reviewed
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, Role
from trainplan_tui.widgets.frame import rule

PREFIX: Final = "readiness."
ROLES: Final[dict[str, Role]] = {"failed": "error", "stale": "warn", "waived": "warn", "open": "dim", "signed": "text"}
NEXT: Final = 3
"""Items named in a low window as those that somebody has to act on."""


def views(shown: Shown) -> int:
    """The matrix, and what was checked, attested and waived side by side."""
    return 2


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """One line an item, what follows for the whole, findings."""
    reviewed = shown.reviewed
    draw = _kinds if view else _matrix
    heads = (
        (5, "item"),
        (21, "program"),
        (33, "attested"),
        (44, "stale"),
        (52, "waived"),
        (61, "days left"),
        (72, "state"),
    )
    whole = max(width, TABLE)
    body = [_heads(heads if view else MATRIX, whole, glyphs)]
    body += [draw(number, one, shown, reviewed, whole, glyphs) for number, one in enumerate(reviewed.now.items, 1)]
    body = table_rows(body, (NAME, *(KIND_ENDS if view else MATRIX_ENDS)), width)
    body += [rule_row(f"{counts(reviewed.now)}: {verdict(reviewed)}", width, glyphs)]
    body += [note_row(line, width, glyphs, role) for line, role in _notes(shown, reviewed, NEXT if height < 30 else 10)]
    found = [finding_row(item, width, glyphs) for item in reviewed.findings if item.budget == "readiness"]
    return [*body, *([rule_row("findings", width, glyphs), *found] if found else [])]


NAME: Final = 19
"""Last cell of the item's name."""
MATRIX_ENDS, KIND_ENDS = (25, 34, 43, 54, 80), (31, 42, 50, 59, 70, 80)
"""Last cells of the columns behind it."""
MATRIX: Final = ((5, "item"), (20, "check"), (28, "state"), (36, "by"), (45, "date"), (56, "why"))


def _heads(heads: tuple[tuple[int, str], ...], width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    for column, word in heads:
        canvas.put(column, word, "dim")
    return BodyRow("", "picture", canvas.line())


def _matrix(number: int, one: ItemState, shown: Shown, reviewed: Reviewed, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.right(3, str(number))
    canvas.put(5, one.item.name, bold=True, end=NAME)
    canvas.put(20, checked(shown, reviewed, one.item.name), end=25)
    canvas.put(26, sign(one, glyphs), ROLES[one.state])
    canvas.put(28, word(one, reviewed), ROLES[one.state], end=34)
    canvas.put(36, one.last.signer if one.last else one.owner, end=43)
    canvas.put(45, date(one), "dim", end=54)
    canvas.put(56, why(one), "dim" if one.done else "text", end=width)
    return BodyRow(f"{PREFIX}{one.item.name}", "figure", canvas.line())


def why(one: ItemState) -> str:
    """What an item rests on or lacks, in few words: the first field that moved by its last name, with both values."""
    if one.changed:
        first, more = one.changed[0], len(one.changed) - 1
        return f"{first.path.rsplit('.', 1)[-1]} {first.old} to {first.new}" + (f" +{more}" if more else "")
    return one.why


def _kinds(number: int, one: ItemState, shown: Shown, reviewed: Reviewed, width: int, glyphs: Glyphs) -> BodyRow:
    """What the program checked, what a person answered for, and what neither knows, in columns of their own."""
    canvas, told = Canvas(width, glyphs), [each.verdict for each in reviewed.checks_of(one.item.name)]
    canvas.right(3, str(number))
    canvas.put(5, one.item.name, bold=True, end=NAME)
    parts = [f"{told.count(verdict)}{mark}" for verdict, mark in _marks(glyphs) if told.count(verdict)]
    canvas.put(21, " ".join(parts) or "-", end=31)
    attested = len(one.last.attested) if one.last and one.last.kind == "sign" else 0
    canvas.put(33, f"{attested} of {len(one.item.attested)}", end=42)
    canvas.put(
        44, str(len(one.changed)) if one.state == "stale" else "-", ROLES["stale"] if one.state == "stale" else "dim"
    )
    canvas.put(52, f"{one.last.until:%m-%d}" if one.state == "waived" and one.last and one.last.until else "-")
    left = days_left(one, _today(shown))
    canvas.put(61, "-" if left is None else str(left), "warn" if left is not None and left < 7 else "text")
    canvas.put(72, word(one, reviewed), ROLES[one.state])
    return BodyRow(f"{PREFIX}{one.item.name}", "figure", canvas.line())


def _marks(glyphs: Glyphs) -> tuple[tuple[str, str], ...]:
    return (("passed", glyphs.ticked), ("failed", glyphs.crossed), ("unknown", "?"))


def checked(shown: Shown, reviewed: Reviewed, item: str) -> str:
    """`3/4`: checks of the program that passed, of those that it knows; dots while the disk is being looked at."""
    told = [one.verdict for one in reviewed.checks_of(item)]
    waiting = ".." if shown.dossier is None or shown.dossier.at is None else ""
    return f"{told.count('passed')}/{len(told)}{waiting}" if told else waiting or "-"


def sign(one: ItemState, glyphs: Glyphs) -> str:
    """The state as one glyph."""
    marks = {
        "signed": glyphs.ticked,
        "failed": glyphs.crossed,
        "stale": glyphs.unequal,
        "waived": "~",
        "open": glyphs.dot,
    }
    return marks[one.state]


def word(one: ItemState, reviewed: Reviewed) -> str:
    """The state as a word: `*STALE` where only the unsaved edit makes it so."""
    if one.state != "stale":
        return one.state
    return "*STALE" if reviewed.conditional(one.item.name) else "STALE"


def date(one: ItemState) -> str:
    """The day of the last act, or the day on which a waiver ends."""
    if one.state == "waived" and one.lapses:
        return f"to {one.lapses:%m-%d}"
    return f"{one.last.at:%Y-%m-%d}" if one.last else ""


def _today(shown: Shown) -> dt.date:
    return shown.estimate.today or dt.datetime.now(dt.UTC).date()


def days_left(one: ItemState, today: dt.date) -> int | None:
    """Days until a sign-off or a waiver lapses, None where there is none."""
    return (one.lapses - today).days if one.lapses and one.done else None


def counts(review: Review) -> str:
    """`signed 5, waived 1, stale 2, open 2`."""
    states = ("signed", "waived", "stale", "open", "failed")
    return ", ".join(f"{state} {count}" for state in states if (count := review.count(state)))


def verdict(reviewed: Reviewed) -> str:
    """Ready, or why not although every item is done."""
    if reviewed.ready:
        return "ready"
    if reviewed.now.record.harms:
        return "not ready: the record is harmed"
    failed = sum(one.verdict == "failed" for one in reviewed.checks)
    if not reviewed.now.ready:
        return "not ready"
    return f"not ready: {failed} check{'' if failed == 1 else 's'} failed" if failed else "not ready: see the findings"


def _notes(shown: Shown, reviewed: Reviewed, most: int) -> list[tuple[str, Role]]:
    found: list[tuple[str, Role]] = []
    if shown.dossier is not None and shown.dossier.problem:
        found.append((shown.dossier.problem, "error"))
    if reviewed.now.record.one_person:
        found.append(("one-person mode is on: whoever made the evidence may sign for it", "warn"))
    found.append(("ready is the worst item, not a share", "dim"))
    if any(reviewed.conditional(one.item.name) for one in reviewed.now.items):
        found.append(("*STALE: only if the unsaved edit is saved; u takes it back", "warn"))
    undone = sorted((one for one in reviewed.now.items if not one.done), key=lambda one: ORDER.index(one.state))
    for place, one in enumerate(undone[:most]):
        found.append((f"{'next' if place == 0 else '':<8}{one.item.name:<15} {next_step(one, reviewed)}", "text"))
    for line in _lapsing(reviewed.now, _today(shown)):
        found.append((f"expires {line}", "dim"))
    return found


def next_step(one: ItemState, reviewed: Reviewed) -> str:
    """What somebody has to do about an item, and who."""
    failed = [each.check for each in reviewed.checks_of(one.item.name) if each.verdict == "failed"]
    if failed:
        return f"{len(failed)} failed: {', '.join(failed)}"
    if one.state == "stale":
        return f"sign again: {why(one)}"
    return f"{one.item.signer}: {one.item.evidence}"


def _lapsing(review: Review, today: dt.date) -> list[str]:
    ends = sorted((left, one.item.name) for one in review.items if (left := days_left(one, today)) is not None)
    return [f"{name} in {left} day{'' if left == 1 else 's'}" for left, name in ends[:1]]


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """Days until each sign-off lapses as bars, and the ladder that item 6 rests on."""
    reviewed, today, room = shown.reviewed, _today(shown), width - 30
    lines = [rule("days until a sign-off lapses", width, "", glyphs)]
    for one in reviewed.now.items:
        left = days_left(one, today)
        if left is None:
            continue
        canvas = Canvas(width, glyphs)
        canvas.put(2, one.item.name, end=17)
        canvas.right(21, str(left))
        canvas.put(23, glyphs.solid * max(0, min(room, left)), "warn" if left < 7 else "text")
        lines.append(canvas.line())
    if len(lines) == 1:
        canvas = Canvas(width, glyphs)
        canvas.put(2, "nothing is signed", "dim")
        lines.append(canvas.line())
    return [
        *lines,
        rule("pilot, which item 6 rests on", width, "", glyphs),
        ladder_line(reviewed.now.rungs, width, glyphs),
    ]
