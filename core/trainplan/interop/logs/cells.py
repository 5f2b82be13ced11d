"""What stands in a printed line: cells between bars, and numbers that are read as numbers or not at all.

A log may hold anything. A number that is not finite, or past all sense, is none; a count is one of up to fifteen digits.
"""

from __future__ import annotations

from typing import Final

from trainplan.quantity.unit import whole_number

MEBI: Final = 2.0**20
GIBI: Final = 2.0**30
MOST: Final = 1e18
"""No log prints more of anything: what is made of a few such numbers is still finite."""


def cells(line: str) -> dict[str, str]:
    """The cells of a line by key."""
    parts = (cell.partition(":") for cell in line.split("|") if ":" in cell)
    return {key.strip(): value.strip() for key, _, value in parts}


def number(text: str | None) -> float | None:
    """A finite number below 10^18, or None. Of `now/mean so far`, as Primus prints, the first."""
    try:
        value = float((text or "").partition("/")[0].replace(",", ""))
    except ValueError:
        return None
    return value if -MOST < value < MOST else None


def cell(line: str, key: str) -> float | None:
    """The number after a key, where a bar closes its cell."""
    start = line.find(key)
    end = line.find("|", start) if start >= 0 else -1
    return number(line[start + len(key) : end]) if end >= 0 else None


def whole(text: str | None) -> int | None:
    """A count in digits, with thousands commas or without; None for what is none."""
    return whole_number((text or "").replace(",", ""))
