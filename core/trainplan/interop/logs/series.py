"""Rates in order, each with the steps that it stands for, in bounded memory, and what they come to.

Where more lines come than are kept, every second one is let go and only every second one after that is taken.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import sqrt
from typing import Final

KEPT: Final = 65_536


class Series:
    """Lines with their rates and steps, thinned evenly."""

    def __init__(self) -> None:
        self.rates, self.steps = array("d"), array("l")
        self.seen = self.lines = 0
        self._stride = 1

    def add(self, rate: float, steps: int) -> None:
        """Take a line, or let it go; its steps count in any case."""
        if self.lines % self._stride == 0:
            self.rates.append(rate)
            self.steps.append(steps)
        self.lines += 1
        self.seen += steps
        if len(self.rates) >= KEPT:
            self.rates, self.steps = self.rates[::2], self.steps[::2]
            self._stride *= 2

    def after(self, steps: float) -> Part:
        """What comes after so many steps: whole lines, at least one."""
        scale, passed, place = self.seen / max(1, sum(self.steps)), 0.0, 0
        while place < len(self.steps) - 1 and passed + scale * self.steps[place] / 2 < steps:
            passed += scale * self.steps[place]
            place += 1
        return Part(list(self.rates[place:]), list(self.steps[place:]), self.seen - round(passed))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Kept lines with their steps; how many steps they stand for."""

    rates: list[float]
    weights: list[int]
    steps: int

    def span(self) -> float:
        """Steps of the line in which the middle step lies: the usual line, whatever the first and last ones are."""
        passed, half = 0, sum(self.weights) / 2.0
        for weight in sorted(self.weights):
            passed += weight
            if passed >= half:
                return float(weight)
        return 1.0

    def quantile(self, share: float) -> float:
        """The rate below which this share of the steps lies."""
        ordered, passed = sorted(zip(self.rates, self.weights, strict=True)), 0
        goal = share * (sum(self.weights) - 1)
        for rate, weight in ordered:
            passed += weight
            if passed > goal:
                return rate
        return ordered[-1][0]

    def middle(self) -> float:
        """The median over steps; between two lines the mean of both."""
        ordered, half, passed = sorted(zip(self.rates, self.weights, strict=True)), sum(self.weights) / 2.0, 0
        for place, (rate, weight) in enumerate(ordered):
            passed += weight
            if passed == half:
                return (rate + ordered[place + 1][0]) / 2.0
            if passed > half:
                return rate
        return ordered[-1][0]

    def variation(self) -> float | None:
        """Standard deviation of the lines over their mean; None of one line."""
        if len(self.rates) < 2:
            return None
        total = sum(self.weights)
        pairs = list(zip(self.rates, self.weights, strict=True))
        mean = sum(rate * weight for rate, weight in pairs) / total
        return sqrt(sum(weight * (rate - mean) ** 2 for rate, weight in pairs) / total) / mean
