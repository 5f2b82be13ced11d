"""Arguments of Megatron as lines `--option: value`, the form of its own tests' configurations. It is no reader of YAML.

NVIDIA/Megatron-LM d98e8a6, tests/functional_tests: MODEL_ARGS of model_config.yaml. true is the option alone, false and null are
its absence; a line of any other form among them is refused.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.interop.launchers.options import Option, Token
from trainplan.interop.launchers.places import Page, Place

_LINE: Final = re.compile(r"^([ \t]*)(--[A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_COMMENT: Final = re.compile(r"[ \t]+#.*$|^#.*$")
_QUOTED: Final = re.compile(r"'([^']*)'|\"([^\"\\]*)\"")
_FOREIGN: Final = re.compile(r"[|>&*!%@`{\[]")
LEAST: Final = 3


class LineError(ValueError):
    """A value that is more than one word or text, with its place."""

    def __init__(self, place: Place, words: str) -> None:
        super().__init__(
            f"{place}: {words}: import reads lines of `--option: value`, no other YAML. A value on the line is right"
        )


def in_lines(text: str) -> bool:
    """Whether a text has such lines."""
    return sum(1 for _, _ in zip(range(LEAST), _LINE.finditer(text), strict=False)) == LEAST


def options_of_lines(page: Page) -> tuple[Option, ...]:
    """The options of a page; raises LineError for a value that is a block, a list or a mapping."""
    found: list[Option] = []
    for match in _LINE.finditer(page.text):
        place, text = page.place(match.start(2)), _COMMENT.sub("", match[3]).strip()
        if text.lower() in ("false", "null", "~", "no", "off"):
            continue
        if _FOREIGN.match(text) and not re.fullmatch(r"\[[\d,*+\[\]() ]*", text):
            raise LineError(place, f"{match[2]}: {text[:40]}")
        quoted = _QUOTED.fullmatch(text)
        value = (quoted[1] or quoted[2] or "") if quoted else text
        flag = text.lower() in ("true", "yes", "on", "")
        values = () if flag else (_token(value, page.place(match.start(3))),)
        found.append(Option(match[2].lstrip("-").replace("-", "_"), match[2], values, place))
    return tuple(found)


def _token(value: str, place: Place) -> Token:
    """A value; one with a variable of the shell is not known."""
    variable = re.search(r"\$\{?\w+\}?", value)
    return Token(value, place, unknown=f"{variable[0]} is not set in the file" if variable else "")
