"""Options as a launch script passes them: `--name value ...`, each with its place, whatever program they are for.

Dashes that a wiki made of hyphens are told; what an option's values are worth is for the reader of the program's options.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Place
from trainplan.interop.launchers.script.expansion import Piece, Pieces, split_at_breaks

_OPTION: Final = re.compile(r"--[A-Za-z]|-[A-Za-z][A-Za-z-]*$")
_DASHES: Final = "‐‑‒–—―−﹣－"
_DASHED: Final = re.compile(rf"[-{_DASHES}]*[{_DASHES}][-{_DASHES}]*[A-Za-z]")


def may_be_options(text: str) -> bool:
    """Whether a text can hold the name of an option, its dashes made prettier or not."""
    return "--" in text or (not text.isascii() and any(one in text for one in _DASHES))


@frozen
class Token:
    """One word that a program gets; `unknown` is why its value is not known, `maybe` its condition, `fallback` the variable
    whose default it is."""

    text: str
    place: Place
    unknown: str = ""
    maybe: str = ""
    fallback: str = ""

    @property
    def is_option(self) -> bool:
        """Whether a program reads it as the name of an option; a negative number is a value."""
        return bool(_OPTION.match(self.text))

    @property
    def dashed(self) -> bool:
        """Whether it would be an option, had its dashes not been made prettier."""
        return bool(_DASHED.match(self.text))


@frozen
class Option:
    """A name without its dashes and with underscores, the values behind it, and where the name stands."""

    name: str
    spelled: str
    values: tuple[Token, ...]
    place: Place
    maybe: str = ""

    @property
    def words(self) -> str:
        """The option as it was written, cut where it is long."""
        shown = [value.text for index, value in enumerate(self.values) if not (index and value.unknown)]
        text = " ".join([self.spelled, *shown])
        return text if len(text) <= 80 else f"{text[:77]}..."

    @property
    def unknown(self) -> str:
        """Why its value is not known; empty where it is."""
        return next((value.unknown for value in self.values if value.unknown), "") or self.maybe

    @property
    def fallback(self) -> str:
        """The variable whose default a value is."""
        return next((value.fallback for value in self.values if value.fallback), "")


def tokens_of(pieces: Pieces) -> tuple[Token, ...]:
    """The words of one expanded word: what is not quoted is split at blanks, and so is a quoted text of several options."""
    found: list[Token] = []
    for word in split_at_breaks(pieces):
        found.extend(_split(word))
    return tuple(found)


def _split(word: Pieces) -> list[Token]:
    whole = "".join(piece.text for piece in word)
    several = re.search(r"(?:^|\s)--[A-Za-z]", whole) is not None and re.search(r"\s", whole.strip()) is not None
    found: list[list[Piece]] = [[]]
    quote = ""
    for piece in word:
        if piece.unknown or (piece.quoted and not several):
            found[-1].append(piece)
            continue
        begin = 0
        for index, one in enumerate(piece.text):
            if quote:
                cut, quote = one == quote, "" if one == quote else quote
            elif one in "'\"":
                cut, quote = True, one
            else:
                cut = one.isspace()
            if cut:
                found[-1].append(_part(piece, begin, index))
                begin = index + 1
                if one.isspace() and not quote:
                    found.append([])
        found[-1].append(_part(piece, begin, len(piece.text)))
    return [_token(pieces) for pieces in found if any(piece.text or piece.unknown for piece in pieces)]


def _part(piece: Piece, begin: int, end: int) -> Piece:
    text = piece.text[begin:end]
    return Piece(text, piece.page, piece.offset + begin, piece.quoted, piece.unknown, piece.maybe, piece.fallback)


def _token(pieces: list[Piece]) -> Token:
    first = next(piece for piece in pieces if piece.text or piece.unknown)
    told = [next((getattr(one, name) for one in pieces if getattr(one, name)), "") for name in _WHY]
    return Token("".join(piece.text for piece in pieces), first.place, *told)


_WHY: Final = ("unknown", "maybe", "fallback")


_UNKNOWN_NAME: Final = re.compile(r"[^=]*[$`]")
"""A name that is made of what is not known."""


def options_of(tokens: tuple[Token, ...]) -> tuple[tuple[Option, ...], tuple[Token, ...]]:
    """The options of a command's words, and the words that stand before the first."""
    found: list[tuple[Token, list[Token]]] = []
    before: list[Token] = []
    for token in tokens:
        if token.is_option and not _UNKNOWN_NAME.match(token.text):
            found.append((token, []))
        elif found:
            found[-1][1].append(token)
        else:
            before.append(token)
    return tuple(_option(name, values) for name, values in found), tuple(before)


def _option(token: Token, values: list[Token]) -> Option:
    spelled, equals, value = token.text.partition("=")
    if equals:
        place = Place(token.place.file, token.place.line, token.place.column + len(spelled) + 1)
        values = [Token(value, place, token.unknown, token.maybe, token.fallback), *values]
    name = spelled.lstrip("-").replace("-", "_")
    return Option(name, spelled, tuple(values), token.place, token.maybe)
