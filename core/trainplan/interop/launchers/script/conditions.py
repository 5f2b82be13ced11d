"""Branches of `if` whose condition compares what the file itself says: which of them runs is known, and only that one is read.

A condition of anything else (the environment, files, several tests) leaves its branches open; nothing is run to find out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from trainplan.interop.launchers.script.expansion import Pieces
from trainplan.interop.launchers.script.shell import Command, Mark

_TESTS: Final = ("[", "[[", "test")
_WHOLE: Final = re.compile(r"[+-]?\d{1,30}")
_NUMBERS: Final[dict[str, Callable[[int, int], bool]]] = {
    "-eq": lambda one, two: one == two,
    "-ne": lambda one, two: one != two,
    "-lt": lambda one, two: one < two,
    "-le": lambda one, two: one <= two,
    "-gt": lambda one, two: one > two,
    "-ge": lambda one, two: one >= two,
}


@dataclass(slots=True)
class _Frame:
    """One `if`: whether a branch was surely taken, whether one may have been, and the commands of the condition being read."""

    done: bool = False
    open: bool = False
    tests: list[Command] | None = field(default_factory=list[Command])


class Branches:
    """What is known of each branch of a script, as its marks come by."""

    def __init__(self, expand: Callable[[Command], list[Pieces]]) -> None:
        self._expand = expand
        self._frames: list[_Frame] = []
        self._known: dict[int, bool] = {}

    def mark(self, mark: Mark) -> None:
        """Take a word of the grammar."""
        if mark.word == "if":
            self._frames.append(_Frame())
        if not self._frames:
            return
        frame = self._frames[-1]
        if mark.word == "elif":
            frame.tests = []
        elif mark.word == "then":
            self._decide(frame, mark.branch, self._verdict(frame.tests or []))
            frame.tests = None
        elif mark.word == "else":
            self._decide(frame, mark.branch, verdict=True)
        elif mark.word == "fi":
            self._frames.pop()

    def test(self, command: Command) -> None:
        """Take a command, which is a condition between `if` and `then`."""
        if self._frames and self._frames[-1].tests is not None:
            self._frames[-1].tests.append(command)

    def _decide(self, frame: _Frame, branch: int, verdict: bool | None) -> None:
        if frame.done or verdict is False:
            self._known[branch] = False
        elif verdict and not frame.open:
            self._known[branch] = frame.done = True
        else:
            frame.open = True

    def runs(self, branch: tuple[int, ...]) -> bool:
        """Whether something in these branches may run."""
        return all(self._known.get(one, True) for one in branch)

    def open_of(self, branch: tuple[int, ...]) -> tuple[int, ...]:
        """The branches of which it is not known whether they run."""
        return tuple(one for one in branch if one not in self._known)

    def _verdict(self, tests: list[Command]) -> bool | None:
        if len(tests) != 1:
            return None
        words = self._expand(tests[0])
        if any(piece.unknown or piece.maybe for word in words for piece in word):
            return None
        texts = ["".join(piece.text for piece in word) for word in words]
        if texts[0] not in _TESTS:
            return None
        texts = [text for text in texts[1:] if text not in ("]", "]]")]
        turned = texts[:1] == ["!"]
        found = _compared(texts[1:] if turned else texts)
        return found if found is None or not turned else not found


def _compared(texts: list[str]) -> bool | None:
    if len(texts) == 2 and texts[0] in ("-n", "-z"):
        return bool(texts[1]) is (texts[0] == "-n")
    if len(texts) != 3:
        return None
    one, sign, two = texts
    if sign in _NUMBERS:
        whole = _WHOLE.fullmatch(one) and _WHOLE.fullmatch(two)
        return _NUMBERS[sign](int(one), int(two)) if whole else None
    if sign in ("=", "==", "!=") and not re.search(r"[*?\[]", two):
        return (one == two) is (sign != "!=")
    return None
