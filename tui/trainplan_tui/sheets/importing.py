"""Other programs' files as a plan: which files, everything that was not read as it stands, then where the plan goes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from trainplan_tui.imported import Imported, NotImported, file_text, imported
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.beginning import ask_where
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry

NOTE = "config.json, Megatron script or log, DeepSpeed, torchtitan; tab completes"


def ask_config(host: Host, today: dt.date) -> None:
    """Ask for the first file; what it says stands on a page."""

    def read(path: Path) -> bool:
        return _readable(host, path) and _opened(ImportSheet(host, [path], today))

    host.open_sheet(PathSheet(host, "import", "import a plan", NOTE, "", read))


def _opened(sheet: ImportSheet) -> bool:
    sheet.host.open_sheet(sheet)
    return True


def _readable(host: Host, path: Path) -> bool:
    """Whether a file can be read at all; the line says why not."""
    try:
        file_text(path)
    except NotImported as error:
        host.message = str(error)
        return False
    return True


class ImportSheet(Listing):
    """The files, and what the command line would say of them: whole, over as many rows as it takes."""

    word = "import"
    page = True
    asks = True
    lets_go = False

    def __init__(self, host: Host, files: Sequence[Path], today: dt.date) -> None:
        super().__init__(host.glyphs)
        self.host, self.files, self.today = host, list(files), today
        self.found: Imported | None = None
        self.problems: tuple[str, ...] = ()
        self._read()

    def _read(self) -> None:
        self.found, self.problems, self.at, self.first = None, (), 0, 0
        try:
            self.found = imported(self.files)
        except NotImported as error:
            self.problems = error.problems

    def title(self) -> str:
        """What is read together."""
        return f"import of {', '.join(path.name for path in self.files)}"

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def items(self, width: int) -> Sequence[Line]:
        """Every sentence in full, from a mark that says where one begins."""
        if self.problems:
            return [
                text_line("no plan is made of this:", width, self.glyphs, 2),
                *self._said(self.problems, "E", width),
            ]
        told = self.found.told if self.found is not None else ()
        if not told:
            return [text_line("everything that the files say is in the plan", width, self.glyphs, 2)]
        return self._said(told, "i", width)

    def _said(self, sentences: Sequence[str], sign: str, width: int) -> list[Line]:
        found: list[Line] = []
        for sentence in sentences:
            for place, piece in enumerate(folded(sentence, width - 6)):
                canvas = Canvas(width, self.glyphs)
                canvas.put(2, "" if place else sign, "error" if sign == "E" else "dim")
                canvas.put(4, piece)
                found.append(canvas.line())
        return found

    def take(self, key: str, character: str | None) -> None:
        """Say where the plan goes, take one more file or leave the last one out, move, leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "enter" and self.found is not None:
            text, names = self.found.text, ", ".join(path.name for path in self.files)
            ask_where(self.host, f"the plan of {names}", self.found.name, lambda _: text, self.today)
        elif key == "a":
            self.host.open_sheet(PathSheet(self.host, "import", "one more file of the same run", NOTE, "", self._add))
        elif key in ("D", "delete") and len(self.files) > 1:
            self.files.pop()
            self._read()
        else:
            self.move(key, self.drawn)

    def _add(self, path: Path) -> bool:
        if not _readable(self.host, path):
            return False
        self.files.append(path)
        self._read()
        return True

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        take = [Entry("enter", "say where")] if self.found is not None else []
        less = [Entry("D", "without the last")] if len(self.files) > 1 else []
        return [*take, Entry("a", "one more file"), *less, Entry("up down", "move"), Entry("esc", "back")]
