"""What packing does to documents: which are cut, what is padding, what masks take out of attention.

Lengths are the sources' means, or their histograms. Without lengths nothing of this can be told, and nothing is.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import chain

from trainplan.budgets.flops import FlopsBudget, attention_layers, masked_keys, score_flops, summed_keys
from trainplan.budgets.mixture import MixtureBudget, SourceBudget, stage_names
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.weights import Figures, Phase
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


@record
class _Part:
    """Stages of one sequence length, in which the same documents pack alike: their tokens and shares together."""

    name: str
    length: Figure
    tokens: Figure
    shares: Figures
    groups: tuple[Documents, ...]


def packing_budget(s: Situation, model: ModelBudget, mixture: MixtureBudget, flops: FlopsBudget) -> PackingBudget:
    """Packing of the run: each stage at its own length and mixture. `none` where a source has no lengths.

    `flops` are those of the last stage, which is all of a run that packs in one way.
    """
    parts = _parts(s, mixture)
    cutting = f.cut_by_concatenation if s.plan.data.packing == "concat" else f.cut_where_longer
    cut = [[cutting(one.length, part.length) for one in part.groups] for part in parts]
    return PackingBudget(
        _cut(parts, cut), _padding(s, parts), _saving(s, model, mixture.phases, parts, flops), _cuts(parts, cut)
    )


def _parts(s: Situation, mixture: MixtureBudget) -> list[_Part]:
    phases, names = mixture.phases, stage_names(mixture.phases)
    lengths: dict[float | str, list[int]] = {}
    for place, phase in enumerate(phases):
        key = float(phase.length) if isinstance(phase.length, Figure) else phase.length.code
        lengths.setdefault(key, []).append(place)
    return [_part(s, mixture, names, places) for places in lengths.values()]


def _part(s: Situation, mixture: MixtureBudget, names: tuple[str, ...], places: list[int]) -> _Part:
    phases, rows, first = mixture.phases, mixture.rows, mixture.phases[places[0]]
    tokens = total_of({names[i]: phases[i].tokens for i in places}) if len(places) > 1 else first.tokens
    if all(phases[i].shares == first.shares for i in places):
        shares = first.shares
    elif len(places) == len(phases):
        shares = tuple([row.share for row in rows])
    else:
        drawn = [total_of({names[i]: row.stage_drawn[i] for i in places}) for row in rows]
        shares = tuple([m.drawn_share(one, tokens) for one in drawn])
    groups = tuple(_groups(s, rows, shares))
    return _Part(" and ".join([names[i] for i in places]), first.length, tokens, shares, groups)


def _over(parts: list[_Part], of_each: list[Figure]) -> Figure:
    """A part of each token, over the tokens of all stages; as it is where they all pack in one way."""
    if len(parts) == 1:
        return of_each[0]
    tokens = [part.tokens for part in parts]
    return summed(tuple([part.name for part in parts]), tuple(map(f.stage_part, tokens, of_each)))


def _cut(parts: list[_Part], cut: list[list[Figure]]) -> Figure:
    """The share of documents cut, of all that the run packs."""
    if not all(part.groups for part in parts):
        return blocked("none")
    every = [summed(_group_names(len(part.groups)), tuple([one.rate for one in part.groups])) for part in parts]
    return f.weighted_mean(_over(parts, list(map(_summed, parts, cut))), _over(parts, every))


def _saving(
    s: Situation, model: ModelBudget, phases: tuple[Phase, ...], parts: list[_Part], flops: FlopsBudget
) -> Figure:
    if not s.plan.data.document_mask or all(one.mean_document_tokens is None for one in s.plan.data.sources):
        return blocked("none")
    if len(phases) == 1:
        return f.mask_saving(flops.masked_scores, flops.causal_scores)
    layers = attention_layers(s, model)
    masked = [masked_keys(s, layers, part.length, part.shares) for part in parts]
    causal = [summed_keys(s, layers, part.length) for part in parts]
    return f.mask_saving(
        _over(parts, [score_flops(model, keys) for keys in masked]),
        _over(parts, [score_flops(model, keys) for keys in causal]),
    )


def _groups(s: Situation, rows: tuple[SourceBudget, ...], shares: Figures) -> list[Documents]:
    found: list[Documents] = []
    for row, share, source in zip(rows, shares, s.plan.data.sources, strict=True):
        if isinstance(share, Blocked):
            return []
        if share > 0:
            if source.document_lengths:
                found += _of_histogram(row, share, source.document_lengths)
            elif isinstance(row.length, Blocked) and source.document_lengths is None:
                return []
            else:
                found.append(Documents(row.name, f.document_rate(share, row.length), row.length))
    return found


def _of_histogram(row: SourceBudget, share: Figure, bins: tuple[tuple[float, float], ...]) -> list[Documents]:
    path = f"data.sources.{row.name}.document_lengths"
    pairs = [(_field(path, length, "tokens"), _field(path, documents, "1")) for length, documents in bins]
    tokens = total_of({f"bin {i + 1}": m.weighted_length(count, length) for i, (length, count) in enumerate(pairs)})
    each = f.document_rate(share, tokens)
    return [Documents(row.name, f.weighted_part(each, count), length) for length, count in pairs]


def _field(path: str, value: float, unit: str) -> Figure:
    return given(path, float(value), unit, "plan file", kind="file", is_field=True)


def _summed(part: _Part, of_each: list[Figure]) -> Figure:
    """A part of each document, over the documents that a token of a stage brings."""
    rates = [one.rate for one in part.groups]
    return summed(_group_names(len(rates)), tuple(map(f.weighted_part, rates, of_each)))


@cache
def _group_names(count: int) -> tuple[str, ...]:
    return tuple(f"group {place}" for place in range(1, count + 1))


def _cuts(parts: list[_Part], cut: list[list[Figure]]) -> dict[str, Figure]:
    """The share of documents cut in every source of one length; a histogram has its share in the mean alone."""
    alone: list[dict[str, tuple[Documents, Figure]]] = []
    for part, shares in zip(parts, cut, strict=True):
        counts = Counter([group.source for group in part.groups])
        pairs = zip(part.groups, shares, strict=True)
        alone.append({group.source: (group, share) for group, share in pairs if counts[group.source] == 1})
    if len(parts) == 1:
        return {name: share for name, (_, share) in alone[0].items()}
    return {name: _cut_of(name, parts, alone) for name in dict.fromkeys(chain.from_iterable(alone))}


def _cut_of(name: str, parts: list[_Part], alone: list[dict[str, tuple[Documents, Figure]]]) -> Figure:
    """The share of a source's documents cut in the stages that draw from it."""
    of_it = [(part, *found[name]) for part, found in zip(parts, alone, strict=True) if name in found]
    if len(of_it) == 1:
        return of_it[0][2]
    names = tuple([part.name for part, _, _ in of_it])
    each = [f.stage_part(part.tokens, one.rate) for part, one, _ in of_it]
    weighted = [f.weighted_part(count, share) for count, (_, _, share) in zip(each, of_it, strict=True)]
    return f.weighted_mean(summed(names, tuple(weighted)), summed(names, tuple(each)))


def _padding(s: Situation, parts: list[_Part]) -> Figure:
    """The share of batches that is padding, of all tokens of the run."""
    if s.plan.data.packing == "concat":
        return NO_PADDING
    found = [_padding_at(s, part) for part in parts]
    blank = next((one for one in found if isinstance(one, Blocked)), None)
    if blank is not None or len(found) == 1 or all(one is BEST_FIT_PADDING for one in found):
        return blank or found[0]
    return f.weighted_mean(
        _over(parts, found), summed(tuple([part.name for part in parts]), tuple([part.tokens for part in parts]))
    )


def _padding_at(s: Situation, part: _Part) -> Figure:
    sequence = part.length
    if s.plan.data.packing == "best-fit":
        full = isinstance(sequence, Figure) and sequence >= BEST_FIT_FROM
        return BEST_FIT_PADDING if full else blocked("none")
    if not part.groups:
        return blocked("none")
    rates = summed(_group_names(len(part.groups)), tuple([one.rate for one in part.groups]))
    kept = _summed(part, [f.kept_length(one.length, sequence) for one in part.groups])
    return f.padding_share(f.weighted_mean(kept, rates), sequence)
