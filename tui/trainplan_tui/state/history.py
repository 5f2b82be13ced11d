"""Undo and redo as a value: the texts and plans of a session, and which of them is now. It keeps no estimate."""

from __future__ import annotations

from dataclasses import replace

from trainplan.frozen import record
from trainplan.plan.plan import Plan


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
