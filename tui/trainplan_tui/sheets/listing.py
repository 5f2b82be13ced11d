"""A list with a cursor, as most sheets are: moving, scrolling, and the line under the cursor reversed."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, Role
from trainplan_tui.widgets.frame import rule, scrolled

MOVES = {"down": 1, "up": -1, "pgdn": 8, "pgup": -8, "ctrl+d": 8, "ctrl+u": -8, "home": -(10**6), "end": 10**6}
LETTERS = {"j": 1, "k": -1, "g": -(10**6), "G": 10**6}


class Listing:
    """Rows under a title rule, one of them under the cursor. Subclasses say what the rows are and what keys do."""

    page = False
    typing = False
    asks = False
    lets_go = True
    word = ""

    def __init__(self, glyphs: Glyphs) -> None:
        self.glyphs = glyphs
        self.at = 0
        self.first = 0
        self.drawn = 0
        """Rows of the list as it was drawn last, at the width of the window."""

    def title(self) -> str:
        """The title on the rule."""
        return ""

    def head(self, width: int) -> Sequence[Line]:
        """Lines between the title and the list."""
        return ()

    def tail(self, width: int) -> Sequence[Line]:
        """Lines below the list."""
        return ()

    def items(self, width: int) -> Sequence[Line]:
        """The list."""
        return ()

    def wanted(self, width: int) -> int:
        """The title, head, list and tail."""
        return 1 + len(self.head(width)) + len(self.items(width)) + len(self.tail(width))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """The title rule, then as much as fits; the row under the cursor is always in it."""
        head, items, tail = list(self.head(width)), list(self.items(width)), list(self.tail(width))
        room, self.drawn = max(1, height - 1 - len(head) - len(tail)), len(items)
        self.at = min(max(self.at, 0), max(0, len(items) - 1))
        self.first = scrolled(self.first, room, self.at, len(items))
        shown = items[self.first : self.first + room]
        marked = [under_cursor(line, width) if self.first + i == self.at else line for i, line in enumerate(shown)]
        padding: list[Line] = [()] * (height - 1 - len(head) - len(marked) - len(tail))
        return [rule(self.title(), width, self.position(len(items)), self.glyphs), *head, *marked, *padding, *tail][
            :height
        ]

    def position(self, count: int) -> str:
        """`3 of 12` where the list is longer than what shows."""
        return f"{self.at + 1} of {count}" if count else ""

    def cursor(self) -> tuple[int, int]:
        """The row under the cursor."""
        return 1 + len(self.head(80)) + self.at - self.first, 0

    def move(self, key: str, count: int) -> bool:
        """Move by a key; whether it was one that moves."""
        step = MOVES.get(key) or (0 if self.typing else LETTERS.get(key, 0))
        self.at = min(max(self.at + step, 0), max(0, count - 1))
        return step != 0

    def paste(self, text: str) -> None:
        """Pasted text means nothing in a list."""


def under_cursor(line: Line, width: int) -> Line:
    """A line with the cursor on it: `>` in column 1 and the rest reversed."""
    canvas = Canvas(width)
    canvas.spans(1, line)
    canvas.put(1, ">")
    canvas.cursor(3)
    return canvas.line()


def text_line(text: str, width: int, glyphs: Glyphs, column: int = 4, role: Role = "text") -> Line:
    """A sentence from a column."""
    canvas = Canvas(width, glyphs)
    canvas.put(column, text, role)
    return canvas.line()


def reasons(refusal: str, width: int) -> list[str]:
    """Why something typed was refused, as lines under it; none where it was not."""
    from trainplan_tui.text.folding import folded

    return folded(refusal, width - 5) if refusal else []
