"""Files: saving, saving under another name, the editor, copies of rows and panes."""

from __future__ import annotations

import os
from pathlib import Path

from trainplan.files.save import ChangedOnDisk, Saved, SaveError
from trainplan.plan.edit import resolve, written_place
from trainplan.plan.read import UnknownPath, Unusable
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.session import Refused


def save(host: Host) -> None:
    """Write the file, unless it changed on disk: then a sheet asks what to keep."""
    session = host.session
    if not session.shown.unsaved:
        host.message = "nothing to save"
        return
    lines, before = changed_lines(session.saved_text, session.history.now.text), session.saved.plan
    stale = _stale_comments(session.saved_text, session.history.now.text)
    try:
        saved = session.save()
    except ChangedOnDisk:
        from trainplan_tui.sheets.disk import disk_sheet

        host.open_sheet(disk_sheet(host))
    except SaveError as error:
        host.message = f"{error}. Edits are kept; `:` save as writes elsewhere"
        if not _takes_files(session.path):
            host.message = f"{error}. Edits are kept; this writes elsewhere"
            save_as(host)
    else:
        host.message = _said(saved, lines)
        if session.shown.plan.pilot != before.pilot:
            from trainplan_tui.acts.recording import pilot_saved

            told = pilot_saved(host, before)
            host.message += f"; {told}" if told else ""
        host.message += stale


def _said(saved: Saved, lines: int) -> str:
    head = f"saved {saved.path.name}, {lines} line{'' if lines == 1 else 's'} changed"
    sure = "" if saved.durable else "; durability not confirmed"
    return "; ".join([head + sure, *saved.notes])


def _stale_comments(before: str, after: str) -> str:
    """Which values were changed and not the comment beside them; nothing where there is none."""
    from trainplan.plan.remarks import unrevised

    found = [path.rsplit(".", 1)[-1] for path, _ in unrevised(before, after)]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"; old comment beside {found[0]}{more}" if found else ""


def changed_lines(before: str, after: str) -> int:
    """Lines that differ between two texts."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def save_as(host: Host, then_leave: bool = False) -> None:
    """Ask for another name and write there; an existing file is never overwritten."""

    def write(path: Path) -> bool:
        left = _left_behind(host, path)
        try:
            saved = host.session.save(path)
        except SaveError as error:
            host.message = str(error)
            return False
        host.message = f"saved as {saved.path.name}{left}"
        if then_leave:
            host.leave()
        return True

    begin = _another(host.session.path)
    host.open_sheet(
        PathSheet(
            host, "save as", "save under another name", "a file that does not exist yet; tab completes", begin, write
        )
    )


def _left_behind(host: Host, path: Path) -> str:
    """How many signatures and waivers stay with the old plan, whose record does not come along; nothing where there is none."""
    session = host.session
    claimed = sum(one.status in ("signed", "waived") for one in session.shown.plan.readiness)
    record = session.dossier.record if session.dossier else None
    kept = sum(one.last is not None and one.last.kind in ("sign", "waive") for one in session.shown.reviewed.now.items)
    count = max(claimed, kept if record else 0)
    if not count or path == session.path:
        return ""
    return f", unsigned: {numbered(count, 'sign-off')} stay{'s' if count == 1 else ''} with {session.path.name}"


def _takes_files(path: Path) -> bool:
    """Whether a file can be made beside a path: on a read-only file system nobody may."""
    return os.access(path.parent, os.W_OK)


def _another(path: Path) -> str:
    """A name that a plan can be written under: beside it, else at home."""
    if _takes_files(path):
        return str(path.with_stem(f"{path.stem}-2"))
    return os.path.join(os.path.expanduser("~"), path.name)


def save_as_and_leave(host: Host) -> None:
    """Ask for another name, write there, end."""
    save_as(host, then_leave=True)


def report(host: Host) -> None:
    """Ask for a file and write the report of the plan there."""
    from trainplan_tui.acts.reporting import ask

    ask(host)


def edit_text(host: Host, line: int = 1) -> None:
    """Open the plan's text in the editor and take the result back as one edit; a text that was refused is opened again."""
    from trainplan_tui.outside import editor_copy, told

    session = host.session
    now, begin = session.history.now.text, session.history.now.text
    if session.refused is not None and session.refused.before == now:
        begin, line = session.refused.text, session.refused.line
    text = host.run_editor(begin, line)
    if text is None:
        return
    session.refused = None
    if text == now:
        host.message = "nothing changed in the editor"
        return
    try:
        moved = session.take_text(text, "the file in the editor")
    except Unusable as error:
        first, others = error.errors[0], len(error.errors) - 1
        session.refused = Refused(now, text, first.line, told(editor_copy()))
        more = f", and {others} more" if others else ""
        host.message = f"not taken{more}; e opens your text again: line {first.line}: {first.message}"
        return
    host.message = f"taken from the editor: {numbered(moved, 'number')} moved"


def open_field(host: Host, path: str) -> bool:
    """The editor at the line where a field is written; false where the file does not say it."""
    now = host.session.history.now
    try:
        line = written_place(now.text, resolve(path, now.plan))
    except UnknownPath:
        line = None
    if line:
        edit_text(host, line)
    return bool(line)


def open_row(host: Host) -> None:
    """The editor at the line of the field under the cursor; for a figure, its source."""
    box = host.box()
    if box is not None:
        if not open_field(host, box.path):
            edit_text(host)
        return
    from trainplan_tui.panes.claims import source_of

    row = host.row()
    value = host.session.shown.estimate.quantities.get(row.id) if row is not None else None
    source = value.origin.source if isinstance(value, Figure) else source_of(row.id, host.session.shown) if row else ""
    host.message = f"source: {source.removeprefix('https://')}" if source else "no source under the cursor"


def copy_row(host: Host) -> None:
    """The row's line as text."""
    row = host.row()
    if row is not None:
        host.copy("".join(span.text for span in row.line).strip() + "\n", row.id or "row")


def plain_pane(host: Host) -> None:
    """The pane as plain text into a file."""
    from trainplan_tui.outside import told, written
    from trainplan_tui.plain import plain_table

    pane = host.cursor.shown_pane
    if pane.module in ("pilot", "ready"):
        from trainplan_tui.acts.reviewing import summary

        summary(host)
        return
    shown = host.session.shown
    text = "\n".join(plain_table(pane.table, shown.estimate, shown.saved, shown.claimed)) + "\n"
    path = written(text, f"{host.session.path.stem}-{pane.table.budget}", ".txt")
    host.message = f"written to {told(path)}" if path else "the state folder cannot be written"
