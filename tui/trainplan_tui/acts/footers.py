"""The keys that work for the row under the cursor, for the footer: most used first, `? help` last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainplan_tui.keys import ELSEWHERE
from trainplan_tui.panes.names import FIRST, is_item
from trainplan_tui.panes.rows import BodyRow, last_cell
from trainplan_tui.sheets.sheet import Host, Sheet
from trainplan_tui.state.shown import Shown
from trainplan_tui.widgets.frame import Entry

EDITING: Final = (
    Entry("enter", "take it"),
    Entry("esc", "put back"),
    Entry("tab", "next field"),
    Entry("ctrl+u", "clear"),
)
OF_PANE: Final = {
    "pilot": (
        ("row.explain", "explain"),
        ("pilot.log", "log"),
        ("ready.waive", "waive"),
        ("pilot.command", "launch text"),
    ),
    "ready": (
        ("row.explain", "explain"),
        ("ready.sign", "sign"),
        ("ready.waive", "waive"),
        ("row.add", "attach"),
        ("pane.view", "view"),
    ),
    "mesh": (("mesh.search", "find layouts"),),
    "compute": (("pilot.log", "log"),),
    "memory": (("pilot.log", "log"),),
}
"""Keys of one pane, after `enter`."""
FIRST_WORDS: Final = {
    "data.sources": "a source",
    "data.stages": "a stage",
    "batch.schedule": "an entry",
    "evaluation.tasks": "a task",
}
"""What `enter` adds on the row of an empty list."""
RARER: Final = {"memory": (("pilot.command", "launch text"),)}
"""Keys of one pane that go first where there is no room."""


def entries(host: Host, rows: Sequence[BodyRow], *, editing: bool) -> list[Entry]:
    """What the footer shows."""
    if editing:
        return list(EDITING)
    row = rows[host.cursor.position(rows)] if rows else None
    first, module = _enter(row, host.session.shown), host.cursor.shown_pane.module
    shown: list[tuple[str, str]] = [("row.enter", first)] if row and row.id and first else []
    shown += [one for one in OF_PANE.get(module, ()) if module in ("pilot", "ready") and not _refused(one[0], row)]
    shown += [("row.explain", "explain")] if first in ("edit", "edit field") and module != "pilot" else []
    shown += [("field.up", "step")] if row and row.boxes and module != "pilot" else []
    cells = [("cell.next", "columns" if row.edges else "cell")] if row and last_cell(row) else []
    shown = [*shown[:1], *cells, *shown[1:]] if row and row.edges else [*shown, *cells]
    if host.cursor.shown_pane.views(host.session.shown) > 1 and module != "ready":
        shown += [("pane.view", "view")]
    if row and row.id.startswith(tuple(FIRST)) and not (row.id in FIRST and first):
        shown += [("row.add", "add")]
    shown += [one for one in OF_PANE.get(module, ()) if module not in ("pilot", "ready")]
    return [Entry(key, word) for id_, word in (*shown, *_everywhere(host)) if (key := _key(host, id_))]


def shown(host: Host, sheet: Sheet | None, rows: Sequence[BodyRow], *, editing: bool) -> list[Entry]:
    """What the footer shows: of the top sheet, else of the row; nothing while findings of the pane are still to come."""
    if sheet is not None:
        return of_sheet(host, sheet)
    return [] if host.session.shown.pending else entries(host, rows, editing=editing)


def is_helped(sheet: Sheet) -> bool:
    """Whether the key of help tells the keys of a sheet: not where letters are text, and not where only answers work."""
    return not sheet.typing and not sheet.asks


def handed(host: Host, sheet: Sheet, name: str, character: str | None) -> None:
    """A key for a sheet: help is the same for all of them, and so is what leads elsewhere; everything else is its own.

    Where letters are text a control key leads elsewhere all the same. What something would be lost by says so.
    """
    action = host.keymap.action(name, ())
    if action in ELSEWHERE and not sheet.asks and (not sheet.typing or name.startswith("ctrl+")):
        if host.lets_go():
            host.close_sheets()
            host.do(action)
        else:
            host.message = f"{name} leads elsewhere: esc first"
    elif is_helped(sheet) and action == "help":
        from trainplan_tui.sheets.help import SheetHelp

        host.open_sheet(SheetHelp(host, sheet))
    else:
        sheet.take(name, character)


def of_sheet(host: Host, sheet: Sheet) -> list[Entry]:
    """What the footer shows over a sheet. Help stands before the way back, so that it goes first where there is no room."""
    found, key = list(sheet.footer()), host.keymap.shown("help")
    return [*found[:-1], Entry(key, "help"), *found[-1:]] if is_helped(sheet) and key else found


def _refused(id_: str, row: BodyRow | None) -> bool:
    """Whether a key would only refuse on this row: a blocking item has no waiver."""
    from trainplan.review.items import BY_NAME

    item = BY_NAME.get(row.id.split(".")[1]) if row and is_item(row.id) else None
    return id_ == "ready.waive" and item is not None and item.blocking


def _enter(row: BodyRow | None, shown: Shown) -> str:
    """What `enter` does on a row; empty where it would only say why it does nothing."""
    if row and row.boxes:
        return "edit"
    if row and is_item(row.id):
        return "walk"
    if row and row.id in FIRST:
        return f"add {FIRST_WORDS[row.id]}"
    if row and row.id.startswith("claim "):
        return "take as evidence"
    if row and row.id.startswith("walk "):
        return _walked(row.id, shown)
    return "go to field" if row and row.kind == "finding" else "explain"


def _walked(id_: str, shown: Shown) -> str:
    from trainplan_tui.panes.mesh import proposal

    if id_ != "walk proposal":
        return "edit field"
    return "take proposal" if proposal(shown.plan) else ""


def _everywhere(host: Host) -> list[tuple[str, str]]:
    shown = [("find", "find")] + ([("finding.next", "finding")] if host.session.shown.counted else [])
    if host.session.shown.unsaved:
        shown += [("file.diff", "diff"), ("edit.undo", "undo"), ("file.save", "save")]
    elif host.session.history.at:
        shown += [("edit.undo", "undo")]
    return [
        *shown,
        *RARER.get(host.cursor.shown_pane.module, ()),
        ("palette", "palette"),
        ("file.compare", "compare"),
        ("file.editor", "editor"),
        ("quit", "quit"),
        ("help", "help"),
    ]


def _key(host: Host, id_: str) -> str:
    key = host.keymap.shown(id_)
    other = {"field.up": "field.down", "cell.next": "cell.previous"}.get(id_, "")
    both = (
        (key, host.keymap.shown(other)) if id_ == "field.up" else (host.keymap.shown(other), key) if other else (key,)
    )
    return " ".join(filter(None, both))
