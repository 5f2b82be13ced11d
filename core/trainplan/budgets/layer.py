"""One layer as named tensors: what multiplies, what is a bias or a norm, and what tensor ranks split.

The facts of the model (gated or not, latent attention or not) are plain `if`s here: a plan has one model.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Final, Literal, TypeAlias, cast

from trainplan.budgets.situation import Situation
from trainplan.formulas import attention as at
from trainplan.formulas import memory_layers as ml
from trainplan.formulas import model as mo
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, require, summed
from trainplan.quantity.formula import named_sum

Kind: TypeAlias = Literal["weight", "bias", "norm", "scalar"]


@record
class Tensor:
    """Some parameters of one layer; `split` says whether tensor ranks share them out, or each holds them all."""

    name: str
    parameters: Figure
    kind: Kind = "weight"
    split: bool = True


@record
class Layer:
    """A part of one layer: its tensors. A sum is None where no tensor is in it."""

    tensors: tuple[Tensor, ...]

    @property
    def parameters(self) -> Figure:
        """All parameters of the part."""
        return cast("Figure", self.of("weight", "bias", "norm", "scalar"))

    @property
    def weights(self) -> Figure:
        """The two-dimensional weights: what multiplies."""
        return cast("Figure", self.of("weight"))

    def of(self, *kinds: Kind) -> Figure | None:
        """Parameters of the kinds named."""
        if len(self.tensors) == 1:
            return self.tensors[0].parameters if self.tensors[0].kind in kinds else None
        return sum_of([tensor for tensor in self.tensors if tensor.kind in kinds])

    def held(self, *, split: bool) -> Figure | None:
        """Parameters that tensor ranks split, or those that every one of them holds."""
        if len(self.tensors) == 1:
            return self.tensors[0].parameters if self.tensors[0].split is split else None
        return sum_of([tensor for tensor in self.tensors if tensor.split is split])


def sum_of(tensors: list[Tensor]) -> Figure | None:
    """The parameters of some tensors, one figure alone as itself."""
    if len(tensors) < 2:
        return tensors[0].parameters if tensors else None
    return summed(tuple(map(_NAME, tensors)), tuple(map(_PARAMETERS, tensors)))


_NAME: Final = attrgetter("name")
_PARAMETERS: Final = attrgetter("parameters")


def attention_layer(s: Situation, latent: bool) -> Layer:
    """Attention of one layer, with its biases, sinks and query and key norms."""
    return Layer(latent_tensors(s) if latent else grouped_tensors(s))


def heads(s: Situation) -> Figure:
    """Query heads."""
    return s["model.num_attention_heads"]


def key_value_heads(s: Situation) -> Figure:
    """Key and value heads: as many as query heads unless the plan says otherwise."""
    return heads(s) if s.value("model.num_key_value_heads") is None else s["model.num_key_value_heads"]


def head_size(s: Situation) -> Figure:
    """Size of one head; blocked where the heads do not divide the hidden width and no size is given."""
    if s.value("model.head_dim") is not None:
        return s["model.head_dim"]
    size = at.head_size(s["model.hidden_size"], heads(s))
    return require(size, not size or size == int(size), "model-heads")


def grouped_tensors(s: Situation) -> tuple[Tensor, ...]:
    """Attention with query heads in groups over key heads."""
    hidden, size = s["model.hidden_size"], head_size(s)
    found = [Tensor("projections", at.attention_parameters(hidden, heads(s), key_value_heads(s), size))]
    if s.flag("model.attention_bias"):
        biases = at.attention_bias_parameters(heads(s), key_value_heads(s), size)
        found.append(Tensor("biases", biases, "bias"))
    if s.flag("model.qk_norm"):
        found.append(Tensor("query_and_key_norms", _query_norms(s, size), "norm", split=False))
    if s.value("model.attention_gate") is not None:
        found.append(Tensor("output_gate", _gate(s, hidden, size)))
    return (*found, *_common_tensors(s))


def _gate(s: Situation, hidden: Figure, size: Figure) -> Figure:
    one = given("model.attention_gate: outputs of a head", 1, "1", "plan format, attention_gate = head", kind="default")
    return at.gate_parameters(hidden, heads(s), one if s.word("model.attention_gate") == "head" else size)


def _common_tensors(s: Situation) -> tuple[Tensor, ...]:
    found: list[Tensor] = []
    if s.flag("model.attention_output_bias"):
        found.append(Tensor("output_bias", at.output_bias_parameters(s["model.hidden_size"]), "bias", split=False))
    if s.flag("model.attention_sinks"):
        found.append(Tensor("sinks", at.sink_parameters(heads(s)), "scalar"))
    return tuple(found)


def _query_norms(s: Situation, size: Figure) -> Figure:
    vectors = norm_vectors("model.qk_norm_bias", s.flag("model.qk_norm_bias"))
    if s.word("model.qk_norm_scope") == "projection":
        return at.projection_norm_parameters(heads(s), key_value_heads(s), size, vectors)
    return at.head_norm_parameters(size, vectors)


def latent_tensors(s: Situation) -> tuple[Tensor, ...]:
    """Latent attention: queries through a rank or not, keys and values through theirs."""
    hidden, rank = s["model.hidden_size"], s["model.mla.kv_lora_rank"]
    nope, rope, value = (s[f"model.mla.{name}"] for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    found = [
        *_latent_query(s, hidden, nope, rope),
        Tensor("key_value_down", at.latent_key_value_down_parameters(hidden, rank, rope), split=False),
        Tensor("key_value_up", at.latent_key_value_up_parameters(rank, heads(s), nope, value)),
        Tensor("output", at.latent_output_parameters(hidden, heads(s), value)),
        Tensor("key_value_norm", at.latent_norm_parameters(rank), "norm", split=False),
    ]
    if s.flag("model.attention_bias"):
        found.append(Tensor("key_value_bias", at.latent_key_value_bias_parameters(rank, rope), "bias", split=False))
    return (*found, *_common_tensors(s))


def _latent_query(s: Situation, hidden: Figure, nope: Figure, rope: Figure) -> tuple[Tensor, ...]:
    if s.value("model.mla.q_lora_rank") is None:
        return (Tensor("query", at.latent_query_up_parameters(hidden, heads(s), nope, rope)),)
    rank = s["model.mla.q_lora_rank"]
    found = (
        Tensor("query_down", at.latent_query_down_parameters(hidden, rank), split=False),
        Tensor("query_up", at.latent_query_up_parameters(rank, heads(s), nope, rope)),
        Tensor("query_norm", at.latent_norm_parameters(rank), "norm", split=False),
    )
    if not s.flag("model.attention_bias"):
        return found
    return (*found, Tensor("query_bias", at.latent_query_bias_parameters(rank), "bias", split=False))


def mlp_layer(s: Situation, width: Figure, bias: bool) -> Layer:
    """One MLP, or one expert, of a width."""
    hidden, gated = s["model.hidden_size"], s.flag("model.gated_mlp")
    weights = mo.gated_mlp_parameters if gated else mo.plain_mlp_parameters
    found = [Tensor("projections", weights(hidden, width))]
    if bias:
        up = mo.gated_mlp_bias_parameters if gated else mo.plain_mlp_bias_parameters
        found.append(Tensor("up_bias", up(width), "bias"))
        found.append(Tensor("down_bias", mo.down_bias_parameters(hidden), "bias", split=False))
    return Layer(tuple(found))


def dense_layer(s: Situation) -> Layer:
    """The MLP of a layer without experts, with the scalars of its activation."""
    layer = mlp_layer(s, s["model.intermediate_size"], s.flag("model.mlp_bias"))
    if not s.value("model.activation_parameters"):
        return layer
    return Layer((*layer.tensors, Tensor("activation", s["model.activation_parameters"], "scalar", split=False)))


def router_layer(s: Situation) -> Layer:
    """The router of a layer with experts."""
    experts = s["model.moe.num_experts"]
    found = [Tensor("router", mo.router_parameters(s["model.hidden_size"], experts), split=False)]
    if s.flag("model.moe.router_bias"):
        found.append(Tensor("router_bias", mo.router_bias_parameters(experts), "bias", split=False))
    return Layer(tuple(found))


def expert_layer(s: Situation) -> Layer:
    """One routed expert."""
    return mlp_layer(s, s["model.moe.moe_intermediate_size"], s.flag("model.moe.expert_bias"))


def shared_layer(s: Situation) -> Layer | None:
    """The shared experts of a layer, all of them; None where there are none."""
    if not s.value("model.moe.num_shared_experts"):
        return None
    own = s.value("model.moe.shared_expert_intermediate_size") is not None
    width = s["model.moe.shared_expert_intermediate_size" if own else "model.moe.moe_intermediate_size"]
    one = mlp_layer(s, width, bias=False).weights
    found = [Tensor("shared_experts", mo.shared_parameters(s["model.moe.num_shared_experts"], one))]
    if s.flag("model.moe.shared_expert_gate"):
        gate = mo.shared_gate_parameters(s["model.hidden_size"])
        found.append(Tensor("shared_gate", gate, split=False))
    return Layer(tuple(found))


@cache
def norm_vectors(path: str, bias: bool) -> Figure:
    """Vectors of one norm: a weight, and a bias where it has one."""
    source = "LayerNorm has a weight and a bias" if bias else "a norm without bias has a weight"
    return given(f"{path}: vectors", 2.0 if bias else 1.0, "1", source, kind="default")


def one_norm(s: Situation) -> Figure | None:
    """One norm of full width; None where norms have no weights."""
    kind, own = s.word("model.norm"), s.value("model.norm_bias")
    if kind == "none":
        return None
    bias = kind == "layernorm" if own is None else bool(own)
    return mo.norm_parameters(s["model.hidden_size"], norm_vectors("model.norm", bias))


def norms_per_block(s: Situation) -> Figure:
    """Norms of full width in one block: the plan's, or what the kind of block means."""
    if s.value("model.norms_per_block") is not None:
        return s["model.norms_per_block"]
    count = 4 if s.flag("model.post_norms") else 1 if s.flag("model.parallel_block") else 2
    return _norms_of_block(count)


