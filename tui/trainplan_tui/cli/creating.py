"""`new`: a plan file from a few answers, with what is left open said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from trainplan.catalogue import names
from trainplan.files.save import SaveError, save
from trainplan.newplan import Answers, new_plan_text
from trainplan.plan.faults import nearest_name
from trainplan.plan.read import Unusable, plan_of_text
from trainplan_tui.cli.running import Options, Refused, say


def run(options: Options) -> int:
    """Write a new file; an existing one is never overwritten."""
    output = Path(options.output)
    wrong = [*_unknown("models", "model", options.model), *_unknown("accelerators", "accelerator", options.accelerator)]
    text = new_plan_text(Answers(output.stem, options.model, options.accelerator, options.nodes, options.tokens))
    wrong += _unreadable(text, str(output))
    if wrong:
        raise Refused(*wrong)
    write_new(output, text)
    say(f"wrote {output}. Next: trainplan-tui {output}")
    return 0


def _unknown(kind: str, word: str, name: str | None) -> list[str]:
    """The sentence on a name that the catalogue does not have; nothing where it has it."""
    if name is None or name in names(kind):
        return []
    nearest = nearest_name(name, names(kind))
    told = f". Nearest: {nearest}" if nearest else f"; trainplan-tui catalog {word}s lists them"
    return [f'no {word} "{name}" in the catalogue{told}']


ASKED: Final = {"cluster.nodes": "--nodes", "data.train_tokens": "--tokens"}
"""Options by the field that they answer."""

NAMED: Final = ("model.preset", "cluster.accelerator")
"""Fields whose names are told by `_unknown`."""


def _unreadable(text: str, file: str) -> list[str]:
    """What is wrong with the plan of the answers, names of the catalogue left out."""
    try:
        plan_of_text(text, file)
    except Unusable as error:
        found = [item for item in error.errors if item.path not in NAMED]
        return [f"{ASKED.get(item.path, item.path)}: {item.message}" for item in found]
    return []


def write_new(output: Path, text: str, otherwise: str = ", or trainplan-tui set to change it") -> None:
    """Write a file that must not exist; `otherwise` ends the sentence where it does. Raises Refused."""
    if os.path.lexists(output):
        raise Refused(f"{output} exists. Another name{otherwise}")
    try:
        save(output, text, expected_sha256=None)
    except SaveError as error:
        raise Refused(str(error)) from None
