"""Working sets of a rank: the loss, gathered layers, gradients on their way, temporaries, by framework and sharding."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.layer import Layer, uneven
from trainplan.budgets.memory.layers import Kept, Split, attention_widths, score_bytes
from trainplan.budgets.memory.loss import loss_bytes
from trainplan.budgets.memory.recipe import ONE_COPY, STUDY, Recipe, element_bytes, goes_round, uncast, word
from trainplan.budgets.memory.stages import Stage
from trainplan.budgets.memory.states import Held
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import keeps_scores, local
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_states as st
from trainplan.formulas import memory_work as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of
from trainplan.quantity.formula import named_sum

BUCKET_ELEMENTS: Final = given("elements in a bucket", 5e8, "1", "DeepSpeed reduce_bucket_size default", kind="default")
BUCKETS: Final = given("buckets", 3.0, "1", "two reduce buckets and one gather bucket", kind="default")

WITH_GATHERED: Final = named_sum("bytes", "passing", "gathered")
WITH_SCORES: Final = named_sum("bytes", "passing", "scores")
WHOLE_SCORES: Final = named_sum("bytes", "scores", "products", "standing")
IN_RING: Final = named_sum("bytes", "ring", "products")


@record
class Layers:
    """Both kinds of layer of a plan, where the model has them, and their matmul weights on a rank."""

    dense: Kept
    sparse: Kept
    dense_weights: Figure
    sparse_weights: Figure


@record
class Work:
    """Bytes on top of states and activations at each instant of a rank."""

    logits: Figure
    evaluation: Figure
    temporaries: Figure
    score_temporaries: Figure
    standing: Figure
    buffers_loss: Figure
    buffers_layer: Figure
    buffers_end: Figure
    buffers_step: Figure


@cache
def nothing(unit: str = "bytes") -> Figure:
    """Zero, where a part does not exist."""
    return given("nothing", 0.0, unit, "no such part at this instant", kind="file")


def matmul_weights(s: Situation, parts: tuple[Layer | None, ...]) -> Figure:
    """Matmul weights of one layer on one tensor rank; of experts, one."""
    found: dict[str, Figure] = {}
    for name, one in zip(("attention", "mlp", "expert", "shared"), parts, strict=False):
        if one is not None:
            found[name] = one.weights
    return st.held_parameters(total_of(found), nothing("1"), s["parallelism.tensor"])


def work(
    s: Situation, model: ModelBudget, stage: Stage, parts: Held, recipe: Recipe, layers: Layers, cut: Split
) -> Work:
    """Every working set of one pipeline rank."""
    logits, evaluation = loss_bytes(s, model.padded_vocabulary, stage, recipe, cut)
    width = f.largest_part(stage.dense_layers, layers.dense.width, stage.expert_layers, layers.sparse.width)
    temporaries = f.backward_temporaries(
        cut.tokens, recipe.element, s["model.hidden_size"], cut.residual, width, cut.tensor
    )
    if model.expert is not None:
        temporaries = WITH_GATHERED(passing=temporaries, gathered=_gathered_tokens(s, stage, recipe, cut))
    standing = _score_buffer(s, model, cut)
    if _stands(s):
        temporaries = WITH_SCORES(passing=temporaries, scores=standing)
    buffers = _buffers(s, stage, parts, recipe, layers)
    return Work(
        logits,
        evaluation,
        temporaries,
        _attention(s, model, cut, standing),
        standing,
        *buffers,
    )


def _gathered_tokens(s: Situation, stage: Stage, recipe: Recipe, cut: Split) -> Figure:
    """Gradients of routed tokens that expert tensor ranks gather: none where they are one."""
    routed = f.routed_copies(s["model.moe.num_experts_per_tok"], uneven(s))
    split, hidden = s["parallelism.expert_tensor"], s["model.hidden_size"]
    return f.gathered_temporaries(cut.tokens, recipe.element, routed, hidden, cut.tensor, split, stage.expert_layers)


SCORE_PEAK: Final = {"torch-eager": 12.0}
"""Bytes of a score alive in the softmax backward: fp32 probabilities, their gradient and the softmax gradient.

A fused softmax makes its gradient in place: beside what is kept there is only the gradient of what multiplies the values.
"""

BUFFERED: Final = (
    "Megatron-LM 00caa53, core/transformer/dot_product_attention.py, matmul_input_buffer; issue 965 measured it"
)


@cache
def _score(name: str, value: float, source: str) -> Figure:
    return given(name, value, "bytes", source)


def _scores(s: Situation, model: ModelBudget, cut: Split, standing: Figure) -> Figure:
    """Attention half of a layer's backward: gradients of the stream and of the products, and score matrices."""
    query, _ = attention_widths(s, model)
    kept, peak = float(score_bytes(s)), SCORE_PEAK.get(word(s, "training.kernels"), 0.0)
    each = _score("bytes of a score beside the kept ones", max(peak - kept, float(element_bytes(s))), STUDY)
    return WHOLE_SCORES(
        scores=f.score_temporaries(cut.tokens, model.shape.heads, s["data.sequence_length"], each, cut.tensor),
        products=f.attention_temporaries(
            cut.tokens, element_bytes(s), s["model.hidden_size"], cut.residual, query, cut.tensor
        ),
        standing=standing,
    )


