"""Where a refused sentence has its place: the file of the call that it begins with, with line and column where it says them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trainplan.review.record import record_path

WORDS: Final = ("plan", "other", "files", "logs", "manifests", "output")
"""Where the words of a call that are files stand."""
PLACE: Final = re.compile(r"(?::(\d+))?(?::(\d+))?: ")


def errors(options: argparse.Namespace, sentence: str) -> list[dict[str, object]]:
    """One error for each file that the sentence begins with; where it begins with none, it is the plan's, as of an option."""
    known, told, rest = _spellings(options), list[str](), sentence
    while name := next((one for one in known if rest.startswith((f"{one}:", f"{one}, "))), None):
        told.append(known[name])
        rest = rest.removeprefix(name)
        if rest.startswith(":"):
            break
        rest = rest.removeprefix(", ")
    place = PLACE.match(rest) if told else None
    if place is None:
        return [_error(str(getattr(options, "plan", "") or ""), None, sentence)]
    line, column = (int(number) if number else None for number in place.groups())
    return [_error(file, (line, column or 1) if line else None, rest[place.end() :]) for file in told]


def _error(file: str, place: tuple[int, int] | None, message: str) -> dict[str, object]:
    """Without a place of its own a sentence is of the whole file, which begins at 1, 1; of one that was not read there is none."""
    line, column = place or ((1, 1) if os.path.isfile(file) else (None, None))
    return {"file": file, "line": line, "column": column, "path": "", "message": message, "fix": ""}


def _spellings(options: argparse.Namespace) -> Mapping[str, str]:
    """Files of the call by how sentences write them, the longest first: as given, or from the folder of the plan."""
    found: dict[str, str] = {}
    plan = str(getattr(options, "plan", "") or "")
    for word in WORDS:
        given = getattr(options, word, None)
        for file in filter(None, given if isinstance(given, list) else [given]):
            found[os.path.relpath(file, os.path.dirname(plan) or ".")] = file
            found[os.path.normpath(file)] = file
            found[file] = file
    if plan:
        record = record_path(Path(plan))
        found |= {record.name: str(record)}
    return {name: found[name] for name in sorted(found, key=len, reverse=True)}
