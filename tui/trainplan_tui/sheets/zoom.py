"""The picture of a pane alone: what stands right of the ledger in a wide window, over the whole body of a narrow one."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan_tui.sheets.listing import Listing, text_line
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry


class ZoomSheet(Listing):
    """The pane's side at the window's width; `z` or `esc` goes back."""

    word = "picture"
    page = True

    def __init__(self, host: Host) -> None:
        super().__init__(host.glyphs)
        self.host = host

    def title(self) -> str:
        """The pane."""
        return self.host.cursor.shown_pane.title

    def wanted(self, width: int) -> int:
        """The whole body."""
        return 1000

    def items(self, width: int) -> Sequence[Line]:
        """The picture, line by line."""
        found = self.host.cursor.shown_pane.side(self.host.session.shown, width, self.glyphs, None)
        return found or [
            text_line("nothing to draw yet: the rows under the picture have no values", width, self.glyphs)
        ]

    def take(self, key: str, character: str | None) -> None:
        """Move, or go back."""
        if key in ("esc", "z"):
            self.host.close_sheet()
        else:
            self.move(key, len(self.items(80)))

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [Entry("up down", "move"), Entry("z", "back")]
