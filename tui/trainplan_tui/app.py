"""The app: one plan open, one pane shown, one row under the cursor. Every key is taken here and drawn once.

It knows which mode holds and draws the picture; what a command does is in `commands`, what is typed in `typist`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.geometry import Size

from trainplan_tui.acts import footers
from trainplan_tui.acts.commands import Commands
from trainplan_tui.acts.typist import Typist, applied
from trainplan_tui.checker import Checker
from trainplan_tui.forecaster import Forecaster
from trainplan_tui.keys import Keymap, key_name
from trainplan_tui.panes.rows import BodyRow, Box
from trainplan_tui.panes.specs import PANES
from trainplan_tui.placing import Cursor
from trainplan_tui.screens.drawing import View, body_rows, draw, is_sketchable
from trainplan_tui.screens.words import strip_parts
from trainplan_tui.sheets.sheet import Sheet
from trainplan_tui.state.session import Session
from trainplan_tui.text.colours import Palette
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.widgets.dispatch import KeyedApp
from trainplan_tui.widgets.frame import small_window, too_small
from trainplan_tui.widgets.strip import strip

if TYPE_CHECKING:
    from trainplan.estimation import Estimate
    from trainplan.evidence.published import Run
    from trainplan.forecast.finish import Forecast


class PlanApp(KeyedApp):
    """The app on an open session, or on a sheet that opens one (the start screen)."""

    def __init__(
        self,
        palette: Palette,
        glyphs: Glyphs,
        keymap: Keymap,
        session: Session | None = None,
        first: Callable[[PlanApp], Sheet | None] = lambda app: None,
    ) -> None:
        super().__init__(palette)
        self.glyphs, self.keymap, self.message = glyphs, keymap, ""
        self.opened = session
        self.cursor = Cursor()
        self.typist = Typist(self)
        self.commands = Commands(self)
        self.sheets: list[Sheet] = []
        self.window = Size(80, 24)
        self.forecaster = Forecaster(self._show_forecast)
        self.checker = Checker(self.paint)
        if sheet := first(self):
            self.sheets.append(sheet)

    @property
    def session(self) -> Session:
        """The open session. LookupError on the start screen."""
        if self.opened is None:
            raise LookupError("no plan open")
        return self.opened

    def take(self, key: str, character: str | None) -> None:
        """One key, by mode: a sheet, the line editor, or the key table; then one picture."""
        name = key_name(key, character)
        self._judge()
        self.message = ""
        anywhere = self.keymap.action(name, ()) if name.startswith("ctrl+") else None
        if anywhere == "redraw":
            self.redraw()
        elif anywhere == "suspend":
            self.suspend_process()
        elif too_small(*self.window):
            from trainplan_tui import smallest

            smallest.take(self, name, character)
        elif self.sheets:
            footers.handed(self, self.sheets[-1], "esc" if name in ("ctrl+g", "ctrl+c") else name, character)
        elif self.typist.now is not None:
            self.typist.take(name, character)
        else:
            self.commands.take(name)
        self.paint()

    def paste(self, text: str) -> None:
        """Pasted text goes into the box or the sheet's line; where letters are commands it is none."""
        self.message = ""
        self._judge()
        if not self.writing():
            self.message = "pasted text is no command: nothing is being edited" + (
                "" if self.sheets else "; enter opens a box"
            )
        elif self.sheets:
            self.sheets[-1].paste(text)
        else:
            self.typist.paste(text)
        self.paint()

    def writing(self) -> bool:
        """Whether letters are text now: in a box, or in a sheet with a line."""
        return self.sheets[-1].typing if self.sheets else self.typist.now is not None

    def resized(self, size: Size) -> None:
        """The window's size; text being typed, the cursor and sheets stay."""
        self.window = size
        if is_sketchable(self.cursor.shown_pane, *size):
            self.call_after_refresh(self._judge)
        else:
            self._judge()
        self.paint()

    def _judge(self) -> None:
        """Findings come after the first picture of the figures, and before any key; they add to it and move nothing."""
        if self.opened is not None and self.opened.shown.pending:
            self.opened.judge()
            self.paint()

    def on_mount(self) -> None:
        """What threads find comes back to the loop that runs now."""
        self.forecaster.attach()
        self.checker.attach()

    def interrupted(self, number: int) -> None:
        """The process ends by a signal: the journal notes why."""
        if self.opened is not None:
            self.opened.interrupted(number)

    def _show_forecast(self, figures: Estimate, found: Forecast, runs: tuple[Run, ...]) -> None:
        if self.opened is None:
            return
        self.opened.take_runs(runs)
        if self.opened.forecasted(figures, found):
            self.paint()

    # what is drawn

    def paint(self) -> None:
        """One picture of everything."""
        width, height = self.window
        if too_small(width, height):
            from trainplan_tui import smallest

            top = strip(strip_parts(self.opened.shown), width, self.glyphs) if self.opened else ()
            lines = small_window(width, height, top, smallest.keys(self), self.glyphs, self.message)
            self.grid.show(lines, (0, 0), width)
        elif self.opened is None:
            from trainplan_tui.sheets.stacked import alone

            picture = alone(self.sheets[-1], width, height, self.message, self.glyphs)
            self.grid.show(picture.lines, picture.cursor, width)
        else:
            self._paint_plan(width, height)
        if self.opened is not None:
            self.forecaster.see(self.opened.shown)

    def _paint_plan(self, width: int, height: int) -> None:
        self.checker.look(self.session, self.cursor.shown_pane.module)
        shown, rows = self.session.shown, self.rows()
        view = self.view(rows)
        if self.sheets:
            from trainplan_tui.sheets.stacked import stacked

            picture = stacked(self.sheets, shown, view, rows)
        else:
            picture = draw(shown, view, rows)
            self.cursor.tops[self.cursor.pane] = picture.first
        self.grid.show(picture.lines, picture.cursor, width)

    def view(self, rows: Sequence[BodyRow]) -> View:
        """Where everything is, for the picture."""
        width, height = self.window
        cursor, typing = self.cursor, self.typist.now
        sheet = self.sheets[-1] if self.sheets else None
        return View(
            width=width,
            height=height,
            pane=cursor.shown_pane,
            row=cursor.position(rows),
            cell=cursor.cell,
            first=cursor.tops.get(cursor.pane, 0),
            glyphs=self.glyphs,
            entries=footers.shown(self, sheet, rows, editing=typing is not None),
            typing=typing,
            message=self.message,
            mode=sheet.word if sheet else "editing" if typing else "",
            needle=cursor.needle,
            part=cursor.view,
        )

    # what sheets and commands ask for

    def rows(self) -> list[BodyRow]:
        """The rows of the pane that shows."""
        width, height = self.window
        return body_rows(self.session.shown, self.cursor.shown_pane, width, height, self.glyphs, self.cursor.view)

    def row(self) -> BodyRow | None:
        """The row under the cursor."""
        rows = self.rows()
        return rows[self.cursor.position(rows)] if rows else None

    def box(self) -> Box | None:
        """The box under the cursor."""
        row = self.row()
        return row.boxes[min(self.cursor.cell, len(row.boxes) - 1)] if row is not None and row.boxes else None

    def open_sheet(self, sheet: Sheet) -> None:
        """Show a sheet on top."""
        self.sheets.append(sheet)

    def close_sheet(self) -> None:
        """Give the rows of the top sheet back; the start screen stays while no plan is open."""
        if self.opened is not None or len(self.sheets) > 1:
            self.sheets.pop()

    def lets_go(self) -> bool:
        """Whether every open sheet may be closed by a key that leads elsewhere."""
        return self.opened is not None and all(one.lets_go for one in self.sheets)

    def close_sheets(self) -> None:
        """Give the rows of all sheets back."""
        self.sheets.clear()

    def jump(self, where: str, budget: str = "") -> bool:
        """Put the cursor on a plan path or quantity, in this pane first, then that of a budget, then any that has it."""
        width, height = self.window
        for index, view in self.cursor.searched(budget):
            rows = body_rows(self.session.shown, PANES[index], width, height, self.glyphs, view)
            for row in rows:
                paths = [box.path for box in row.boxes]
                if where == row.id or where in paths:
                    self.close_sheets()
                    self.cursor.remember()
                    self.cursor.go(index)
                    self.cursor.views[index] = view
                    self.cursor.put(row)
                    self.cursor.cell = paths.index(where) if where in paths else 0
                    return True
        return False

    def start_edit(self, path: str, budget: str = "") -> None:
        """Edit a field: in its box, or in a list of its choices; where no pane shows it yet, by its path in the palette."""
        if not self.jump(path, budget):
            self.commands.set_by_path(path)
            return
        box = self.box()
        if box is not None and box.choices:
            from trainplan_tui.sheets.choice import ChoiceSheet

            self.open_sheet(ChoiceSheet(self, box))
        elif box is not None:
            self.typist.begin(box)

    def apply(self, path: str, typed: str) -> bool:
        """Edit a field; the footer says what it moved, or why it was refused."""
        return applied(self, path, typed)

    def do(self, id_: str) -> None:
        """Do what a key of the table does."""
        self.commands.do(id_)

    def actions(self) -> frozenset[str]:
        """Ids of the actions that something does in this version."""
        return frozenset(self.commands.table) | {"redraw"}

    def open_session(self, session: Session) -> None:
        """Show this plan from now on."""
        self.opened, self.cursor = session, Cursor()
        self.close_sheets()

    def leave(self) -> None:
        """End the app without a question."""
        if self.opened is not None:
            self.opened.ended()
        self.exit(0)

    def copy(self, text: str, name: str) -> None:
        """Put a text on the clipboard and into a file, and say where."""
        from trainplan_tui.outside import copied

        self.message = copied(self, text, name)

    def run_editor(self, text: str, line: int) -> str | None:
        """The text as $EDITOR leaves it; None where there is no editor, and the footer says so."""
        from trainplan_tui.outside import in_editor

        edited, self.message = in_editor(self, text, line)
        return edited

    def suspend_process(self) -> None:
        """Stop until the shell resumes the program, where one can."""
        from trainplan_tui.outside import suspended

        self.message = suspended(self)
