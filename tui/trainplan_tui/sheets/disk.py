"""The file changed on disk since it was read: what to keep, field by field, before anything is written.

Where the file is gone or is no plan any more there is nothing to merge with: then only the own text can be written, and
what stood there is kept in the state folder first.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path

from trainplan.files.save import ChangedOnDisk, SaveError
from trainplan.plan.differences import differences, with_differences
from trainplan.plan.merge import contested
from trainplan.plan.read import Opened, Unusable, open_plan
from trainplan.plan.tree import SpliceError
from trainplan_tui.sheets.merging import MergeSheet
from trainplan_tui.sheets.replacing import ReplaceSheet
from trainplan_tui.sheets.sheet import Host, Sheet
from trainplan_tui.state.keeping import kept_copy


def disk_sheet(host: Host) -> Sheet:
    """The sheet for a file that is not the one that was read: as it is on disk now."""
    try:
        return DiskSheet(host, open_plan(host.session.path))
    except Unusable as error:
        return ReplaceSheet(host, error.errors)


class DiskSheet(MergeSheet):
    """The three texts: as read, on disk, yours. `enter` writes the result, unless the file changed once more."""

    def __init__(self, host: Host, opened: Opened) -> None:
        session = host.session
        rows = contested(session.saved_text, opened.source.text, session.history.now.text)
        super().__init__(host, opened.source.text, rows)
        self.opened = opened
        self.layout = _layout_of_yours(session.saved_text, session.history.now.text)

    def about(self) -> tuple[str, ...]:
        """Who wrote and when, and how much differs."""
        count, both = len(self.rows), sum(row.both for row in self.rows)
        written = f"{self.host.session.path.name} was written{_by_whom(self.host.session.path)}, after you read it"
        differ = f"{count} field{' differs' if count == 1 else 's differ'}; {both} of them changed in both"
        layout = "your comments and layout give way to the file's; u brings your text back" if self.layout else ""
        lines = (written, f"nothing has been written. {differ if count else 'No field differs, only layout'}", layout)
        return tuple(filter(None, lines))

    def finish(self, text: str) -> None:
        """Make the result the present text, compare it with the file on disk, and save it."""
        session = self.host.session
        self.host.close_sheet()
        session.rebase(self.opened)
        session.take_text(text, "merge with the file on disk")
        if text == self.opened.source.text:
            self.host.message = "the file on disk is taken as it is; nothing was written"
            return
        copy = kept_copy(session.path, self.opened.source.text.encode())
        try:
            saved = session.save()
        except ChangedOnDisk:
            self.host.open_sheet(disk_sheet(self.host))
            self.host.message = "the file changed once more; nothing was written"
        except SaveError as error:
            self.host.message = f"{error}. The result is kept as unsaved edits"
        else:
            kept = f"; what was there is kept as {copy.name}" if copy else ""
            self.host.message = f"saved {saved.path.name} with {_chosen(self.keep)} of yours{kept}"

    def both_files(self) -> tuple[str, ...]:
        """The plan's path, and a copy of the text being edited."""
        path = self.host.session.path
        yours = kept_copy(path, self.host.session.history.now.text.encode())
        return (
            f"on disk  {os.path.realpath(path)}",
            f"yours    {yours or 'no copy: the state folder cannot be written'}",
        )


def _chosen(keep: Sequence[str]) -> str:
    count = keep.count("yours")
    return f"{count} field{'' if count == 1 else 's'}"


def _layout_of_yours(read: str, yours: str) -> bool:
    """Whether the own text differs from what was read in more than its fields, as after an editor."""
    try:
        return with_differences(read, differences(read, yours)) != yours
    except SpliceError:
        return True


def _by_whom(path: Path) -> str:
    """The file's owner and the time of its last change, as far as they are known."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f" by {_user(status.st_uid)} at {dt.datetime.fromtimestamp(status.st_mtime):%Y-%m-%d %H:%M:%S}"


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
