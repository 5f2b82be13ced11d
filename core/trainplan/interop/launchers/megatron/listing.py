"""The arguments that Megatron prints at the start of its log: `  hidden_size ........ 4096`, behind any prefix.

`_print_args` of Megatron-LM (training/arguments.py) and of Megatron-DeepSpeed write them; names are those of the parsed
arguments, so that what an option left to the program is there with its value. Of several listings the last one holds.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.interop.launchers.options import Option, Token
from trainplan.interop.launchers.places import Page, Place

_LINE: Final = re.compile(r"(?:^|[ \t:\]])([A-Za-z_]\w*) \.{3,} ?([^\r\n]*)", re.MULTILINE)
_BEGIN: Final = re.compile(r"-{3,} (?:updated )?arguments -{3,}")
_PREFIX: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_VOCABULARY: Final = re.compile(r"padded vocab \(size: (\d+)\) with \d+ dummy tokens")
LEAST: Final = 8
"""Lines from which a text is a listing."""


def listed(text: str) -> bool:
    """Whether a text has such a listing."""
    return sum(1 for _, _ in zip(range(LEAST), _LINE.finditer(text), strict=False)) >= LEAST


def options_of_listing(page: Page) -> tuple[tuple[Option, ...], int]:
    """The arguments of the last listing by name, and how many listings the text has."""
    begins = [match.end() for match in _BEGIN.finditer(page.text)] or [0]
    found: dict[str, Option] = {}
    for match in _LINE.finditer(page.text, begins[-1]):
        value = _PREFIX.sub("", match[2]).strip()
        token = Token(value, page.place(match.start(2)))
        found[match[1]] = Option(match[1], match[1], (token,), page.place(match.start(1)))
    padded = _VOCABULARY.search(page.text, begins[-1])
    if padded is not None and found.get("vocab_size", _NONE).values[0].text == "None":
        token = Token(padded[1], page.place(padded.start(1)))
        found["vocab_size"] = Option("vocab_size", "padded vocab, size", (token,), page.place(padded.start()))
    return tuple(found.values()), len(begins)


_NONE: Final = Option("", "", (Token("None", Place("", 1, 1)),), Place("", 1, 1))
