"""What is sent makes of the old screen the new one, on a terminal that knows addresses, pens and one erasure."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan_tui.text.colours import Ink
from trainplan_tui.text.printable import is_wide
from trainplan_tui.widgets.wire import PLAIN, Cell, Cells, difference

DIM, BOLD, FOCUS, NAMED = Ink("#8a8f98"), Ink(bold=True), Ink(reverse=True), Ink("red", bold=True)
INKS = (PLAIN, DIM, Ink("#ffb454"), Ink("#ffb454", underline=True), BOLD, FOCUS, NAMED, Ink("color(245)"))
TOKENS = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|[^\x1b]", re.DOTALL)


class Glass:
    """A terminal: cells with the codes they were drawn with, blanks without what they do not show."""

    def __init__(self, rows: list[Cells]) -> None:
        self.rows = [[(piece, _codes(ink, piece)) for piece, ink in row] for row in rows]
        self.y = self.x = 0
        self.pen: frozenset[str] = frozenset()

    def take(self, text: str) -> None:
        """Obey. ValueError for what a VT100 does not know."""
        for token in TOKENS.finditer(text):
            numbers, final = token.groups()
            if token[0] in "\r\n":
                self.x, self.y = (0, self.y) if token[0] == "\r" else (self.x, self.y + 1)
            elif final is None:
                self._put(token[0])
            elif final == "H":
                self.y, self.x = (int(number) - 1 for number in numbers.split(";"))
            elif final == "C":
                self.x += int(numbers or 1)
            elif final == "K" and numbers == "":
                self.rows[self.y][self.x :] = [(" ", frozenset())] * (len(self.rows[self.y]) - self.x)
            elif final == "m":
                self._switch(numbers)
            else:
                raise ValueError(token[0])

    def _put(self, character: str) -> None:
        for piece in (character, f"\0{character}") if is_wide(character) else (character,):
            self.rows[self.y][self.x] = (piece, _seen(self.pen, piece))
            self.x += 1

    def _switch(self, numbers: str) -> None:
        for code in re.findall(r"38;2;\d+;\d+;\d+|38;5;\d+|\d+", numbers) or ["0"]:
            colour = code.startswith("3")
            kept = {one for one in self.pen if not (colour and one.startswith("3"))}
            self.pen = frozenset() if code == "0" else frozenset(kept | {code})


def _codes(ink: Ink, piece: str) -> frozenset[str]:
    marks = {code for code, told in (("1", ink.bold), ("7", ink.reverse), ("4", ink.underline)) if told}
    colour = {"red": "31", "#8a8f98": "38;2;138;143;152", "#ffb454": "38;2;255;180;84", "color(245)": "38;5;245"}
    return _seen(frozenset(marks | ({colour[ink.colour]} if ink.colour else set())), piece)


def _seen(codes: frozenset[str], piece: str) -> frozenset[str]:
    return frozenset() if piece == " " and not codes & {"4", "7"} else codes


def cells(text: str, ink: Ink = PLAIN) -> Cells:
    """A text in one ink, blanks without it."""
    found: list[Cell] = []
    for character in text:
        shown = PLAIN if character == " " and not (ink.reverse or ink.underline) else ink
        found += [(character, shown), *([(f"\0{character}", shown)] if is_wide(character) else [])]
    return tuple(found)


def whole(row: Cells, width: int) -> Cells:
    """A row cut or padded to a width; half of a wide character is a blank."""
    row = row[:width]
    if row and is_wide(row[-1][0][-1]) and not row[-1][0].startswith("\0"):
        row = (*row[:-1], (" ", PLAIN))
    return (*row, *[(" ", PLAIN)] * (width - len(row)))


SPANS = st.lists(st.builds(cells, st.text("ab  名─", max_size=14), st.sampled_from(INKS)), max_size=4)
ROWS = SPANS.map(lambda spans: whole(tuple(cell for span in spans for cell in span), 24))
SCREENS = st.lists(ROWS, min_size=4, max_size=4)


@given(SCREENS, SCREENS)
def test_the_old_screen_becomes_the_new_one(old: list[Cells], new: list[Cells]) -> None:
    glass = Glass(old)
    glass.take(difference(old, new))
    assert glass.rows == Glass(new).rows
    assert glass.pen == frozenset(), "the pen is given back plain"


@given(SCREENS)
def test_a_screen_of_another_size_is_sent_whole(new: list[Cells]) -> None:
    glass = Glass([whole((), 24)] * 4)
    glass.take(difference([whole((), 10)], new))
    assert glass.rows == Glass(new).rows


def test_nothing_is_sent_where_nothing_changed() -> None:
    row = cells("abc", DIM)
    assert difference([row], [row]) == ""
    assert difference([row], [cells("abc", DIM)]) == ""


def test_cells_that_stay_are_jumped_over_where_an_address_is_shorter() -> None:
    old, near, far = cells("a.....b"), cells("x.....y"), cells("x...y.b")
    assert difference([old], [near]) == "\x1b[1;1Hx\x1b[5Cy"
    assert difference([old], [far]) == "\x1b[1;1Hx...y"


def test_the_next_rows_are_reached_by_line_feeds() -> None:
    old = [cells("a...b")] * 4
    assert difference(old, [cells("x...b"), old[0], cells("y...b"), cells("a...z")]) == "\x1b[1;1Hx\r\n\ny\x1b[4;5Hz"
    wide = [cells("a...─"), cells("y...b")]
    assert difference(old[:2], wide) == "\x1b[1;5H─\x1b[2;1Hy", (
        "after a character that may have wrapped, by the address"
    )


def test_blanks_to_the_end_are_erased() -> None:
    assert difference([cells("a long sentence")], [whole(cells("a"), 15)]) == "\x1b[1;3H\x1b[K"
    reversed_row = cells("a" + " " * 14, FOCUS)
    assert "\x1b[K" not in difference([cells("a long sentence")], [reversed_row]), "a reversed blank is drawn"


def test_a_long_colour_is_named_once() -> None:
    old, new = [whole((), 40)] * 6, [whole((*cells("a", DIM), *cells(" b ", BOLD), *cells("c", DIM)), 40)] * 6
    assert difference(old, new).count("38;2") == 1


def test_a_short_pen_goes_along_the_row() -> None:
    row = (*cells("a", BOLD), *cells("b"), *cells("c", NAMED))
    assert difference([cells("xyz")], [row]) == "\x1b[1;1H\x1b[1ma\x1b[mb\x1b[1;31mc\x1b[m"


@pytest.mark.parametrize("character", ["名", "─"])
def test_an_address_follows_what_a_terminal_may_find_wide(character: str) -> None:
    old, new = whole((), 20), whole((*cells(character), *cells(" " * 8), *cells("x")), 20)
    column = 11 if is_wide(character) else 10
    assert difference([old], [new]) == f"\x1b[1;1H{character}\x1b[1;{column}Hx"
