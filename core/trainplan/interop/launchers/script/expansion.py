"""Variables of a script in place of their names, where they are assigned in it as plain text: words with their places.

A variable that is assigned differently in branches has no value, and the reason is kept: which branch runs is not known here.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Page, Place
from trainplan.interop.launchers.script.shell import Assignment
from trainplan.interop.launchers.script.shellwords import Segment, Word, quoted_segments

MOST: Final = 200_000
"""Characters of one expanded command: doubling a variable forty times is no launch script."""
MOST_IN_ALL: Final = 4_000_000
"""Characters of all expansions of a script."""
MOST_PIECES: Final = 10_000
MOST_VALUES: Final = 200
"""Assignments under conditions between which a variable is looked up."""

_SUM: Final = re.compile(r"[\d\s+*/%()-]{1,200}")


class TooLong(ValueError):
    """An expansion that grows without end."""


@frozen
class Piece:
    """Text from one place; `unknown` is why it has no value, `maybe` the condition that it stands under, both mostly empty."""

    text: str
    page: Page
    offset: int
    quoted: bool = False
    unknown: str = ""
    maybe: str = ""
    fallback: str = ""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.page.place(self.offset)


Pieces = tuple[Piece, ...]


@frozen
class Value:
    """One assignment's words, one where the variable is no array."""

    words: tuple[Pieces, ...]
    array: bool
    branch: tuple[int, ...]
    place: Place


class Scope:
    """The variables of one script or of several that are read one after the other."""

    def __init__(self) -> None:
        self._values: dict[str, list[Value]] = {}
        self.read: set[str] = set()
        self._spent = 0

    def give(self, name: str, text: str, page: Page, offset: int) -> None:
        """A variable that the scheduler sets."""
        self._values[name] = [Value(((Piece(text, page, offset),),), array=False, branch=(), place=page.place(offset))]

    def assign(self, one: Assignment, page: Page) -> None:
        """Take an assignment; its value is expanded now, as a shell does."""
        if one.array:
            words = tuple(self.expand(word, page, one.branch) for word in one.value if isinstance(word, tuple))
            words = tuple(part for word in words for part in split_at_breaks(word))
        else:
            words = (self.expand(_word(one.value), page, one.branch),)
        before, branch = self._values.get(one.name, []), one.branch
        array = one.array or (one.adds and bool(before) and before[-1].array)
        if one.adds or _names_itself(one):
            old, why = self._value(one.name, one.branch)
            if old is not None and not why:
                if len(one.branch) > len(old.branch):
                    told = f"line {page.place(one.offset).line} adds it under a condition"
                    words = tuple(tuple(_maybe(piece, told, old) for piece in word) for word in words)
                    branch = old.branch
                words = _joined(one, old, words)
        self._values.setdefault(one.name, []).append(Value(words, array, branch, page.place(one.offset)))

    def names(self) -> tuple[str, ...]:
        """Every variable, in the order in which they were first assigned."""
        return tuple(self._values)

    def words_of(self, name: str) -> tuple[Pieces, ...]:
        """The words that a variable ends with."""
        return self._values[name][-1].words

    def _value(self, name: str, branch: tuple[int, ...]) -> tuple[Value | None, str]:
        """The value that a variable has in a branch, and why none is known."""
        found: list[Value] = []
        for value in reversed(self._values.get(name, [])):
            found.append(value)
            if branch[: len(value.branch)] == value.branch or len(found) > MOST_VALUES:
                break
        if len(found) == 1:
            return found[0], ""
        texts = {tuple("".join(piece.text for piece in word) for word in value.words) for value in found}
        if len(texts) > 1:
            lines = sorted({value.place.line for value in found})
            return found[0], f"${name} is assigned differently under conditions, lines {', '.join(map(str, lines))}"
        return (found[0], "") if found else (None, "")

    def expand(self, word: Word, page: Page, branch: tuple[int, ...] = ()) -> Pieces:
        """A word with the values of its variables; a break between the words of an array is a piece of its own."""
        found: list[Piece] = []
        for one in word:
            found.extend(self._expanded(one, page, branch))
        size = sum(len(piece.text) for piece in found)
        self._spent += size + len(found)
        if size > MOST or self._spent > MOST_IN_ALL:
            raise TooLong
        return tuple(found)

    def _expanded(self, one: Segment, page: Page, branch: tuple[int, ...]) -> Pieces:
        if one.kind == "text":
            return (Piece(one.text, page, one.offset, quoted=one.quoted),)
        if one.kind == "sum":
            return (self._sum(one, page, branch),)
        if one.kind == "unknown":
            return (Piece(one.text, page, one.offset, one.quoted, unknown=f"{one.text} is not known here"),)
        return self._variable(one, page, branch)

    def _variable(self, one: Segment, page: Page, branch: tuple[int, ...]) -> Pieces:
        self.read.add(one.text)
        value, why = self._value(one.text, branch)
        if why:
            return (Piece(f"${one.text}", page, one.offset, one.quoted, unknown=why),)
        if value is None or (one.default is not None and not any(piece.text for word in value.words for piece in word)):
            if one.default is None:
                return (
                    Piece(f"${one.text}", page, one.offset, one.quoted, unknown=f"${one.text} is not set in the file"),
                )
            inner = self.expand(one.default, page, branch)
            return tuple(_fallen(piece, one.text) for piece in inner) or (Piece("", page, one.offset, quoted=True),)
        words = value.words if one.every or not value.array else value.words[:1]
        found: list[Piece] = []
        for index, pieces in enumerate(words):
            if index:
                found.append(Piece(BREAK, page, one.offset))
            found.extend(_requoted(piece, quoted=one.quoted or (value.array and piece.quoted)) for piece in pieces)
        return tuple(found)

    def _sum(self, one: Segment, page: Page, branch: tuple[int, ...]) -> Piece:
        text = re.sub(r"(?<![\w${])([A-Za-z_]\w*)", r"$\1", one.text)
        inner = self.expand(quoted_segments(text, 0, len(text)), page, branch)
        why = next((piece.unknown for piece in inner if piece.unknown), "")
        maybe = next((piece.fallback for piece in inner if piece.fallback), "")
        whole = "".join(piece.text for piece in inner)
        number = None if why else whole_number(whole)
        if number is None:
            told = why or f"$(({one.text})) is no sum of whole numbers"
            return Piece(f"$(({one.text}))", page, one.offset, one.quoted, unknown=told)
        return Piece(str(number), page, one.offset, one.quoted, fallback=maybe)


