"""What packing does to documents: which are cut, what is padding, what masks take out of attention.

Lengths are the sources' means, or their histograms. Without lengths nothing of this can be told, and nothing is.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from trainplan.budgets.flops import FlopsBudget
from trainplan.budgets.mixture import MixtureBudget, SourceBudget
from trainplan.budgets.situation import Situation
from trainplan.formulas import mixture as m
from trainplan.formulas import packing as f
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, blocked, given, summed, total_of

BEST_FIT_PADDING = given(
    "padding of best-fit packing",
    0.001,
    "1",
    "Ding et al. 2024, arXiv 2404.10830: at least 0.999 full from 2,048 tokens on, from memory",
    kind="published",
    verified=False,
)
NO_PADDING = given("padding of concatenation", 0.0, "1", "definition: only the last sequence is open", kind="file")
BEST_FIT_FROM = 2048
"""Sequence length (tokens) from which the published padding of best-fit packing holds."""


@record
class PackingBudget:
    """Share of documents cut, and of batches that is padding; share of score FLOP that masks leave out."""

    cut_share: Figure
    padding_share: Figure
    mask_saving: Figure
    cuts: dict[str, Figure]


@record
class Documents:
    """Documents of one length in the mixture: how many one token of it brings, their length."""

    source: str
    rate: Figure
    length: Figure


def packing_budget(s: Situation, mixture: MixtureBudget, length: Figure, flops: FlopsBudget) -> PackingBudget:
    """Packing at one sequence length (tokens), that of the last stretch; `none` where a source has no lengths."""
    groups = _groups(s, mixture)
    saving = blocked("none")
    if s.plan.data.document_mask and any(one.mean_document_tokens is not None for one in s.plan.data.sources):
        saving = f.mask_saving(flops.masked_scores, flops.causal_scores)
    cutting = f.cut_by_concatenation if s.plan.data.packing == "concat" else f.cut_where_longer
    parts = [cutting(group.length, length) for group in groups]
    cut = _mean(groups, parts) if groups else blocked("none")
    return PackingBudget(cut, _padding(s, groups, length), saving, _cuts(groups, parts))


def padding_at(s: Situation, mixture: MixtureBudget, length: Figure) -> Figure:
    """Share of batches that is padding at a sequence length (tokens), which differs between stretches of a run."""
    return _padding(s, _groups(s, mixture), length)


def _groups(s: Situation, mixture: MixtureBudget) -> list[Documents]:
    found: list[Documents] = []
    for row, source in zip(mixture.rows, s.plan.data.sources, strict=True):
        if isinstance(row.share, Blocked):
            return []
        if row.share > 0:
            if source.document_lengths:
                found += _of_histogram(row, source.document_lengths)
            elif isinstance(row.length, Blocked) and source.document_lengths is None:
                return []
            else:
                found.append(Documents(row.name, f.document_rate(row.share, row.length), row.length))
    return found


def _of_histogram(row: SourceBudget, bins: tuple[tuple[float, float], ...]) -> list[Documents]:
    path = f"data.sources.{row.name}.document_lengths"
    pairs = [(_field(path, length, "tokens"), _field(path, documents, "1")) for length, documents in bins]
    tokens = total_of({f"bin {i + 1}": m.weighted_length(count, length) for i, (length, count) in enumerate(pairs)})
    each = f.document_rate(row.share, tokens)
    return [Documents(row.name, f.weighted_part(each, count), length) for length, count in pairs]


def _field(path: str, value: float, unit: str) -> Figure:
    return given(path, float(value), unit, "plan file", kind="file", is_field=True)


def _mean(groups: list[Documents], parts: list[Figure]) -> Figure:
    """Mean over documents of a part of each."""
    names, rates = _group_names(len(groups)), tuple([group.rate for group in groups])
    return f.weighted_mean(summed(names, tuple(map(f.weighted_part, rates, parts))), summed(names, rates))


@cache
def _group_names(count: int) -> tuple[str, ...]:
    return tuple(f"group {place}" for place in range(1, count + 1))


def _cuts(groups: list[Documents], parts: list[Figure]) -> dict[str, Figure]:
    """The share of documents cut in every source of one length; a histogram has its share in the mean alone."""
    counts = Counter([group.source for group in groups])
    return {group.source: part for group, part in zip(groups, parts, strict=True) if counts[group.source] == 1}


def _padding(s: Situation, groups: list[Documents], sequence: Figure) -> Figure:
    if s.plan.data.packing == "concat":
        return NO_PADDING
    if s.plan.data.packing == "best-fit":
        full = isinstance(sequence, Figure) and sequence >= BEST_FIT_FROM
        return BEST_FIT_PADDING if full else blocked("none")
    if not groups:
        return blocked("none")
    return f.padding_share(_mean(groups, [f.kept_length(group.length, sequence) for group in groups]), sequence)
