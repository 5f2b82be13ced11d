"""Weights as the plan says them and shares as the sampler makes them, stage by stage.

Weights are never renormalised in silence: where their sum is not 1, what the sampler does with it holds, and D3 says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import repeat

from trainplan.budgets.contract import Contract
from trainplan.budgets.situation import Situation, field_origins
from trainplan.budgets.tokens import Stretch, TokenBudget
from trainplan.formulas import mixture as f
from trainplan.frozen import record
from trainplan.plan.tables import Stage
from trainplan.quantity.figure import Figure, blocked, entered, fields_given, first_blocked, given, summed, total_of

NO_OTHER = given("no other source", 0.0, "1", "definition", kind="file")
TOLERANCE = 1e-6
"""How far from 1 weights may sum: rounding of what people type, never a missing percent."""

Figures = tuple[Figure, ...]


@record
class Phase:
    """A stage of the mixture: where it begins, its tokens, weights as told and shares as realised, source by source."""

    name: str
    path: str
    begin: Figure
    tokens: Figure
    length: Figure
    weights: Figures
    shares: Figures


def phases(s: Situation, tokens: TokenBudget, rule: Contract | None) -> tuple[Phase, ...]:
    """The stages of the plan, or the whole run as one, with the weights and shares of every source."""
    stages = s.plan.data.stages
    if not stages or s.plan.batch.schedule:
        return (_whole(s, rule, tokens),)
    found = zip(tokens.stretches, stages, range(len(stages)), strict=True)
    return tuple([_phase(s, rule, one, f"data.stages.{stage.name or i}.", stage) for one, stage, i in found])


def _whole(s: Situation, rule: Contract | None, tokens: TokenBudget) -> Phase:
    """The run as one phase, whatever its batch schedule; blocked as its stretch is where stages forbid that."""
    first, told = tokens.stretches[0], _told(s, None, "")
    blocked_so = len(tokens.stretches) == 1 and not isinstance(first.tokens, Figure)
    whole = first.tokens if blocked_so else tokens.train_tokens
    return Phase("the run", "", first.begin, whole, first.sequence_length, told, _shares(s, rule, told))


def _phase(s: Situation, rule: Contract | None, one: Stretch, path: str, stage: Stage) -> Phase:
    told = _told(s, stage, path)
    return Phase(one.name, path, one.begin, one.tokens, one.sequence_length, told, _shares(s, rule, told))


def _told(s: Situation, stage: Stage | None, path: str) -> Figures:
    if stage is not None and stage.weights is not None:
        return _of_stage(stage.weights, path, s.source_names())
    if any(one.weight is not None for one in s.plan.data.sources):
        return s.of_sources("weight", "1")
    return _by_size(s)


def own_weights(s: Situation, place: int) -> Figures | None:
    """The weights that a stage has of its own, source by source; None where it takes the sources', or there are no stages."""
    stages = s.plan.data.stages
    if place >= len(stages) or stages[place].weights is None or s.plan.batch.schedule:
        return None
    return _told(s, stages[place], f"data.stages.{stages[place].name or place}.")


def _of_stage(weights: Mapping[str, float], path: str, names: tuple[str, ...]) -> Figures:
    origins = field_origins(names, f"{path}weights.", "", "1")
    if all(map(weights.__contains__, names)):
        return fields_given(origins, map(weights.get, names))
    absent = "plan file: a source that the stage does not name is 0"
    told = zip(names, origins, strict=True)
    return tuple(
        [
            entered(origin if name in weights else origin._replace(source=absent), weights.get(name, 0.0))
            for name, origin in told
        ]
    )


def _by_size(s: Situation) -> Figures:
    """Weights where the plan gives none: by unique tokens, to the power of the temperature where that is written."""
    amounts = uniques(s)
    if s.written("data.temperature"):
        amounts = tuple(map(f.temperature_weight, amounts, repeat(s["data.temperature"])))
    return _of_whole(s, amounts)


def _of_whole(s: Situation, amounts: Figures) -> Figures:
    """The share of each in the sum of all."""
    return tuple(map(f.weight_share, amounts, repeat(summed(s.source_names(), amounts))))


def uniques(s: Situation) -> Figures:
    """Unique tokens of every source."""
    return s.of_sources("unique_tokens", "tokens")


def lengths(s: Situation) -> Figures:
    """Mean document length of every source: as given, else unique tokens over documents, else blocked as missing."""
    told, sources = s.of_sources("mean_document_tokens", "tokens"), s.plan.data.sources
    if not any(one.mean_document_tokens is None and one.documents is not None for one in sources):
        return told
    counts = s.of_sources("documents", "1")
    found = zip(sources, told, uniques(s), counts, strict=True)
    return tuple(
        [
            f.mean_length(unique, count) if one.mean_document_tokens is None and one.documents is not None else length
            for one, length, unique, count in found
        ]
    )


def _named(s: Situation, parts: Figures) -> dict[str, Figure]:
    return dict(zip(s.source_names(), parts, strict=True))


def off(weights: Figures) -> bool:
    """Whether weights miss a sum of 1 by more than rounding."""
    return abs(math.fsum(weights) - 1.0) > TOLERANCE


def _shares(s: Situation, rule: Contract | None, told: Figures) -> Figures:
    if rule is None:
        return tuple(blocked("missing:data.sampler") for _ in told)
    absent = first_blocked(told)
    if absent is not None and rule.weights != "unused":
        return tuple(blocked(absent.code) for _ in told)
    weights = _normal(s, rule, told)
    if first_blocked(weights) is not None:
        return weights
    if rule.draws_documents:
        return _by_document(s, weights)
    return _by_block(s, rule, weights) if rule.name == "levanter" else weights


def _normal(s: Situation, rule: Contract, told: Figures) -> Figures:
    """Weights that sum to 1 by the sampler's own rule; blocked by D3 where it refuses them."""
    if rule.weights == "unused":
        return _of_whole(s, uniques(s))
    if not off(told):
        return told
    if rule.weights == "refused" or math.fsum(told) == 0.0:
        return tuple(blocked("D3") for _ in told)
    return _of_whole(s, told)


def _by_document(s: Situation, weights: Figures) -> Figures:
    """Token shares of draws of documents. A source that is never drawn needs no length."""
    names, long = s.source_names(), lengths(s)
    parts = [
        weight if weight == 0 else f.weighted_length(weight, one) for weight, one in zip(weights, long, strict=True)
    ]
    whole = total_of({name: part for name, part, weight in zip(names, parts, weights, strict=True) if weight != 0})
    shares = zip(parts, weights, strict=True)
    return tuple([weight if weight == 0 else f.document_share(part, whole) for part, weight in shares])


def _by_block(s: Situation, rule: Contract, weights: Figures) -> Figures:
    block = s["data.mixture_block"] if s.written("data.mixture_block") else rule.numbers["block"]
    counts = list(map(f.block_count, weights, repeat(block)))
    if not counts:
        return ()
    largest = max(range(len(counts)), key=lambda i: (counts[i], -i))
    others = {name: one for i, (name, one) in enumerate(_named(s, tuple(counts)).items()) if i != largest}
    counts[largest] = f.block_rest(block, total_of(others) if others else NO_OTHER)
    return tuple(map(f.block_share, counts, repeat(block)))
