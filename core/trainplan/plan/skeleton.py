"""The comments of a new plan that stand for what nobody has given yet: how they are written, and where they give way.

A line such as `# sampler =    # needed. ...` is no person's remark but a place kept open: the field is written into it. A person's
comment is none: a place kept open has no value and says needed or optional, as new plans write it.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.plan.literals import key_text
from trainplan.plan.places import Block, Places, Span, ValuePath

COLUMN: Final = 39
"""Column, from 0, at which a comment begins behind a value."""

SOURCES: Final = (
    "# passes over the data need its sources: one block for each, weights sum to 1",
    "# [[data.sources]]",
    '# name = "web"',
    '# unique_tokens = "13.5T"',
    "# weight = 1.0",
)
"""The place of the sources, which the first of them takes."""

OF_SOURCES: Final[ValuePath] = ("data", "sources")
_OPEN: Final = r"(?m)^([ \t]*)#[ \t]*{key}[ \t]*=[ \t]*#[ \t]*(?:needed|optional)\b[^\r\n]*"


def commented(line: str, sentence: str) -> str:
    """A line of a plan that is a comment, and what it says."""
    return f"# {line}".ljust(COLUMN) + f" # {sentence}"


def open_place(text: str, places: Places, block: Block, key: str) -> tuple[Span, str] | None:
    """The line of a block that is kept open for a key, and its indent; None where there is none, or it stands in a value."""
    if "#" not in text:
        return None
    number = places.blocks.index(block) + 1
    end = places.blocks[number].header.start if number < len(places.blocks) else len(text)
    for line in re.compile(_OPEN.format(key=re.escape(key_text(key)))).finditer(text, block.header.end, end):
        if not any(one.span.start <= line.start() < one.span.end for one in block.members):
            return Span(*line.span()), line[1]
    return None


def without_open_sources(text: str) -> str:
    """A text that has sources, without the place that was kept open for them."""
    lines = r"\r?\n".join(re.escape(line) for line in SOURCES)
    return re.sub(rf"(?:(?<=\n)\r?\n)?^{lines}[ \t]*(?:\r?\n|\Z)", "", text, count=1, flags=re.MULTILINE)