BREAK: Final = "\0"
"""The text of the piece between two words of an array."""


def split_at_breaks(pieces: Pieces) -> tuple[Pieces, ...]:
    """The words of an expansion of `${ARRAY[@]}`."""
    found: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.text == BREAK:
            found.append([])
        else:
            found[-1].append(piece)
    return tuple(tuple(word) for word in found)


def _word(value: Word | tuple[Word, ...]) -> Word:
    return tuple(one for one in value if isinstance(one, Segment))


def _joined(one: Assignment, old: Value, words: tuple[Pieces, ...]) -> tuple[Pieces, ...]:
    if not one.adds:
        return words
    if len(old.words) + sum(len(word) for word in old.words[-1:]) > MOST_PIECES:
        raise TooLong
    if one.array:
        return (*old.words, *words)
    return (*old.words[:-1], (*old.words[-1], *words[0])) if old.words and words else old.words or words


def _names_itself(one: Assignment) -> bool:
    segments = [part for word in one.value for part in (word if isinstance(word, tuple) else (word,))]
    return any(part.kind == "variable" and part.text == one.name for part in segments)


def _maybe(piece: Piece, why: str, old: Value) -> Piece:
    """A piece under a condition, unless the variable had it before."""
    if any(piece.offset == had.offset and piece.page is had.page for word in old.words for had in word):
        return piece
    return Piece(piece.text, piece.page, piece.offset, piece.quoted, piece.unknown, why, piece.fallback)


def _fallen(piece: Piece, name: str) -> Piece:
    fallback = piece.fallback or name
    return Piece(piece.text, piece.page, piece.offset, piece.quoted, piece.unknown, piece.maybe, fallback)


def _requoted(piece: Piece, *, quoted: bool) -> Piece:
    return Piece(piece.text, piece.page, piece.offset, quoted, piece.unknown, piece.maybe, piece.fallback)


def whole_number(text: str) -> int | None:
    """A sum of whole numbers by the shell's rules, with brackets; None for anything else. Nothing is evaluated."""
    if not _SUM.fullmatch(text):
        return None
    try:
        tree = ast.parse(re.sub(r"/", "//", text.strip()), mode="eval")
        found = _number(tree.body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return found


def _number(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return -_number(node.operand) if isinstance(node.op, ast.USub) else _number(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv():
                return _toward_zero(left, right)
            case ast.Mod():
                return left - right * _toward_zero(left, right)
            case _:
                raise ValueError
    raise ValueError


def _toward_zero(left: int, right: int) -> int:
    """A division as shells do it."""
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found
