"""Where the cursor is: pane, row by its id, cell; and the jumps that `backspace` takes back."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan_tui.panes.rows import BodyRow, last_cell
from trainplan_tui.panes.specs import PANES, Pane


class Cursor:
    """Each pane remembers its row. Rows are found by id, so an edit that adds or removes rows moves nothing.

    A figure may stand twice in a pane, as a bar and in the ledger: `turns` says which of the rows of one id it is.
    """

    def __init__(self) -> None:
        self.pane = self.cell = 0
        self.needle = ""
        self.tops: dict[int, int] = {}
        self.places: dict[int, str] = {}
        self.turns: dict[int, int] = {}
        self.views: dict[int, int] = {}
        self.jumps: list[tuple[int, int, str, int]] = []

    @property
    def shown_pane(self) -> Pane:
        """The pane that shows."""
        return PANES[self.pane]

    @property
    def view(self) -> int:
        """The view of the pane that shows, from 0."""
        return self.views.get(self.pane, 0)

    def searched(self, budget: str = "") -> list[tuple[int, int]]:
        """Panes and views in which a jump looks: this pane, that of a budget, all; in each the view that shows, then the first."""
        order = dict.fromkeys(
            [self.pane, *(i for i, pane in enumerate(PANES) if budget in pane.budgets), *range(len(PANES))]
        )
        return [(pane, view) for pane in order for view in dict.fromkeys((self.views.get(pane, 0), 0))]

    def position(self, rows: Sequence[BodyRow]) -> int:
        """The position of the row under the cursor; the first that can be reached where its row is gone."""
        id_, turn = self.places.get(self.pane, ""), self.turns.get(self.pane, 0)
        same = [position for position, row in enumerate(rows) if row.id and row.id == id_]
        if same:
            return same[min(turn, len(same) - 1)]
        return next((position for position, row in enumerate(rows) if row.id), 0)

    def put(self, row: BodyRow, turn: int = 0) -> None:
        """Put the cursor on a row, or on a later one of its id."""
        if self.places.get(self.pane) != row.id:
            self.cell = 0
        self.places[self.pane], self.turns[self.pane] = row.id, turn

    def put_at(self, rows: Sequence[BodyRow], position: int) -> None:
        """Put the cursor on the row at a position."""
        self.put(rows[position], sum(row.id == rows[position].id for row in rows[:position]))

    def move(self, rows: Sequence[BodyRow], step: int) -> None:
        """Move by so many rows that can be reached, stopping at both ends."""
        here = [position for position, row in enumerate(rows) if row.id]
        if not here:
            return
        now = self.position(rows)
        at = here.index(now) if now in here else 0
        self.put_at(rows, here[min(max(at + step, 0), len(here) - 1)])

    def move_cell(self, rows: Sequence[BodyRow], step: int) -> None:
        """Move inside a row with several boxes, or with more columns than there is room for."""
        last = last_cell(rows[self.position(rows)]) if rows else 0
        self.cell = min(max(self.cell + step, 0), last)

    def go(self, pane: int) -> None:
        """Show another pane; the cursor is where it was there."""
        self.pane, self.cell = pane % len(PANES), 0

    def remember(self) -> None:
        """Put the place on the stack that `backspace` takes back."""
        place = (self.pane, self.view, self.places.get(self.pane, ""), self.turns.get(self.pane, 0))
        if not self.jumps or self.jumps[-1] != place:
            self.jumps.append(place)

    def back(self) -> bool:
        """Return where the last jump came from; whether there was one."""
        if not self.jumps:
            return False
        self.pane, view, id_, turn = self.jumps.pop()
        self.views[self.pane], self.places[self.pane], self.turns[self.pane], self.cell = view, id_, turn, 0
        return True
