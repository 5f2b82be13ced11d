"""A few lines to fill in, one under the other: `enter` goes on, and takes all of them from the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainplan_tui.sheets.listing import text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule
from trainplan_tui.widgets.line import LineEdit
from trainplan_tui.widgets.line import View as Seen

LABEL = 20
"""First cell of what is typed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One line: its name among the answers, its label, what stands in it at first, and what it is, told under the cursor."""

    name: str
    label: str
    begin: str = ""
    hint: str = ""


class FormSheet:
    """Answers by name. `then` takes them and says what is wrong, or closes the sheet by answering nothing."""

    page = False
    typing = True
    asks = lets_go = False

    def __init__(
        self,
        host: Host,
        word: str,
        title: str,
        asked: Sequence[Asked],
        then: Callable[[dict[str, str]], str],
        notes: Sequence[str] = (),
        left: Callable[[], None] = lambda: None,
    ) -> None:
        self.host, self.word, self.title, self.asked, self.then = host, word, title, tuple(asked), then
        self.notes, self.wrong, self.at, self.left = tuple(notes), "", 0, left
        self.lines_typed = [LineEdit.opened(one.begin) for one in self.asked]

    def wanted(self, width: int) -> int:
        """Title, a line each, what the line is for, notes, what is wrong."""
        return 2 + len(self.asked) + len(self._told()) + len(self.notes) + bool(self.wrong)

    def _told(self) -> list[str]:
        """What the line under the cursor is for: below the boxes, where it cannot be taken for a value."""
        one = self.asked[self.at]
        return [f"{one.label}: {one.hint}" if one.hint else ""] if any(other.hint for other in self.asked) else []

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """What is asked, and what was typed."""
        found: list[Line] = [rule(self.title, width, "", self.host.glyphs)]
        found += [self._line(place, width) for place in range(len(self.asked))]
        found += [text_line(told, width, self.host.glyphs, role="dim") for told in self._told()]
        if self.wrong:
            canvas = Canvas(width, self.host.glyphs)
            canvas.put(2, "E", "error")
            canvas.put(4, self.wrong, "error")
            found.append(canvas.line())
        found += [text_line(note, width, self.host.glyphs) for note in self.notes]
        return found[:height] + [()] * (height - len(found))

    def _line(self, place: int, width: int) -> Line:
        canvas, one, seen = Canvas(width, self.host.glyphs), self.asked[place], self._seen(place, width)
        canvas.put(4, one.label, bold=place == self.at, end=LABEL - 2)
        canvas.put(LABEL - 1, "[")
        canvas.put(LABEL, seen.text, "edit", end=width - 2)
        canvas.put(width - 1, "]")
        if place == self.at:
            canvas.put(1, ">")
            line = self.lines_typed[place]
            end = min(width - 2, LABEL + len(line.text) - 1)
            canvas.cursor(*((LABEL, end) if line.all_selected else (LABEL + seen.column, LABEL + seen.column)))
        return canvas.line()

    def _seen(self, place: int, width: int) -> Seen:
        return self.lines_typed[place].view(width - LABEL - 2)

    def cursor(self) -> tuple[int, int]:
        """The cell of the line editor."""
        return 1 + self.at, LABEL - 1 + self._seen(self.at, 80).column

    def take(self, key: str, character: str | None) -> None:
        """Type, go to another line, take all, leave."""
        if key == "esc":
            self.host.close_sheet()
            self.left()
        elif key in ("tab", "down") or (key == "enter" and self.at < len(self.asked) - 1):
            self.at = (self.at + 1) % len(self.asked)
        elif key in ("shift+tab", "up"):
            self.at = (self.at - 1) % len(self.asked)
        elif key == "enter":
            self.wrong = self.then(
                {one.name: line.text.strip() for one, line in zip(self.asked, self.lines_typed, strict=True)}
            )
        else:
            self.lines_typed[self.at] = self.lines_typed[self.at].take(key, character) or self.lines_typed[self.at]

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        self.lines_typed[self.at] = self.lines_typed[self.at].paste(text)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        last = self.at == len(self.asked) - 1
        return [Entry("enter", "take it" if last else "next line"), Entry("up down", "move"), Entry("esc", "back")]
