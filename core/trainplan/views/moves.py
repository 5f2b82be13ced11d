"""Which quantities a plan field moves: those that it is an input of, however far down."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure, Given

JUDGES: Final = {"memory.target_fraction": "finding M1 and the search hold the total to it"}
"""Fields that no figure rests on, since findings and searches compare figures with them; what does so."""

_KNOWN: WeakKeyDictionary[Estimate, dict[str, tuple[str, ...]]] = WeakKeyDictionary()


def dependents(estimate: Estimate, path: str) -> tuple[str, ...]:
    """Keys of the quantities that rest on a plan field, in the order of the panes."""
    known = _KNOWN.get(estimate)
    if known is None:
        known = _KNOWN[estimate] = _all(estimate)
    return known.get(path, ())


def _all(estimate: Estimate) -> dict[str, tuple[str, ...]]:
    memory: dict[int, frozenset[str]] = {}
    found: dict[str, list[str]] = {}
    for key, value in estimate.quantities.items():
        if isinstance(value, Figure):
            for path in _fields_under(value, memory):
                found.setdefault(path, []).append(key)
    return {path: tuple(keys) for path, keys in found.items()}


def _fields_under(figure: Figure, memory: dict[int, frozenset[str]]) -> frozenset[str]:
    known = memory.get(id(figure))
    if known is None:
        own = {figure.origin.name} if isinstance(figure.origin, Given) and figure.origin.is_field else set[str]()
        known = memory[id(figure)] = frozenset(own).union(*(_fields_under(item, memory) for item in figure.inputs))
    return known
