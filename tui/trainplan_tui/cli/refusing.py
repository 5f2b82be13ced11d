"""How arguments are refused: one sentence with what was found, what would be right, and the nearest, as of a plan's fields.

argparse's own errors list what exists and leave the slip to the reader. It refuses to guess: nothing is run on a near word.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import Final, NoReturn

from trainplan.plan.faults import nearest_name
from trainplan_tui.cli.running import complain

OTHERWISE: Final = {
    "compare": "diff",
    "layouts": "search",
    "layout": "search",
    "validate": "check",
    "lint": "check",
    "edit": "set",
    "init": "new",
    "create": "new",
    "print": "show",
    "launch": "export",
    "convert": "import",
    "measure": "calibrate",
    "readiness": "review",
    "why": "explain",
}
"""Words of other programs for commands of this one."""

PLAIN: Final = (
    (r"^the following arguments are required: (.*)", r"\1 missing"),
    (r"^argument ([^\s/]+)(/\S+)?: ", r"\1 "),
    (r"ignored explicit argument (.*)", r"takes no value, and \1 is one"),
    (r"expected one argument", "has no value after it"),
    (r"missing$", "is missing"),
)
"""Sentences of argparse, and how they read here."""


def choice(found: str, known: Iterable[object]) -> str:
    """What is wrong with a word that is no choice."""
    names = [str(one) for one in known]
    near = nearest_name(found, names)
    return f'is "{found}". One of {", ".join(names)}' + (f"; nearest: {near}" if near else "")


def left_over(parser: argparse.ArgumentParser, word: str) -> str:
    """What is wrong with a word that a command does not know."""
    if not word.startswith("-"):
        return f'"{word}" is one word too many'
    options = [one for action in parser._actions for one in action.option_strings if one != "-h"]
    near = nearest_name(word.partition("=")[0], options)
    return f"no option {word}. " + (f"Nearest: {near}" if near else f"One of {', '.join(options)}")


def command(parser: argparse.ArgumentParser, name: str | None) -> argparse.ArgumentParser:
    """The parser of one command, or that of all."""
    inner = [one.choices for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return inner[0][name] if inner and name in inner[0] else parser


def end(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    """End with status 2 and one sentence; where a word is missing, with how the command is written too."""
    said = message[:500]
    for pattern, plain in PLAIN:
        said = re.sub(pattern, plain, said)
    complain(f"{parser.prog}: {said}")
    if said.endswith("is missing"):
        complain(" ".join(parser.format_usage().split()))
    raise SystemExit(2)


def other(word: str, commands: Iterable[str]) -> str:
    """What is wrong with a first word that is no plan and no command; empty where it is like none."""
    if word in ("sign", "signoff", "waive", "attest"):
        return f'no command "{word}": a person signs in the app, trainplan-tui PLAN, pane 0; review prints what is open'
    near = OTHERWISE.get(word) or nearest_name(word, commands)
    return f'no plan file and no command "{word}". Nearest: {near}' if near else ""
