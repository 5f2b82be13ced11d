"""What the model is: its parameters, part by part, in all and for one token, and what multiplies.

Follows Hugging Face's instantiated modules to the integer. It estimates nothing and knows no layout but for the padding
of the vocabulary. A missing field blocks what needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from trainplan.budgets.layer import (
    Layer,
    attention_layer,
    dense_layer,
    expert_layer,
    norm_layer,
    one_norm,
    router_layer,
    shared_layer,
)
from trainplan.budgets.shape import Shape, has_table, model_shape
from trainplan.budgets.situation import Situation
from trainplan.formulas import model as mo
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of

PADDED = ("megatron", "deepspeed")
"""Frameworks that pad the vocabulary to a multiple of 128 x tensor; the others train the model's own."""

DIVISOR: Final = given(
    "vocabulary divisor", 128, "1", "Megatron-LM --make-vocab-size-divisible-by, default", kind="default"
)


@record
class Part:
    """One line of the count. `total` and `active` are None for a tied head, `matmul` for what does not multiply."""

    name: str
    total: Figure | None
    active: Figure | None
    matmul: Figure | None = None


@record
class ModelBudget:
    """Counts of the whole model, its parts in order, and each part of one layer."""

    parameters: Figure
    active_parameters: Figure
    matmul_parameters: Figure
    nonembedding_parameters: Figure
    padded_vocabulary: Figure
    parts: tuple[Part, ...]
    shape: Shape
    attention: Layer
    dense: Layer | None
    router: Layer | None
    expert: Layer | None
    shared: Layer | None
    norms: Layer | None

    def part(self, name: str) -> Part | None:
        """The part of that name, or None where the model has none."""
        for part in self.parts:
            if part.name == name:
                return part
        return None


def model_budget(s: Situation) -> ModelBudget:
    """Every count of the plan's model; blocked figures where a needed field is missing."""
    shape = model_shape(s)
    layers = _Layers(
        attention_layer(s, shape.latent),
        dense_layer(s) if not shape.sparse or not all(shape.sparse) else None,
        router_layer(s) if shape.expert_layers is not None else None,
        expert_layer(s) if shape.expert_layers is not None else None,
        shared_layer(s) if shape.expert_layers is not None else None,
        norm_layer(s),
    )
    parts = tuple(_parts(s, shape, layers))
    return ModelBudget(
        _sum("total", parts),
        _sum("active", parts),
        _sum("matmul", parts),
        _sum("active", tuple(part for part in parts if part.name not in TABLES)),
        padded(s, shape.vocabulary),
        parts,
        shape,
        layers.attention,
        layers.dense,
        layers.router,
        layers.expert,
        layers.shared,
        layers.norms,
    )


TABLES = ("embedding", "position", "head", "head_bias")
"""What is not in the nonembedding parameters."""


@record
class _Layers:
    attention: Layer
    dense: Layer | None
    router: Layer | None
    expert: Layer | None
    shared: Layer | None
    norms: Layer | None


def padded(s: Situation, vocabulary: Figure) -> Figure:
    """The vocabulary after padding for framework and layout."""
    if s.word("training.framework") not in PADDED:
        return vocabulary
    return mo.padded_vocabulary(vocabulary, mo.vocabulary_step(DIVISOR, s["parallelism.tensor"]))


def _sum(column: str, parts: tuple[Part, ...]) -> Figure:
    found: dict[str, Figure] = {}
    for part in parts:
        figure = getattr(part, column)
        if figure is not None:
            found[part.name] = figure
    return total_of(found)


def _parts(s: Situation, shape: Shape, layers: _Layers) -> Iterator[Part]:
    yield from _tables(s, shape)
    yield from _blocks(s, shape, layers)
    yield from _small(s, shape, layers)
    yield from _head(s, shape)
    if has_table(s, "mtp"):
        yield _mtp(s, shape, layers)


def _whole(name: str, figure: Figure, *, matmul: bool = False) -> Part:
    return Part(name, figure, figure, figure if matmul else None)


def _tables(s: Situation, shape: Shape) -> Iterator[Part]:
    yield _whole("embedding", mo.embedding_parameters(shape.vocabulary, shape.embedding_width))
    if s.word("model.position_embedding") == "learned":
        positions, offset = s["model.max_position_embeddings"], s["model.position_offset"]
        yield _whole("position", mo.position_parameters(positions, offset, shape.hidden))
    if s.value("model.embedding_size") not in (None, s.value("model.hidden_size")):
        projections = mo.embedding_projection_parameters(shape.embedding_width, shape.hidden)
        yield _whole("embedding_projections", projections, matmul=True)


