"""How checks write passes and weights in a sentence: few digits, rounded to the side that holds."""

from __future__ import annotations

import math

from trainplan.labels.series import series
from trainplan.quantity.unit import significant


def at_most(value: float, digits: int = 4) -> float:
    """The largest number of so many digits that is not above."""
    unit = _unit(value, digits)
    return math.floor(value / unit + 1e-9) * unit if value > 0 else 0.0


def at_least(value: float, digits: int = 4) -> float:
    """The least number of so many digits that is not below."""
    unit = _unit(value, digits)
    return math.ceil(value / unit - 1e-9) * unit if value > 0 else 0.0


def _unit(value: float, digits: int) -> float:
    return 10.0 ** max(math.floor(math.log10(value)) - digits + 1, -300) if value > 0 else 1.0


def passes(value: float) -> str:
    """Passes with three digits."""
    return significant(value, 3)


def share(value: float) -> str:
    """A weight or share with the digits that it needs, four significant at most."""
    return f"{value:.4g}"


def listed(names: list[str], most: int = 3) -> str:
    """Names in a sentence: the first few, and how many more there are."""
    shown = series(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
