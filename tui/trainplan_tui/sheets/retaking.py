"""What taking lost edits does: they become unsaved edits of this session, chosen field by field where the file changed.

It refuses to write the plan, and to drop a journal whose edits are nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from trainplan.files.recovery import Lost, drop
from trainplan.plan.merge import Contested
from trainplan.plan.read import Unusable
from trainplan.quantity.unit import numbered
from trainplan_tui.sheets.merging import MergeSheet
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.widgets.frame import Entry


def taken(host: Host, lost: Lost, text: str) -> None:
    """Make the text the present step; the old journal goes when this session's holds the edits."""
    session = host.session
    with suppress(Unusable):
        moved = session.take_text(text, "edits of a lost session")
        host.message = f"edits taken, not saved: {numbered(moved, 'number')} moved; u goes back to the file"
        if not lost.elsewhere and session.journal is not None and not session.journal.failure:
            drop(lost)


class RecoveryMergeSheet(MergeSheet):
    """Lost edits on a file that changed since: the result becomes unsaved edits, nothing is written."""

    heading = "recovery of edits on a changed file"

    def __init__(self, host: Host, lost: Lost, rows: Sequence[Contested]) -> None:
        super().__init__(host, host.session.history.now.text, rows)
        self.lost = lost

    def about(self) -> tuple[str, ...]:
        """What happened, and what enter does."""
        return ("the file changed after the edits were made; `yours` is what was edited", "enter writes no file")

    def finish(self, text: str) -> None:
        """Take the result as unsaved edits."""
        self.host.close_sheet()
        taken(self.host, self.lost, text)

    def cancel(self) -> None:
        """Leave both as they are; the offer comes back."""
        self.host.close_sheet()
        self.host.message = "the file as it is; the edits stay in the state folder"

    def both_files(self) -> tuple[str, ...]:
        """The plan, and the journal of the edits."""
        return f"file   {os.path.realpath(self.host.session.path)}", f"edits  {self.lost.journal}"

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [
            Entry("enter", "take the result"),
            Entry("space", "choose"),
            Entry("o", "where they are"),
            Entry("esc", "later"),
        ]
