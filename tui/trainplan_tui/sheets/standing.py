"""All of one rung's check or one readiness item: what it asks, what was found, what makes it stale, its history, its drills."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.review.drills import OF_ITEM, OF_RUNG
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.panes.standing import side
from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.folding import folded
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry


class StandingSheet(Listing):
    """The sentences of the right side, at any width, and the read-do cards."""

    word = "explain"
    page = True

    def __init__(self, host: Host, row: BodyRow) -> None:
        super().__init__(host.glyphs)
        self.host, self.row = host, row

    def title(self) -> str:
        """The row's id."""
        return self.row.id

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def sentences(self, width: int) -> list[str]:
        """Everything, in lines."""
        name, cards = self.row.id.split(".")[1], {**OF_ITEM, **OF_RUNG}
        found = side(self.row, self.host.session.shown, self.host.glyphs)[1:]
        for drill in cards.get(name, ()):
            found += ["", drill.title, *(f"  {number}. {step}" for number, step in enumerate(drill.steps, 1))]
        return [piece for text in found for piece in folded(text, width - 8, 5)]

    def items(self, width: int) -> Sequence[Line]:
        """One line each."""
        return [text_line(line, width, self.glyphs) for line in self.sentences(width)]

    def take(self, key: str, character: str | None) -> None:
        """Move, copy, leave."""
        if key in ("esc", "x"):
            self.host.close_sheet()
        elif key == "y":
            self.host.copy("\n".join(self.sentences(100)) + "\n", self.row.id)
        else:
            self.move(key, len(self.sentences(80)))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("up down", "move"), Entry("y", "copy"), Entry("esc", "back")]
