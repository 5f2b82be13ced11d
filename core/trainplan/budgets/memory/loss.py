"""The loss on a rank: copies of the logits at its peak and in evaluation, and the gradient of the head's input beside them."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.memory.layers import Split
from trainplan.budgets.memory.recipe import STUDY, Recipe, element_bytes, word
from trainplan.budgets.memory.stages import Stage
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_work as f
from trainplan.quantity.figure import Figure, given
from trainplan.quantity.formula import named_sum

LOSS_COPIES: Final = {"compiled": 2.0, "fused": 2.0, "fused-in-place": 1.0}
"""Copies of a logit in the compute type at the peak of the loss, by kernel; plain depends on who splits the head too."""

CHUNKS: Final = 8.0
"""Chunks of a chunked loss where nothing says otherwise: torchtitan's and torchtune's default."""

_TRL: Final = "TRL f2cd577, sft_trainer.py, _CHUNKED_LM_HEAD_CHUNK_SIZE"
CHUNK: Final = given("tokens of a chunk", 256.0, "tokens", _TRL, kind="default")
"""Tokens of a chunk with Transformers' FSDP, whatever the length: a fixed number of chunks would grow with it."""

ONE: Final = given("ranks that have a part each", 1.0, "1", "every tensor rank has the whole", kind="default")
AT_LOSS: Final = named_sum("bytes", "copies", "hidden_gradient")


def loss_bytes(s: Situation, vocabulary: Figure, stage: Stage, recipe: Recipe, cut: Split) -> tuple[Figure, Figure]:
    """Logits and what is made of them at the peak of the loss of one pipeline rank, and in evaluation."""
    local, (summed, ranks) = head_ranks(s), _input_gradient(s, recipe, cut)
    hidden = s["model.hidden_size"]
    peak = AT_LOSS(
        copies=f.logit_bytes(_tokens_at_once(s, cut), vocabulary, local, _logit_each(s), stage.last),
        hidden_gradient=f.head_input_gradient(cut.tokens, summed, hidden, ranks, _alive_with_head(s), stage.last),
    )
    return peak, f.logit_bytes(cut.tokens, vocabulary, local, EVALUATED, stage.last)


def _logit_each(s: Situation) -> Figure:
    """Bytes of a logit at the peak of the loss."""
    kernel = word(s, "training.loss")
    source, origin = f"bytes of a logit, {kernel} loss; {STUDY}", s.origin("training.loss")
    if _in_place(s):
        return f.megatron_logit(element_bytes(s), _field("training.loss", 4.0, "bytes", source, *origin))
    if kernel == "plain":
        shared = float(word(s, "training.head") == "vocab-parallel")
        return f.plain_logit(s["parallelism.tensor"], _head(shared, "1 where the vocabulary is shared", s))
    copied = LOSS_COPIES.get(kernel, 0.0) * float(element_bytes(s))
    each = (12.0 if _fixed(s) else 12.0 / CHUNKS) if kernel == "chunked" else copied
    return _field("training.loss", each, "bytes", source, *origin)


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
def _field(path: str, value: float, unit: str, source: str, kind: str, verified: bool) -> Figure:
    return given(path, value, unit, source, kind=kind, verified=verified, is_field=True)


def _head(value: float, source: str, s: Situation) -> Figure:
    return _field("training.head", value, "1", source, *s.origin("training.head"))


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
    return _head(1.0, "ranks that divide the logits: one, where the head is gathered", s)
