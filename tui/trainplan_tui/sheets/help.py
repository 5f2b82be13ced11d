"""Help for here: the keys that work, from the table that dispatch reads, and what the signs mean. Letters narrow."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan_tui.keys import LEADING
from trainplan_tui.panes.inspector import told
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host, Sheet
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import Entry
from trainplan_tui.widgets.line import SHELL, LineEdit

ROW = ("row.enter", "row.explain")
OWN = {
    "tokens": ("row.add", "row.remove", "row.raise", "row.lower"),
    "compute": ("pilot.log",),
    "memory": ("pane.view", "pane.zoom", "pilot.log", "pilot.command"),
    "mesh": ("mesh.search", "pane.view"),
    "evaluation": ("row.add", "row.remove"),
    "pilot": ("pilot.log", "pilot.command", "ready.waive", "row.add", "row.remove"),
    "ready": ("ready.sign", "ready.waive", "row.add", "pane.view"),
}
"""What a pane alone has, by its module: it stands right after the keys of the row."""

FIELDS = ("field.up", "field.down", "field.saved")
ANY = ("row.copy", "row.open", "pane.plain")
SAID = {
    ("ready", "row.enter"): "walk the item: its checks, what is asked, the answer",
    ("ready", "row.add"): "attach evidence to the item",
    ("pilot", "row.enter"): "edit the measured value, or explain",
    ("pilot", "row.add"): "add a check to the rung",
    ("pilot", "row.remove"): "remove the check",
    ("tokens", "row.add"): "add a source or a stage",
    ("evaluation", "row.add"): "add a task",
}
"""Sentences of keys that mean one thing in one pane."""

SIGNS = (
    "signs   [ ] can be edited   ? unverified   ! warning   E error   i note",
    "moved: against the saved plan   rests on: the weakest input",
    "? unknown   - does not apply   0 is zero   <0.01 rounds to nothing",
)


class HelpSheet(Listing):
    """The keys, those of the row first."""

    word = "help"
    page = True
    typing = True

    def __init__(self, host: Host) -> None:
        super().__init__(host.glyphs)
        self.host = host
        self.line = LineEdit()

    def title(self) -> str:
        """The pane whose keys come first."""
        return f"help: {self.host.cursor.shown_pane.name.full}"

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def pairs(self) -> list[tuple[str, str]]:
        """(keys, sentence) of the actions of this version, those of the row first, that match what is typed."""
        known = self.host.actions()
        keys = [key for key in self.host.keymap.keys if key.id in known and key.keys]
        module = self.host.cursor.shown_pane.module
        fields = () if module in ("pilot", "ready") else FIELDS
        first = [key for id_ in (*ROW, *OWN.get(module, ()), *fields, *ANY) for key in keys if key.id == id_]
        ordered = [*first, *(key for key in keys if key not in first)]
        needle = self.line.text.lower()
        found = [
            ("  ".join(key.keys), SAID.get((module, key.id), key.sentence))
            for key in ordered
            if not key.id.startswith("pane.") or not key.id[5:].isdigit()
        ]
        return [
            pair
            for pair in (*found[: len(first)], self.panes(), *found[len(first) :])
            if needle in f"{pair[0]} {pair[1]}".lower()
        ]

    def panes(self) -> tuple[str, str]:
        """The digits, and what they lead to."""
        names = self.pane_names()
        return "1..9 0", f"panes: {names[0]} to {names[-2]}, {names[-1]}"

    def pane_names(self) -> list[str]:
        """The panes of this version."""
        from trainplan_tui.panes.specs import PANES

        return [f"{pane.name.digit} {pane.name.full}" for pane in PANES]

    def head(self, width: int) -> Sequence[Line]:
        """The line that narrows."""
        return [text_line(f"type to narrow: {self.line.text}", width, self.glyphs, 2)]

    def items(self, width: int) -> Sequence[Line]:
        """One line an action."""
        return [self._item(keys, sentence, width) for keys, sentence in self.pairs()]

    def _item(self, keys: str, sentence: str, width: int) -> Line:
        canvas = Canvas(width, self.glyphs)
        column = 26 if width >= 80 else 20
        canvas.put(4, keys, bold=True, end=column - 2)
        canvas.put(column, sentence)
        return canvas.line()

    def tail(self, width: int) -> Sequence[Line]:
        """The signs, and the row that help was asked on."""
        row = self.host.row()
        here = told(row, self.host.session.shown, self.host.cursor.cell) if row is not None else ("", [])
        about = f"this row   {here[0]}: {' '.join(here[1])}" if here[0] else ""
        return [
            (),
            *(text_line(sign, width, self.glyphs, 4) for sign in SIGNS),
            text_line(about, width, self.glyphs, 4),
        ]

    def take(self, key: str, character: str | None) -> None:
        """Narrow, move, leave."""
        if key == "esc" or (key == "?" and not self.line.text):
            self.host.close_sheet()
        elif key in SHELL or not self.move(key, len(self.pairs())):
            self.line = self.line.take(key, character) or self.line

    def paste(self, text: str) -> None:
        """Pasted letters narrow."""
        self.line = self.line.paste(text)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("", "type to narrow"), Entry("up down", "move"), Entry("esc", "back")]


MOVING = (
    ("j  k  up  down", "next, previous row"),
    ("g  G  home  end", "first, last row"),
    ("pgdn  pgup", "half a page"),
)


class SheetHelp(HelpSheet):
    """The keys of the sheet below, all of them: its footer drops what has no room."""

    def __init__(self, host: Host, sheet: Sheet) -> None:
        super().__init__(host)
        self.sheet = sheet

    def title(self) -> str:
        """The sheet whose keys these are."""
        return f"help: {self.sheet.word}"

    def pairs(self) -> list[tuple[str, str]]:
        """(keys, sentence) of the sheet, then of what works over every sheet."""
        own = [(entry.key, entry.word) for entry in self.sheet.footer() if entry.key != "up down"]
        away = [self.panes(), *map(self._told, LEADING)] if self.sheet.lets_go else []
        needle = self.line.text.lower()
        pairs = (*own, *MOVING, *away, *map(self._told, ("redraw", "suspend")))
        return [pair for pair in pairs if needle in " ".join(pair).lower()]

    def _told(self, id_: str) -> tuple[str, str]:
        key = self.host.keymap.of(id_)
        return "  ".join(key.keys), key.sentence
