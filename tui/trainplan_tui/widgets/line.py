"""The line editor as a value: text, a cursor, and whether all of it is selected.

Each key gives a new value, so that keys that came in one packet act in order and nothing waits for a widget.
It refuses line breaks and everything that does not draw itself: what is seen is all there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trainplan.frozen import frozen
from trainplan_tui.text.printable import cells, is_wide, printable


class View(NamedTuple):
    """What shows of a line in a box: its text, and the column of the cursor from 0."""

    text: str
    column: int


@frozen
class LineEdit:
    """A line being edited. The cursor stands before character `cursor`, from 0 to the length of the text."""

    text: str = ""
    cursor: int = 0
    all_selected: bool = False

    @classmethod
    def opened(cls, text: str) -> LineEdit:
        """The line as an edit starts: all selected, so that typing replaces and an arrow keeps it."""
        shown = drawable(text)
        return cls(shown, len(shown), bool(shown))

    def insert(self, text: str) -> LineEdit:
        """Put text at the cursor, in place of everything when all is selected."""
        added = drawable(text)
        if not added:
            return self
        if self.all_selected:
            return LineEdit(added, len(added))
        return self._with(self.text[: self.cursor] + added, self.text[self.cursor :])

    def paste(self, text: str) -> LineEdit:
        """Insert the first line that has anything in it, its outer blanks left out."""
        return self.insert(next((line.strip() for line in text.splitlines() if drawable(line).strip()), ""))

    def backspace(self) -> LineEdit:
        """Delete the character before the cursor, or all when all is selected."""
        return self._cut(max(0, self.cursor - 1), self.cursor)

    def delete(self) -> LineEdit:
        """Delete the character under the cursor, or all when all is selected."""
        return self._cut(self.cursor, self.cursor + 1)

    def delete_word(self) -> LineEdit:
        """Delete blanks before the cursor and the word before them."""
        head = self.text[: self.cursor].rstrip()
        return self._cut(len(head.rpartition(" ")[0]) + (" " in head), self.cursor)

    def clear(self) -> LineEdit:
        """Delete from the start to the cursor, or all when all is selected."""
        return self._cut(0, self.cursor)

    def clear_rest(self) -> LineEdit:
        """Delete from the cursor to the end, or all when all is selected."""
        return self._cut(self.cursor, len(self.text))

    def left(self) -> LineEdit:
        """One character to the left; to the start when all is selected."""
        return LineEdit(self.text, 0 if self.all_selected else max(0, self.cursor - 1))

    def right(self) -> LineEdit:
        """One character to the right; to the end when all is selected."""
        return LineEdit(self.text, len(self.text) if self.all_selected else min(len(self.text), self.cursor + 1))

    def home(self) -> LineEdit:
        """To the start."""
        return LineEdit(self.text, 0)

    def end(self) -> LineEdit:
        """To the end."""
        return LineEdit(self.text, len(self.text))

    def take(self, key: str, character: str | None = None) -> LineEdit | None:
        """The line after a key, or None when the key is not one of an editor's (enter, esc, tab, up, down, ...)."""
        if key in _KEYS:
            return _KEYS[key](self)
        return self.insert(character) if character and drawable(character) else None

    def view(self, width: int) -> View:
        """The part of the line that shows in `width` cells, one of them for the cursor, padded with blanks."""
        before = cells(self.text[: self.cursor])
        start, column = 0, before
        while column > width - 1:
            column -= 2 if is_wide(self.text[start]) else 1
            start += 1
        shown = _fitting(self.text[start:], width)
        return View(shown + " " * (width - cells(shown)), column)

    def _with(self, head: str, tail: str) -> LineEdit:
        return LineEdit(head + tail, len(head))

    def _cut(self, start: int, stop: int) -> LineEdit:
        if self.all_selected:
            return LineEdit()
        return self._with(self.text[:start], self.text[stop:])


def drawable(text: str) -> str:
    """The characters of a text that draw themselves; the others are left out, no mark in their place."""
    return "".join(shown for shown in map(printable, text) if len(shown) == 1)


def _fitting(text: str, width: int) -> str:
    while cells(text) > width:
        text = text[:-1] if len(text) <= width else text[:width]
    return text


SHELL = frozenset({"ctrl+u", "ctrl+w", "ctrl+a", "ctrl+e", "ctrl+k"})
"""Keys that are the line's in a list that is typed into, as in a shell; the others move in the list."""

_KEYS: dict[str, Callable[[LineEdit], LineEdit]] = {
    "backspace": LineEdit.backspace,
    "ctrl+h": LineEdit.backspace,
    "delete": LineEdit.delete,
    "ctrl+d": LineEdit.delete,
    "left": LineEdit.left,
    "right": LineEdit.right,
    "home": LineEdit.home,
    "ctrl+a": LineEdit.home,
    "end": LineEdit.end,
    "ctrl+e": LineEdit.end,
    "ctrl+u": LineEdit.clear,
    "ctrl+k": LineEdit.clear_rest,
    "ctrl+w": LineEdit.delete_word,
}
