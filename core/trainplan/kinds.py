"""A word of a plan that decides which formula holds: one word for a plan, a column of words for many layouts.

On one plan the branch of its word is called, and it alone is explained. It refuses to know any word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from trainplan.figure import Figure
from trainplan.frozen import record
from trainplan.numeric import where


@record
class Kinds:
    """A word of a plan as a column: the words, and the place of each row's among them."""

    words: tuple[str, ...]
    places: Any

    def of(self, values: Sequence[Any]) -> Any:
        """Each row's own of some values, one for each word in order."""
        value = values[0]
        for place, other in enumerate(values[1:], 1):
            value = where(self.places == place, other, value)
        return value


def choose(kind: str | Kinds, **branches: Callable[[], Figure]) -> Figure:
    """The branch of that name, called; it alone is explained. On a column of kinds each row has its own."""
    if isinstance(kind, Kinds):
        return cast("Figure", kind.of([choose(word, **branches) for word in kind.words]))
    return branches[kind.replace("-", "_")]()
