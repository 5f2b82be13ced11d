"""The sizes of the plan's model, which layers have experts and which a window, and which attention core takes its heads.

What a list of the plan says of each layer is counted here, so that formulas see numbers. A list of the wrong length
blocks what needs it: that is a finding, not an error.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from trainplan.budgets.layer import head_size, heads, key_value_heads
from trainplan.budgets.situation import Situation
from trainplan.catalogue import entry
from trainplan.formulas import attention as at
from trainplan.formulas import model as mo
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, Quantity, given, require


@record
class Shape:
    """Sizes that later budgets need; `sparse` has a flag for each layer, and is empty where the depth is unknown."""

    layers: Figure
    dense_layers: Figure
    expert_layers: Figure | None
    hidden: Figure
    heads: Figure
    key_value_heads: Figure
    query_size: Figure
    value_size: Figure
    vocabulary: Figure
    embedding_width: Figure
    latent: bool
    tied: bool
    sparse: tuple[bool, ...]


MOST_LAYERS = 10_000
"""Depth up to which each layer is looked at one by one; a deeper model is a mistake, and counts by formula alone."""


AMPERE: Final = 8.0
"""The compute capability from which an NVIDIA part multiplies bf16 and FlashAttention and cuDNN's attention run."""
WIDEST: Final = 256.0
"""Elements of a head that FlashAttention takes: flash-attention issue 277, from its version 2."""

OWN_SIZES: Final = tuple(
    f"model.{name}"
    for name in ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "vocab_size")
)
"""What a model without a preset cannot be without; its other fields have defaults."""


def known_depth(s: Situation) -> int:
    """Layers that can be looked at one by one: 0 where the depth is missing or past all sense."""
    depth: Any = s["model.num_hidden_layers"]
    return 0 if isinstance(depth, Blocked) or depth > MOST_LAYERS else int(depth)


def has_table(s: Situation, name: str) -> bool:
    """Whether the plan or its preset has a table of [model]: moe, mla or mtp."""
    if getattr(s.plan.model, name) is not None:
        return True
    return s.preset is not None and name in _tables(s.preset.name)


@cache
def _tables(preset: str) -> frozenset[str]:
    """The tables of [model] that a preset has."""
    found = entry("models", preset)
    return frozenset() if found is None else frozenset(key.partition(".")[0] for key in found.facts if "." in key)


def model_shape(s: Situation) -> Shape:
    """Sizes of the plan's model."""
    latent = has_table(s, "mla")
    layers, sparse = s["model.num_hidden_layers"], sparse_layers(s)
    expert_layers = _expert_layers(s, layers, sparse) if has_table(s, "moe") else None
    hidden, width = s["model.hidden_size"], s.value("model.embedding_size")
    query, value = _latent_sizes(s) if latent else (head_size(s), head_size(s))
    return Shape(
        layers,
        layers if expert_layers is None else mo.dense_layers(layers, expert_layers),
        expert_layers,
        hidden,
        heads(s),
        heads(s) if latent else key_value_heads(s),
        query,
        value,
        s["model.vocab_size"],
        hidden if width is None else s["model.embedding_size"],
        latent,
        s.flag("model.tie_word_embeddings"),
        sparse,
    )


def _latent_sizes(s: Situation) -> tuple[Figure, Figure]:
    query = at.latent_head_size(s["model.mla.qk_nope_head_dim"], s["model.mla.qk_rope_head_dim"])
    return query, s["model.mla.v_head_dim"]


def pattern(s: Situation, field: str) -> tuple[str, ...] | None:
    """A list with one word for each layer: the plan's own as it is, a preset's cut or repeated to the plan's depth."""
    words, depth = s.value(f"model.{field}"), known_depth(s)
    if words is None or s.written(f"model.{field}") or not depth:
        return None if words is None else tuple(words)
    return tuple(words[layer % len(words)] for layer in range(depth))


