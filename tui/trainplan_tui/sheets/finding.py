"""Find a row or field in any pane: typing narrows, `enter` goes there, `n` and `N` walk the matches of the pane."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan_tui.sheets.index import Item
from trainplan_tui.sheets.palette import PaletteSheet
from trainplan_tui.widgets.frame import Entry


class FindSheet(PaletteSheet):
    """The palette without commands; the match stays underlined."""

    word = "find"
    what = "rows and fields"
    with_commands = False
    prompt = "/"

    def take(self, key: str, character: str | None) -> None:
        """As the palette; what is typed is underlined in the pane meanwhile."""
        super().take(key, character)
        self.host.cursor.needle = "" if key == "esc" else self.line.text

    def pick(self, item: Item) -> None:
        """Go to the row and keep the search for `n` and `N`."""
        needle = self.line.text
        super().pick(item)
        self.host.cursor.needle = needle

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        return [*([Entry("enter", "go"), Entry("up down", "move")] if self.found() else []), Entry("esc", "close")]
