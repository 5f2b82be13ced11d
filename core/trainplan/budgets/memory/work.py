"""Working sets of a rank: logits, gathered layers, gradients on their way, temporaries, by framework and sharding."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.layer import Layer, uneven
from trainplan.budgets.memory.layers import Kept, Split, attention_widths, score_bytes
from trainplan.budgets.memory.recipe import ONE_COPY, Recipe, element_bytes, uncast, word
from trainplan.budgets.memory.stages import Stage
from trainplan.budgets.memory.states import Held
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import keeps_scores
from trainplan.budgets.situation import Situation
from trainplan.figure import Figure, given, total
from trainplan.formulas import memory_states as st
from trainplan.formulas import memory_work as f
from trainplan.frozen import record

STUDY: Final = "tests/golden/memory.toml and saved_bytes.toml"

LOSS_COPIES: Final = {"compiled": 2.0, "fused": 2.0, "fused-in-place": 1.0}
"""Copies of a logit in the compute type at the peak of the loss, by kernel; plain depends on who splits the head too."""

CHUNKS: Final = 8.0
"""Chunks of a chunked loss where nothing says otherwise: torchtitan's and torchtune's default."""

_TRL: Final = "TRL f2cd577, sft_trainer.py, _CHUNKED_LM_HEAD_CHUNK_SIZE"
CHUNK: Final = given("tokens of a chunk", 256.0, "tokens", _TRL, kind="default")
"""Tokens of a chunk with Transformers' FSDP, whatever the length: a fixed number of chunks would grow with it."""

BUCKET_ELEMENTS: Final = 5e8

ONE: Final = given("ranks that have a part each", 1.0, "1", "every tensor rank has the whole", kind="default")


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


def logit_each(s: Situation) -> Figure:
    """Bytes of a logit at the peak of the loss."""
    kernel = word(s, "training.loss")
    if _in_place(s):
        return f.megatron_logit(element_bytes(s), _logit(kernel, 4.0, *s.origin("training.loss")))
    if kernel == "plain":
        shared = _flag(s, "training.head", word(s, "training.head") == "vocab-parallel")
        return f.plain_logit(s["parallelism.tensor"], shared)
    copied = LOSS_COPIES.get(kernel, 0.0) * float(element_bytes(s))
    each = (12.0 if _fixed(s) else 12.0 / CHUNKS) if kernel == "chunked" else copied
    return _logit(kernel, each, *s.origin("training.loss"))


def _in_place(s: Situation) -> bool:
    """Whether the loss is Megatron-LM's own, with fused steps or not: logits are cast to fp32, and no further copy is made."""
    return s.plan.training.framework == "megatron" and word(s, "training.loss") in ("plain", "fused")


def _fixed(s: Situation) -> bool:
    """Whether the loss goes through the tokens in chunks of a fixed length."""
    return s.plan.training.framework == "fsdp" and word(s, "training.loss") == "chunked"


def _tokens_at_once(s: Situation, cut: Split) -> Figure:
    """Tokens whose logits exist together."""
    return f.chunk_tokens(cut.tokens, CHUNK) if _fixed(s) else cut.tokens


@cache
def _logit(kernel: str, each: float, kind: str, verified: bool) -> Figure:
    source = f"bytes of a logit, {kernel} loss; {STUDY}"
    return given("training.loss", each, "bytes", source, kind=kind, verified=verified, is_field=True)


def _flag(s: Situation, path: str, on: bool) -> Figure:
    kind, verified = s.origin(path)
    return given(path, float(on), "1", "1 where the vocabulary is shared", kind=kind, verified=verified, is_field=True)


def _alive_with_head(s: Situation) -> Figure:
    """1 where logits live while the head's input gradient is made, or it is made chunk by chunk; those of a plain loss are gone."""
    return _alive("plain" if _in_place(s) else word(s, "training.loss"))


@cache
def _alive(kernel: str) -> Figure:
    name, lives = f"input gradient with the logits, {kernel} loss", float(kernel in (*LOSS_COPIES, "chunked"))
    return given(name, lives, "1", STUDY)


_SUMS: Final = "torchtitan b5bcd76, components/loss.py, GradAccumulator"
ACCUMULATED: Final = given("bytes of a gradient summed over chunks", 4.0, "bytes", _SUMS)


def _input_gradient(s: Situation, recipe: Recipe, cut: Split) -> tuple[Figure, Figure]:
    """Bytes of an element of the gradient of the head's input, and the ranks that divide it: torchtitan's chunks are whole."""
    if s.plan.training.framework == "torchtitan" and word(s, "training.loss") == "chunked":
        return ACCUMULATED, ONE
    return recipe.element, cut.residual


EVALUATED: Final = given("bytes of a logit in evaluation", 6.0, "bytes", "compute type and fp32 copy, ml-engineering")


