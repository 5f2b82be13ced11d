"""Where something stands in a file that import reads, so that everything can be said as `file:line:column`."""

from __future__ import annotations

from bisect import bisect_right

from trainplan.frozen import frozen


@frozen
class Place:
    """A place in a file; line and column from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Page:
    """A file's text under its name, with the places of its characters."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self._starts = [0, *(index + 1 for index, one in enumerate(text) if one == "\n")]

    def place(self, offset: int) -> Place:
        """The place of a character, from 0; past the end it is the end's."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return Place(self.file, line, offset - self._starts[line - 1] + 1)
