"""What a TOML text may ask of a parser, checked before one sees it.

It exists because tomllib needs quadratic time and memory for dotted keys (50,000 parts take a minute), recursion for
nesting, and refuses long numbers without a place (measured: robustness.md, "Parser facts"). It counts tokens only, and
refuses to judge whether the text is TOML.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from trainplan.frozen import frozen

KEY_PARTS = 32
NESTING = 64
DIGITS = 128

_TOKEN = (
    r"(?P<blank>[ \t]++|#[^\n]*+)"
    r'|(?P<text>"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?+'
    r"|'[^'\n]*+'?+)"
    r"|(?P<word>[^\s#\"'.,=\[\]{}]++)"
    r"|(?P<dot>\.)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<other>.|\n)"
)
NUMBER = r"[+-]?[0-9_]+"


@cache
def _token() -> re.Pattern[str]:
    """Compiled when a text is first cut into tokens."""
    return re.compile(_TOKEN, re.DOTALL)


@frozen
class Excess:
    """The first place that asks too much: its offset and a sentence."""

    offset: int
    message: str


def values_of(text: str) -> dict[str, Any] | None:
    """The values of a text that is TOML within the caps; None of any other, for which `syntax` has the words."""
    try:
        return tomllib.loads(text) if _modest(text) or excess(text) is None else None
    except (ValueError, RecursionError):
        return None


def _modest(text: str) -> bool:
    """Whether counts alone show that nothing exceeds: most plans, so that the first screen waits for no tokens."""
    brackets = text.count("[") + text.count("{")
    dots = max(line.count(".") for line in text.split("\n"))
    return brackets <= NESTING and dots < KEY_PARTS and len(max(text.split(), key=len, default="")) <= DIGITS


def excess(text: str) -> Excess | None:
    """The first key with too many parts, nesting that is too deep or number that is too long; linear time."""
    depth = dots = 0
    for token in _token().finditer(text):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind in ("open", "close", "other"):
            dots = 0
        depth = max(depth, 0)
        dots += kind == "dot"
        if message := _message(token, depth, dots):
            return Excess(token.start(), message)
    return None


def _message(token: re.Match[str], depth: int, dots: int) -> str | None:
    if dots >= KEY_PARTS:
        return f"a key has more than {KEY_PARTS} parts"
    if depth > NESTING:
        return f"brackets are nested more than {NESTING} deep"
    if token.lastgroup == "word" and token.end() - token.start() > DIGITS and re.fullmatch(NUMBER, token[0]):
        return f"a number has more than {DIGITS} digits"
    return None


def opened(text: str, end: int) -> tuple[int, ...]:
    """Offsets of the brackets that are open at offset `end`, the innermost last."""
    brackets: list[int] = []
    for token in _until(text, end):
        if token.lastgroup == "open":
            brackets.append(token.start())
        elif token.lastgroup == "close" and brackets:
            brackets.pop()
    return tuple(brackets)


def quote_at(text: str, end: int) -> int | None:
    """Offset of the quote that opens the text which holds the character before offset `end`."""
    last = next((token for token in _until(text, end) if token.end() >= end), None)
    return last.start() if last and last.lastgroup == "text" else None


def _until(text: str, end: int) -> Iterator[re.Match[str]]:
    for token in _token().finditer(text):
        if token.start() >= end:
            return
        yield token
