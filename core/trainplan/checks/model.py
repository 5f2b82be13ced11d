"""Rules inside [model] without which layers cannot be counted: a head of whole size, a word for each layer.

They relate two fields, so the plan opens with them and what they block is said. Nothing here judges a shape as good or bad.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.shape import pattern
from trainplan.estimation import Estimate
from trainplan.figure import Blocked
from trainplan.finding import Finding
from trainplan.unit import whole

LISTS: Final = ("layer_types", "mlp_layer_types")
"""Fields with one word for each layer."""


def heads_divide(estimate: Estimate) -> list[Finding]:
    """model-heads: without a head size of its own, the width divides into the query heads."""
    s = estimate.situation
    if s.value("model.head_dim") is not None or estimate.model.shape.latent:
        return []
    hidden, heads = s["model.hidden_size"], s["model.num_attention_heads"]
    if isinstance(hidden, Blocked) or isinstance(heads, Blocked) or hidden % heads == 0:
        return []
    below = int(hidden // heads * heads)
    near = " or ".join(f"{size:,}" for size in (below, below + int(heads)) if size > 0)
    message = f"hidden_size {whole(hidden)} does not divide into {whole(heads)} heads, and head_dim is not given"
    paths = ("model.hidden_size", "model.num_attention_heads", "model.head_dim")
    return [Finding("model-heads", "error", "model", message, f"hidden_size {near}, or head_dim", paths, 1e6)]


def layer_types_match(estimate: Estimate) -> list[Finding]:
    """model-layer-types: a list that names a kind for each layer has as many words as there are layers."""
    return [finding for field in LISTS for finding in _list_matches(estimate, field)]


def _list_matches(estimate: Estimate, field: str) -> list[Finding]:
    words, layers = pattern(estimate.situation, field), estimate.model.shape.layers
    if words is None or isinstance(layers, Blocked) or len(words) == layers:
        return []
    message = f"{field} has {_entries(len(words))}, and num_hidden_layers is {whole(layers)}"
    paths = (f"model.{field}", "model.num_hidden_layers")
    return [Finding("model-layer-types", "error", "model", message, _entries(layers), paths, 1e6)]


def _entries(count: float) -> str:
    return "1 entry" if count == 1 else f"{whole(count)} entries"


REFUSE: Final = {"megatron": "Megatron-LM", "torchtitan": "torchtitan"}
"""Frameworks that refuse more tokens than positions even where none is learned.

Megatron-LM d98e8a6, training/arguments.py: max_position_embeddings >= seq_length; torchtitan b5bcd76, models/common/decoder.py.
"""


def positions_reach(estimate: Estimate) -> list[Finding]:
    """model-positions: no sequence is longer than the positions of the model; learned ones end there, others are configured."""
    s, stretches = estimate.situation, estimate.tokens.stretches
    most, lengths = s.value("model.max_position_embeddings"), [one.sequence_length for one in stretches]
    known = [int(one) for one in lengths if not isinstance(one, Blocked)]
    if most is None or not known or max(known) <= int(most):
        return []
    learned, refuses = s.word("model.position_embedding") == "learned", REFUSE.get(estimate.plan.training.framework)
    if not learned and refuses is None:
        return []
    why = "it has learned no more" if learned else f"{refuses} refuses more"
    message = f"a sequence of {max(known):,} tokens and a model of {int(most):,} positions: {why}"
    fix, paths = f"max_position_embeddings = {max(known)}", ("model.max_position_embeddings", "data.sequence_length")
    return [Finding("model-positions", "error" if learned else "warning", "model", message, fix, paths, 1e5)]


MODEL_CHECKS: Final = (heads_divide, layer_types_match, positions_reach)