@cache
def _norms_of_block(count: int) -> Figure:
    source = "4 with post_norms, 1 in a parallel block, else 2"
    return given("model.norms_per_block", count, "1", source, kind="default", is_field=True)


def norm_layer(s: Situation) -> Layer | None:
    """The norms of full width of one block; None where it has none."""
    norm = one_norm(s)
    if norm is None or s.value("model.norms_per_block") == 0:
        return None
    return Layer((Tensor("norms", mo.block_norm_parameters(norms_per_block(s), norm), "norm", split=False),))


def shared_width(s: Situation) -> Figure:
    """Width of all shared experts of a layer together."""
    own = s.value("model.moe.shared_expert_intermediate_size") is not None
    width = s["model.moe.shared_expert_intermediate_size" if own else "model.moe.moe_intermediate_size"]
    return ml.times(s["model.moe.num_shared_experts"], width)


def uneven(s: Situation) -> Figure:
    """Routed tokens that the fullest rank holds, over the mean."""
    return ml.fullest_tokens(s["training.moe_imbalance"], s["parallelism.expert"])


EXPERT_WIDTH: Final = named_sum("1", "routed", "shared")


def mlp_width(s: Situation, *, sparse: bool) -> Figure:
    """Elements of the MLP of a token: its width, or that of the routed and shared experts it goes through."""
    if not sparse:
        return s["model.intermediate_size"]
    routed = ml.routed_width(s["model.moe.num_experts_per_tok"], uneven(s), s["model.moe.moe_intermediate_size"])
    if not s.value("model.moe.num_shared_experts"):
        return routed
    return EXPERT_WIDTH(routed=routed, shared=shared_width(s))
