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
    imported = _imported(path)
    if imported.problems:
        for problem in imported.problems:
            complain(f"{path}: {problem}")
        return 2
    text = imported_plan_text(path.parent.name if path.stem == "config" and path.parent.name else path.stem, imported)
    plan_of_text(text, str(options.output or path))
    for note in imported.notes:
        complain(f"{path}: {note}")
    if imported.unknown:
        complain(f"{path}: not used: {', '.join(imported.unknown)}")
    if options.output:
        write_new(Path(options.output), text)
        say(f"wrote {options.output}. Next: trainplan-tui check {options.output}")
    else:
        for line in text.splitlines():
            say(line)
    return 0


def _imported(path: Path) -> Imported:
    config = _json_of(path)
    if not isinstance(config, dict):
        raise Refused(f"{path}:1:1: not an object. The config.json of a Hugging Face model")
    try:
        return model_of_config(config)
    except ValueError as error:
        raise Refused(f"{path}: {error}") from None


def _json_of(path: Path) -> Any:
    try:
        source = read_source(path)
    except SourceError as error:
        raise Refused(f"{path}:{error.line}:{error.column}: {error.message}") from None
    try:
        return json.loads(source.text)
    except json.JSONDecodeError as error:
        raise Refused(
            f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}. The config.json of a Hugging Face model"
        ) from None
    except (RecursionError, ValueError):
        raise Refused(
            f"{path}:1:1: nested too deeply or a number too long. The config.json of a Hugging Face model"
        ) from None
