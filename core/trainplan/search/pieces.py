"""Legal layouts in pieces of a size that the processor's cache holds.

Numbers that the rules tie to each other closely share an axis, which lists the combinations that some layout has: few rows of
a piece are illegal, and the innermost axis is long. It knows no rule and no budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

from trainplan.kinds import Kinds
from trainplan.search.sieve import Sieve
from trainplan.search.space import (
    AXES,
    CONTEXT,
    EXPERT,
    EXPERT_TENSOR,
    MICRO,
    PIPELINE,
    RECOMPUTE,
    RECOMPUTES,
    SHARD,
    TENSOR,
    VIRTUAL,
)

if TYPE_CHECKING:
    from trainplan.search.columns import Column, Mask

SHARED: Final = ((RECOMPUTE,), (EXPERT_TENSOR, EXPERT), (SHARD,), (VIRTUAL, PIPELINE), (TENSOR, CONTEXT, MICRO))
"""Axes of a piece: recompute, whose numbers are places among its words, and neighbouring axes of a mask."""

NUMBERS: Final = (*AXES, RECOMPUTE)
"""Numbers of one row, in order."""

AXIS_OF: Final = {path: axis for axis, paths in enumerate(SHARED) for path in paths}

ROWS: Final = 65_536
"""Rows of a piece at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some layouts: the value of each number along its axis, and which combinations are layouts."""

    numbers: Mapping[str, Column]
    alive: Mask

    def columns(self) -> dict[str, Any]:
        """Each number as a column of float64 that broadcasts against the others."""
        found: dict[str, Any] = {path: _along(AXIS_OF[path], values) for path, values in self.numbers.items()}
        return found | {RECOMPUTE: Kinds(RECOMPUTES, found[RECOMPUTE])}

    def at(self, places: Any) -> Column:
        """The numbers of some rows, told by their flat places: a row each, with all of `NUMBERS`."""
        import numpy as np

        found, one = np.unravel_index(places, self.alive.shape), np.ones(1, dtype=np.int64)
        return np.stack([self.numbers.get(path, one)[found[AXIS_OF[path]]] for path in NUMBERS], axis=1)

    def halves(self) -> Iterator[Piece]:
        """Two pieces, cut along the longest axis."""
        axis = max(range(len(SHARED)), key=lambda one: self.alive.shape[one])
        middle = self.alive.shape[axis] // 2
        for part in (slice(0, middle), slice(middle, None)):
            numbers = {path: one[part] if AXIS_OF[path] == axis else one for path, one in self.numbers.items()}
            yield Piece(numbers, self.alive[(slice(None),) * axis + (part,)])


def _along(axis: int, values: Any) -> Column:
    """Values as a column whose own axis is as long as they are, and all others 1."""
    import numpy as np

    shape = [1] * len(SHARED)
    shape[axis] = len(values)
    return np.asarray(values, dtype=np.float64).reshape(shape)


def pieces(sieve: Sieve) -> Iterator[Piece]:
    """The layouts of a sieve in pieces of at most `ROWS` rows."""
    if sieve.lives:
        yield from _cut(_whole(sieve))


def _whole(sieve: Sieve) -> Piece:
    """All layouts of a sieve, with the axes that are shared."""
    import numpy as np

    sizes = dict(zip(AXES, sieve.sizes(), strict=True))
    shared, every = SHARED[1:], range(len(SHARED) - 1)
    mask = sieve.whole_mask().reshape([prod(sizes[path] for path in paths) for paths in shared])
    kept = [np.flatnonzero(mask.any(axis=tuple(other for other in every if other != axis))) for axis in every]
    numbers: dict[str, Any] = {RECOMPUTE: np.arange(len(RECOMPUTES))}
    for paths, places in zip(shared, kept, strict=True):
        found = np.unravel_index(places, [sizes[path] for path in paths])
        numbers |= {path: sieve.values[path][at] for path, at in zip(paths, found, strict=True) if path in sieve.values}
    alive = mask[np.ix_(*kept)]
    return Piece(numbers, np.broadcast_to(alive, (len(RECOMPUTES), *alive.shape)))


def _cut(piece: Piece) -> Iterator[Piece]:
    if piece.alive.size <= ROWS:
        yield piece
        return
    for half in piece.halves():
        if half.alive.any():
            yield from _cut(half)
