"""What a terminal sends, told apart: keys, pasted text, the answers that Textual asked for, and what nobody asked for.

Textual reads a report that it does not know as the keys of its letters, a cut or escaped paste too, and then a `w` in a
clipboard's answer saves a plan. Here a control sequence is read to its end by ECMA-48 before anything is made of it: codes of keys
are keys, two reports go on, every other one is swallowed. It refuses to guess what a key does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import monotonic
from typing import Final, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.message import Message

_CODES = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
for _code in [code for code, keys in _CODES.items() if isinstance(keys, str) and len(code) == 2]:
    del _CODES[_code]  # a character of WezTerm's option key

STARTS: Final = frozenset(code[:end] for code in _CODES for end in range(1, len(code)))
"""Everything with which the code of a key begins."""
PASTE, PASTED = "\x1b[200~", "\x1b[201~"
ASKED: Final = re.compile(r"\x1b\[(\?\d+;\d\$y|48;[\d:;]*t)")
"""Answers to what Textual asks: a mode, and the window's size."""
EXTENDED: Final = re.compile(r"\x1b\[[\d:;]+[u~ABCDEFHPQS]")
"""Keys with modifiers as xterm and kitty write them; with an R it would be where the cursor is."""
OPEN: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|\[\[|\[M.{0,2}|[\]_^P]|O\d*)?", re.DOTALL)
"""A control sequence, or a string of one, whose end is to come."""
SHIFTED: Final = re.compile(r"\x1bO\d+[A-Za-z]")
"""A function key with a modifier as some terminals write it; it is none of ours."""
BARE: Final = re.compile(r"\x1b\[([^0-?IOM]|\[.)")
"""No report has a letter without a number before it, but for focus and the old mouse: these are keys pressed in a row."""
STRING: Final = re.compile(r"\x1b(\]\d|P[\d!>$+]|[_^].)")
"""Strings that terminals send: OSC, DCS, APC and PM with a beginning that no keys in a row have.

A window's title, `]l`, is left out: it comes only to who asks for it, and `esc ] l` are keys.
"""
CUT: Final = 1.0
"""Seconds that the rest of a report may take on a slow line, and of a paste four times as long."""
HELD: Final = 64
"""Characters of a report that are kept: its beginning tells what it is."""


class Presses:
    """Feed what was read, take events. Over a slow line `esc` and `?` come in one packet, as an option key does: two keys."""

    def __init__(self, debug: bool = False) -> None:
        self._known = XTermParser(debug)
        self._held = ""
        self._string = False
        self._pasting: list[str] | None = None
        self._late = False
        self._last = 0.0

    def feed(self, text: str) -> Iterator[Message]:
        """Events of a packet; an empty one ends the input, and what is held is keys."""
        self._last = monotonic()
        if not text:
            yield from self._released()
        elif self._late and PASTED not in text and (len(text) == 1 or text[0] == "\x1b"):
            self._pasting, self._late = None, False  # a key was pressed: the end of the paste was lost
        for character in text:
            yield from self._taken(character)

    def tick(self) -> Iterator[Message]:
        """Events of what has waited long enough for its rest."""
        waited = monotonic() - self._last
        if self._pasting is not None and waited >= 4 * CUT:
            yield from self._part_of_paste()
        elif self._held and waited >= (CUT if self._string or len(self._held) > 2 else ESCAPE_DELAY):
            yield from self._released()

    def _taken(self, character: str) -> Iterator[Message]:
        if self._pasting is not None:
            self._pasting.append(character)
            if character == "~" and "".join(self._pasting[-len(PASTED) :]) == PASTED:
                yield from self._end_of_paste(PASTED)
        elif self._string:
            self._swallow(character)
        elif not self._held and character != "\x1b":
            yield from self._known._sequence_to_key_events(character)
        elif self._held and character == "\x1b":
            yield from self._released()
            self._held = character
        else:
            self._held += character
            yield from self._sequence()

    def _swallow(self, character: str) -> None:
        """One more of a string, which BEL or ST ends."""
        last, self._held = self._held[-1:], self._held[:HELD] + character
        if character == "\x07" or (last == "\x1b" and character == "\\"):
            self._held, self._string = "", False

    def _sequence(self) -> Iterator[Message]:
        """What the held characters are, if that can be said."""
        held = self._held
        if held == PASTE:
            self._held, self._pasting = "", []
        elif (held in _CODES and held != "\x1b") or EXTENDED.fullmatch(held):
            self._held = ""
            yield from self._known._sequence_to_key_events(held)
        elif STRING.fullmatch(held):
            self._string = True
        elif held in STARTS or OPEN.fullmatch(held):
            return
        elif SHIFTED.fullmatch(held):
            self._held = ""
        elif BARE.fullmatch(held) or not held.startswith("\x1b["):
            yield from self._released()
        else:
            self._held = ""
            if ASKED.fullmatch(held):
                yield from self._known.feed(held)

    def _released(self) -> Iterator[Message]:
        """What is held as the keys that it then is; a report that was cut is none."""
        held, self._held, string, self._string = self._held, "", self._string, False
        if (string and len(held) > 4) or (held.startswith("\x1b[") and len(held) > 5):
            return
        if held.startswith("\x1b"):
            # by its short name: by the other one Textual takes it for `^` before what is no code
            yield events.Key("esc", "\x1b")
        for character in held.removeprefix("\x1b"):
            yield from self._known._sequence_to_key_events(character)

    def _part_of_paste(self) -> Iterator[Message]:
        """What came of a paste whose rest is late. The rest is pasted too, whenever it comes; a key that is pressed ends it."""
        text = "".join(self._pasting or ())
        mark = next((PASTED[:end] for end in range(len(PASTED) - 1, 0, -1) if text.endswith(PASTED[:end])), "")
        self._pasting, self._late = list(mark), True
        if text != mark:
            yield events.Paste(text.removesuffix(mark).replace("\x00", ""))

    def _end_of_paste(self, mark: str) -> Iterator[Message]:
        text, late = "".join(self._pasting or ()).removesuffix(mark), self._late
        self._pasting, self._late = None, False
        if text or not late:
            yield events.Paste(text.replace("\x00", ""))
