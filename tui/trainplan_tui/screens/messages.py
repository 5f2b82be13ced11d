"""What an action came to, where the footer has no room for the sentence: over the inspector, or over the end of a sheet.

A module of its own, because most messages fit their row. It refuses to keep a message: the next key takes it away.
"""

from __future__ import annotations

from typing import Final

from trainplan_tui.text.folding import folded
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, cells

OVER_A_SHEET: Final = 2
"""Rows at the end of a sheet that a message may take, as many as an inspector has."""


def is_cut(message: str, width: int) -> bool:
    """Whether a footer of so many columns would cut a message."""
    return cells(message) >= width


def spread(lines: list[Line], message: str, width: int, places: range, glyphs: Glyphs) -> str:
    """Lay a message over rows of the picture, and give what of it is left for the footer: nothing where all of it stands."""
    if not places:
        return message
    pieces = folded(message, width - 2)
    for index, place in enumerate(places):
        canvas = Canvas(width, glyphs)
        canvas.put(2, pieces[index] if index < len(pieces) else "")
        lines[place] = canvas.line()
    return " ".join(pieces[len(places) :])


def end_of(sheet: range, message: str, width: int) -> range:
    """The rows that a message takes over a sheet: no more than it needs, and never the title or the first line."""
    needed = min(len(folded(message, width - 2)), OVER_A_SHEET, max(0, len(sheet) - 2))
    return range(sheet.stop - needed, sheet.stop)
