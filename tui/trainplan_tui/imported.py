"""Other programs' files as the text of a plan, with everything that a person has to know of how it came about.

The command line and the app say it from here, so that neither keeps back what the other tells.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.frozen import frozen
from trainplan.plan.source import SourceError

if TYPE_CHECKING:
    from trainplan.interop.launchers.reading import Made


class NotImported(ValueError):
    """Files that make no plan: every reason in a sentence."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@frozen
class Imported:
    """A plan of files: the name that its file gets, its text, and what is to be said beside it."""

    name: str
    text: str
    told: tuple[str, ...]


def sentences(made: Made) -> list[str]:
    """What is to be said of a plan of launch files: notes, options by what became of them, findings."""
    listed = {
        "not known here, and not read": made.unknown,
        "read, and no field of a plan says it": made.fieldless,
        "read, and no value of the plan stands on it alone": made.idle,
        "known, and no plan rests on it": made.silent,
    }
    return [*made.notes, *(f"{what}: {', '.join(names)}" for what, names in listed.items() if names), *made.findings]


def file_text(path: Path) -> str:
    """The text of a file. Raises NotImported where it cannot be read."""
    from trainplan.interop.launchers.texts import text_of

    try:
        return text_of(path)
    except SourceError as error:
        raise NotImported([f"{path.name}: {error.message}"]) from None


def imported(paths: Sequence[Path]) -> Imported:
    """The plan that files make together: one config.json, or launch files with or without one."""
    from trainplan.interop.launchers.kinds import kind_of
    from trainplan.interop.launchers.places import Page

    texts = [(str(path), file_text(path)) for path in paths]
    if len(texts) > 1 or kind_of(Page(*texts[0])) not in ("", "model"):
        return _of_launch(texts)
    return _of_config(paths[0], texts[0][1])


def _of_launch(texts: Sequence[tuple[str, str]]) -> Imported:
    from trainplan.interop.launchers.reading import ImportRefused, plan_of_files

    try:
        made = plan_of_files(texts)
    except ImportRefused as error:
        raise NotImported(str(error).splitlines()) from None
    return Imported(made.name, made.text, tuple(sentences(made)))


def _of_config(path: Path, text: str) -> Imported:
    from trainplan.interop.huggingface.config import model_of_config
    from trainplan.interop.otherfiles import recognised
    from trainplan.newplan import imported_plan_text

    other = recognised(text)
    try:
        config = json.loads(text)
    except (RecursionError, ValueError):
        told = f": {other}" if other else " is not JSON. The config.json of a Hugging Face model"
        raise NotImported([f"{path.name}{told}"]) from None
    if not isinstance(config, dict):
        raise NotImported([f"{path.name} is not an object. The config.json of a Hugging Face model"])
    try:
        model = model_of_config(config)
    except ValueError as error:
        raise NotImported([f"{path.name}: {error}"]) from None
    if model.problems:
        raise NotImported([f"{path.name}: {problem}" for problem in ((other,) if other else model.problems)])
    folder = os.path.basename(os.path.dirname(os.path.realpath(path)))
    name = folder if path.stem == "config" and folder else path.stem
    unused = [f"not used: {', '.join(model.unknown)}"] if model.unknown else []
    return Imported(name, imported_plan_text(name, model), (*model.notes, *unused))
