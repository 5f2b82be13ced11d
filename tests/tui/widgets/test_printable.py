"""The sanitiser over every code point, held to the widths that Textual itself counts."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from rich.cells import cell_len

from trainplan_tui.text.printable import cells, printable

HOSTILE = (
    "\x1b]52;c;cGF5bG9hZA==\x07",
    "\x1b]0;title\x1b\\",
    "\x1b[2J",
    "\x1bc",
    "\x9b2J",
    "\x9d52;c;AAAA\x9c",
    "a\rb\nc\td",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "zero\u200bwidth\u200djoin\ufeff",
    "line\u2028and\u2029paragraph",
    "del\x7f",
    "\udc9b2J",
)


def test_every_code_point_draws_itself_or_is_marked() -> None:
    for code in range(sys.maxunicode + 1):
        shown = printable(chr(code))
        assert shown, f"U+{code:04X} vanished: every character leaves something to see"
        assert shown.isprintable(), f"U+{code:04X} is drawn as {shown!r}, which a terminal would obey"
        assert cells(shown) == cell_len(shown), f"U+{code:04X}: Textual counts {cell_len(shown)} cells"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_marks(text: str) -> None:
    shown = printable(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert len(shown) > len([character for character in text if character.isprintable()])


@pytest.mark.parametrize("text", [*HOSTILE, "é", "e\u0301", "名前", "½ · ─ │ ▾", "\u00a0", "x" * 100])
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "^[[31m"),
        ("\x7f", "^?"),
        ("\x9b", "<U+009B>"),
        ("\u202e", "<U+202E>"),
        ("e\u0301", "é"),
        ("a\u00a0b", "a b"),
        ("名前", "名前"),
        ("שלום", "".join(f"<U+{ord(letter):04X}>" for letter in "שלום")),
        ("😀", "<U+1F600>"),
        ("[bold]x[/]", "[bold]x[/]"),
    ],
)
def test_marks_say_what_was_there(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_wide_character_counts_two_cells() -> None:
    assert cells("a名b") == 4
    assert all(unicodedata.east_asian_width(character) in "WF" for character in "名前한글カナ")
