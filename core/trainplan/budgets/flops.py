"""FLOPs of one trained token under every convention in use, side by side, so that no two are mixed up.

Matrix products only. Windows and chunks count in the causal and masked values, never in the full one. It knows no time,
and no layout but the recomputation that the plan asks for.
"""

from __future__ import annotations

from itertools import repeat
from math import fsum
from typing import Final

from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import counted, has_table, pattern
from trainplan.budgets.situation import Situation
from trainplan.formulas import attention as at
from trainplan.formulas import flops as fl
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, Quantity, first_blocked, require, summed, total, total_of

SUMS_TO_ONE: Final = 1e-9
"""How far from 1 weights may sum and be shares as they are."""


@record
class FlopsBudget:
    """FLOPs of one token, forward and backward, and the score term in two of them; keys averaged over the layers."""

    flops_per_token_6n: Figure
    flops_per_token_causal: Figure
    flops_per_token_full: Figure
    flops_per_token_hardware: Figure
    flops_per_token_masked: Figure
    causal_scores: Figure
    full_scores: Figure
    masked_scores: Figure
    causal_keys: Figure
    masked_keys: Figure


def flops_budget(s: Situation, model: ModelBudget, told: tuple[Figure, ...] | None = None) -> FlopsBudget:
    """FLOPs of one token at the situation's sequence length; documents by `told` weights of a stage, where it has its own."""
    length = s["data.sequence_length"]
    layers = attention_layers(s, model)
    whole = total_of(layers)
    summed = summed_keys(s, layers, length)
    masked = masked_keys(s, layers, length, told)
    full_scores = score_flops(model, at.weighted_keys(whole, length))
    causal_scores, masked_scores = score_flops(model, summed), score_flops(model, masked)
    linear = fl.linear_flops(model.matmul_parameters)
    causal, full = fl.token_flops(linear, causal_scores), fl.token_flops(linear, full_scores)
    return FlopsBudget(
        linear,
        causal,
        full,
        _hardware(s, causal, causal_scores),
        fl.token_flops(linear, masked_scores),
        causal_scores,
        full_scores,
        masked_scores,
        at.mean_keys(summed, whole),
        at.mean_keys(masked, whole),
    )


def score_flops(model: ModelBudget, keys: Figure) -> Figure:
    """FLOP of attention scores of one token that sees so many keys, summed over the layers; forward and backward."""
    shape = model.shape
    return fl.score_flops(shape.heads, shape.query_size, shape.value_size, keys)


def _hardware(s: Situation, causal: Figure, scores: Figure) -> Figure:
    recompute = s.word("parallelism.recompute")
    if recompute == "selective":
        return fl.selective_recompute_flops(causal, scores)
    return fl.full_recompute_flops(causal) if recompute == "full" else causal


def attention_layers(s: Situation, model: ModelBudget) -> dict[str, Figure]:
    """How many layers attend in each way, prediction depths among them, by kind."""
    words = pattern(s, "layer_types")
    depths = {"prediction_depths": s["model.mtp.num_nextn_predict_layers"]} if has_table(s, "mtp") else {}
    depth: Quantity = model.shape.layers
    if words is None or isinstance(depth, Blocked):
        return {"full_attention": total(layers=model.shape.layers, **depths) if depths else model.shape.layers}
    if len(words) != model.shape.layers:
        return {"full_attention": require(model.shape.layers, False, "model-layer-types")}
    found = {word: counted(s, "model.layer_types", word, words.count(word)) for word in dict.fromkeys(words)}
    if depths:
        found[words[-1]] = total(layers=found[words[-1]], **depths)
    return found


def summed_keys(s: Situation, layers: dict[str, Figure], length: Figure) -> Figure:
    """Keys that one query sees under a causal mask, summed over the layers."""
    if len(layers) == 1:
        kind, count = next(iter(layers.items()))
        return at.weighted_keys(count, _keys(s, kind, length))
    return total_of({kind: at.weighted_keys(count, _keys(s, kind, length)) for kind, count in layers.items()})


def _keys(s: Situation, kind: str, length: Figure) -> Figure:
    if kind == "sliding_attention":
        return at.window_keys(length, s["model.sliding_window"])
    if kind == "chunked_attention":
        own = s.value("model.attention_chunk_size") is not None
        return at.chunk_keys(length, s["model.attention_chunk_size" if own else "model.sliding_window"])
    return at.causal_keys(length)


def masked_keys(
    s: Situation, layers: dict[str, Figure], length: Figure, told: tuple[Figure, ...] | None = None
) -> Figure:
    """Keys that one query sees where attention stops at document borders, summed over the layers.

    `told` are weights of a stage, in place of the sources' own. A source whose mean document length is not given is taken to
    fill every sequence with one document.
    """
    sources = s.plan.data.sources
    if not s.plan.data.document_mask or all(source.mean_document_tokens is None for source in sources):
        return summed_keys(s, layers, length)
    names, shares = s.source_names(), _shares(s, told)
    given = s.of_sources("mean_document_tokens", "tokens")
    means = [None if source.mean_document_tokens is None else mean for source, mean in zip(sources, given, strict=True)]
    if set(layers) == {"full_attention"}:  # keys are linear in the length, so the mean length has the mean of the keys
        parts = [
            at.weighted_keys(one, length) if mean is None else at.weighted_length(one, mean, length)
            for one, mean in zip(shares, means, strict=True)
        ]
        return summed_keys(s, layers, summed(names, tuple(parts)))
    documents = [length if mean is None else at.document_length(mean, length) for mean in means]
    keys = [at.weighted_keys(one, summed_keys(s, layers, of)) for one, of in zip(shares, documents, strict=True)]
    return summed(names, tuple(keys))


def _shares(s: Situation, told: tuple[Figure, ...] | None) -> tuple[Figure, ...]:
    """Token share of each source as weights ask for it, a stage's or the plan's; blocked where a weight is missing."""
    if told is not None and first_blocked(told) is None and abs(fsum(told) - 1.0) < SUMS_TO_ONE:
        return told
    if told is not None:
        amounts = told
    elif all(source.weight is None for source in s.plan.data.sources):
        amounts = s.of_sources("unique_tokens", "tokens")
    else:
        amounts = s.of_sources("weight", "1")
    whole = summed(s.source_names(), amounts)
    return tuple(map(at.source_share, amounts, repeat(whole)))
