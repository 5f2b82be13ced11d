"""What one layer keeps for backward, by kernel set, attention and recompute; facts of the model are plain `if`s.

The wiring names the pieces; the bytes of each are in `formulas.memory_layers`, where the measured kernel sets are cited.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.layer import heads, key_value_heads, mlp_width, norms_per_block, shared_width, uneven
from trainplan.budgets.memory import recipe as r
from trainplan.budgets.memory.recipe import element_bytes, word
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import keeps_scores
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_layers as f
from trainplan.frozen import field_names, record
from trainplan.quantity.figure import Figure, given, total_of
from trainplan.quantity.formula import named_sum
from trainplan.quantity.kinds import Kinds

ORACLE: Final = "tests/golden/saved_bytes.toml"
OP_LEVEL: Final = ("torchtitan", "fsdp", "maxtext")
"""Frameworks whose selective recompute keeps every second product; the others recompute the attention core alone."""

INSIDE: Final = named_sum("bytes", "attention", "core", "mlp")
WITHOUT_CORE: Final = named_sum("bytes", "attention", "mlp")
SELECTED: Final = named_sum("bytes", "products", "exchanged")

EXPANDED: Final = ("torch-eager", "megatron-te")
"""Kernel sets whose eager attention multiplies keys and values repeated for every query head, and keeps the copies:
Transformers' repeat_kv; Megatron-LM 00caa53, core/transformer/dot_product_attention.py, repeat_interleave."""


@cache
def _trait(name: str, value: float, unit: str = "bytes", source: str = ORACLE) -> Figure:
    return given(name, value, unit, source)


NOTHING: Final = _trait("nothing", 0.0)


@record
class Piece:
    """Bytes of a token: on the residual stream, inside attention and MLP, and of that the score matrices or statistics."""

    residual: Figure
    attention: Figure
    core: Figure
    mlp: Figure


@record
class Kept:
    """One kind of layer for one microbatch: what stays, what recompute adds, and what the MLP has of that (bytes)."""

    stored: Figure
    again: Figure
    mlp: Figure
    width: Figure


@record
class Split:
    """Tokens of a microbatch on one rank, and the ranks that divide the residual stream and the interior."""

    tokens: Figure
    residual: Figure
    tensor: Figure


def split(s: Situation) -> Split:
    """How context, tensor and sequence parallelism divide one microbatch."""
    flag = s.switch("parallelism.sequence_parallel", "1 where it is on, else 0")
    tensor = s["parallelism.tensor"]
    tokens = f.local_tokens(s["batch.micro_batch_sequences"], s["data.sequence_length"], s["parallelism.context"])
    return Split(tokens, f.residual_ranks(tensor, flag), tensor)


RECOMPUTE: Final = "parallelism.recompute"


def selective_means(framework: str) -> str:
    """What selective recompute is with a framework, as a sentence."""
    if framework in OP_LEVEL:
        return f"With {framework}, selective keeps every second product and the attention output, and computes the rest again."
    return f"With {framework}, selective computes the attention core again, and keeps everything else."


def layer_kept(s: Situation, model: ModelBudget, cut: Split, *, sparse: bool) -> Kept:
    """What a dense layer, or one with experts, keeps of one microbatch."""
    kind = s.kind(RECOMPUTE)
    if not isinstance(kind, Kinds):
        return _kept(s, model, cut, sparse=sparse)
    each = [_kept(s.replaced({RECOMPUTE: word}), model, cut, sparse=sparse) for word in kind.words]
    return Kept(*(kind.of([getattr(one, name) for one in each]) for name in field_names(Kept)))


def _kept(s: Situation, model: ModelBudget, cut: Split, *, sparse: bool) -> Kept:
    piece, width = _piece(s, model, sparse=sparse), mlp_width(s, sparse=sparse)
    inner = INSIDE(attention=piece.attention, core=piece.core, mlp=piece.mlp)
    whole = f.layer_kept(cut.tokens, piece.residual, cut.residual, inner, cut.tensor)
    whole = r.with_gathered(s, norms_per_block(s), whole, cut.tokens, cut.residual, sparse=sparse)
    mlp = f.layer_kept(cut.tokens, NOTHING, cut.residual, piece.mlp, cut.tensor)
    kind = s.kind(RECOMPUTE)
    if kind == "none":
        return Kept(whole, _trait("nothing is computed again", 0.0), mlp, width)
    if kind == "selective":
        return Kept(_selective(s, model, piece, cut, sparse=sparse), _core_again(s, piece, cut, whole), mlp, width)
    checkpoint = f.checkpointed_kept(element_bytes(s), s["model.hidden_size"])
    stored = f.layer_kept(cut.tokens, checkpoint, cut.residual, NOTHING, cut.tensor)
    return Kept(stored, whole, mlp, width)


