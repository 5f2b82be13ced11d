"""What a layer takes longer where PyTorch's operators run one by one: norms, rotary embeddings, gates, sums of gradients.

`training.kernels = "torch-eager"` asks for it. It is imported where a plan does, not before.
"""

from __future__ import annotations

from trainplan.budgets.kernels import Conditions
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.formulas import layer_time as lt
from trainplan.formulas import loose as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given


@record
class Sizes:
    """A rank's tokens, the ranks that split heads and the residual stream, norms of a layer, and the width behind gates."""

    tokens: Figure
    tensor: Figure
    split: Figure
    norms: Figure
    width: Figure


def loose_time(s: Situation, model: ModelBudget, k: Conditions, sizes: Sizes, *, sparse: bool) -> Figure:
    """Seconds of one layer and microbatch beyond those of fused kernels."""
    share, tensor, tokens = k.numbers["elementwise"], sizes.tensor, sizes.tokens
    normed = _none("norms in one kernel")
    if k.loose_norms:
        heads = _normed_heads(s, model)
        normed = f.norm_elements(sizes.norms, s["model.hidden_size"], sizes.split, heads, tensor)
    gated = sizes.width if s.flag("model.gated_mlp") else _none("no gate")
    rotated, summed = _rotated(s, model), _summed(s, sparse=sparse)
    forward = f.loose_forward_bytes(tokens, share, normed, rotated, gated, tensor)
    backward = f.loose_backward_bytes(tokens, share, normed, rotated, gated, summed, tensor)
    return f.loose_time(forward, backward, k.pass_recomputed, k.memory)


def _normed_heads(s: Situation, model: ModelBudget) -> Figure:
    """Elements of a token's queries and keys that are normed; latent attention's own norms are narrow."""
    shape = model.shape
    if not s.flag("model.qk_norm") or shape.latent:
        return _none("no norm of queries and keys")
    return f.query_and_key_elements(shape.heads, shape.key_value_heads, shape.query_size)


def _rotated(s: Situation, model: ModelBudget) -> Figure:
    shape = model.shape
    if s.word("model.position_embedding") != "rope":
        return _none("no rotary embedding")
    size = s["model.mla.qk_rope_head_dim"] if shape.latent else shape.query_size
    return f.query_and_key_elements(shape.heads, shape.key_value_heads, size)


def _summed(s: Situation, *, sparse: bool) -> Figure:
    """Elements of a token of which gradients are summed: of three projections of attention, and of two of a gated MLP."""
    sums = 3.0 if s.flag("model.gated_mlp") and not sparse else 2.0
    why = "query, key, value; gate and up; experts not counted"
    one = given("every tensor rank", 1.0, "1", "definition")
    return lt.head_columns(given("sums of gradients of a layer's inputs", sums, "1", why), s["model.hidden_size"], one)


def _none(name: str) -> Figure:
    return given(name, 0.0, "1", "the model has none")
