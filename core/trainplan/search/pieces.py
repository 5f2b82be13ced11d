"""Legal layouts in pieces of a size that the processor's cache holds.

Numbers that the rules tie to each other closely share an axis, which lists the combinations that some layout has, those with the
same company side by side: few rows of a piece are illegal, and the innermost axis is long. It knows no rule and no budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

from trainplan.quantity.kinds import Kinds
from trainplan.search.cutting import EACH, best_cut, by_kind, lives_at
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

    def taken(self, places: Sequence[Any]) -> Piece:
        """The rows at some places of each axis but that of recompute."""
        import numpy as np

        numbers = {
            path: one if path == RECOMPUTE else one[places[AXIS_OF[path] - 1]] for path, one in self.numbers.items()
        }
        alive = self.alive[0][np.ix_(*places)]
        return Piece(numbers, np.broadcast_to(alive, (len(RECOMPUTES), *alive.shape)))

    def parts(self, axis: int, place: int) -> Iterator[Piece]:
        """Two pieces, cut at a place of an axis, without the values that no row of theirs has."""
        import numpy as np

        for first, last in ((0, place), (place, self.alive.shape[axis + 1])):
            alive = self.alive[0][(slice(None),) * axis + (slice(first, last),)]
            places = lives_at(alive)
            places[axis] = places[axis] + np.int64(first)
            yield self.taken(places)


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
    """All layouts of a sieve, with the axes that are shared, and values next to each other that live in the same rows."""
    import numpy as np

    sizes = dict(zip(AXES, sieve.sizes(), strict=True))
    shared = SHARED[1:]
    mask = sieve.whole_mask().reshape([prod(sizes[path] for path in paths) for paths in shared])
    kept = lives_at(mask)
    mask = mask[np.ix_(*kept)]
    if mask.size * len(RECOMPUTES) > EACH:
        orders = [by_kind(mask, axis) for axis in range(mask.ndim)]
        kept, mask = [places[order] for places, order in zip(kept, orders, strict=True)], mask[np.ix_(*orders)]
    numbers: dict[str, Any] = {RECOMPUTE: np.arange(len(RECOMPUTES))}
    for paths, places in zip(shared, kept, strict=True):
        found = np.unravel_index(places, [sizes[path] for path in paths])
        numbers |= {path: sieve.values[path][at] for path, at in zip(paths, found, strict=True) if path in sieve.values}
    return Piece(numbers, np.broadcast_to(mask, (len(RECOMPUTES), *mask.shape)))


def _cut(piece: Piece) -> Iterator[Piece]:
    at = best_cut(piece.alive[0], len(RECOMPUTES)) if piece.alive.size > EACH else None
    if at is None:
        yield piece
        return
    for part in piece.parts(*at):
        yield from _cut(part)
