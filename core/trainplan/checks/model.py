"""Rules inside [model] without which layers cannot be counted: heads and groups of whole size, experts enough, a word
for each layer, a position for each token.

They relate two fields, so the plan opens with them and what they block is said. Nothing here judges a shape as good or bad.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.layout import divisors
from trainplan.budgets.shape import MOST_LAYERS, pattern
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.unit import whole

WIDTH: Final = 64
"""A width that is a multiple of this is as models have it, so that the heads are what does not fit to it."""
LISTS: Final = ("layer_types", "mlp_layer_types")
"""Fields with one word for each layer."""


def depth_counted(estimate: Estimate) -> list[Finding]:
    """model-depth: layers are laid out one by one, and past all sense they are not."""
    layers = estimate.model.shape.layers
    if not isinstance(layers, Figure) or layers <= MOST_LAYERS:
        return []
    message = f"{whole(layers)} layers; at most {whole(MOST_LAYERS)} are laid out one by one"
    paths = ("model.num_hidden_layers",)
    return [Finding("model-depth", "error", "model", message, f"at most {whole(MOST_LAYERS)}", paths, 1e6)]


def heads_divide(estimate: Estimate) -> list[Finding]:
    """model-heads: without a head size of its own, the width divides into the query heads."""
    s = estimate.situation
    if s.value("model.head_dim") is not None or estimate.model.shape.latent:
        return []
    hidden, heads = s["model.hidden_size"], s["model.num_attention_heads"]
    if isinstance(hidden, Blocked) or isinstance(heads, Blocked) or hidden % heads == 0:
        return []
    message = f"hidden_size {whole(hidden)} does not divide into {whole(heads)} heads, and head_dim is not given"
    sides = ("model.hidden_size", "model.num_attention_heads")
    if hidden % WIDTH == 0:
        sides, fix = sides[::-1], f"num_attention_heads = {_near_heads(int(hidden), int(heads))}, or head_dim"
    else:
        below = int(hidden // heads * heads)
        fix = f"hidden_size {' or '.join(f'{size:,}' for size in (below, below + int(heads)) if size > 0)}, or head_dim"
    return [Finding("model-heads", "error", "model", message, fix, (*sides, "model.head_dim"), 1e6)]


def _near_heads(hidden: int, heads: int) -> str:
    """The counts of heads next to the plan's that divide the width."""
    near = divisors(hidden)
    sides = [*[count for count in near if count < heads][-1:], *[count for count in near if count > heads][:1]]
    return " or ".join(f"{count:,}" for count in sides)


def groups_divide(estimate: Estimate) -> list[Finding]:
    """model-groups: query heads divide into the key heads. flash-linear-attention issue 1029: a rest leaves heads unwritten."""
    s = estimate.situation
    if estimate.model.shape.latent:
        return []
    heads, keys = s["model.num_attention_heads"], s["model.num_key_value_heads"]
    if not isinstance(heads, Figure) or not isinstance(keys, Figure) or heads % keys == 0:
        return []
    near = divisors(int(heads))
    below, above = [n for n in near if n < keys][-1:], [n for n in near if n > keys][:1]
    message = f"{whole(heads)} query heads do not divide into {whole(keys)} key heads"
    fix = f"num_key_value_heads = {' or '.join(str(count) for count in (*below, *above))}"
    paths = ("model.num_key_value_heads", "model.num_attention_heads")
    return [Finding("model-groups", "error", "model", message, fix, paths, 1e6)]


def experts_enough(estimate: Estimate) -> list[Finding]:
    """model-experts: a token goes to no more experts than there are."""
    s = estimate.situation
    if estimate.model.shape.expert_layers is None:
        return []
    experts, chosen = s["model.moe.num_experts"], s["model.moe.num_experts_per_tok"]
    if not isinstance(experts, Figure) or not isinstance(chosen, Figure) or chosen <= experts:
        return []
    message = f"a token goes to {whole(chosen)} experts, and a layer has {whole(experts)}"
    paths = ("model.moe.num_experts_per_tok", "model.moe.num_experts")
    return [Finding("model-experts", "error", "model", message, f"at most {whole(experts)} a token", paths, 1e6)]


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
    """model-positions: a sequence is no longer than the table of learned positions; past it there is no row to look up.

    transformers issue 125 and pull request 29600, ArcticTraining issue 46. With rotary positions it is only what the
    configuration says, which some frameworks hold the run to.
    """
    s = estimate.situation
    kind, most = s.word("model.position_embedding"), s.value("model.max_position_embeddings")
    if kind in ("alibi", "none") or not isinstance(most, int | float):
        return []
    learned, refuses = kind == "learned", REFUSE.get(estimate.plan.training.framework)
    severity, weight = ("error", 1e6) if learned else ("warning", 1e5) if refuses else ("info", 20)
    return [
        Finding(
            "model-positions",
            severity,
            "model",
            f"sequences of {whole(length)} tokens on {_table(learned, most, refuses)}",
            f"max_position_embeddings = {int(length)}, or at most {whole(most)} tokens",
            (path, "model.max_position_embeddings"),
            weight,
        )
        for path, length in _lengths(estimate)
        if length > most
    ]


def _table(learned: bool, most: float, refuses: str | None) -> str:
    if learned:
        return f"a table of {whole(most)} learned positions: those past it have no row"
    if refuses:
        return f"a model whose max_position_embeddings is {whole(most)}: {refuses} refuses more"
    return f"a model whose max_position_embeddings is {whole(most)}: its configuration has to say the longer one"


def _lengths(estimate: Estimate) -> list[tuple[str, float]]:
    """Sequence lengths that the plan says, each with its path."""
    data = estimate.plan.data
    told = [("data.sequence_length", data.sequence_length)]
    told += [(f"data.stages.{one.name or i}.sequence_length", one.sequence_length) for i, one in enumerate(data.stages)]
    return [(path, float(length)) for path, length in told if length is not None]


def predicted_positions(estimate: Estimate) -> list[Finding]:
    """model-prediction: Megatron-LM d98e8a6, training/arguments.py: prediction depths need rotary positions, or none."""
    kind = estimate.situation.word("model.position_embedding")
    depths = estimate.situation.value("model.mtp.num_nextn_predict_layers")
    if estimate.plan.training.framework != "megatron" or not depths or kind in ("rope", "none"):
        return []
    message = f"prediction depths with {kind} positions: Megatron-LM refuses to train them"
    paths = ("model.position_embedding", "model.mtp.num_nextn_predict_layers")
    return [Finding("model-prediction", "error", "model", message, 'position_embedding = "rope"', paths, 1e6)]


MODEL_CHECKS: Final = (
    depth_counted,
    heads_divide,
    groups_divide,
    experts_enough,
    layer_types_match,
    positions_reach,
    predicted_positions,
)
