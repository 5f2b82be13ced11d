"""The lines of a plan's text: where a block with its comments begins and ends, and changes applied by offset.

It exists so that splice can think in blocks. A comment that touches the header below it belongs to that block, unless
it is the head of the file; one that touches the statement above belongs to that one. It refuses to know any value.
"""

import re
from collections.abc import Iterable

from trainplan.frozen import frozen
from trainplan.plan.places import Block, Places, Span, ValuePath

COMMENT_LINE = re.compile(r"\r?\n[ \t]*#[^\n\r]*")
BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")


@frozen
class Change:
    """Characters `span` become `text`."""

    span: Span
    text: str


def changed(text: str, changes: Iterable[Change]) -> str:
    """`text` with all `changes` made; they must not overlap, and at one offset they are written in the given order."""
    pieces: list[str] = []
    position = 0
    for change in sorted(changes, key=lambda change: change.span.start):
        pieces += [text[position : change.span.start], change.text]
        position = change.span.end
    return "".join([*pieces, text[position:]])


def newline(text: str) -> str:
    """The line end that `text` uses first; a line feed when it has none."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def line_start(text: str, position: int) -> int:
    """Offset of the first character of the line with `position`."""
    return text.rfind("\n", 0, position) + 1


def line_end(text: str, position: int) -> int:
    """Offset after the last character of the line with `position`, its line end not included."""
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    return end - 1 if end > position and text[end - 1] == "\r" else end


def indent(text: str, position: int) -> str:
    """The blanks that the line with `position` begins with."""
    line = text[line_start(text, position) : line_end(text, position)]
    return line[: len(line) - len(line.lstrip(" \t"))]


def last_line(text: str) -> int:
    """Offset after the last line that is not blank; 0 when there is none."""
    content = len(text.rstrip(" \t\r\n"))
    return line_end(text, content) if content else 0


def begins_with(path: ValuePath, prefix: ValuePath) -> bool:
    """Whether `path` is `prefix` or lies in it."""
    return path[: len(prefix)] == prefix


def under(places: Places, prefix: ValuePath) -> list[int]:
    """Numbers of the blocks whose header lies in `prefix`, in file order; never the text before the first header."""
    return [i for i, block in enumerate(places.blocks) if i and begins_with(block.path, prefix)]


def block_start(text: str, block: Block) -> int:
    """Offset of the first line of `block`, its comments above it included."""
    start = top = line_start(text, block.header.start)
    while top and text[line_start(text, top - 1) : top].lstrip(" \t").startswith("#"):
        top = line_start(text, top - 1)
    return top or start


def block_end(text: str, block: Block) -> int:
    """Offset after the last line of `block`, comments that touch it included, without its line end."""
    last = block.members[-1].span.end if block.members else block.header.end
    end = line_end(text, last)
    position = end
    while comment := COMMENT_LINE.match(text, position):
        position = comment.end()
    touches_header = re.compile(r"\r?\n[ \t]*\[").match(text, position)
    return end if touches_header else position


def runs(text: str, places: Places, prefix: ValuePath) -> list[Span]:
    """The pieces of text that hold the blocks in `prefix`; blocks that follow each other are one piece."""
    numbers = under(places, prefix)
    firsts = [i for i in numbers if i - 1 not in numbers]
    lasts = [i for i in numbers if i + 1 not in numbers]
    return [
        Span(block_start(text, places.blocks[first]), block_end(text, places.blocks[last]))
        for first, last in zip(firsts, lasts, strict=True)
    ]


def lines_removed(text: str, span: Span) -> Change:
    """The change that removes the whole lines of `span`."""
    end = line_end(text, span.end)
    after = re.compile(r"\r?\n").match(text, end)
    return Change(Span(line_start(text, span.start), after.end() if after else end), "")


def run_removed(text: str, run: Span) -> Change:
    """The change that removes a run of blocks with the blank lines that only it needed."""
    span = lines_removed(text, run).span
    blank = BLANK_LINES.match(text, span.end)
    end = blank.end() if blank and (not span.start or after_blank(text, span.start)) else span.end
    return Change(Span(span.start if end < len(text) else _blank_top(text, span.start), end), "")


def after_blank(text: str, start: int) -> bool:
    """Whether the line that ends just before offset `start` is blank."""
    return start > 0 and not text[line_start(text, start - 1) : start].strip(" \t\r\n")


def _blank_top(text: str, start: int) -> int:
    while after_blank(text, start):
        start = line_start(text, start - 1)
    return start
