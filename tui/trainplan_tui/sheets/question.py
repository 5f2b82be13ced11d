"""Questions that need an answer: quitting with unsaved edits, and a path for a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from trainplan.plan.leaves import field_differences
from trainplan_tui.sheets.listing import reasons, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry, rule
from trainplan_tui.widgets.line import LineEdit


class QuitSheet:
    """Quit with unsaved edits. No answer is preselected, so `enter` by habit does nothing."""

    word = "quit?"
    page = False
    typing = False

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
        edits = f"quit with {count} unsaved edit{'' if count == 1 else 's'}"
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


class PathSheet:
    """A line for a path, with completion on `tab`. A file that is proposed is selected, a folder waits for its rest.

    Where `then` gives False the path was refused: it stays, with the reason that the footer would have.
    """

    page = False
    typing = True

    def __init__(
        self, host: Host, word: str, title: str, note: str, begin: str, then: Callable[[Path], bool | None]
    ) -> None:
        self.host, self.word, self.title, self.note, self.then = host, word, title, note, then
        self.refusal = ""
        self.begin, self.line = begin, LineEdit(begin, len(begin), bool(begin) and not begin.endswith("/"))
        self.offers: tuple[str, ...] = ()

    def wanted(self, width: int) -> int:
        """Title, line, note, why it was refused, offers."""
        return 4 + len(reasons(self.refusal, width)) + min(6, len(self.offers))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The line being typed, and what it could become."""
        glyphs = self.host.glyphs
        canvas = Canvas(width, glyphs)
        seen = self.line.view(width - 6)
        canvas.put(2, ":")
        canvas.put(4, seen.text, "error" if self.refusal else "edit")
        canvas.cursor(4 if self.line.all_selected else 4 + seen.column, 4 + seen.column)
        found: list[Line] = [rule(self.title, width, "", glyphs), canvas.line(), text_line(self.note, width, glyphs)]
        found += [text_line(reason, width, glyphs, role="error") for reason in reasons(self.refusal, width)]
        found += [text_line(offer, width, glyphs) for offer in self.offers[:6]]
        return found[:height] + [()] * (height - len(found))

    def cursor(self) -> tuple[int, int]:
        """The cell of the line editor."""
        return 1, 3 + self.line.view(200).column

    def take(self, key: str, character: str | None) -> None:
        """Type, complete, take or leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "tab":
            self._complete()
        elif key == "enter" and self.line.text.strip():
            self.host.close_sheet()
            if self.then(self._path()) is False:
                self.refusal, self.host.message = self.host.message, ""
                self.host.open_sheet(self)
        else:
            self.line, self.refusal = self.line.take(key, character) or self.line, ""

    def _path(self) -> Path:
        """What is typed; an absolute path or one from home stands for itself, whatever stood before it."""
        text = self.line.text.strip()
        rest = text.removeprefix(self.begin) if self.begin.endswith("/") else ""
        return Path(rest if rest.startswith(("/", "~")) else text).expanduser()

    def _complete(self) -> None:
        typed = self._path()
        folder, start = (
            (typed, "") if self.line.text.endswith("/") or not self.line.text else (typed.parent, typed.name)
        )
        try:
            names = sorted(p.name + ("/" if p.is_dir() else "") for p in folder.iterdir() if p.name.startswith(start))[
                :500
            ]
        except OSError:
            names = []
        self.offers = tuple(names) if len(names) != 1 else ()
        common = _shared_start(names)
        if len(common) >= len(start) and names:
            head = self.line.text[: len(self.line.text) - len(start)] if start else self.line.text
            self.line = LineEdit(head + common, len(head + common))

    def paste(self, text: str) -> None:
        """Pasted text goes into the line."""
        self.line, self.refusal = self.line.paste(text), ""

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("enter", "take it"), Entry("tab", "complete"), Entry("esc", "back")]


def _shared_start(names: list[str]) -> str:
    """The letters that all names begin with."""
    least, most = min(names, default=""), max(names, default="")
    return next((least[:i] for i, letter in enumerate(least) if most[i : i + 1] != letter), least)
