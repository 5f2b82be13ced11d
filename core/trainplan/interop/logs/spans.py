"""How many steps a printed line stands for, seen from the numbers of successive lines.

A line is the mean of all steps since the line before, and lines stand at multiples of the log's interval: where some are lost,
the numbers that are there still have it as a common divisor. A number that was printed already is another rank's line, or the
same one drawn again, where it is of the last few lines or was printed before the last. Any other that goes back, and any after a
start, is the first of a run that goes on from a checkpoint.
"""

from __future__ import annotations

from collections import deque
from math import gcd
from typing import Final

RECENT: Final = 4
"""Lines in which the late line of another rank is looked for, whatever its clock says."""


class Spans:
    """Numbers of steps in the order in which they were printed."""

    def __init__(self) -> None:
        self.first = True
        self._last, self._time, self._anew = -1, "", True
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._interval = 0
        self._starts = set[tuple[int, str]]()
        self._opened = self._mirrors = False

    def begin(self) -> None:
        """What comes next is the first line of a run."""
        self._anew = True

    def open(self) -> None:
        """Another log starts. Where its first step was printed in the minute of another log's, it is another rank's."""
        self._anew = self._opened = True

    def take(self, number: int, *, mean: bool, time: str = "") -> int:
        """Steps of a line; 0 where it was printed already. `first` says whether a run begins: the line's span is not known yet."""
        if self._opened:
            self._opened, self._mirrors = False, bool(time) and (number, time[:16]) in self._starts
        if self._mirrors:
            self.first = False
            return 0
        back = number <= self._last
        self.first = self._anew or (back and not self._again(number, time))
        if self.first:
            self._recent.clear()
            self._interval = 0
            self._starts.add((number, time[:16]))
        elif back:
            return 0
        gap = number - self._last
        self._recent.append(number)
        self._last, self._time, self._anew = number, time, False
        if number > 1:
            self._interval = gcd(self._interval, number)
        return 1 if self.first or not mean else max(1, min(gap, self._interval))

    def _again(self, number: int, time: str) -> bool:
        return number in self._recent or bool(time and time < self._time)


def span_of_first(number: int, following: int) -> int:
    """Steps of the first line of a run: as many as the next one's, and no more than there were."""
    return max(1, min(number, following))
