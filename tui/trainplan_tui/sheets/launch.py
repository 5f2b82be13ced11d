"""Launch texts of the plan, kind by kind: read, copied, never submitted."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.interop.export.kinds import KINDS, ExportError, exported
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry


class LaunchSheet(Listing):
    """The text of one kind; `v` shows the next kind."""

    word = "launch"
    page = True

    def __init__(self, host: Host, rung: str) -> None:
        super().__init__(host.glyphs)
        self.host, self.rung, self.kind = host, rung, 0

    def title(self) -> str:
        """The kind, and of what."""
        return f"{KINDS[self.kind]}, {f'rung {self.rung}' if self.rung else 'full run'}"

    def text(self) -> str:
        """The launch text, or why there is none."""
        try:
            return exported(KINDS[self.kind], self.host.session.shown.estimate, self.rung)
        except ExportError as error:
            return f"not exported: {error}\n"

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def items(self, width: int) -> Sequence[Line]:
        """The text, line by line; a longer line goes on in the next."""
        room = width - 4
        lines = [line[at : at + room] for line in self.text().splitlines() for at in range(0, max(1, len(line)), room)]
        return [text_line(line, width, self.glyphs) for line in lines]

    def take(self, key: str, character: str | None) -> None:
        """Move, next kind, copy, leave."""
        if key == "esc":
            self.host.close_sheet()
        elif key == "v":
            self.kind, self.at, self.first = (self.kind + 1) % len(KINDS), 0, 0
        elif key == "y":
            name = f"{self.host.session.path.stem}-{KINDS[self.kind]}{f'-{self.rung}' if self.rung else ''}"
            self.host.copy(self.text(), name)
        else:
            self.move(key, self.drawn)

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("y", "copy"), Entry("v", "next kind"), Entry("up down", "move"), Entry("esc", "back")]
