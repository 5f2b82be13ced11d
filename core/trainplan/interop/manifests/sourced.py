"""Counts of manifests beside the sources of a plan, and the one edit that writes them there.

A source is found by its name, or by the manifest that it names. Weights are nobody's count: they are left alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trainplan.budgets.situation import Situation
from trainplan.interop.manifests.counts import Counts, ManifestError
from trainplan.interop.manifests.reading import counts_of, vocabulary_error
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.splice import append_entry, set_value
from trainplan.plan.tables import Source
from trainplan.quantity.figure import Figure

FIELDS: Final = ("unique_tokens", "documents", "mean_document_tokens", "manifest")


def counted(manifests: Sequence[Path], folder: Path) -> tuple[Counts, ...]:
    """What manifests count; their paths are told from the plan's folder, wherever the call is made."""
    found = [replace(one, manifest=os.path.relpath(path, folder)) for path in manifests for one in counts_of(path)]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        last = [path for path in manifests for one in counts_of(path) if one.name == twice][-1]
        raise ManifestError(f"{last}: {twice} is in {names.count(twice)} manifests. A source has one")
    return tuple(found)


def unfit(plan: Plan, counts: Sequence[Counts]) -> str:
    """Why token ids of this plan's vocabulary do not fit the manifests' dtype; empty where they do."""
    size = Situation(plan)["model.vocab_size"]
    vocabulary = int(size) if isinstance(size, Figure) else None
    errors = [error for one in counts if (error := vocabulary_error(one, vocabulary))]
    return ". ".join(errors) + ". 4 bytes are right" if errors else ""


@dataclass(frozen=True, slots=True)
class Beside:
    """One source of a manifest beside the plan's: the plan's place and values (None where it has none), the counted ones."""

    counts: Counts
    place: int | None
    planned: dict[str, float | str | None]
    counted: dict[str, float | str | None]

    @property
    def changes(self) -> dict[str, float | str]:
        """Fields that the manifest tells and the plan says otherwise or not at all."""
        return {
            field: value
            for field, value in self.counted.items()
            if value is not None and value != self.planned.get(field)
        }


def beside(plan: Plan, counts: Sequence[Counts]) -> tuple[Beside, ...]:
    """What manifests count, source by source, beside what the plan says."""
    return tuple(_beside(plan, one) for one in counts)


def _beside(plan: Plan, counts: Counts) -> Beside:
    place = _place(plan, counts)
    planned = {field: None if place is None else _plain(plan.data.sources[place], field) for field in FIELDS}
    mean = counts.mean_document_tokens
    counted: dict[str, float | str | None] = {
        "unique_tokens": counts.tokens,
        "documents": counts.documents,
        "mean_document_tokens": None if mean is None else float(f"{mean:.6g}"),
        "manifest": counts.manifest,
    }
    return Beside(counts, place, planned, counted)


def _plain(source: Source, field: str) -> float | str | None:
    value: float | str | None = getattr(source, field)
    return value if value is None or isinstance(value, str) else float(value)


def _place(plan: Plan, counts: Counts) -> int | None:
    sources = list(enumerate(plan.data.sources))
    named = next((i for i, source in sources if source.name == counts.name), None)
    return named if named is not None else next((i for i, one in sources if one.manifest == counts.manifest), None)


def written(text: str, found: Sequence[Beside]) -> str:
    """The plan's text with every count in it: changed fields in their places, new sources at the end. Raises SpliceError."""
    for one in found:
        literals = {field: _literal(value) for field, value in one.changes.items()}
        if one.place is None:
            text = append_entry(text, ("data", "sources"), {"name": literal_of(one.counts.name), **literals})
            continue
        for field, literal in literals.items():
            text = set_value(text, ("data", "sources", one.place, field), literal)
    return text


def _literal(value: float | str) -> str:
    return literal_of(int(value) if isinstance(value, float | int) and value == int(value) else value)
