"""`import FILE...`: a Hugging Face config.json as a plan. What the file does not say is left out, and `check` names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainplan.interop.huggingface import Imported, model_of_config
from trainplan.newplan import imported_plan_text
from trainplan.plan.read import plan_of_text
from trainplan.plan.source import SourceError, read_source
from trainplan_tui.cli.creating import write_new
from trainplan_tui.cli.running import Options, Refused, complain, say

LIMIT = 1_000_000


def run(options: Options) -> int:
    """Print or write the plan of a config.json; keys that were not used are named on stderr."""
    if len(options.files) > 1:
        raise Refused("one config.json makes a plan; several files were given")
    path = Path(options.files[0])
    text = _text_of(path)
    imported = _imported(path, text)
    if imported.problems:
        _refuse_other(path, text)
        for problem in imported.problems:
            complain(f"{path}: {problem}")
        return 2
    made = imported_plan_text(path.parent.name if path.stem == "config" and path.parent.name else path.stem, imported)
    plan_of_text(made, str(options.output or path))
    for note in imported.notes:
        complain(f"{path}: {note}")
    if imported.unknown:
        complain(f"{path}: not used: {', '.join(imported.unknown)}")
    if options.output:
        write_new(Path(options.output), made)
        say(f"wrote {options.output}. Next: trainplan-tui check {options.output}")
    else:
        for line in made.splitlines():
            say(line)
    return 0


def _imported(path: Path, text: str) -> Imported:
    config = _json_of(path, text)
    if not isinstance(config, dict):
        raise Refused(f"{path}:1:1: not an object. The config.json of a Hugging Face model")
    try:
        return model_of_config(config)
    except ValueError as error:
        raise Refused(f"{path}: {error}") from None


def _text_of(path: Path) -> str:
    try:
        return read_source(path).text
    except SourceError as error:
        raise Refused(f"{path}:{error.line}:{error.column}: {error.message}") from None


def _refuse_other(path: Path, text: str) -> None:
    """Refuse a file of a kind that is known by its words and not read, by its name."""
    from trainplan.interop.otherfiles import recognised

    told = recognised(text)
    if told:
        raise Refused(f"{path}:1:1: {told}")


def _json_of(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        _refuse_other(path, text)
        raise Refused(
            f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}. The config.json of a Hugging Face model"
        ) from None
    except (RecursionError, ValueError):
        raise Refused(
            f"{path}:1:1: nested too deeply or a number too long. The config.json of a Hugging Face model"
        ) from None
