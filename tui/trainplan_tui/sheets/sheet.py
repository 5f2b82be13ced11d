"""What every sheet is, and what it may ask of the app that shows it. Sheets never reach into the app beyond this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trainplan_tui.keys import Keymap
from trainplan_tui.panes.rows import BodyRow, Box
from trainplan_tui.placing import Cursor
from trainplan_tui.state.session import Session
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Line
from trainplan_tui.widgets.frame import Entry


class Host(Protocol):
    """What may be asked of the app."""

    cursor: Cursor
    glyphs: Glyphs
    keymap: Keymap
    message: str

    @property
    def session(self) -> Session:
        """The open session. LookupError where no plan is open."""
        ...

    def rows(self) -> list[BodyRow]:
        """The rows of the pane that shows."""
        ...

    def row(self) -> BodyRow | None:
        """The row under the cursor."""
        ...

    def box(self) -> Box | None:
        """The box under the cursor."""
        ...

    def open_sheet(self, sheet: Sheet) -> None:
        """Show a sheet on top; closing it comes back to what was below."""
        ...

    def close_sheet(self) -> None:
        """Give the rows of the top sheet back."""
        ...

    def lets_go(self) -> bool:
        """Whether every open sheet may be closed by a key that leads elsewhere."""
        ...

    def close_sheets(self) -> None:
        """Give the rows of all sheets back."""
        ...

    def jump(self, where: str, budget: str = "") -> bool:
        """Close all sheets, put the cursor on a plan path or quantity, in a budget's pane before others; false where in none."""
        ...

    def start_edit(self, path: str, budget: str = "") -> None:
        """Close all sheets and edit a field: in its box, or in a list of its choices."""
        ...

    def apply(self, path: str, typed: str) -> bool:
        """Edit a field; false where the value was refused, and the footer says why."""
        ...

    def do(self, id_: str) -> None:
        """Do what a key of the table does."""
        ...

    def actions(self) -> frozenset[str]:
        """Ids of the actions that something does in this version."""
        ...

    def copy(self, text: str, name: str) -> None:
        """Put a text on the clipboard and into a file, and say where."""
        ...

    def run_editor(self, text: str, line: int) -> str | None:
        """The text as $EDITOR leaves it; None where there is no editor, and the footer says so."""
        ...

    def open_session(self, session: Session) -> None:
        """Show this plan from now on."""
        ...

    def paint(self) -> None:
        """One picture of everything, for what comes from a thread."""
        ...

    def leave(self) -> None:
        """End the app without a question."""
        ...

    def suspend_process(self) -> None:
        """Stop until the shell resumes the program, where one can."""
        ...


class Sheet(Protocol):
    """One sheet. `page` takes the whole body; `typing` makes letters text; where it `asks`, nothing but its answers works.

    One that `lets_go` is read: a key that leads elsewhere from everywhere closes it.
    """

    word: str
    page: bool
    typing: bool
    asks: bool
    lets_go: bool

    def wanted(self, width: int) -> int:
        """Rows that it would like, its title rule included."""
        ...

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """At most `height` lines of `width` cells."""
        ...

    def cursor(self) -> tuple[int, int]:
        """Row and column of the active cell inside its lines, from 0."""
        ...

    def take(self, key: str, character: str | None) -> None:
        """A key, by its name in the key table."""
        ...

    def paste(self, text: str) -> None:
        """Pasted text."""
        ...

    def footer(self) -> Sequence[Entry]:
        """What works here, most used first."""
        ...
