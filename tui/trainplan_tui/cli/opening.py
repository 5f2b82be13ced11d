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


def misread(plan: str | None, more: list[str]) -> bool:
    """Whether the first word was meant as a command, or there are two plans; what would be right is said."""
    if plan is None or "." in plan or os.sep in plan or os.path.exists(plan):
        two = any(not word.startswith("-") for word in more)
        if two:
            _complain("one plan opens at a time; trainplan-tui diff PLAN PLAN compares two")
        return two
    from trainplan_tui.cli.arguments import COMMANDS
    from trainplan_tui.cli.refusing import other

    said = other(plan, COMMANDS)
    if not more and not said:
        return False
    _complain(said or f'no plan file and no command "{plan}". One of {", ".join(COMMANDS)}')
    return True


def _complain(sentence: str) -> None:
    from trainplan_tui.cli.running import complain

    complain(sentence)


def _terminal() -> bool:
    """All three streams are terminals, and the terminal can place its cursor."""
    streams = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    return streams and os.environ.get("TERM", "dumb") != "dumb"


def _without_terminal(options: argparse.Namespace) -> int | None:
    """None, for the tables of the plan; what to do where no plan is."""
    if options.plan:
        return None
    _complain("no terminal: trainplan-tui show PLAN prints the tables, trainplan-tui --help the rest")
    return 2
