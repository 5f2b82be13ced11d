"""The report from inside the app: a path is asked for, the report is made on a thread, and written where nothing is yet.

It tells the plan as it is shown, unsaved edits named among what is not in the file. Files beside the plan are read anew, because
they may have changed, and on a thread, because a dead mount answers late or never.
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

from trainplan.files.save import SaveError, save
from trainplan.files.signoffs import RecordError
from trainplan.files.standing import standing_of
from trainplan.forecast.finish import forecast
from trainplan.plan.leaves import field_differences
from trainplan.plan.remarks import standing_remarks
from trainplan.report.facts import facts_of
from trainplan.report.markdown import Markdown
from trainplan.report.page import report
from trainplan.report.quantities import as_csv
from trainplan_tui.background import Background
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.session import Session
from trainplan_tui.text.printable import cells, printable


def ask(host: Host) -> None:
    """Ask for a path; a name that ends in .csv asks for the quantities."""
    path = host.session.path
    begin = str(path.with_name(f"{path.stem}-report.md"))
    note = "a file that does not exist yet; .csv writes the quantities; tab completes"
    host.open_sheet(PathSheet(host, "report", "write a report", note, begin, lambda file: _begin(host, file)))


def _begin(host: Host, file: Path) -> bool:
    """Begin to make the report, where it can be written."""
    if os.path.lexists(file):
        host.message = f"{file.name} exists. Another name"
        return False
    session, now = host.session, dt.datetime.now(dt.UTC)
    making: Background[str | RecordError] = Background(
        lambda text: _take(host, file, text), lambda error: _failed(host, error)
    )
    making.attach()
    making.ask(file, lambda: _text(session, file, now))
    host.message = f"{file.name} is being made"
    return True


def _text(session: Session, file: Path, now: dt.datetime) -> str | RecordError:
    """What the file is to hold, or why it cannot be told."""
    shown, step, saved = session.shown, session.history.now, session.saved.plan
    if file.suffix.lower() == ".csv":
        return as_csv(shown.estimate, forecast(shown.estimate), printable)
    try:
        standing = standing_of(session.path, shown.estimate, now)
    except RecordError as error:
        return error
    changed = (
        tuple(f"{path}={after}" for path, _, after in field_differences(saved, shown.plan)) if shown.unsaved else ()
    )
    remarks = standing_remarks(step.text, saved, step.plan)
    facts = facts_of(shown.name, str(session.path), shown.estimate, standing, remarks, changed)
    return report(facts, Markdown(printable, cells))


def _failed(host: Host, error: Exception) -> None:
    """Say that nothing was made, and why: a fault of the program is no reason to lose the session."""
    host.message = f"no report: a fault of this program, {type(error).__name__}: {error}"
    host.paint()


def _take(host: Host, file: Path, text: str | RecordError) -> None:
    """Write what was made; the footer says what happened."""
    if isinstance(text, RecordError):
        host.message = f"no report. {text}"
    else:
        try:
            done = save(file, text, expected_sha256=None)
            host.message = "; ".join((f"report written to {done.path.name}", *done.notes))
        except SaveError as error:
            host.message = str(error)
    host.paint()