def _attention(s: Situation, model: ModelBudget, cut: Split, standing: Figure) -> Figure:
    """The attention half of a layer's backward, where it may hold more than the other."""
    if keeps_scores(s):
        return _scores(s, model, cut, standing)
    if not goes_round(s):
        return nothing()
    element, hidden, (query, key_value) = element_bytes(s), s["model.hidden_size"], attention_widths(s, model)
    both = IN_RING(
        ring=f.ring_temporaries(cut.tokens, element, query, key_value, s["parallelism.context"], cut.tensor),
        products=f.attention_temporaries(cut.tokens, element, hidden, cut.residual, query, cut.tensor),
    )
    return f.held_in_ring(both, s["parallelism.context"])


def _stands(s: Situation) -> bool:
    return local(s) or (s.plan.training.framework == "megatron" and s.plan.training.attention == "eager")


def _score_buffer(s: Situation, model: ModelBudget, cut: Split) -> Figure:
    """One score matrix that Megatron-LM's own attention makes once and keeps for good; others take a new one each time."""
    if not _stands(s):
        return nothing()
    each = _score("bytes of a score in the standing buffer", float(element_bytes(s)), BUFFERED)
    return f.score_temporaries(cut.tokens, model.shape.heads, s["data.sequence_length"], each, cut.tensor)


def _buffers(s: Situation, stage: Stage, parts: Held, recipe: Recipe, layers: Layers) -> tuple[Figure, ...]:
    """Communication buffers at the loss, in the first layer's backward, at its end, and in the step."""
    if recipe.gathers or s.plan.training.framework in ONE_COPY:
        return _gathered(s, stage, parts, recipe)
    weights = f.largest_part(stage.dense_layers, layers.dense_weights, stage.expert_layers, layers.sparse_weights)
    head = st.held_parameters(parts.table, nothing("1"), s["parallelism.tensor"])
    if s.plan.training.framework == "deepspeed":
        return _bucketed(s, stage, recipe, weights, head)
    dummies = f.dummy_gradients(recipe.element, weights, stage.last, head)
    return dummies, dummies, dummies, dummies


def _bucketed(s: Situation, stage: Stage, recipe: Recipe, weights: Figure, table: Figure) -> tuple[Figure, ...]:
    """DeepSpeed: buckets all the time, and the gradient that is about to be added to what has accumulated."""
    buckets, element, none = _buckets(s, recipe), recipe.element, nothing("1")
    return (
        f.work_bytes(buckets, f.dummy_gradients(element, none, stage.last, table)),
        f.work_bytes(buckets, f.dummy_gradients(element, weights, stage.last, none)),
        f.work_bytes(buckets, f.dummy_gradients(element, none, stage.first, table)),
        buckets,
    )


def bucket_elements(s: Situation) -> Figure:
    """Elements of one gradient bucket: the plan's, else DeepSpeed's default."""
    if s.value("parallelism.bucket_elements") is not None:
        return s["parallelism.bucket_elements"]
    return BUCKET_ELEMENTS


def _buckets(s: Situation, recipe: Recipe) -> Figure:
    return f.bucket_bytes(BUCKETS, bucket_elements(s), recipe.element)


def _gathered(s: Situation, stage: Stage, parts: Held, recipe: Recipe) -> tuple[Figure, ...]:
    """FSDP: gathered layers and root, and the gradient of the unit that is reduced."""
    layer = f.largest_part(stage.dense_layers, parts.dense, stage.expert_layers, st.sum_of(parts.sparse, parts.experts))
    root = f.root_parameters(stage.first, parts.embedding, stage.last, parts.head)
    gathers = recipe.gathers
    kept = root if gathers else nothing("1")
    gathered = f.gathered_bytes(_ahead(gathers), layer, kept, recipe.element)
    root_gathered = f.gathered_bytes(nothing("1"), layer, kept, recipe.element)
    head = st.held_parameters(parts.table, nothing("1"), s["parallelism.tensor"])
    moved = (
        f.work_bytes(root_gathered, f.dummy_gradients(recipe.element, nothing("1"), stage.last, head)),
        f.work_bytes(gathered, f.unreduced_bytes(layer, recipe.element, recipe.reduced)),
        f.work_bytes(root_gathered, f.unreduced_bytes(root, recipe.element, recipe.reduced)),
    )
    if uncast(s):
        moved = tuple(f.between_ranks(one, parts.ranks) for one in moved)
    return (*moved, nothing())


@cache
def _ahead(gathers: bool) -> Figure:
    return given("gathered layers", 2.0 if gathers else 0.0, "1", "one ahead and one in use", kind="default")