def _core_again(s: Situation, piece: Piece, cut: Split, whole: Figure) -> Figure:
    if s.plan.training.framework in OP_LEVEL:
        return whole
    return f.layer_kept(cut.tokens, NOTHING, cut.residual, piece.core, cut.tensor)


def _selective(s: Situation, model: ModelBudget, piece: Piece, cut: Split, *, sparse: bool) -> Figure:
    if s.plan.training.framework not in OP_LEVEL:
        inner = WITHOUT_CORE(attention=piece.attention, mlp=piece.mlp)
        return f.layer_kept(cut.tokens, piece.residual, cut.residual, inner, cut.tensor)
    element, query, key_value = element_bytes(s), *attention_widths(s, model)
    residual = f.alternate_residual_kept(element, s["model.hidden_size"])
    inner = f.alternate_kept(element, query, key_value, mlp_width(s, sparse=sparse))
    if sparse and s.plan.training.framework == "torchtitan":
        residual, inner = _selected_experts(s, query, key_value)
    return f.layer_kept(cut.tokens, residual, cut.residual, inner, cut.tensor)


def attention_widths(s: Situation, model: ModelBudget) -> tuple[Figure, Figure]:
    """Elements of the queries and of the keys of a token, all heads together."""
    shape = model.shape
    return f.times(shape.heads, shape.query_size), f.times(shape.key_value_heads, shape.value_size)


def _piece(s: Situation, model: ModelBudget, *, sparse: bool) -> Piece:
    attention, core = _attention(s, model)
    return Piece(_residual(s), attention, core, _experts(s, r.mlp_copies(s)) if sparse else _dense(s))


def norm_of(s: Situation, width: Figure) -> Figure:
    """One norm of a token over `width` elements, by kernel set and kind of norm."""
    element, eager = element_bytes(s), word(s, "training.kernels") == "torch-eager"
    layernorm = s.word("model.norm") == "layernorm"
    wide = _trait("bytes of a norm's kept input", 4.0 if eager and not layernorm else float(element))
    inner = _trait("bytes of a normalised tensor", float(element) if eager and not layernorm else 0.0)
    statistics = _trait("statistics of a norm", 2.0 * float(element) if layernorm else 4.0)
    return f.norm_kept(width, wide, inner, r.input_bytes(s), statistics)


def _residual(s: Situation) -> Figure:
    dropout = bool(s["training.dropout"])
    eager = word(s, "training.kernels") == "torch-eager"
    sites = _trait("dropout sites", 2.0 if dropout else 0.0, "1")
    mask = _trait("bytes of a dropout mask", float(element_bytes(s)) if eager else 1.0)
    hidden = s["model.hidden_size"]
    return f.residual_kept(norms_per_block(s), norm_of(s, hidden), sites, mask, hidden)


def _attention(s: Situation, model: ModelBudget) -> tuple[Figure, Figure]:
    """Attention without its core, and the core: score matrices, or the log-sum-exp."""
    parts = _latent(s, model) if model.shape.latent else _grouped(s, model)
    if keeps_scores(s):
        return total_of(parts), f.scores_kept(model.shape.heads, s["data.sequence_length"], score_bytes(s))
    return total_of(parts), f.log_sum_exp_kept(model.shape.heads)


def _grouped(s: Situation, model: ModelBudget) -> dict[str, Figure]:
    element, kernels = element_bytes(s), word(s, "training.kernels")
    query, key_value = attention_widths(s, model)
    if keeps_scores(s) and kernels in EXPANDED and not _core_recomputed(s):
        parts = {"products": f.expanded_attention_kept(element, query)}
    else:
        parts = {"products": f.attention_kept(element, query, key_value)}
    parts |= r.cast_output(s, query)
    if kernels == "megatron-te" and s.word("model.position_embedding") == "rope":
        parts["rotated"] = f.rotary_kept(element, query, key_value)
    if s.flag("model.qk_norm"):
        parts |= _query_norms(s, query, key_value)
    return parts


def _core_recomputed(s: Situation) -> bool:
    return s.kind(RECOMPUTE) == "selective" and s.plan.training.framework not in OP_LEVEL


def _query_norms(s: Situation, query: Figure, key_value: Figure) -> dict[str, Figure]:
    """Norms of q and k, a head at a time: their output is what the products keep."""
    element, eager = element_bytes(s), word(s, "training.kernels") == "torch-eager"
    wide = _trait("bytes of a norm's kept input", 4.0 if eager else float(element))
    inner = _trait("bytes of a normalised tensor", float(element) if eager else 0.0)
    none = _trait("bytes of an output kept elsewhere", 0.0)
    return {
        "query_norm": f.norm_kept(query, wide, inner, none, f.head_statistics(heads(s))),
        "key_norm": f.norm_kept(key_value, wide, inner, none, f.head_statistics(key_value_heads(s))),
    }


