"""The question that needs an answer: quitting with unsaved edits."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.plan.leaves import field_differences
from trainplan_tui.sheets.listing import text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry, rule


class QuitSheet:
    """Quit with unsaved edits. No answer is preselected, so `enter` by habit does nothing."""

    word = "quit?"
    page = False
    typing = lets_go = False
    asks = True

    def __init__(self, host: Host) -> None:
        self.host = host
        session = host.session
        self.differ = list(field_differences(session.saved.plan, session.history.now.plan))
        self.left = session.refused

    def wanted(self, width: int) -> int:
        """Title, at most four fields, answers."""
        return 4 + min(4, len(self.differ)) + len(self.answers()) + (2 if self.left else 0)

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """What would be lost, and the answers."""
        glyphs, count = self.host.glyphs, self.host.session.shown.edits
        edits = "quit with 1 unsaved edit" if count == 1 else f"quit with {count} edited fields not saved"
        edits = edits if count else "quit without the text that was not taken"
        found: list[Line] = [rule(edits, width, "", glyphs)]
        for path, before, after in self.differ[:4]:
            found.append(text_line(f"{path:<34} {before} to {after}", width, glyphs))
        if self.left is not None:
            found.append(text_line("the text from the editor was not taken; it stays in", width, glyphs))
            found.append(text_line(f"  {self.left.kept}", width, glyphs))
        if len(self.differ) > 4:
            found.append(text_line(f"and {len(self.differ) - 4} more: esc, then d", width, glyphs))
        found += [(), *(text_line(f"{key}  {told}", width, glyphs) for key, _, told in self.answers())]
        return found[:height] + [()] * (height - len(found))

    def cursor(self) -> tuple[int, int]:
        """The first answer."""
        return 2 + min(4, len(self.differ)) + (2 if self.left else 0), 3

    def take(self, key: str, character: str | None) -> None:
        """One of the answers; nothing else works."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "d":
            self.host.leave()
        elif key == "e" and self.left:
            self.host.close_sheet()
            self.host.do("file.editor")
        elif key == "s" and self.host.session.shown.unsaved:
            self.host.close_sheet()
            self.host.do("file.save")
            if not self.host.session.shown.unsaved:
                self.host.leave()
        elif key == "a" and self.host.session.shown.unsaved:
            self.host.close_sheet()
            self.host.do("quit.save_as")

    def paste(self, text: str) -> None:
        """A pasted text is no answer."""

    def footer(self) -> Sequence[Entry]:
        """The answers."""
        return [Entry(key, word) for key, word, _ in self.answers()]

    def answers(self) -> list[tuple[str, str, str]]:
        """The keys that answer: key, its word in the footer, what it does."""
        found = [("e", "open text", "open that text again")] if self.left is not None else []
        if not self.host.session.shown.unsaved:
            return [*found, ("d", "quit", "quit without it"), ("esc", "stay", "stay")]
        save, other = ("s", "save", "save and quit"), ("a", "save as", "save under another name")
        kept = "" if self.host.session.journal is None else "           offered again until the next save"
        return [*found, save, ("d", "discard", f"discard and quit{kept}"), other, ("esc", "stay", "stay")]
