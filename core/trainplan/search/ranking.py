"""Layouts that fit, in order, and the front of those that no other beats in both time and memory.

A search keeps the best few of each order, never all. Layouts above the target come after those at it or under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from trainplan.search.pieces import NUMBERS

if TYPE_CHECKING:
    from trainplan.search.columns import Column, Mask

ORDERS: Final = ("time", "memory", "cost")
"""By predicted step, then bytes sent, then memory; by memory first; by accelerator time of a step, which is its cost."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Layouts: seconds of a step, bytes sent, bytes on the worst rank, whether above the target, and which they are.

    `group` is the place of their words, `numbers` has a row for each with each of `NUMBERS`.
    """

    step: Column
    sent: Column
    memory: Column
    above: Mask
    group: Column
    numbers: Column

    def __len__(self) -> int:
        return len(self.step)

    def taken(self, places: Any) -> Rows:
        """Some of the rows, in that order."""
        parts = (self.step, self.sent, self.memory, self.above, self.group, self.numbers)
        return Rows(*(part[places] for part in parts))

    def joined(self, other: Rows) -> Rows:
        """These rows and others."""
        import numpy as np

        return Rows(
            np.concatenate((self.step, other.step)),
            np.concatenate((self.sent, other.sent)),
            np.concatenate((self.memory, other.memory)),
            np.concatenate((self.above, other.above)),
            np.concatenate((self.group, other.group)),
            np.concatenate((self.numbers, other.numbers)),
        )

    def ordered(self, order: str) -> Rows:
        """All rows, best first; ties stay as the space has them."""
        import numpy as np

        if order == "memory":
            return self.taken(np.lexsort((self.sent, self.step, self.memory)))
        return self.taken(np.lexsort((self.memory, self.sent, self.step, self.above)))

    def best(self, order: str, count: int) -> Rows:
        """The best few, best first."""
        if len(self) > 2 * count:
            return self.taken(_candidates(self, order, count)).ordered(order).taken(slice(0, count))
        return self.ordered(order).taken(slice(0, count))

    def front(self) -> Rows:
        """Rows that no other beats in both time and memory, fastest first."""
        import numpy as np

        sorted_rows = self.taken(np.lexsort((self.sent, self.memory, self.step)))
        least = np.minimum.accumulate(sorted_rows.memory)
        better = np.append(True, sorted_rows.memory[1:] < least[:-1]) if len(self) else slice(0)
        return sorted_rows.taken(better)


def _candidates(rows: Rows, order: str, count: int) -> Mask:
    """Rows that can be among the best few: whatever ties with the last of them is among them."""
    import numpy as np

    key = rows.memory if order == "memory" else np.where(rows.above, np.inf, rows.step)
    last = np.partition(key, count - 1)[count - 1]
    return key <= last


def enters(kept: Rows, order: str, count: int, step: Column, memory: Column, above: Mask) -> Any:
    """Which layouts may be among the best few of an order, beside those that are kept already."""
    if len(kept) < count:
        return above | True
    if order == "memory":
        return memory <= kept.memory[-1]
    last = kept.above[-1]
    return (above < last) | ((above == last) & (step <= kept.step[-1]))


def not_beaten(front: Rows, step: Column, memory: Column) -> Mask:
    """Which layouts no row of a front beats in both time and memory."""
    import numpy as np

    if not len(front):
        return np.ones(len(step), dtype=bool)
    place = np.searchsorted(front.step, step, side="right") - 1
    return (place < 0) | (memory < front.memory[np.maximum(place, 0)])


def no_rows() -> Rows:
    """Nothing kept yet."""
    import numpy as np

    none = np.empty(0)
    return Rows(none, none, none, none > 0, none.astype(np.int64), np.empty((0, len(NUMBERS)), dtype=np.int64))