def _latent(s: Situation, model: ModelBudget) -> dict[str, Figure]:
    element, kernels, shape = element_bytes(s), word(s, "training.kernels"), model.shape
    rope = _trait("bytes of the rotary part's base", _rope_base(kernels, float(element)))
    parts = {
        "key_value_norm": norm_of(s, s["model.mla.kv_lora_rank"]),
        "rotary_part": f.rotary_part_kept(s["model.mla.qk_rope_head_dim"], rope),
    }
    if s.value("model.mla.q_lora_rank") is not None:
        parts["query_norm"] = norm_of(s, s["model.mla.q_lora_rank"])
    parts["products"] = (
        f.latent_kept(element, shape.heads, shape.query_size, s["model.mla.qk_nope_head_dim"], shape.value_size)
        if kernels == "megatron-te"
        else _padded(s, element, model)
    )
    return parts | r.cast_output(s, f.times(shape.heads, shape.value_size))


def _padded(s: Situation, element: Figure, model: ModelBudget) -> Figure:
    """Selective recompute of the core keeps what goes in and what comes out, not the padded output between."""
    whole = f.core_inputs_kept if _core_recomputed(s) else f.padded_latent_kept
    return whole(element, model.shape.heads, model.shape.query_size, model.shape.value_size)


def _rope_base(kernels: str, element: float) -> float:
    if kernels == "torch-eager":
        return 4.0 if element == 4.0 else 0.0
    return element


def score_bytes(s: Situation) -> Figure:
    """Bytes kept of one score in eager attention, by kernel set and dropout."""
    element, dropout = float(element_bytes(s)), bool(s["training.dropout"])
    if word(s, "training.kernels") != "torch-eager":
        return _trait("bytes of a score", element + (1.0 + element if dropout else 0.0), source="arXiv 2205.05198")
    cast = element if element < 4.0 else 0.0
    return _trait("bytes of a score", 4.0 + (2.0 * element if dropout else cast))


def _dense(s: Situation) -> Figure:
    return f.mlp_kept(element_bytes(s), r.mlp_copies(s), s["model.intermediate_size"])


def _experts(s: Situation, copies: Figure) -> Figure:
    """Bytes of a token in a layer with experts whose MLPs keep `copies` tensors: router, routed copies, shared experts."""
    element = element_bytes(s)
    parts = {
        "router": f.router_kept(s["model.moe.num_experts"]),
        "choice": f.choice_kept(s["model.moe.num_experts_per_tok"], element),
        "routed": f.routed_kept(
            s["model.moe.num_experts_per_tok"],
            uneven(s),
            element,
            f.routed_streams(s["parallelism.expert_tensor"], r.input_share(s), _returned(s)),
            s["model.hidden_size"],
            copies,
            s["model.moe.moe_intermediate_size"],
        ),
    }
    has_shared = bool(s.value("model.moe.num_shared_experts"))
    if r.in_fp8(s):
        parts["router_input"] = f.cast_kept(element if has_shared else r.input_bytes(s), s["model.hidden_size"])
    if has_shared:
        parts["shared"] = f.mlp_kept(element, copies, shared_width(s))
    return total_of(parts)


RETURNED: Final = {"megatron-te": 0.0, "torch-compile": 1.0, "torch-eager": 2.0}
"""Copies of a routed token kept beside what experts read: Megatron-LM weighs tokens inside the experts, so none comes back.

Megatron-LM d98e8a6, core/transformer/moe: experts.py weighs the activation, token_dispatcher.py unpermutes without probabilities.
"""


def _returned(s: Situation) -> Figure:
    kernels = word(s, "training.kernels")
    return _trait("other copies of a routed token", RETURNED[kernels], "1")


def _selected_experts(s: Situation, query: Figure, key_value: Figure) -> tuple[Figure, Figure]:
    """Residual stream and interior that torchtitan's selective recompute keeps of a token in a layer with experts.

    Its policy keeps every second product of dense weights, attention and what expert ranks exchange; grouped products of
    experts are none of these. b5bcd76, distributed/activation_checkpoint.py; exchanges since commit c4e2291, September 2025.
    """
    element, hidden = element_bytes(s), s["model.hidden_size"]
    has_shared = bool(s.value("model.moe.num_shared_experts"))
    shared = shared_width(s) if has_shared else _trait("nothing", 0.0, "1")
    chosen, imbalance = s["model.moe.num_experts_per_tok"], uneven(s)
    inner = SELECTED(
        products=f.alternate_kept(element, query, key_value, shared),
        exchanged=f.exchanged_kept(element, chosen, imbalance, hidden, s["parallelism.expert"]),
    )
    stream = f.alternate_residual_kept if has_shared else f.checkpointed_kept
    return stream(element, hidden), inner
