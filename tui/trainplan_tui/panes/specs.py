"""Which panes there are: each one's names, module and table. The app knows panes only by this list.

A pane's module is imported when the pane is first shown: the first screen needs one of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final, Protocol, cast

from trainplan.frozen import frozen
from trainplan.rows.ledgers import COMPUTE, MEMORY, OVERVIEW, TOKENS
from trainplan.rows.operation import EVALUATION, PILOT, READINESS, RELIABILITY, STORAGE
from trainplan.rows.step import PARALLELISM
from trainplan.rows.table import Table
from trainplan_tui.panes import names
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import PaneName


class Drawn(Protocol):
    """What every pane's module has. `views` only where there is more than one view."""

    def rows(self, shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]: ...
    def side(self, shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]: ...
    def views(self, shown: Shown) -> int: ...


@frozen
class Pane:
    """One pane. Its title is its full name; `module` draws it; `more_views` says whether `v` goes through several.

    `hints` stand in the heading, view by view, where the columns have heads of their own; `low_hint` where a low window draws the
    ledger as a grid.
    """

    name: PaneName
    module: str
    table: Table
    more_views: bool = False
    hints: tuple[str, ...] = ()
    low_hint: str = ""

    @property
    def title(self) -> str:
        """The full name."""
        return self.name.full

    def hint(self, view: int, *, low: bool) -> str:
        """What stands at the right of the heading in place of the heads of columns; nothing where the ledger has them."""
        if low and self.low_hint and not view:
            return self.low_hint
        return self.hints[view] if view < len(self.hints) else ""

    @property
    def budgets(self) -> tuple[str, ...]:
        """Budgets whose findings stand in it."""
        return names.BUDGETS[self.name]

    def rows(self, shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
        """The rows of its body."""
        return self._drawn.rows(shown, width, height, glyphs, view)

    def side(self, shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
        """The lines right of the ledger in a wide window: what the view at the left does not show; all of it without a view."""
        return self._drawn.side(shown, width, glyphs, view)

    def views(self, shown: Shown) -> int:
        """How many views `v` goes through."""
        return self._drawn.views(shown) if self.more_views else 1

    @property
    def _drawn(self) -> Drawn:
        return cast("Drawn", import_module(f"trainplan_tui.panes.{self.module}"))


MESH_HINTS: Final = ("", "v decision walk   F find", "v layout   F find")

PANES: Final = (
    Pane(names.OVERVIEW, "overview", OVERVIEW),
    Pane(names.TOKENS, "tokens", TOKENS, more_views=True),
    Pane(names.COMPUTE, "compute", COMPUTE),
    Pane(names.MEMORY, "memory", MEMORY, more_views=True),
    Pane(
        names.MESH,
        "mesh",
        PARALLELISM,
        more_views=True,
        hints=MESH_HINTS,
        low_hint="v what is sent, decision walk   F find",
    ),
    Pane(names.STORAGE, "storage", STORAGE),
    Pane(names.FAULTS, "faults", RELIABILITY),
    Pane(names.EVALUATION, "evaluation", EVALUATION),
    Pane(names.PILOT, "pilot", PILOT, hints=("L log   o evidence   a check   C launch text",)),
    Pane(names.READY, "ready", READINESS, more_views=True, hints=("enter walk   v matrix/kinds",)),
)
