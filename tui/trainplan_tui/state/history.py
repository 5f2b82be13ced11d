"""Undo and redo as a value: the texts and plans of a session, and which of them is now. It keeps no estimate.

Beside it what of a session outlives it: unsaved edits in the journal, answers not signed yet, the recent plans.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.frozen import record
from trainplan.plan.plan import Plan

if TYPE_CHECKING:
    from trainplan.files.recovery import Journal


@record
class Step:
    """The file's text, the plan that it says, and what was edited to get there."""

    text: str
    plan: Plan
    what: str = ""


@record
class History:
    """Steps in order; `at` is the present one. An edit forgets what was undone."""

    steps: tuple[Step, ...]
    at: int = 0

    @property
    def now(self) -> Step:
        """The present step."""
        return self.steps[self.at]

    def edit(self, step: Step) -> History:
        """The history with one more step; the same one where the text is the same."""
        if step.text == self.now.text:
            return self
        return History((*self.steps[: self.at + 1], step), self.at + 1)

    def undo(self) -> History:
        """One step back, or the same history at its start."""
        return replace(self, at=max(0, self.at - 1))

    def redo(self) -> History:
        """One step on, or the same history at its end."""
        return replace(self, at=min(len(self.steps) - 1, self.at + 1))


class Kept:
    """The part of a session that the user's state folder keeps; without a journal it keeps nothing."""

    path: Path
    sha256: str | None
    history: History
    saved_text: str

    def __init__(self) -> None:
        self.journal: Journal | None = None
        self.ticks: dict[str, set[str]] = {}

    def keep(self) -> None:
        """Keep unsaved edits in the journal from now on."""
        from trainplan_tui.state.keeping import journal_for, kept_ticks, remember

        self.journal = journal_for(self.path)
        self.ticks = kept_ticks(self.path, self.sha256 or "")
        remember(self.path)
        self._record(self.history.now)

    def tick(self, item: str, point: str) -> None:
        """Answer for a point of an item, or take the answer back; kept until the item is signed."""
        self.ticks.setdefault(item, set()).symmetric_difference_update({point})
        self._keep_ticks()

    def forget_ticks(self, item: str) -> None:
        """The item was answered: its points are asked anew the next time."""
        self.ticks.pop(item, None)
        self._keep_ticks()

    def _keep_ticks(self) -> None:
        if self.journal is not None:
            from trainplan_tui.state.keeping import keep_ticks

            keep_ticks(self.path, self.sha256 or "", self.ticks)

    def _record(self, step: Step) -> None:
        if self.journal is None or self.sha256 is None:
            return
        from trainplan.plan.differences import differences
        from trainplan.plan.merge import before_edits
        from trainplan_tui.state.keeping import now

        edits = differences(self.saved_text, step.text)
        self.journal.record(self.sha256, edits, now(), before_edits(self.saved_text, edits))

    def interrupted(self, number: int) -> None:
        """The process ends by a signal (0: a fault of its own): the journal keeps the edits and notes why."""
        if self.journal is not None:
            from signal import Signals

            saved = self.history.now.text == self.saved_text
            self.journal.close(saved, Signals(number).name if number else "fault")

    def ended(self) -> None:
        """The session ends by its user's choice; discarded edits stay recoverable until the next save."""
        if self.journal is not None:
            self.journal.close(self.history.now.text == self.saved_text, "discarded")

    def _kept_anew(self) -> None:
        """The plan goes on under another name: its journal too."""
        if self.journal is not None:
            self.journal.close(clean=True)
            ticks = self.ticks
            self.keep()
            self.ticks = ticks

    def _settled(self) -> None:
        """A save ends what was discarded before it, and makes the file a recent one."""
        if self.journal is not None:
            from trainplan_tui.state.keeping import forget_discarded, remember

            forget_discarded(self.path)
            remember(self.path)
