"""Where to cut layouts into pieces, so that few rows of a piece are dead and few pieces are small.

A piece costs its rows, dead ones too, and what every piece costs whatever its size. It knows masks, and no rule or budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from trainplan.search.columns import Mask

ROWS: Final = 131_072
"""Rows of a piece at most, from where larger ones gain nothing."""

EACH: Final = 32_768
"""Rows that take as long as what a piece costs whatever its size."""


def by_kind(mask: Mask, axis: int) -> list[int]:
    """The places of an axis, those next to each other that live in the same rows."""
    import numpy as np

    rows = np.packbits(np.moveaxis(mask, axis, 0).reshape(mask.shape[axis], -1), axis=1)
    patterns = [row.tobytes() for row in rows]
    return sorted(range(len(patterns)), key=patterns.__getitem__)


def lives_at(mask: Mask) -> list[Any]:
    """The places of each axis that some row has."""
    import numpy as np

    axes = range(mask.ndim)
    return [np.flatnonzero(mask.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]


def best_cut(mask: Mask, times: int) -> tuple[int, int] | None:
    """The axis and the place at which two pieces cost least, None where one costs less; `times` rows for each of the mask."""
    import numpy as np

    shadows = {(a, b): _shadow(mask, a, b) for a in range(mask.ndim) for b in range(a + 1, mask.ndim)}
    best, found = (_cost(times * mask.size), 0), None
    for axis, length in enumerate(mask.shape):
        if length < 2:
            continue
        before, after = np.arange(1, length) * times, np.arange(length - 1, 0, -1) * times
        for other in range(mask.ndim):
            if other != axis:
                shadow = shadows[axis, other] if axis < other else shadows[other, axis].T
                before = before * np.logical_or.accumulate(shadow).sum(axis=1)[:-1]
                after = after * np.logical_or.accumulate(shadow[::-1]).sum(axis=1)[-2::-1]
        costs, larger = _cost(before) + _cost(after), np.maximum(before, after)
        place = int(np.lexsort((larger, costs))[0])
        if (price := (int(costs[place]), int(larger[place]))) < best or (found is None and times * mask.size > ROWS):
            best, found = price, (axis, place + 1)
    return found


def _shadow(mask: Mask, a: int, b: int) -> Mask:
    """Which pairs of places of two axes some row has."""
    import numpy as np

    return np.asarray(mask.any(axis=tuple(other for other in range(mask.ndim) if other not in (a, b))))


def _cost(rows: Any) -> Any:
    """What rows cost, in rows, in as few pieces as hold them."""
    return rows + EACH * -(-rows // ROWS)