def head_ranks(s: Situation) -> Figure:
    """Ranks that divide the vocabulary at the loss."""
    if word(s, "training.head") == "vocab-parallel":
        return s["parallelism.tensor"]
    kind, verified = s.origin("training.head")
    source = "ranks that divide the logits: one, where the head is gathered"
    return given("training.head", 1.0, "1", source, kind=kind, verified=verified, is_field=True)


def matmul_weights(s: Situation, parts: tuple[Layer | None, ...]) -> Figure:
    """Matmul weights of one layer on one tensor rank; of experts, one."""
    named = dict(zip(("attention", "mlp", "expert", "shared"), parts, strict=False))
    found = {name: one.weights for name, one in named.items() if one is not None}
    return st.held_parameters(total(**found), nothing("1"), s["parallelism.tensor"])


def work(
    s: Situation, model: ModelBudget, stage: Stage, parts: Held, recipe: Recipe, layers: Layers, cut: Split
) -> Work:
    """Every working set of one pipeline rank."""
    local, (summed, ranks) = head_ranks(s), _input_gradient(s, recipe, cut)
    logits = total(
        copies=f.logit_bytes(_tokens_at_once(s, cut), model.padded_vocabulary, local, logit_each(s), stage.last),
        hidden_gradient=f.head_input_gradient(
            cut.tokens, summed, s["model.hidden_size"], ranks, _alive_with_head(s), stage.last
        ),
    )
    width = f.largest_part(stage.dense_layers, layers.dense.width, stage.expert_layers, layers.sparse.width)
    temporaries = f.backward_temporaries(
        cut.tokens, recipe.element, s["model.hidden_size"], cut.residual, width, cut.tensor
    )
    if model.expert is not None:
        temporaries = total(passing=temporaries, gathered=_gathered_tokens(s, stage, recipe, cut))
    standing = _score_buffer(s, model, cut)
    if _stands(s):
        temporaries = total(passing=temporaries, scores=standing)
    buffers = _buffers(s, stage, parts, recipe, layers)
    return Work(
        logits,
        f.logit_bytes(cut.tokens, model.padded_vocabulary, local, EVALUATED, stage.last),
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


def _scores(s: Situation, model: ModelBudget, cut: Split, standing: Figure) -> Figure:
    """Attention half of a layer's backward: gradients of the stream and of the products, and score matrices."""
    query, _ = attention_widths(s, model)
    kept, peak = float(score_bytes(s)), SCORE_PEAK.get(word(s, "training.kernels"), 0.0)
    each = given("bytes of a score beside the kept ones", max(peak - kept, float(element_bytes(s))), "bytes", STUDY)
    return total(
        scores=f.score_temporaries(cut.tokens, model.shape.heads, s["data.sequence_length"], each, cut.tensor),
        products=f.attention_temporaries(
            cut.tokens, element_bytes(s), s["model.hidden_size"], cut.residual, query, cut.tensor
        ),
        standing=standing,
    )


def goes_round(s: Situation) -> bool:
    """Whether PyTorch's ring attention gathers keys and values; Megatron-LM and DeepSpeed have their own."""
    one = isinstance(s["parallelism.context"], Figure) and s["parallelism.context"] == 1.0
    return s.plan.training.framework in ("torchtitan", "fsdp") and s.plan.parallelism.context_type == "ring" and not one


def _attention(s: Situation, model: ModelBudget, cut: Split, standing: Figure) -> Figure:
    """The attention half of a layer's backward, where it may hold more than the other."""
    if keeps_scores(s):
        return _scores(s, model, cut, standing)
    if not goes_round(s):
        return nothing()
    element, hidden, (query, key_value) = element_bytes(s), s["model.hidden_size"], attention_widths(s, model)
    both = total(
        ring=f.ring_temporaries(cut.tokens, element, query, key_value, s["parallelism.context"], cut.tensor),
        products=f.attention_temporaries(cut.tokens, element, hidden, cut.residual, query, cut.tensor),
    )
    return f.held_in_ring(both, s["parallelism.context"])


def _stands(s: Situation) -> bool:
    return s.plan.training.framework == "megatron" and s.plan.training.attention == "eager"


def _score_buffer(s: Situation, model: ModelBudget, cut: Split) -> Figure:
    """One score matrix that Megatron-LM's own attention makes once and keeps for good; others take a new one each time."""
    if not _stands(s):
        return nothing()
    each = given("bytes of a score in the standing buffer", float(element_bytes(s)), "bytes", BUFFERED)
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
    return given("elements in a bucket", BUCKET_ELEMENTS, "1", "DeepSpeed reduce_bucket_size default", kind="default")


def _buckets(s: Situation, recipe: Recipe) -> Figure:
    count = given("buckets", 3.0, "1", "two reduce buckets and one gather bucket", kind="default")
    return f.bucket_bytes(count, bucket_elements(s), recipe.element)


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
