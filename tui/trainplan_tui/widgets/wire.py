"""What is sent when the screen changes: the fewest bytes that make of the cells a terminal has the cells it should have.

A slow line feels each kilobyte. Cells that stay are jumped over, blanks to the end of a row are erased, and a long colour is
named once for all its cells. It uses what every terminal since the VT100 has, never a repeat or an insertion, and after a
character that terminals may find wide it says the whole address again. It refuses to know rows of the app, and any library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from trainplan_tui.text.colours import Ink

Cell: TypeAlias = tuple[str, Ink]
"""What one cell shows; the right half of a wide character is that character behind a NUL."""
Cells: TypeAlias = tuple[Cell, ...]

PLAIN: Final = Ink()
GAP: Final = 4
"""Cells that stay and are sent all the same, because an address is longer."""
ADDRESS: Final = 7
"""Bytes of an address, about, for choosing between two ways."""
LONG: Final = 8
"""Bytes from which a pen is worth an order of its own: 24-bit colours are longer, the 16 named ones are not."""


class Piece(NamedTuple):
    """Cells of one row to send with one ink, None where all are blank; `erase` blanks the row from `start` on instead."""

    row: int
    start: int
    stop: int
    ink: Ink | None
    erase: bool = False


def difference(before: Sequence[Cells], after: Sequence[Cells]) -> str:
    """Escapes and text that turn one screen into another, row by row or, where that is shorter, one colour after the other."""
    pieces: list[Piece] = []
    for row, (old, new) in enumerate(zip_longest(before, after, fillvalue=())):
        if old is not new and old != new:
            pieces += _shortest(row, old if len(old) == len(new) else ((("", PLAIN),) * len(new)), new)
    by_colour = sorted(pieces, key=_turn(pieces).__getitem__)
    return min(_encoded(pieces, after), _encoded(by_colour, after), key=len)


def _turn(pieces: Iterable[Piece]) -> dict[Piece, int]:
    """Which pass a piece is sent in: the first one with all short pens, then one for each long colour."""
    turns: dict[Ink, int] = {}
    return {
        piece: 0 if piece.ink is None or len(_codes(piece.ink)) <= LONG else turns.setdefault(piece.ink, len(turns) + 1)
        for piece in pieces
    }


def _shortest(row: int, old: Cells, new: Cells) -> list[Piece]:
    """Pieces of one row: as they differ, with the blanks at its end erased, or all of it erased and written anew."""
    changed = [x for x, (was, now) in enumerate(zip(old, new, strict=True)) if was != now]
    end = next((x for x in range(len(new), 0, -1) if not _blank(new[x - 1])), 0)
    ways = [_pieces(row, changed, new)]
    tail = next((x for x in changed if x >= end), None)
    if tail is not None:
        erased = Piece(row, tail, len(new), None, erase=True)
        ways.append([*_pieces(row, [x for x in changed if x < end], new), erased])
        kept = [x for x in range(changed[0], end) if not _blank(new[x])]
        ways.append([Piece(row, changed[0], len(new), None, erase=True), *_pieces(row, kept, new)])
    return min(ways, key=_cost)


def _cost(pieces: Iterable[Piece]) -> int:
    return sum(ADDRESS + (3 if piece.erase else piece.stop - piece.start) for piece in pieces)


def _pieces(row: int, changed: Iterable[int], new: Cells) -> list[Piece]:
    """Runs of the cells that changed, each of one ink; small gaps of the same ink are filled."""
    found: list[Piece] = []
    for x in changed:
        joined = _joined(found[-1], x, new) if found else None
        if joined is None:
            found.append(Piece(row, x, x + 1, None if _blank(new[x]) else new[x][1]))
        else:
            found[-1] = joined
    return found


def _joined(piece: Piece, x: int, new: Cells) -> Piece | None:
    """The piece with the cells up to another one; None where these want another ink or are too many."""
    if x - piece.stop > GAP:
        return None
    ink = piece.ink
    for cell in new[piece.stop : x + 1]:
        if _blank(cell):
            if ink is not None and _visible(ink):
                return None
        elif ink is None and not _visible(cell[1]):
            ink = cell[1]
        elif ink != cell[1]:
            return None
    return Piece(piece.row, piece.start, x + 1, ink)


def _blank(cell: Cell) -> bool:
    """Whether a cell looks the same in every colour."""
    return cell[0] == " " and not _visible(cell[1])


def _visible(ink: Ink) -> bool:
    """Whether a blank shows the ink."""
    return ink.reverse or ink.underline


def _encoded(pieces: Iterable[Piece], after: Sequence[Cells]) -> str:
    """The pieces in their order, with the addresses and pens that they need; the pen is plain before and after."""
    parts: list[str] = []
    pen, place = PLAIN, (-1, -1)
    for piece in pieces:
        parts.append(_stepped(place, piece, after, pen))
        ink = PLAIN if piece.erase or (piece.ink is None and _visible(pen)) else piece.ink or pen
        parts.append(_switched(pen, ink))
        text = "\x1b[K" if piece.erase else "".join(_characters(after[piece.row][piece.start : piece.stop]))
        parts.append(text)
        pen, place = ink, (piece.row, piece.start if piece.erase else piece.stop if text.isascii() else -1)
    parts.append(_switched(pen, PLAIN))
    return "".join(parts)


def _characters(cells: Cells) -> Iterator[str]:
    return (piece for piece, _ in cells if not piece.startswith("\0"))


def _stepped(place: tuple[int, int], piece: Piece, after: Sequence[Cells], pen: Ink) -> str:
    """The cursor to a piece, the shortest way: by its address, or from here by line feeds and to the right, there over blanks.

    The column is -1 where a terminal may have another one than ours, and may even have wrapped: then by the address.
    """
    (row, column), (wanted, stop) = place, (piece.row, piece.start)
    ways = [f"\x1b[{wanted + 1};{stop + 1}H"]
    if column >= 0 and row <= wanted:
        here = row == wanted and column <= stop
        lead, start = ("", column) if here else ("\r" + "\n" * (wanted - row), 0)
        ways.append(lead + _right(stop - start))
        if not _visible(pen) and all(_blank(cell) for cell in after[wanted][start:stop]):
            ways.append(lead + " " * (stop - start))
    return min(ways, key=len)


def _right(cells: int) -> str:
    """The cursor that many cells to the right."""
    return f"\x1b[{cells}C" if cells > 1 else "\x1b[C" if cells else ""


@lru_cache(maxsize=512)
def _switched(pen: Ink, ink: Ink) -> str:
    """From one pen to another: what is new alone where nothing has to end, else a reset first."""
    if pen == ink:
        return ""
    if ink == PLAIN:
        return "\x1b[m"
    ends = (pen.colour and not ink.colour) or any(
        was and not now for was, now in zip(_marks(pen), _marks(ink), strict=True)
    )
    if pen == PLAIN or ends:
        return f"\x1b[{'' if pen == PLAIN else '0;'}{_codes(ink)}m"
    colour = ink.colour if ink.colour != pen.colour else None
    marks = [now and not was for was, now in zip(_marks(pen), _marks(ink), strict=True)]
    return f"\x1b[{_codes(Ink(colour, *marks))}m"


def _marks(ink: Ink) -> tuple[bool, bool, bool]:
    return ink.bold, ink.reverse, ink.underline


@lru_cache(maxsize=512)
def _codes(ink: Ink) -> str:
    """The parameters of SGR, ECMA-48 8.3.117, and of xterm's colours."""
    marks = [code for code, told in zip(("1", "7", "4"), _marks(ink), strict=True) if told]
    return ";".join([*marks, *([_colour(ink.colour)] if ink.colour else [])])


def _colour(colour: str) -> str:
    """`#rrggbb`, `color(n)` of the 256, or a name of the first eight."""
    if colour.startswith("#"):
        return "38;2;" + ";".join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
    if colour.startswith("color("):
        return f"38;5;{int(colour[6:-1])}"
    return str(30 + _NAMES.index(colour))


_NAMES: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
