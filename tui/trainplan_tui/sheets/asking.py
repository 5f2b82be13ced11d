"""Questions that are answered in one line: with a text, or with the path of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from trainplan_tui.sheets.listing import reasons, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule
from trainplan_tui.widgets.line import LineEdit


class LineSheet:
    """One line to type in; `enter` hands it over, `esc` leaves everything as it is. What is refused stays, with the reason."""

    page = False
    typing = True
    asks = lets_go = False

    def __init__(
        self, host: Host, word: str, title: str, note: str, then: Callable[[str], bool], begin: str = ""
    ) -> None:
        self.host, self.word, self.title, self.note, self.then = host, word, title, note, then
        self.line, self.refusal = LineEdit(begin, len(begin)), ""
        self.offers: tuple[str, ...] = ()

    def wanted(self, width: int) -> int:
        """Title, line, note, why it was refused, what the line could become."""
        return 3 + len(reasons(self.note, width)) + len(reasons(self.refusal, width)) + min(6, len(self.offers))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The line being typed under its title."""
        glyphs = self.host.glyphs
        canvas = Canvas(width, glyphs)
        seen = self.line.view(width - 6)
        canvas.put(2, ":")
        canvas.put(4, seen.text, "error" if self.refusal else "edit")
        canvas.cursor(4 if self.line.all_selected else 4 + seen.column, 4 + seen.column)
        found: list[Line] = [rule(self.title, width, "", glyphs), canvas.line()]
        found += [text_line(piece, width, glyphs) for piece in reasons(self.note, width)]
        found += [text_line(reason, width, glyphs, role="error") for reason in reasons(self.refusal, width)]
        found += [text_line(offer, width, glyphs) for offer in self.offers[:6]]
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
        clear = [Entry("ctrl+u", "clear")] if self.line.text else []
        return [Entry("enter", "take it"), Entry("esc", "back"), *clear]


class PathSheet(LineSheet):
    """A line for a path, with completion on `tab`. A file that is proposed is selected, a folder waits for its rest.

    Where `then` gives False the path was refused: it stays, with the reason that the footer would have.
    """

    def __init__(
        self, host: Host, word: str, title: str, note: str, begin: str, then: Callable[[Path], bool | None]
    ) -> None:
        super().__init__(host, word, title, note, lambda _: then(self._path()) is not False)
        self.begin, self.line = begin, LineEdit(begin, len(begin), bool(begin) and not begin.endswith("/"))

    def take(self, key: str, character: str | None) -> None:
        """Type, complete, take or leave; without a path there is nothing to take."""
        if key == "tab":
            self._complete()
        elif key != "enter" or self.line.text.strip():
            super().take(key, character)

    def _path(self) -> Path:
        """What is typed; an absolute path or one from home stands for itself, whatever stood before it."""
        text = self.line.text.strip()
        rest = text.removeprefix(self.begin) if self.begin.endswith("/") else ""
        return Path(os.path.expanduser(rest if rest.startswith(("/", "~")) else text))

    def _complete(self) -> None:
        typed = self._path()
        folder, start = (
            (typed, "") if self.line.text.endswith("/") or not self.line.text else (typed.parent, typed.name)
        )
        try:
            names = sorted(
                p.name + ("/" if os.path.isdir(p) else "") for p in folder.iterdir() if p.name.startswith(start)
            )[:500]
        except OSError:
            names = []
        self.offers = tuple(names) if len(names) != 1 else ()
        common = shared_start(names)
        if len(common) >= len(start) and names:
            head = self.line.text[: len(self.line.text) - len(start)] if start else self.line.text
            self.line = LineEdit(head + common, len(head + common))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        take = [Entry("enter", "take it")] if self.line.text.strip() else []
        return [*take, Entry("tab", "complete"), Entry("esc", "back")]


def shared_start(names: list[str]) -> str:
    """The letters that all names begin with."""
    least, most = min(names, default=""), max(names, default="")
    return next((least[:i] for i, letter in enumerate(least) if most[i : i + 1] != letter), least)