def sparse_layers(s: Situation) -> tuple[bool, ...]:
    """Which layers have experts, one flag for each; empty where the depth is not known."""
    depth = known_depth(s)
    if not depth or not has_table(s, "moe"):
        return (False,) * depth
    words = pattern(s, "mlp_layer_types")
    if words is not None:
        return tuple(word == "sparse" for word in words)
    first, every = s.value("model.moe.first_k_dense_replace"), s.value("model.moe.moe_layer_freq")
    return _spaced(depth, first, int(every))


@cache
def _spaced(depth: int, first: int, every: int) -> tuple[bool, ...]:
    return tuple(layer >= first and layer % every == 0 for layer in range(depth))


def _expert_layers(s: Situation, layers: Figure, sparse: tuple[bool, ...]) -> Figure:
    depth: Quantity = layers
    if isinstance(depth, Blocked):
        return layers
    if s.value("model.mlp_layer_types") is None:
        return mo.expert_layers(layers, s["model.moe.first_k_dense_replace"], s["model.moe.moe_layer_freq"])
    figure = counted(s, "model.mlp_layer_types", "sparse", sum(sparse))
    return require(figure, len(sparse) == layers, "model-layer-types")


def counted(s: Situation, path: str, word: str, count: int) -> Figure:
    """How often a word stands in a list of the plan or its preset."""
    if s.written(path) or s.preset is None:
        return given(f"{path}: {word}", count, "1", "plan file", kind="file", is_field=True)
    fact = s.preset[path.removeprefix("model.")]
    source = f"{s.preset.name}: {fact.source}"
    return given(f"{path}: {word}", count, "1", source, kind="preset", verified=fact.verified, is_field=True)


def keeps_scores(s: Situation) -> bool:
    """Whether every score is made and kept: by the plan's own word, or because no fused core takes its heads or its part."""
    return s.plan.training.attention == "eager" or leaves_fused(s)


def leaves_fused(s: Situation) -> bool:
    """Whether every score is kept though the plan asks for flash."""
    return s.plan.training.attention == "flash" and cannot_fuse(s)


def cannot_fuse(s: Situation) -> bool:
    """Whether TransformerEngine has no fused attention for the plan's heads, its part or its number type.

    TransformerEngine d0067d0, pytorch/attention/dot_product_attention/utils.py: FlashAttention 2 and cuDNN's attention are
    disabled below compute capability 8.0, FlashAttention 2 where the wider of both head sizes is no multiple of 8 or above 256,
    all of them in fp32; common/fused_attn/fused_attn.cpp: cuDNN takes multiples of 8, in training 256 at most. What is left is
    UnfusedDotProductAttention. PyTorch's and Transformers' frameworks pad such heads, or have another fused kernel.
    """
    return s.plan.training.framework == "megatron" and (in_fp32(s) or older(s) or local(s) or _unfused(s))


def local(s: Situation) -> bool:
    """Whether a plan runs Megatron-LM's own layers in TransformerEngine's place, whose attention keeps every score.

    Megatron-LM core/models/gpt/gpt_layer_specs.py, get_gpt_layer_local_spec: core/transformer's DotProductAttention.
    """
    return s.plan.training.framework == "megatron" and s.plan.training.kernels == "torch-eager"


def in_fp32(s: Situation) -> bool:
    """Whether attention multiplies in fp32."""
    return s.plan.training.precision == "fp32"


def older(s: Situation) -> bool:
    """Whether the part is known to be older than Ampere; a part whose compute capability nobody read is not judged."""
    fact = None if s.part is None else s.part.get("compute_capability")
    return fact is not None and isinstance(fact.value, int | float) and fact.value < AMPERE


def _unfused(s: Situation) -> bool:
    """Whether TransformerEngine has no fused core for the plan's heads: values are padded to keys, or keys to values.

    Asked for each layer of an estimate, so of bare values; a size that is not known or not whole counts as taken.
    """
    if has_table(s, "mla"):
        parts = [s.value(f"model.mla.{name}") for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")]
        wider = 0.0 if None in parts else max(parts[0] + parts[1], parts[2])
    else:
        hidden, count = s.value("model.hidden_size"), s.value("model.num_attention_heads")
        wider = s.value("model.head_dim") or (hidden / count if hidden and count else 0.0)
    return wider % 1.0 == 0.0 and (wider % 8.0 != 0.0 or wider > WIDEST)
