"""`trainplan-tui [PLAN]`: what has to hold before the app may draw, then the app."""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import os
import sys


def open_app(options: argparse.Namespace) -> int | None:
    """Open a plan in the app, or the start screen; None without a terminal, where the tables are printed instead."""
    if not _terminal():
        return _without_terminal(options)
    gc.disable()  # before the imports: what start-up makes stays, and looking through it takes a twentieth of the time
    from trainplan_tui.cli.running import opened, refuse
    from trainplan_tui.text.colours import prepare_environment
    from trainplan_tui.text.glyphs import glyphs_for

    palette = prepare_environment(os.environ, options.theme)
    from trainplan.plan.read import Unusable

    try:
        plan = opened(options.plan, []) if options.plan else None
    except Unusable as error:
        refuse(error.errors)
        return 2
    from trainplan_tui.starting import run_app

    return run_app(palette, glyphs_for(os.environ, ascii_only=options.ascii), plan, options.set, dt.date.today())


def _terminal() -> bool:
    """All three streams are terminals, and the terminal can place its cursor."""
    streams = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    return streams and os.environ.get("TERM", "dumb") != "dumb"


def _without_terminal(options: argparse.Namespace) -> int | None:
    """None, for the tables of the plan; what to do where no plan is."""
    if options.plan:
        return None
    from trainplan_tui.cli.running import complain

    complain("no terminal: trainplan-tui show PLAN prints the tables, trainplan-tui --help the rest")
    return 2
