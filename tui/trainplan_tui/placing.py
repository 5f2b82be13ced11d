"""Where the cursor is: pane, row by its id, cell; and the jumps that `backspace` takes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.panes.specs import PANES, Pane


@dataclass(eq=False)
class Cursor:
    """Each pane remembers its row. Rows are found by id, so an edit that adds or removes rows moves nothing."""

    pane: int = 0
    cell: int = 0
    needle: str = ""
    tops: dict[int, int] = field(default_factory=dict[int, int])
    places: dict[int, str] = field(default_factory=dict[int, str])
    views: dict[int, int] = field(default_factory=dict[int, int])
    jumps: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def shown_pane(self) -> Pane:
        """The pane that shows."""
        return PANES[self.pane]

    @property
    def view(self) -> int:
        """The view of the pane that shows, from 0."""
        return self.views.get(self.pane, 0)

    def position(self, rows: Sequence[BodyRow]) -> int:
        """The position of the row under the cursor; the first that can be reached where its row is gone."""
        id_ = self.places.get(self.pane, "")
        first = -1
        for position, row in enumerate(rows):
            if row.id and row.id == id_:
                return position
            if row.id and first < 0:
                first = position
        return max(first, 0)

    def put(self, row: BodyRow) -> None:
        """Put the cursor on a row."""
        if self.places.get(self.pane) != row.id:
            self.cell = 0
        self.places[self.pane] = row.id

    def move(self, rows: Sequence[BodyRow], step: int) -> None:
        """Move by so many rows that can be reached, stopping at both ends."""
        here = [row for row in rows if row.id]
        if not here:
            return
        ids = [row.id for row in here]
        now = rows[self.position(rows)].id
        at = ids.index(now) if now in ids else 0
        self.put(here[min(max(at + step, 0), len(here) - 1)])

    def move_cell(self, rows: Sequence[BodyRow], step: int) -> None:
        """Move inside a row with several boxes."""
        boxes = rows[self.position(rows)].boxes if rows else ()
        self.cell = min(max(self.cell + step, 0), max(0, len(boxes) - 1))

    def go(self, pane: int) -> None:
        """Show another pane; the cursor is where it was there."""
        self.pane, self.cell = pane % len(PANES), 0

    def remember(self) -> None:
        """Put the place on the stack that `backspace` takes back."""
        place = (self.pane, self.places.get(self.pane, ""))
        if not self.jumps or self.jumps[-1] != place:
            self.jumps.append(place)

    def back(self) -> bool:
        """Return where the last jump came from; whether there was one."""
        if not self.jumps:
            return False
        self.pane, id_ = self.jumps.pop()
        self.places[self.pane], self.cell = id_, 0
        return True
