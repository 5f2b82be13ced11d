"""The first row: what a plan is worth, in one line that keeps its most needed words at every width.

Words come in a short form (under 100 columns) and a long one. What is too long is dropped in one fixed order; the
mark of an unsaved edit, the room with its word, the date, errors and warnings never are.
It refuses to compute: every word is handed over as text.
"""

from __future__ import annotations

from typing import NamedTuple

from trainplan.frozen import frozen
from trainplan_tui.text.glyphs import UNICODE, Glyphs
from trainplan_tui.text.printable import cells, printable
from trainplan_tui.text.spans import Canvas, Line, Role

DROPPED: tuple[str, ...] = ("signed moved", "cost moved", "date moved", "signed word", "p50 word", "cost", "signed")
"""What goes first to last when the row is too long; then letters of the name, down to six."""
LEAST_NAME = 6
LEAST_WIDTH = 60
"""Columns below which there is one screen in words: whether it fits, when it ends, and what is wrong."""


class Told(NamedTuple):
    """One fact in a short and a long wording. Empty means that there is nothing to say."""

    short: str = ""
    long: str = ""


NOTHING = Told()


@frozen
class StripParts:
    """The words of the strip. `problem` (`no date: utilization missing`) stands in place of date and cost."""

    name: str
    unsaved: bool = False
    edits: str = ""  # "1 edit"
    room: Told = NOTHING  # "16.6GiB", "16.6 GiB"
    over: bool = False
    untold: str = ""  # "memory: see G1", in place of the room
    share: str = ""  # "79.0 %"
    middle: bool = True  # date and cost are medians of a forecast
    date: Told = NOTHING  # "31 Dec", "31 Dec 2026"
    date_moved: Told = NOTHING  # "+1.2d", "+1.2 d"
    cost: Told = NOTHING  # "$1.48M", "$1.479M"
    cost_moved: Told = NOTHING  # "+75k", "+$75k"
    problem: str = ""
    errors: int = 0
    warnings: int = 0
    signed: str = ""  # "5/10"
    signed_moved: str = ""  # "-2"
    pilot: str = ""  # "3/7"
    pending: bool = False  # errors and warnings are not counted yet: their place and what is behind it stay blank
    unsure: bool = False  # text being typed is not valid: figures are the last valid ones


class _Word(NamedTuple):
    text: str
    role: Role = "text"
    key: str = ""


def strip(parts: StripParts, width: int, glyphs: Glyphs = UNICODE) -> Line:
    """The strip in `width` cells."""
    dropped = set(DROPPED if width < LEAST_WIDTH else DROPPED[:5] if width < 80 else ())
    groups = _groups(parts, width)
    for key in (*DROPPED, ""):
        if _length(parts, groups, dropped, width, len(printable(parts.name))) <= width or not key:
            break
        dropped.add(key)
    letters = len(printable(parts.name))
    while letters > LEAST_NAME and _length(parts, groups, dropped, width, letters) > width:
        letters -= 1
    return _drawn(parts, _kept(groups, dropped), width, letters, glyphs)


def _groups(parts: StripParts, width: int) -> list[list[_Word]]:
    wide = width >= 140
    counted = [
        *_counts(parts, width),
        [_Word("signed" if parts.signed else "", key="signed word"), *_signed(parts)],
        [_Word(f"pilot {parts.pilot}")] if wide and parts.pilot else [],
    ]
    groups = [
        [_Word(parts.edits)] if wide else [],
        _room(parts, width),
        [_Word(parts.problem, "warn")] if parts.problem else _date(parts, width),
        [] if parts.problem else _cost(parts, width),
        *(_blank(counted) if parts.pending else counted),
        [_Word("?", "warn")] if parts.unsure else [],
    ]
    return [[word for word in group if word.text] for group in groups]


def _blank(groups: list[list[_Word]]) -> list[list[_Word]]:
    """Words of the same width that say nothing."""
    return [[word._replace(text=" " * len(word.text)) for word in group] for group in groups]


def _room(parts: StripParts, width: int) -> list[_Word]:
    if not parts.room.short:
        return [_Word(parts.untold, "warn")] if parts.untold else []
    role: Role = "error" if parts.over else "text"
    amount = parts.room.long if width >= 100 else parts.room.short
    text = f"{amount} {'OVER' if parts.over else 'free'}"
    if width < 140:
        return [_Word(text, role)]
    share = f" ({parts.share})" if parts.share else ""
    return [_Word(f"{'' if parts.over else 'fits, '}{text}{share}", role)]


def _date(parts: StripParts, width: int) -> list[_Word]:
    return [
        _Word("P50" if parts.date.short and parts.middle else "", key="p50 word"),
        _Word(_told(parts.date, width, 100)),
        _Word(_told(parts.date_moved, width, 140), "moved", "date moved"),
    ]


def _cost(parts: StripParts, width: int) -> list[_Word]:
    word = "P50 cost " if parts.middle else "cost "
    prefix = word if width >= 140 and parts.cost.short else ""
    return [
        _Word(prefix + _told(parts.cost, width, 140), key="cost"),
        _Word(_told(parts.cost_moved, width, 140), "moved", "cost moved"),
    ]


def _counts(parts: StripParts, width: int) -> list[list[_Word]]:
    errors: Role = "error" if parts.errors else "text"
    warnings: Role = "warn" if parts.warnings else "text"
    if width < 100:
        return [[_Word(f"{parts.errors}E", errors), _Word(f"{parts.warnings}W", warnings)]]
    gap = " " if width >= 140 else ""
    return [
        [_Word(_counted(parts.errors, "error") + gap, errors), _Word(_counted(parts.warnings, "warning"), warnings)]
    ]


def _signed(parts: StripParts) -> list[_Word]:
    return [_Word(parts.signed, key="signed"), _Word(parts.signed_moved, "moved", "signed moved")]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _told(told: Told, width: int, long_from: int) -> str:
    return (told.long or told.short) if width >= long_from else told.short


def _kept(groups: list[list[_Word]], dropped: set[str]) -> list[list[_Word]]:
    """Groups without the dropped words. With a sum goes its movement: a change of nothing says nothing."""
    gone = dropped | {f"{key} moved" for key in dropped} | {"signed word" for key in dropped if key == "signed"}
    kept = [[word for word in group if word.key not in gone] for group in groups]
    return [group for group in kept if group]


def _gaps(width: int) -> tuple[int, int]:
    """Blanks after the name, and between groups."""
    return (1, 2) if LEAST_WIDTH <= width < 80 else (2, 2) if width < 140 else (2, 4)


def _length(parts: StripParts, groups: list[list[_Word]], dropped: set[str], width: int, letters: int) -> int:
    kept = _kept(groups, dropped)
    words = sum(cells(printable(word.text)) + 1 for group in kept for word in group) - len(kept)
    after_name, between = _gaps(width)
    return 1 + cells(printable(parts.name)[:letters]) + words + (after_name + between * (len(kept) - 1) if kept else 0)


def _drawn(parts: StripParts, groups: list[list[_Word]], width: int, letters: int, glyphs: Glyphs) -> Line:
    canvas = Canvas(width, glyphs)
    canvas.put(1, "*" if parts.unsaved else " ", "moved")
    column = canvas.put(2, printable(parts.name)[:letters], bold=True)
    after_name, between = _gaps(width)
    gaps = [after_name] + [between] * len(groups)
    for gap, group in zip(gaps, groups, strict=False):
        column += gap
        for word in group:
            column = canvas.put(column, word.text, word.role) + 1
        column -= 1
    return canvas.line()
