"""A question that is answered in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainplan_tui.sheets.listing import reasons, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule
from trainplan_tui.widgets.line import LineEdit


class LineSheet:
    """One line to type in; `enter` hands it over, `esc` leaves everything as it is. What is refused stays, with the reason."""

    page = False
    typing = True

    def __init__(
        self, host: Host, word: str, title: str, note: str, then: Callable[[str], bool], begin: str = ""
    ) -> None:
        self.host, self.word, self.title, self.note, self.then = host, word, title, note, then
        self.line, self.refusal = LineEdit(begin, len(begin)), ""

    def wanted(self, width: int) -> int:
        """Title, line, note, and why it was refused."""
        return 4 + len(reasons(self.refusal, width))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The line being typed under its title."""
        glyphs = self.host.glyphs
        canvas = Canvas(width, glyphs)
        seen = self.line.view(width - 6)
        canvas.put(2, ":")
        canvas.put(4, seen.text, "error" if self.refusal else "edit")
        canvas.cursor(4 + seen.column, 4 + seen.column)
        found: list[Line] = [rule(self.title, width, "", glyphs), canvas.line(), text_line(self.note, width, glyphs)]
        found += [text_line(reason, width, glyphs, role="error") for reason in reasons(self.refusal, width)]
        return found[:height] + [()] * (height - len(found))

    def cursor(self) -> tuple[int, int]:
        """The cell of the line editor."""
        return 1, 3 + self.line.view(200).column

    def take(self, key: str, character: str | None) -> None:
        """Type, hand over, leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "enter":
            self.host.close_sheet()
            if self.line.text.strip() and not self.then(self.line.text.strip()):
                self.refusal, self.host.message = self.host.message, ""
                self.host.open_sheet(self)
        else:
            self.line, self.refusal = self.line.take(key, character) or self.line, ""

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        self.line, self.refusal = self.line.paste(text), ""

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("enter", "take it"), Entry("esc", "back"), Entry("ctrl+u", "clear")]
