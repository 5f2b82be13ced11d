"""The file that was read is gone, or what stands there is no plan: the own text can be written, here or elsewhere.

It refuses to lose what stands there: its bytes are kept in the state folder before they are replaced.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from trainplan.files.save import SaveError
from trainplan.plan.read import PlanError
from trainplan_tui.sheets.listing import text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.keeping import kept_copy
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry, rule

SHOWN = 8
"""Errors of the file on disk that are shown; the rest is counted."""


class ReplaceSheet:
    """Write the own text, save it under another name, or stay. No answer is preselected."""

    word = "changed?"
    page = True
    typing = lets_go = False
    asks = True

    def __init__(self, host: Host, errors: Sequence[PlanError]) -> None:
        self.host, self.errors = host, tuple(errors)
        self.gone = not os.path.exists(host.session.path)

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """What is on disk, what is safe, and the answers."""
        glyphs = self.host.glyphs
        texts = [*self._situation(), "", *(f"{key}  {sentence}" for key, sentence in self._answers())]
        found = [
            rule("changed on disk", width, "", glyphs),
            *(text_line(text, width, glyphs) if text else () for text in texts),
        ]
        return found[:height] + [()] * (height - len(found))

    def _situation(self) -> list[str]:
        name = self.host.session.path.name
        if self.gone:
            return [f"{name} was removed or renamed since it was read.", "nothing has been written; edits are kept."]
        found = [f"{name} was written since it was read, and what stands there cannot be used as a plan:"]
        found += [str(error) for error in self.errors[:SHOWN]]
        rest = len(self.errors) - SHOWN
        return [*found, *([f"and {rest} more"] if rest > 0 else []), "nothing has been written; edits are kept."]

    def _answers(self) -> list[tuple[str, str]]:
        again = "write your text again" if self.gone else "write your text; what stands there is kept as a copy first"
        return [("s", again), ("a", "save under another name"), ("esc", "leave both as they are")]

    def cursor(self) -> tuple[int, int]:
        """The first answer."""
        return 2 + len(self._situation()), 3

    def take(self, key: str, character: str | None) -> None:
        """One of the answers; nothing else works."""
        if key == "esc":
            self.host.close_sheet()
            self.host.message = "nothing was written; unsaved edits are as before"
        elif key == "a":
            self.host.close_sheet()
            self.host.do("file.save_as")
        elif key == "s":
            self._write()

    def _write(self) -> None:
        session = self.host.session
        self.host.close_sheet()
        try:
            content = None if self.gone else session.path.read_bytes()
        except OSError as error:
            self.host.message = f"not written: what stands there cannot be read: {error.strerror}"
            return
        copy = kept_copy(session.path, content) if content is not None else None
        if content is not None and copy is None:
            self.host.message = "not written: the state folder takes no copy of what stands there; a save as keeps both"
            return
        read, session.sha256 = session.sha256, None if content is None else hashlib.sha256(content).hexdigest()
        try:
            saved = session.save()
        except SaveError as error:
            session.sha256 = read
            self.host.message = f"{error}. Edits are kept"
        else:
            self.host.message = f"saved {saved.path.name}{f'; what was there is kept as {copy.name}' if copy else ''}"

    def paste(self, text: str) -> None:
        """A pasted text is no answer."""

    def footer(self) -> Sequence[Entry]:
        """The answers."""
        return [Entry("s", "write"), Entry("a", "save as"), Entry("esc", "stay")]
