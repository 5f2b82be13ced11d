"""Edits of a lost session are offered once the plan is open: take them, drop them, or leave them for later.

It drops no journal before its edits are in the journal of this session, and none of a session that may still run elsewhere.
Where the file changed meanwhile, taking leads over the page on which each field is chosen.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from trainplan.files.folders import recovery_folder
from trainplan.files.recovery import Lost, drop, lost_sessions
from trainplan.plan.differences import with_differences
from trainplan.plan.literals import path_text
from trainplan.plan.merge import Contested, recovered
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.plan.tree import SpliceError
from trainplan_tui.sheets.listing import text_line
from trainplan_tui.sheets.retaking import RecoveryMergeSheet, taken
from trainplan_tui.sheets.sheet import Host, Sheet
from trainplan_tui.sheets.verdict import sentences, signed
from trainplan_tui.state.keeping import host_name, local_time
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule

CAUSES = {
    "": "killed",
    "SIGHUP": "hangup",
    "SIGTERM": "terminated",
    "SIGINT": "interrupted",
    "fault": "a fault of the program",
    "discarded": "discarded when quitting",
}


def recovery_sheet(host: Host) -> Sheet | None:
    """The offer of the newest lost edits of the open plan; None where there are none that the file does not hold."""
    session = host.session
    real = Path(os.path.realpath(session.path))
    waiting = [lost for lost in lost_sessions(recovery_folder(os.environ), host_name()) if lost.path == real]
    found = [lost for lost in waiting if not _held(lost, session.saved_text)]
    newest = sorted(found, key=lambda lost: lost.at, reverse=True)
    return RecoverySheet(host, newest[0], len(newest)) if newest else None


def _held(lost: Lost, text: str) -> bool:
    """Whether the file says already what was edited, as after a kill just behind a save: then the journal goes."""
    if recovered(text, lost.edits, dict(lost.before)):
        return False
    if not lost.elsewhere:
        drop(lost)
    return True


class RecoverySheet:
    """One lost session: its edits beside what the file says, and what the plan would be worth with them."""

    word = "recovery"
    page = True
    typing = lets_go = False
    asks = True

    def __init__(self, host: Host, lost: Lost, count: int) -> None:
        self.host, self.lost, self.count = host, lost, count
        session = host.session
        self.changed = lost.text_hash != session.sha256
        self.rows = recovered(session.history.now.text, lost.edits, dict(lost.before))
        self.asked = False
        self.text, self.worth = self._with_edits()

    def _with_edits(self) -> tuple[str, tuple[str, str]]:
        """The text with the edits, and what it is worth; empty where the file cannot take them as it is."""
        session = self.host.session
        try:
            text = with_differences(session.history.now.text, {row.path: row.yours for row in self.rows})
            plan = plan_of_text(text, session.path.name)
        except (SpliceError, Unusable) as error:
            first = error.errors[0] if isinstance(error, Unusable) else error
            return "", ("the edits do not fit the file as it is", str(first))
        figures = session.estimated(plan)
        first, second = sentences(figures, session.shown.estimate)
        return text, (first, "    ".join(filter(None, (second, signed(session, figures)))))

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """What was lost, what it would give, and the answers."""
        glyphs = self.host.glyphs
        told = [text_line(text, width, glyphs) for text in self._told()]
        answers = [text_line(text, width, glyphs) for text in self._answers()]
        worth = [rule("with the edits", width, "", glyphs), *(text_line(text, width, glyphs) for text in self.worth)]
        room = max(1, height - 4 - len(told) - len(worth) - len(answers))
        found = [rule("recovery", width, f"1 of {self.count}", glyphs), *told, ()]
        found += [self._row("field", "file", "unsaved", width), *self._fields(width, room), *worth, (), *answers]
        if len(found) > height:
            found = [line for line in found if line]
        return found[:height] + [()] * (height - len(found))

    def _told(self) -> list[str]:
        lost, count = self.lost, len(self.rows)
        where = ", ".join(filter(None, (lost.session.host, lost.session.tty.removeprefix("/dev/"))))
        cause = CAUSES.get(lost.cause, lost.cause)
        plan = "changed since; ! marks what changed in both" if self.changed else "unchanged since"
        return [
            f"{count} edit{' was' if count == 1 else 's were'} not saved when the session ended",
            f"session   {where}, last edit {local_time(lost.at)} ({'may still run there' if lost.elsewhere else cause})",
            f"plan      {self.host.session.path}, {plan}",
        ]

    def _fields(self, width: int, room: int) -> list[Line]:
        shown = self.rows if len(self.rows) <= room else self.rows[: room - 1]
        lines = [self._field(row, width) for row in shown]
        rest = len(self.rows) - len(shown)
        return [*lines, *([text_line(f"and {rest} more", width, self.host.glyphs)] if rest else [])]

    def _field(self, row: Contested, width: int) -> Line:
        was, would = (value if value is not None else "-" for value in (row.disk, row.yours))
        return self._row(path_text(row.path), was, would, width, self.changed and row.both)

    def _row(self, field: str, was: str, would: str, width: int, both: bool = False) -> Line:
        canvas = Canvas(width, self.host.glyphs)
        middle = 40 + (width - 40) // 2
        canvas.put(2, "!" if both else " ", "warn")
        canvas.put(4, field, end=39)
        canvas.right(middle, was, start=41)
        canvas.right(width - 2, would, start=middle + 2)
        return canvas.line()

    def _answers(self) -> tuple[str, ...]:
        if self.asked:
            return ("d  drop the edits for good      any other key keeps them", "", "")
        merge = (
            "field by field: the file changed too" if self.changed else "they become unsaved edits; u goes to the file"
        )
        return (
            f"r  take the edits        {merge}",
            "d  drop the edits        asked once more, then gone",
            "l  later                 the file as it is; the offer comes back",
        )

    def cursor(self) -> tuple[int, int]:
        """The title: no answer is preselected."""
        return 0, 3

    def take(self, key: str, character: str | None) -> None:
        """One of the answers; nothing else works."""
        asked, self.asked = self.asked, False
        if key == "d":
            self._drop() if asked else self._ask()
        elif asked:
            self.host.message = "the edits are kept"
        elif key == "r":
            self._take()
        elif key in ("l", "esc"):
            self.host.close_sheet()
            self.host.message = "the edits stay in the state folder; the offer comes back at the next start"
        elif key == "o":
            self.host.message = f"kept in {self.lost.journal}"

    def _ask(self) -> None:
        self.asked = True

    def _drop(self) -> None:
        gone = drop(self.lost)
        self.host.close_sheet()
        self.host.message = "the edits are dropped" if gone else f"{self.lost.journal} cannot be removed"
        following = recovery_sheet(self.host) if gone else None
        if following is not None:
            self.host.open_sheet(following)

    def _take(self) -> None:
        if self.changed:
            self.host.close_sheet()
            self.host.open_sheet(RecoveryMergeSheet(self.host, self.lost, self.rows))
        elif self.text:
            self.host.close_sheet()
            taken(self.host, self.lost, self.text)
        else:
            self.host.message = f"{self.worth[0]}: {self.worth[1]}"

    def paste(self, text: str) -> None:
        """A pasted text is no answer."""

    def footer(self) -> Sequence[Entry]:
        """The answers."""
        if self.asked:
            return [Entry("d", "drop for good"), Entry("esc", "keep")]
        return [Entry("r", "take"), Entry("d", "drop"), Entry("l", "later"), Entry("o", "where it is kept")]
