"""The one sanitiser: text from files, names, paths and errors becomes text that only draws.

A terminal obeys what it is sent, and Textual passes escapes, C1 codes and bidi controls on unchanged.
So a character is let through only when it is known to draw itself in one cell (or, for the ideographs and
syllables listed in `WIDE`, in two); everything else becomes a mark in plain ASCII that says what it was.
It refuses to look for known attacks: what is not on the list is marked, whatever it is.

Right-to-left letters are marked too: terminals that reorder a row would move the numbers beside them.
"""

from __future__ import annotations

import unicodedata

WIDE = (
    (0x3041, 0x3096),  # hiragana
    (0x30A0, 0x30FF),  # katakana
    (0x3400, 0x4DBF),  # ideographs, extension A
    (0x4E00, 0x9FFF),  # ideographs
    (0xAC00, 0xD7A3),  # hangul syllables
    (0xF900, 0xFAFF),  # compatibility ideographs
    (0xFF01, 0xFF60),  # full-width forms
)
"""Code points that every terminal draws two cells wide; Unicode 14 `EastAsianWidth.txt` says W or F for all of them."""

_DOUBTFUL = (
    *((0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0xFFA0, 0xFFA0)),  # jamo: join, or take no cell
    *((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376)),  # one cell until Unicode 16, then two
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def printable(text: str) -> str:
    """The text with every character that does not simply draw itself replaced by a mark.

    Marks: `^[` for C0 and DEL (caret notation), `<U+009B>` for all others. No-break and thin spaces become a space.
    The answer is in composed form (NFC), holds no line break, and is itself unchanged by `printable`.
    """
    if text.isascii() and text.isprintable():
        return text
    return unicodedata.normalize("NFC", text).translate(_MARKS)


def cells(text: str) -> int:
    """Terminal cells that text taken from `printable` occupies."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(is_wide, text))


def is_wide(character: str) -> bool:
    """Whether one character of printable text occupies two cells."""
    return character > "\u3040" and _within(ord(character), WIDE)


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _mark(code: int) -> str:
    if code < 0x20:
        return "^" + chr(code + 0x40)
    return "^?" if code == 0x7F else f"<U+{code:04X}>"


def _draws_itself(code: int, character: str) -> bool:
    """Known to occupy exactly the cells that `cells` says, in logical order, with no effect on its neighbours."""
    if not character.isprintable() or unicodedata.category(character)[0] not in "LNPSZ":
        return False
    if unicodedata.bidirectional(character) in _RIGHT_TO_LEFT or _within(code, _DOUBTFUL):
        return False
    return _within(code, WIDE) or unicodedata.east_asian_width(character) not in "WF"


class _Marks(dict[int, str]):
    """A translation table that decides about each character once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _draws_itself(code, character):
            shown = character
        elif unicodedata.category(character) == "Zs" and unicodedata.east_asian_width(character) not in "WF":
            shown = " "
        else:
            shown = _mark(code)
        self[code] = shown
        return shown


_MARKS = _Marks()
