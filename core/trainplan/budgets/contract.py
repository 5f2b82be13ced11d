"""What the chosen sampler does, as the wiring needs it: words to branch on and the sampler's own numbers.

The sentences that people read stay in the catalogue; this holds no number that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from trainplan.budgets.situation import Situation
from trainplan.catalogue import Entry, entry
from trainplan.figure import Figure, blocked, given


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """One sampler: `weights` is what becomes of a sum other than 1 (normalised, refused, unused, premixed); `seen` is how
    repeats come (once, joint-epochs, replacement); `draws_documents` tells shares of items from shares of tokens."""

    name: str
    entry: Entry
    weights: str
    seen: str
    draws_documents: bool
    per_rank: bool

    def number(self, key: str) -> Figure:
        """A number of the sampler, blocked where the catalogue has none."""
        fact = self.entry.get(key)
        if fact is None:
            return blocked(f"missing:catalogue.samplers.{self.name}.{key}")
        name = f"catalogue.samplers.{self.name}.{key}"
        return given(name, float(fact.value), fact.unit, fact.source, verified=fact.verified)


@cache
def contract_of(name: str) -> Contract | None:
    """The contract of a sampler by its name in the plan; None where the catalogue has none."""
    found = entry("samplers", name)
    if found is None:
        return None
    documents = found["mix_unit"].value in ("document", "shard")
    return Contract(
        name, found, str(found["weights"].value), str(found["seen"].value), documents, bool(found["per_rank"].value)
    )


def contract(s: Situation) -> Contract | None:
    """The contract of the plan's sampler; None where the plan names none."""
    return contract_of(s.plan.data.sampler) if s.plan.data.sampler else None
