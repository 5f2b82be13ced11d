"""From a plan file to a running app, and from its end to an exit status."""

from __future__ import annotations

import datetime as dt
import gc
import os
import sys
from pathlib import Path

from trainplan.files.folders import recovery_folder, state_folder
from trainplan.plan.read import Opened, Unusable
from trainplan_tui.app import PlanApp
from trainplan_tui.keyfile import key_file, keymap
from trainplan_tui.sheets.sheet import Sheet
from trainplan_tui.state.session import Session
from trainplan_tui.text.colours import Palette
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.printable import printable
from trainplan_tui.widgets.crash import sentence, written
from trainplan_tui.widgets.dispatch import STATUS


def run_app(palette: Palette, glyphs: Glyphs, plan: Opened | None, assignments: list[str], today: dt.date) -> int:
    """Run the app until it ends; its exit status."""
    session = Session(plan, today, pending=True) if plan is not None else None
    try:
        if session is not None and assignments:
            from trainplan.plan.edit import set_all

            session.commit(
                set_all(session.saved_text, session.history.now.plan, assignments, str(session.path)), "--set"
            )
    except Unusable as error:
        for item in error.errors:
            sys.stderr.write(printable(str(item)) + "\n")
        return 2
    keys = keymap(key_file(os.environ, Path.home()))
    app = PlanApp(palette, glyphs, keys, session, lambda app: first_sheet(app, today))
    if session is not None:
        app.call_after_refresh(app.call_after_refresh, session.keep)  # after the second picture, which has the findings
    app.call_later(_collect_again)
    status = app.run(mouse=False)
    if app.fault is not None:
        app.interrupted(0)
        sys.stderr.write(printable(sentence(app.fault, written(app.fault, state_folder(os.environ)))) + "\n")
        return STATUS
    return status or 0


YOUNG = 20_000
"""New objects after which garbage is looked for. An estimate makes some thousands, which go by their counts of uses; a look every
700, as Python has it, takes a fifth of an estimate's time."""


def _collect_again() -> None:
    """Collect garbage from now on, but never again look through what start-up made: it stays, and a look takes 50 ms."""
    gc.freeze()
    gc.set_threshold(YOUNG)
    gc.enable()


def first_sheet(app: PlanApp, today: dt.date) -> Sheet | None:
    """What is asked before the plan shows: the start screen without a plan, recovery after a lost session."""
    if app.opened is None:
        from trainplan_tui.sheets.start import StartSheet

        return StartSheet(app, today)
    if not has_journals():
        return None
    from trainplan_tui.sheets.recovering import recovery_sheet

    return recovery_sheet(app)


def has_journals() -> bool:
    """Whether any edits are kept at all."""
    try:
        return next(recovery_folder(os.environ).iterdir(), None) is not None
    except OSError:
        return False
