"""A word of a plan that decides which formula holds, as a column of words for many layouts. It refuses to know any word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainplan.frozen import record
from trainplan.quantity.numeric import where


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
