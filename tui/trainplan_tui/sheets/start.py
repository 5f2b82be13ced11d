"""The start screen, where no plan was named: recent plans, examples, and the ways to begin one.

The letters that are shown are the only ones that work. Nothing is written or opened before one is pressed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from trainplan.quantity.unit import whole_number
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.beginning import begin, copy_example
from trainplan_tui.sheets.listing import LETTERS, MOVES
from trainplan_tui.sheets.offers import example_offers, lost_plans, recent_offers
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.sheets.welcome import StartPage
from trainplan_tui.widgets.frame import Entry


class StartSheet(StartPage):
    """The list of plans under one cursor, and letters for the rest."""

    word = ""
    page = True
    typing = lets_go = False
    asks = True

    def __init__(self, host: Host, today: dt.date) -> None:
        super().__init__(host.glyphs, recent_offers(today), example_offers(), lost_plans())
        self.host, self.today = host, today

    def take(self, key: str, character: str | None) -> None:
        """A plan, a way to begin one, or the end."""
        if (self.helping or self.errors) and (key in MOVES or key in LETTERS):
            self.read += MOVES.get(key) or LETTERS[key]
        elif self.helping or self.errors:
            self.helping, self.errors = False, ()
        elif 0 < (place := whole_number(key) or 0) <= len(self.offers):
            self._open(place - 1)
        elif key == "enter" and self.offers:
            self._open(self.at)
        elif key in MOVES or key in LETTERS:
            self.at = min(max(self.at + (MOVES.get(key) or LETTERS[key]), 0), max(0, len(self.offers) - 1))
        elif key in ("n", "i", "o", "q", "?"):
            self._letter(key)
        elif key == "r" and self.lost:
            self._begin(self.lost[0].path)
        elif key == "esc":
            self.host.message = "q quits"

    def _letter(self, key: str) -> None:
        host = self.host
        if key == "n":
            from trainplan_tui.sheets.newplan import NewPlanSheet

            host.open_sheet(NewPlanSheet(host, self.today))
        elif key == "i":
            from trainplan_tui.sheets.importing import ask_config

            ask_config(host, self.today)
        elif key == "o":
            host.open_sheet(PathSheet(host, "open", "open a plan", "a plan file; tab completes", "", self._begin))
        elif key == "q":
            host.leave()
        else:
            self.helping = True

    def _open(self, number: int) -> None:
        self.at = number
        offer = self.offers[number]
        if offer.example:
            copy_example(self.host, offer.path, self.today)
        elif offer.gone:
            self.host.message = f"{offer.path.name} is not there any more"
        else:
            self._begin(offer.path)

    def _begin(self, path: Path) -> None:
        self.errors = begin(self.host, path, self.today)

    def paste(self, text: str) -> None:
        """A pasted text is no answer."""

    def footer(self) -> Sequence[Entry]:
        """What works here."""
        if self.helping or self.errors:
            return [Entry("up down", "scroll"), Entry("any other key", "back")]
        recover = [Entry("r", "recover")] if self.lost else []
        openable = [Entry("enter", "open")] if self.offers else []
        keys = [
            Entry("n", "new"),
            Entry("i", "import"),
            Entry("o", "open file"),
            Entry("q", "quit"),
            Entry("?", "help"),
        ]
        return [*openable, *recover, *keys]
