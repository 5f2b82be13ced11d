"""Plans that begin here: opened from a file, copied from an example, imported from other programs' files, written by the questions.

Every way ends in `begin`, so that journal, recent plans and the offer of lost edits are the same for all of them.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable
from pathlib import Path

from trainplan.files.save import SaveError, save
from trainplan.plan.read import PlanError, Unusable, open_plan
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


def begin(host: Host, path: Path, today: dt.date) -> tuple[PlanError, ...]:
    """Open a plan in the app, and offer what was lost of it; its errors where it cannot be used."""
    try:
        session = Session(open_plan(path), today)
    except Unusable as error:
        return error.errors
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
    host.message = str(errors[0]) if errors else f"wrote {path}"
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


def ask_config(host: Host, today: dt.date) -> None:
    """Ask for a file of another program, then where the plan of it goes."""

    def read(path: Path) -> bool:
        try:
            stem, text, left = plan_of_file(path)
        except ValueError as error:
            host.message = str(error)
            return False
        ask_where(host, f"the plan of {path.name}{left}", stem, lambda _: text, today)
        return True

    note = "config.json, Megatron script or log, DeepSpeed, torchtitan; tab completes"
    host.open_sheet(PathSheet(host, "import", "import a plan", note, "", read))


def plan_of_file(path: Path) -> tuple[str, str, str]:
    """The name, the plan's text and what was not read of another program's file. Raises ValueError with a sentence."""
    from trainplan.interop.launchers.kinds import kind_of
    from trainplan.interop.launchers.places import Page
    from trainplan.interop.launchers.texts import text_of

    try:
        text = text_of(path)
    except SourceError as error:
        raise ValueError(f"{path.name}: {error.message}") from None
    if kind_of(Page(path.name, text)) in ("", "model"):
        return _of_config(path, text)
    return _of_launch(path, text)


def _of_launch(path: Path, text: str) -> tuple[str, str, str]:
    """What a launch file says; of several things that are wrong in it, the first is told."""
    from trainplan.interop.launchers.reading import ImportRefused, plan_of_files

    try:
        made = plan_of_files([(path.name, text)])
    except ImportRefused as error:
        first, *more = str(error).splitlines()
        raise ValueError(first + (f" (and {len(more)} more)" if more else "")) from None
    left = f"; not known: {', '.join(made.unknown)}" if made.unknown else ""
    told = len(made.notes) + len(made.findings)
    counted = f"{told} note{'' if told == 1 else 's'}: `trainplan-tui import` says them"
    return made.name, made.text, f"{left}; {counted}" if told else left


def _of_config(path: Path, text: str) -> tuple[str, str, str]:
    from trainplan.interop.huggingface.config import model_of_config
    from trainplan.interop.otherfiles import recognised
    from trainplan.newplan import imported_plan_text

    try:
        config = json.loads(text)
    except (RecursionError, ValueError):
        told = recognised(text) or "is not JSON. The config.json of a Hugging Face model"
        raise ValueError(f"{path.name}{': ' if recognised(text) else ' '}{told}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{path.name} is not an object. The config.json of a Hugging Face model")
    try:
        imported = model_of_config(config)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    folder = os.path.basename(os.path.dirname(os.path.realpath(path)))
    stem = folder if path.stem == "config" and folder else path.stem
    left = f"; not used: {', '.join(imported.unknown)}" if imported.unknown else ""
    return stem, imported_plan_text(stem, imported), left
