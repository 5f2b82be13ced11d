"""`import FILE...`: other programs' files as a plan. What the files do not say is left out, and `check` names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainplan.plan.source import SourceError, placed
from trainplan_tui.cli.creating import write_new
from trainplan_tui.cli.running import Options, Refused, complain, say
from trainplan_tui.imported import sentences

if TYPE_CHECKING:
    from trainplan.interop.huggingface.config import Imported
    from trainplan.interop.launchers.reading import Made


def run(options: Options) -> int:
    """Print or write the plan of files; everything of them that is not in it is named on stderr."""
    texts = [(file, _text_of(Path(file))) for file in options.files]
    if len(texts) > 1 or _launches(*texts[0]):
        return _launched(options, texts)
    return _model(options, Path(texts[0][0]), texts[0][1])


def _launches(file: str, text: str) -> bool:
    from trainplan.interop.launchers.kinds import kind_of
    from trainplan.interop.launchers.places import Page

    return kind_of(Page(file, text)) not in ("", "model")


def _launched(options: Options, texts: list[tuple[str, str]]) -> int:
    """The plan of launch files, alone or with a config.json."""
    from trainplan.interop.launchers.reading import ImportRefused, plan_of_files

    try:
        made = plan_of_files(texts)
    except ImportRefused as error:
        raise Refused(*str(error).splitlines()) from None
    _told(made)
    return _written(options, made.text)


def _told(made: Made) -> None:
    for sentence in sentences(made):
        complain(sentence)


def _written(options: Options, text: str) -> int:
    if options.output and options.output != "-":
        write_new(Path(options.output), text)
        say(f"wrote {options.output}. Next: trainplan-tui check {options.output}")
    else:
        for line in text.splitlines():
            say(line)
    return 0


def _model(options: Options, path: Path, text: str) -> int:
    """The plan of a config.json; keys that were not used are named on stderr."""
    from trainplan.newplan import imported_plan_text
    from trainplan.plan.read import plan_of_text

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
    return _written(options, made)


def _imported(path: Path, text: str) -> Imported:
    from trainplan.interop.huggingface.config import model_of_config

    config = _json_of(path, text)
    if not isinstance(config, dict):
        raise Refused(f"{path}:1:1: not an object. The config.json of a Hugging Face model")
    try:
        return model_of_config(config)
    except ValueError as error:
        raise Refused(f"{path}: {error}") from None


def _text_of(path: Path) -> str:
    from trainplan.interop.launchers.texts import text_of

    try:
        return text_of(path)
    except SourceError as error:
        raise Refused(f"{placed(path, error.line, error.column)}: {error.message}") from None


def _refuse_other(path: Path, text: str) -> None:
    """Refuse a file of a kind that is known by its words and not read, by its name."""
    from trainplan.interop.otherfiles import recognised

    told = recognised(text)
    if told:
        raise Refused(f"{path}:1:1: {told}")


def _json_of(path: Path, text: str) -> Any:
    from trainplan.interop.otherfiles import READS

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        _refuse_other(path, text)
        raise Refused(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}. Import reads {READS}") from None
    except (RecursionError, ValueError):
        raise Refused(
            f"{path}:1:1: nested too deeply or a number too long. The config.json of a Hugging Face model"
        ) from None
