"""Layouts that are left while rules take them out, and the count of those that are gone, by reason.

Rows are every combination of the values of the axes; a mask that does not depend on an axis has size 1 there. It knows no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

from trainplan.plan.plan import Plan
from trainplan.search.columns import Chunk, Models, along, chunk
from trainplan.search.space import AXES, PIPELINE

CUT: Final = "cut of the pipeline"
"""The place of each pipeline's cut among those of the space: a rider, which is narrowed with the values of its axis."""

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trainplan.search.columns import Mask


@dataclass(slots=True, eq=False)
class Sieve:
    """Layouts that are left: values of every axis, which combinations live, and how many layouts each stands for.

    `tally` counts what was rejected by reason and `models` are those of the plan; sieves that were forked share both.
    """

    values: dict[str, NDArray[Any]]
    alive: Mask
    words: int
    tally: dict[str, int]
    models: Models
    _chunk: Chunk | None = field(default=None, repr=False)
    """What tokens and mesh say of these values; no word moves it."""

    def fork(self, words: int, values: dict[str, NDArray[Any]] | None = None) -> Sieve:
        """The same layouts with some words settled, and other values of some axes."""
        known = None if values else self._chunk
        return replace(self, values={**self.values, **(values or {})}, words=words, _chunk=known)

    def reject(self, broken: Mapping[str, Any]) -> None:
        """Take out the rows that are broken, by reason, count each under the first, and forget values that no row has."""
        gone = False
        for reason, rows in broken.items():
            if self.count(reason, rows):
                self.alive, gone = self.alive & ~rows, True
        if gone:
            self._narrow()

    def count(self, reason: str, rows: Any) -> int:
        """Count what lives among some rows as rejected, and leave it in."""
        out = self.alive & rows
        found = int(out.sum()) * self._continuations(out.shape)
        self.note(reason, found)
        return found

    def note(self, reason: str, layouts: int) -> None:
        """Count layouts as rejected."""
        if layouts:
            self.tally[reason] = self.tally.get(reason, 0) + layouts

    @property
    def lives(self) -> bool:
        """Whether any layout is left."""
        return bool(self.alive.any()) and 0 not in self.sizes()

    def sizes(self) -> tuple[int, ...]:
        """Values of every axis."""
        return tuple(len(self.values.get(path, (1,))) for path in AXES)

    def chunk(self, plan: Plan) -> Chunk:
        """The layouts with the words of a plan, each axis's values as a column that broadcasts against the others."""
        known = self._chunk
        if known is None or known.situation.plan is not plan:
            columns = {path: along(path, values) for path, values in self.values.items() if path in AXES}
            self._chunk = known = chunk(plan, columns, self.models) if known is None else known.of_words(plan, columns)
        return known

    def whole_mask(self) -> Mask:
        """Which rows live, with every axis as long as its values."""
        import numpy as np

        return np.broadcast_to(self.alive, self.sizes())

    def only(self, path: str, kept: Any) -> Sieve:
        """The rows with some values of one axis."""
        axis = AXES.index(path)
        alive = self.alive if self.alive.shape[axis] == 1 else self.alive.compress(kept, axis=axis)
        part = replace(self, values=dict(self.values), alive=alive, _chunk=None)
        part._keep(path, kept)
        part._narrow()
        return part

    def _keep(self, path: str, kept: Any) -> None:
        """Some values of one axis, and what rides on them."""
        for name in (path, CUT) if path == PIPELINE and CUT in self.values else (path,):
            self.values[name] = self.values[name][kept]
        self._chunk = None

    def _continuations(self, shape: tuple[int, ...]) -> int:
        """Layouts that a row of a mask of this shape stands for."""
        open_axes = (len(self.values.get(path, (1,))) for path, size in zip(AXES, shape, strict=True) if size == 1)
        return prod(open_axes) * self.words

    def _narrow(self) -> None:
        for axis, path in enumerate(AXES):
            if self.alive.shape[axis] > 1:
                kept = self.alive.any(axis=tuple(other for other in range(len(AXES)) if other != axis))
                if not kept.all():
                    self._keep(path, kept)
                    self.alive = self.alive.compress(kept, axis=axis)


def everything(values: dict[str, NDArray[Any]], words: int, tally: dict[str, int]) -> Sieve:
    """All combinations of the values, each with so many words."""
    import numpy as np

    return Sieve(values, np.ones((1,) * len(AXES), dtype=bool), words, tally, {})
