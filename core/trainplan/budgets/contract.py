"""What the chosen sampler does, as the wiring needs it: words to branch on and the sampler's own numbers.

The sentences that people read stay in the catalogue; this holds no number that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from trainplan.budgets.situation import Situation
from trainplan.catalogue import Entry, entry
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given


@record
class Contract:
    """One sampler: `weights` is what becomes of a sum other than 1 (normalised, refused, unused, premixed); `seen` is how
    repeats come (once, joint-epochs, replacement); `draws_documents` tells shares of items from shares of tokens."""

    name: str
    entry: Entry
    weights: str
    seen: str
    draws_documents: bool
    per_rank: bool
    numbers: Mapping[str, Figure]


@cache
def contract_of(name: str) -> Contract | None:
    """The contract of a sampler by its name in the plan; None where the catalogue has none."""
    found = entry("samplers", name)
    if found is None:
        return None
    documents = found["mix_unit"].value in ("document", "shard")
    words = str(found["weights"].value), str(found["seen"].value)
    return Contract(name, found, *words, documents, bool(found["per_rank"].value), dict(_numbers(found)))


def _numbers(found: Entry) -> list[tuple[str, Figure]]:
    """The numbers of a sampler by their keys, as figures."""
    return [
        (
            key,
            given(f"catalogue.samplers.{found.name}.{key}", fact.value, fact.unit, fact.source, verified=fact.verified),
        )
        for key, fact in found.facts.items()
        if isinstance(fact.value, int | float) and not isinstance(fact.value, bool)
    ]


def contract(s: Situation) -> Contract | None:
    """The contract of the plan's sampler; None where the plan names none."""
    return contract_of(s.plan.data.sampler) if s.plan.data.sampler else None