def _blocks(s: Situation, shape: Shape, layers: _Layers) -> Iterator[Part]:
    yield _whole("attention", mo.over_layers(shape.layers, layers.attention.weights), matmul=True)
    if layers.dense is not None:
        yield _whole("dense_mlp", mo.over_layers(shape.dense_layers, layers.dense.weights), matmul=True)
    if shape.expert_layers is None or layers.expert is None or layers.router is None:
        return
    yield _routed(s, shape.expert_layers, layers.expert)
    if layers.shared is not None:
        yield _whole("shared_experts", mo.over_layers(shape.expert_layers, layers.shared.parameters), matmul=True)
    yield _whole("router", mo.over_layers(shape.expert_layers, layers.router.weights), matmul=True)


def _routed(s: Situation, expert_layers: Figure, expert: Layer) -> Part:
    chosen = s["model.moe.num_experts_per_tok"]
    return Part(
        "routed_experts",
        mo.routed_parameters(expert_layers, s["model.moe.num_experts"], expert.parameters),
        mo.routed_parameters(expert_layers, chosen, expert.parameters),
        mo.routed_parameters(expert_layers, chosen, expert.weights),
    )


def _small(s: Situation, shape: Shape, layers: _Layers) -> Iterator[Part]:
    """Norms, biases and scalars: they add parameters and multiply nothing that is counted."""
    norms = _norms(s, shape, layers)
    if norms:
        yield _whole("norms", total_of(norms))
    for kind, name in (("bias", "biases"), ("scalar", "scalars")):
        found = {
            place: mo.over_layers(depth, figure)
            for place, depth, layer in _placed(shape, layers)
            if layer is not None and (figure := layer.of(cast("Any", kind))) is not None
        }
        if found:
            yield _whole(name, total_of(found))


def _placed(shape: Shape, layers: _Layers) -> tuple[tuple[str, Figure, Layer | None], ...]:
    sparse = shape.layers if shape.expert_layers is None else shape.expert_layers
    return (
        ("attention", shape.layers, layers.attention),
        ("dense_mlp", shape.dense_layers, layers.dense),
        ("router", sparse, layers.router),
    )


def _norms(s: Situation, shape: Shape, layers: _Layers) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    inner, one = layers.attention.of("norm"), one_norm(s)
    if layers.norms is not None:
        found["blocks"] = mo.over_layers(shape.layers, layers.norms.parameters)
    if inner is not None:
        found["attention"] = mo.over_layers(shape.layers, inner)
    if one is not None and s.flag("model.embedding_norm"):
        found["embedding"] = one
    if one is not None and s.flag("model.final_norm"):
        found["final"] = one
    return found


def _head(s: Situation, shape: Shape) -> Iterator[Part]:
    head = mo.head_parameters(shape.vocabulary, shape.embedding_width)
    yield Part("head", None, None, head) if shape.tied else _whole("head", head, matmul=True)
    if s.flag("model.head_bias"):
        yield _whole("head_bias", mo.head_bias_parameters(shape.vocabulary))


def _mtp(s: Situation, shape: Shape, layers: _Layers) -> Part:
    """Each depth: a block as the last layer, a projection, three norms, and the shared head, which multiplies again."""
    depth = s["model.mtp.num_nextn_predict_layers"]
    sparse = bool(shape.sparse) and shape.sparse[-1]
    block = _block_sums(s, layers, sparse)
    projection, one = mo.mtp_projection_parameters(shape.hidden), one_norm(s)
    outside = {"projection": projection} | ({} if one is None else {"norms": mo.mtp_norm_parameters(one)})
    head = mo.head_parameters(shape.vocabulary, shape.embedding_width)
    return Part(
        "mtp",
        mo.over_layers(depth, total_of({**block[0], **outside})),
        mo.over_layers(depth, total_of({**block[1], **outside})),
        mo.over_layers(depth, total_of({**block[2], "projection": projection, "head": head})),
    )


def _block_sums(s: Situation, layers: _Layers, sparse: bool) -> tuple[dict[str, Figure], ...]:
    """One block: its parameters, those of one token, and what multiplies, by part."""
    whole: dict[str, Figure] = {"attention": layers.attention.parameters}
    weights: dict[str, Figure] = {"attention": layers.attention.weights}
    if layers.norms is not None:
        whole["block_norms"] = layers.norms.parameters
    for name, layer in (
        (("router", layers.router), ("shared_experts", layers.shared)) if sparse else (("dense_mlp", layers.dense),)
    ):
        if layer is not None:
            whole[name], weights[name] = layer.parameters, layer.weights
    if not sparse or layers.expert is None:
        return whole, whole, weights
    every, chosen = s["model.moe.num_experts"], s["model.moe.num_experts_per_tok"]
    expert = layers.expert
    return (
        whole | {"routed_experts": mo.over_layers(every, expert.parameters)},
        whole | {"routed_experts": mo.over_layers(chosen, expert.parameters)},
        weights | {"routed_experts": mo.over_layers(chosen, expert.weights)},
    )
