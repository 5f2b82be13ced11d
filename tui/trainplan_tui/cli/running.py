"""From parsed words to the command that they name, and from a refusal to exit status 2."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from trainplan.estimation import Estimate, estimate
from trainplan.plan.read import Opened, PlanError, Unusable, open_plan
from trainplan_tui.text.printable import printable

Options = argparse.Namespace

_HOMES = {
    "show": "showing",
    "set": "setting",
    "explain": "explaining",
    "check": "checking",
    "diff": "differing",
    "search": "searching",
    "forecast": "forecasting",
    "review": "reviewing",
    "report": "reporting",
    "export": "exporting",
    "new": "creating",
    "import": "importing",
    "sources": "sourcing",
    "calibrate": "calibrating",
    "catalog": "cataloguing",
    "schema": "describing",
    "completion": "completing",
}


class Refused(Exception):
    """Arguments or a file that cannot be used, each in one sentence."""


def run(options: Options) -> int:
    """Run the command of parsed words; its exit status."""
    command: Callable[[Options], int] = import_module(f"trainplan_tui.cli.{_HOMES[options.command]}").run
    try:
        return command(options)
    except Unusable as error:
        refuse(error.errors)
        if getattr(options, "json", False):
            write_json({"format": 1, "errors": [_error(item) for item in error.errors]})
        return 2
    except Refused as error:
        for sentence in error.args:
            complain(str(sentence))
        if getattr(options, "json", False):
            from trainplan_tui.cli.placed import errors

            write_json({"format": 1, "errors": [item for one in error.args for item in errors(options, str(one))]})
        return 2


def refuse(errors: tuple[PlanError, ...]) -> None:
    """Every error on stderr, one a line."""
    for error in errors:
        complain(str(error))


def complain(sentence: str) -> None:
    """One sanitised line on stderr."""
    sys.stderr.write(printable(sentence) + "\n")


def say(line: str = "") -> None:
    """One sanitised line on stdout."""
    put(printable(line) + "\n")


def put(text: str) -> None:
    """A text on stdout; where nobody reads on, as behind `head`, the rest goes nowhere and the command keeps its exit status."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def room(indent: int = 0) -> int | None:
    """Columns of the terminal that lines are printed on; None where they go elsewhere, and then nothing is cut."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns - indent


def write_json(data: object) -> None:
    """One JSON object on stdout, escapes in place of everything that is not ASCII."""
    import json

    put(json.dumps(data, indent=1) + "\n")


def _error(error: PlanError) -> dict[str, object]:
    return {
        "file": error.file,
        "line": error.line or None,
        "column": error.column or None,
        "path": error.path,
        "message": error.message,
        "fix": error.fix,
    }


def opened(path: str, assignments: list[str]) -> Opened:
    """The plan of a file, with the fields of `--set` changed. Raises Unusable."""
    plan = open_plan(Path(path))
    if not assignments:
        return plan
    from trainplan.plan.edit import set_all

    edited = set_all(plan.source.text, plan.plan, assignments, path)
    return Opened(edited.plan, plan.source)


def estimated(options: Options) -> tuple[Opened, Estimate]:
    """The plan of the words and its estimate, dated today; how many items are signed is said by the record beside it."""
    from trainplan.files.beside import recounted_beside

    plan = opened(options.plan, options.set)
    return plan, recounted_beside(Path(options.plan), estimate(plan.plan, dt.date.today()), dt.datetime.now(dt.UTC))


def name_of(plan: Opened) -> str:
    """The plan's name, or its file's."""
    return plan.plan.name or Path(plan.source.path).stem
