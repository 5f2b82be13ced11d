"""What each key of the table does when nothing is being typed and no sheet is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from trainplan_tui.keys import ADDED, ALL_PLACES
from trainplan_tui.panes.names import FIRST, SENT, is_item, is_standing
from trainplan_tui.panes.specs import PANES
from trainplan_tui.sheets.sheet import Host

if TYPE_CHECKING:
    from trainplan.estimation import Estimate, Value


class Commands:
    """Actions by their id in the key table. Sheets are imported when they are first opened."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._finding = -1
        self.table: dict[str, Callable[[], None]] = {
            "pane.previous": lambda: self._pane(host.cursor.pane - 1),
            "pane.next": lambda: self._pane(host.cursor.pane + 1),
            "row.next": lambda: self._move(1),
            "row.previous": lambda: self._move(-1),
            "row.first": lambda: self._move(-(10**6)),
            "row.last": lambda: self._move(10**6),
            "page.next": lambda: self._move(8),
            "page.previous": lambda: self._move(-8),
            "cell.next": lambda: host.cursor.move_cell(host.rows(), 1),
            "cell.previous": lambda: host.cursor.move_cell(host.rows(), -1),
            "row.enter": self.enter,
            "back": self._back,
            "jump.back": self._jump_back,
            "row.explain": self.explain,
            "pane.view": self._view,
            "pane.zoom": lambda: self._open("zoom", "ZoomSheet"),
            "row.add": self._add,
            "row.remove": self._remove,
            "row.raise": lambda: self._list("raise_row"),
            "row.lower": lambda: self._list("lower_row"),
            "weights.normalise": lambda: self._list("normalise"),
            "sources.read": lambda: self._list("read_manifest"),
            "pilot.log": lambda: self._pilot("take_log"),
            "pilot.command": lambda: self._pilot("show_launch"),
            "ready.sign": lambda: self._review("sign"),
            "ready.waive": self._waive,
            "ready.walk": lambda: self._review("walk"),
            "ready.summary": lambda: self._review("summary"),
            "ready.one_person": lambda: self._review("one_person"),
            "field.up": lambda: self._step(1),
            "field.down": lambda: self._step(-1),
            "field.saved": self._saved_value,
            "find": lambda: self._open("finding", "FindSheet", self._tree),
            "find.next": lambda: self._match(1),
            "find.previous": lambda: self._match(-1),
            "finding.next": self._next_finding,
            "palette": lambda: self._open("palette", "PaletteSheet", self._tree),
            "help": lambda: self._open("help", "HelpSheet"),
            "edit.undo": lambda: self._said(host.session.undo(), "undone", "nothing to undo"),
            "edit.redo": lambda: self._said(host.session.redo(), "done again", "nothing to redo"),
            "file.diff": lambda: self._open("difference", "DifferenceSheet"),
            "mesh.search": self._search,
            "file.compare": lambda: self._open("comparing", "CompareSheet"),
            "file.save": lambda: self._file("save"),
            "file.report": lambda: self._file("report"),
            "file.editor": lambda: self._file("edit_text"),
            "file.save_as": lambda: self._file("save_as"),
            "quit.save_as": lambda: self._file("save_as_and_leave"),
            "row.open": self._open_row,
            "row.copy": lambda: self._file("copy_row"),
            "pane.plain": lambda: self._file("plain_pane"),
            "quit": self.quit,
            "cancel": self.quit,
            "suspend": host.suspend_process,
            **{id_: partial(self._adds, id_) for id_ in ADDED},
            **{f"pane.{pane.name.digit}": self._to(i) for i, pane in enumerate(PANES)},
        }

    def take(self, name: str) -> None:
        """A key in navigate."""
        id_ = self.host.keymap.action(name, ALL_PLACES)
        if id_ is None:
            self.host.message = f"{name} does nothing here" if len(name) > 1 or name.isprintable() else ""
        elif id_ in self.table:
            self.do(id_)
        else:
            word = self.host.keymap.of(id_).sentence
            self.host.message = f"{name} ({word}) does nothing here"

    def do(self, id_: str) -> None:
        """Do an action."""
        self.table[id_]()

    def _to(self, index: int) -> Callable[[], None]:
        return lambda: self._pane(index)

    def _pane(self, index: int) -> None:
        self.host.cursor.go(index)

    def _move(self, step: int) -> None:
        self.host.cursor.move(self.host.rows(), step)

    def enter(self) -> None:
        """Edit a field, go to the field that decides a finding, explain a figure."""
        row = self.host.row()
        if row is None:
            return
        if row.id.startswith("walk "):
            self._walked(row.id)
        elif row.id.startswith("claim "):
            self._list("take_claim")
        elif is_item(row.id):
            self._review("walk")
        elif row.id in FIRST:
            self._adds(FIRST[row.id])
        elif row.kind == "finding":
            from trainplan_tui.sheets.remedy import edit_what_decides

            edit_what_decides(self.host, row)
        elif row.boxes:
            box = self.host.box()
            self.host.start_edit(box.path if box is not None else row.id)
        else:
            self.explain()

    def _walked(self, id_: str) -> None:
        """The field that decides a question of the walk, or all of its proposal as one edit."""
        if id_ == "walk proposal":
            self._list("take_proposal")
        else:
            self.host.start_edit(id_.split(" ", 2)[2])

    def explain(self) -> None:
        """The tree of a figure, or what a field is and moves."""
        row = self.host.row()
        if row is None or not row.id:
            return
        if row.kind == "finding":
            from trainplan_tui.sheets.remedy import explain_finding

            explain_finding(self.host, row)
            return
        if is_standing(row.id):
            from trainplan_tui.sheets.standing import StandingSheet

            self.host.open_sheet(StandingSheet(self.host, row))
            return
        if row.id == "walk proposal":
            from trainplan_tui.panes.inspector import told

            self.host.message = told(row, self.host.session.shown)[1][0]
            return
        if row.id.startswith(SENT):
            from trainplan_tui.panes.mesh import sent_time

            self._tree(row.id, partial(sent_time, row.id))
            return
        box, decides = self.host.box(), row.id.split(" ", 2)[2] if row.id.startswith("walk ") else row.id
        self._tree(box.path if box is not None else decides)

    def _tree(self, key: str, find: Callable[[Estimate], Value] | None = None) -> None:
        from trainplan_tui.acts.filing import open_field
        from trainplan_tui.sheets.explaining import ExplainSheet

        self.host.open_sheet(ExplainSheet(self.host, key, open_field, find))

    def _back(self) -> None:
        self.host.cursor.needle = ""

    def _view(self) -> None:
        cursor = self.host.cursor
        count = cursor.shown_pane.views(self.host.session.shown)
        if count < 2:
            self.host.message = f"{cursor.shown_pane.title} has one view"
            return
        cursor.views[cursor.pane] = (cursor.view + 1) % count
        self.host.message = f"view {cursor.view + 1} of {count}"

    def _add(self) -> None:
        """Evidence in Readiness, a check in Pilot, one more entry elsewhere."""
        module = self.host.cursor.shown_pane.module
        self._review("attach") if module == "ready" else self._pilot("add") if module == "pilot" else self._adds("")

    def _adds(self, id_: str) -> None:
        from trainplan_tui.acts import adding

        adding.ADDS.get(id_, adding.add)(self.host)

    def _remove(self) -> None:
        self._pilot("remove") if self.host.cursor.shown_pane.module == "pilot" else self._list("remove")

    def _waive(self) -> None:
        self._pilot("waive") if self.host.cursor.shown_pane.module == "pilot" else self._review("waive")

    def _pilot(self, action: str) -> None:
        from trainplan_tui.acts import piloting

        getattr(piloting, action)(self.host)

    def _review(self, action: str) -> None:
        from trainplan_tui.acts import reviewing

        getattr(reviewing, action)(self.host)

    def _list(self, action: str) -> None:
        from trainplan_tui.acts import listing_edits

        getattr(listing_edits, action)(self.host)

    def _jump_back(self) -> None:
        if not self.host.cursor.back():
            self.host.message = "no jump to come back from"

    def _step(self, direction: int) -> None:
        from trainplan_tui.acts.stepping import next_value

        box = self.host.box()
        if box is None:
            self.host.message = "no field under the cursor"
            return
        value = next_value(self.host.session, box, direction)
        if value is None:
            self.host.message = "no larger legal value" if direction > 0 else "no smaller legal value"
        else:
            self.host.apply(box.path, value)

    def _saved_value(self) -> None:
        from trainplan_tui.acts.stepping import take_saved

        take_saved(self.host)

    def _open_row(self) -> None:
        row = self.host.row()
        if row is None or not is_standing(row.id):
            self._file("open_row")
        else:
            self._review("tell_evidence") if is_item(row.id) else self._pilot("attach")

    def _open(self, module: str, sheet: str, *more: object) -> None:
        from importlib import import_module

        kind = getattr(import_module(f"trainplan_tui.sheets.{module}"), sheet)
        self.host.open_sheet(kind(self.host, *more))

    def _search(self) -> None:
        from trainplan_tui.acts.listing_edits import take_layout
        from trainplan_tui.sheets.layouts import LayoutsSheet

        self.host.open_sheet(LayoutsSheet(self.host, lambda fields: take_layout(self.host, fields)))

    def _match(self, step: int) -> None:
        """Next row with the match, in this pane; without a search, the next finding."""
        from trainplan_tui.acts.stepping import to_match

        if self.host.cursor.needle:
            to_match(self.host, step)
        else:
            self._next_finding(step)

    def _next_finding(self, step: int = 1) -> None:
        if self.host.cursor.shown_pane.module == "ready":
            self._review("next_undone")
            return
        from trainplan_tui.sheets.remedy import go_to_finding

        if found := self.host.session.shown.counted:
            self._finding = (self._finding + step) % len(found)
            go_to_finding(self.host, self._finding)
        else:
            self.host.message = "no findings"

    def set_by_path(self, path: str) -> None:
        """A field that no pane shows: its path stands in the palette, ready for a value."""
        from trainplan_tui.sheets.palette import PaletteSheet

        self.host.open_sheet(PaletteSheet(self.host, self._tree, f"{path}="))

    def _said(self, what: str, done: str, nothing: str) -> None:
        self.host.message = f"{done}: {what}" if what else nothing

    def _file(self, action: str) -> None:
        from trainplan_tui.acts import filing

        getattr(filing, action)(self.host)

    def quit(self) -> None:
        """End, asking when there are unsaved edits, or a text of the editor that was not taken."""
        if not self.host.session.shown.unsaved and self.host.session.refused is None:
            self.host.leave()
            return
        self._open("quitting", "QuitSheet")
