"""Plans that begin here: opened from a file, copied from an example, imported, written by the questions.

Every way ends in `begin`, so that journal, recent plans and the offer of lost edits are the same for all of them.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path

from trainplan.files.save import SaveError, save
from trainplan.plan.read import Opened, Unusable, plan_of_text
from trainplan.plan.source import SourceError, read_source
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.session import Session


def examples_folder() -> Path:
    """The example plans: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "examples"
    return inside if os.path.isdir(inside) else package.parents[1] / "plans"


def examples() -> tuple[Path, ...]:
    """The example plans by name; empty where there are none."""
    try:
        return tuple(sorted(path for path in examples_folder().iterdir() if path.suffix == ".toml"))
    except OSError:
        return ()


class NotOpenedError(Exception):
    """Why a plan cannot be used, each reason in a sentence."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def opened(path: Path) -> Opened:
    """A plan file, read and validated. Raises NotOpenedError; what is wrong with the file as a whole has no line and column."""
    try:
        source = read_source(path)
        return Opened(plan_of_text(source.text, str(path)), source)
    except SourceError as error:
        raise NotOpenedError((f"{path}: {error.message}{f'. {error.fix}' if error.fix else ''}",)) from None
    except Unusable as error:
        raise NotOpenedError(tuple(map(str, error.errors))) from None


def begin(host: Host, path: Path, today: dt.date) -> tuple[str, ...]:
    """Open a plan in the app, and offer what was lost of it; why not where it cannot be used."""
    try:
        session = Session(opened(path), today)
    except NotOpenedError as error:
        return error.reasons
    host.open_session(session)
    session.keep()
    from trainplan_tui.sheets.recovering import recovery_sheet

    sheet = recovery_sheet(host)
    if sheet is not None:
        host.open_sheet(sheet)
    return ()


def free_name(stem: str) -> str:
    """A file name in this folder that is not taken."""
    path = Path(f"{stem}.toml")
    number = 2
    while os.path.lexists(path):
        path = Path(f"{stem}-{number}.toml")
        number += 1
    return str(path)


def write_and_begin(host: Host, path: Path, text: str, today: dt.date) -> bool:
    """Write a new plan file and open it; an existing one is never overwritten, and the footer says so."""
    try:
        save(path, text, expected_sha256=None)
    except SaveError as error:
        host.message = str(error)
        return False
    errors = begin(host, path, today)
    host.message = errors[0] if errors else f"wrote {path}"
    return not errors


def ask_where(host: Host, title: str, stem: str, text: Callable[[str], str], today: dt.date) -> None:
    """Ask for the new file's path, with a free name in the line, then write `text` of its stem there and open it."""

    def write(path: Path) -> bool:
        return write_and_begin(host, path, text(path.stem), today)

    note = "a file that does not exist yet; tab completes, esc writes nothing"
    host.open_sheet(PathSheet(host, "new file", title, note, free_name(stem), write))


def copy_example(host: Host, example: Path, today: dt.date) -> None:
    """Ask where a copy of an example goes."""
    try:
        text = read_source(example).text
    except SourceError as error:
        host.message = str(error)
        return
    ask_where(host, f"a copy of the example {example.stem}", example.stem, lambda _: text, today)
