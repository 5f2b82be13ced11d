"""GitHub-flavoured Markdown out of texts that nobody vouches for: names, descriptions, paths, comments.

A text comes out as itself: what would be markup is escaped, a pipe stays in its cell, and nothing is HTML. Tables are laid out so
that they read in a pager too. Rules: GitHub Flavored Markdown 0.29, sections 4.10 (tables), 6.1 (escapes), 6.3 (code).
It refuses to know plans; what a terminal may be sent, and how wide that is, is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

WIDEST: Final = 52
"""Cells up to which a column is laid out; a longer text sticks out of its column, and the others stay narrow."""

LEAST: Final = 3
"""Cells of a column at least: those of its rule."""

_ALWAYS: Final = frozenset("\\`|*[~$")
_LETTERS: Final = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_BEGINS: Final = re.compile(r"(?:#{1,6}|[-+])(?=\s|$)|>|[=-]+\s*$")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")


class Code(str):
    """A word to be read letter by letter: a field's path, a formula's name."""

    __slots__ = ()


Inline: TypeAlias = "str | Code | tuple[str | Code, ...]"
"""Text of one line: a text, a code, or several of them in a row."""


def escaped(text: str) -> str:
    """A text of one line with everything that would be markup escaped."""
    found: list[str] = []
    for place, letter in enumerate(text):
        around = text[place - 1 : place], text[place + 1 : place + 2]
        inside = letter == "_" and all(one.isalnum() for one in around)
        found.append(f"\\{letter}" if letter in _ALWAYS or (letter == "_" and not inside) else letter)
    return _LETTERS.sub(r"\\\g<0>", "".join(found))


def begun(line: str) -> str:
    """An escaped text that begins a block: no heading, list, quotation or underline of a heading."""
    if _BEGINS.match(line):
        return f"\\{line}"
    return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line


@dataclass(frozen=True, slots=True)
class Markdown:
    """Writes lines. `clean` makes of any text one that only draws, on one line; `width` says how many cells that takes."""

    clean: Callable[[str], str]
    width: Callable[[str], int]

    def inline(self, told: Inline) -> str:
        """A text, a code, or several in a row, as Markdown."""
        pieces = told if isinstance(told, tuple) else (told,)
        return "".join(self._code(one) if isinstance(one, Code) else escaped(self.clean(one)) for one in pieces)

    def _code(self, word: Code) -> str:
        """In backticks; as escaped text where the word itself would end them, or a table would."""
        text = self.clean(word)
        return f"`{text}`" if text.strip() == text != "" and not set(text) & set("`|\\") else escaped(text)

    def heading(self, level: int, told: Inline) -> list[str]:
        """A heading with a blank line behind it."""
        text = re.sub(r"(#+)$", r"\\\1", self.inline(told).strip())
        return [f"{'#' * level} {begun(text)}", ""]

    def paragraph(self, told: Inline) -> list[str]:
        """A paragraph with a blank line behind it; nothing for an empty text."""
        text = self.inline(told).strip()
        return [begun(text), ""] if text else []

    def bullets(self, told: Sequence[Inline | list[Inline]]) -> list[str]:
        """A list with a blank line behind it. An entry that is a list begins with its first text; the others stand below it."""
        lines: list[str] = []
        for one in told:
            first, *below = one if isinstance(one, list) else [one]
            lines.append(f"- {begun(self.inline(first).strip())}")
            lines += [f"  - {begun(self.inline(inner).strip())}" for inner in below]
        return [*lines, ""] if lines else []

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[Inline]], right: Collection[str] = ()) -> list[str]:
        """A table with a blank line behind it; columns whose head is in `right` end at one edge. Nothing without rows."""
        if not rows:
            return []
        texts = [[self.inline(cell).strip() for cell in row] for row in (heads, *rows)]
        ends = [head in right for head in heads]
        widths = [self._column([row[place] for row in texts]) for place in range(len(heads))]
        widths[-1] = widths[-1] if ends[-1] else LEAST  # blanks before the last edge say nothing
        rules = ["-" * (wide - 1) + ":" if end else "-" * wide for wide, end in zip(widths, ends, strict=True)]
        drawn = [self._row(row, widths, ends) for row in texts]
        return [drawn[0], f"| {' | '.join(rules)} |", *drawn[1:], ""]

    def _column(self, texts: Sequence[str]) -> int:
        """Cells of a column: its longest text, but for those that stick out."""
        return max([LEAST, *(wide for text in texts if (wide := self.width(text)) <= WIDEST)])

    def _row(self, texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
        cells = [self._cell(*one) for one in zip(texts, widths, right, strict=True)]
        return f"| {' | '.join(cells)} |"

    def _cell(self, text: str, wide: int, right: bool) -> str:
        blank = " " * max(0, wide - self.width(text))
        return f"{blank}{text}" if right else f"{text}{blank}"
