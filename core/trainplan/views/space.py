"""Space in use over calendar time: a curve for the eye, and the moment it crosses what may be filled.

Seconds from the first step, bytes on the file system. Data stand there from the start, checkpoints kept for good make the
steps, the newest ones the floor that comes and goes. It assumes an even pace; the budgets own the totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure

MOST_POINTS = 400
"""Points of a curve; a run with more checkpoints is drawn at even times."""


@dataclass(frozen=True, slots=True)
class SpaceCurve:
    """`points` are (seconds, bytes), rising in time. `usable` and `crosses` (s) are None without a capacity or a crossing.

    `alert` is the fill (bytes) from which less than two checkpoints are free.
    """

    points: tuple[tuple[float, float], ...]
    peak: float
    usable: float | None
    crosses: float | None
    alert: float | None


@dataclass(frozen=True, slots=True)
class _Growth:
    """What the fill is made of: what stands, what grows evenly, steps with their count, and the newest checkpoints."""

    wall: float
    standing: float
    even: float
    steps: tuple[tuple[float, float], ...]
    checkpoint: float
    local: float
    interval: float

    def at(self, time: float) -> float:
        """Bytes at a time (s)."""
        done = time / self.wall
        kept = sum(size * int(count * done + 1e-9) for count, size in self.steps)
        newest = min(self.local, 1.0 + floor(min(time / self.interval, self.local))) * self.checkpoint
        return self.standing + self.even * done + kept + newest


def space_curve(estimate: Estimate) -> SpaceCurve | None:
    """The curve of an estimate; None where time or space cannot follow."""
    growth = _growth(estimate)
    if growth is None:
        return None
    points = tuple((time, growth.at(time)) for time in _times(growth))
    usable = _number(estimate.space.usable)
    alert = None if usable is None else usable - 2.0 * growth.checkpoint
    return SpaceCurve(points, max(fill for _, fill in points), usable, _crossing(points, usable), alert)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, Figure) else None


def _growth(estimate: Estimate) -> _Growth | None:
    space, checkpoint = estimate.space, _number(estimate.checkpoint.checkpoint)
    wall, interval = _number(estimate.money.wall_time), _number(estimate.faults.interval)
    standing = _sum(space.raw, space.dataset, space.index, space.manifests)
    even = _sum(space.loader_state, space.logs, space.evaluation_outputs)
    counts = [_number(item) for item in (space.full_count, space.light_count, space.local_count)]
    light = _number(estimate.checkpoint.light_checkpoint)
    if checkpoint is None or light is None or not wall or not interval or standing is None or even is None:
        return None
    full_count, light_count, local = (0.0 if count is None else count for count in counts)
    return _Growth(wall, standing, even, ((full_count, checkpoint), (light_count, light)), checkpoint, local, interval)


def _sum(*parts: object) -> float | None:
    numbers = [_number(part) for part in parts]
    return None if any(number is None for number in numbers) else sum(number or 0.0 for number in numbers)


def _times(growth: _Growth) -> Sequence[float]:
    """Even times, and the moments at which the newest copies have filled up and checkpoints are kept for good."""
    even = {growth.wall * (place / 100) for place in range(101)}
    first = {min(growth.interval * place, growth.wall) for place in range(min(int(growth.local) + 1, 20))}
    events = {
        growth.wall * (place / count)
        for count, size in growth.steps
        if size and 0 < count <= MOST_POINTS / 4
        for place in range(1, int(count) + 1)
    }
    return sorted(even | first | events)


def _crossing(points: tuple[tuple[float, float], ...], usable: float | None) -> float | None:
    """Seconds at which the fill passes the usable line, between two points by a straight line."""
    if usable is None:
        return None
    if points[0][1] > usable:
        return 0.0
    for (before, low), (after, high) in pairwise(points):
        if high > usable:
            return before + (after - before) * (usable - low) / (high - low)
    return None
