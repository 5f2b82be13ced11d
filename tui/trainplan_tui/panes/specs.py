"""Which panes there are: each one's names, rows, table, side and views. The app knows panes only by this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainplan.ledgers import COMPUTE, MEMORY, OVERVIEW, TOKENS
from trainplan.ledgers_operation import EVALUATION, RELIABILITY, STORAGE
from trainplan.ledgers_step import PARALLELISM
from trainplan.table import Table
from trainplan_tui.panes import compute, evaluation, faults, memory, mesh, names, overview, storage, tokens
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.panes.sources import views
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import PaneName

Rows = Callable[[Shown, int, int, Glyphs, int], list[BodyRow]]
"""(shown, width, height, glyphs, view) to rows."""

Side = Callable[[Shown, int, Glyphs], list[Line]]
"""(shown, width, glyphs) to the lines right of the ledger in a wide window."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane. Its title is its full name; `views` is how many views `v` goes through."""

    name: PaneName
    rows: Rows
    table: Table
    side: Side
    views: Callable[[Shown], int] = lambda shown: 1

    @property
    def title(self) -> str:
        """The full name."""
        return self.name.full

    @property
    def budgets(self) -> tuple[str, ...]:
        """Budgets whose findings stand in it."""
        return names.BUDGETS[self.name]


PANES: Final = (
    Pane(names.OVERVIEW, overview.rows, OVERVIEW, overview.side),
    Pane(names.TOKENS, tokens.rows, TOKENS, tokens.side, views),
    Pane(names.COMPUTE, compute.rows, COMPUTE, compute.side),
    Pane(names.MEMORY, memory.rows, MEMORY, memory.side, memory.views),
    Pane(names.MESH, mesh.rows, PARALLELISM, mesh.side, mesh.views),
    Pane(names.STORAGE, storage.rows, STORAGE, storage.side),
    Pane(names.FAULTS, faults.rows, RELIABILITY, faults.side),
    Pane(names.EVALUATION, evaluation.rows, EVALUATION, evaluation.side),
)
