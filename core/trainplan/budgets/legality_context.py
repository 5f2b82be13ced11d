"""Rules of context and sequence parallelism: what sequences and heads have to divide by, and the attention that is refused."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from trainplan.budgets.layout import Broken, Layout, nearest


def sequence(layout: Layout) -> Iterator[Broken]:
    """G9: context ranks take two slices each, and sequence parallel splits every slice over the tensor ranks."""
    length, context, tensor = layout.sequence_length, layout.degree("context"), layout.degree("tensor")
    plan = layout.situation.plan
    step = sequence_step(context, tensor, plan.parallelism.sequence_parallel, plan.training.framework)
    if length is None or length % step == 0:
        return
    near = " or ".join(f"{count:,}" for count in (length // step * step, length // step * step + step) if count)
    message = f"a sequence of {length:,} tokens is no multiple of {step:,} (context {context}, tensor {tensor})"
    paths, reason = (
        ("data.sequence_length", "parallelism.context"),
        f"{length:,} tokens not divisible by context and tensor",
    )
    yield Broken("G9", message, f"{near} tokens", paths, reason)


def sequence_step(context: int, tensor: int, sequence_parallel: bool, framework: str) -> int:
    """What a sequence has to be a multiple of: context x lcm(2, tensor); without context the tensor ranks alone.

    torchtitan asks for tensor x 2 context: b5bcd76, trainer.py, seq_len_divisor.
    """
    split = tensor if sequence_parallel else 1
    if context == 1:
        return split
    return context * (2 * split if framework == "torchtitan" else lcm(2, split))


def context_heads(layout: Layout) -> Iterator[Broken]:
    """G10: all-to-all context parallelism splits heads too."""
    ranks = layout.degree("context") * layout.degree("tensor")
    if layout.situation.plan.parallelism.context_type != "all-to-all" or layout.degree("context") == 1:
        return
    uneven, context = _uneven_heads(layout), layout.degree("context")
    if uneven is not None:
        message = (
            f"{uneven} heads of a tensor rank over {context} context ranks: some have one more, and all wait for these"
        )
        fix, paths = f"context = {nearest(uneven, context)}", ("parallelism.context", "parallelism.context_type")
        yield Broken("G10", message, fix, paths, "heads uneven over context ranks", "warning")
        return
    for path, name in (("num_attention_heads", "query heads"), ("num_key_value_heads", "key heads")):
        size = layout.size(f"model.{path}")
        if size is not None and size % ranks and not (name == "key heads" and _repeated(layout, size, ranks)):
            message = f"{size} {name} do not divide over {ranks} ranks of context x tensor, which all-to-all needs"
            paths = ("parallelism.context_type", "parallelism.context")
            reason = f"{size} {name} not divisible by context x tensor"
            yield Broken("G10", message, 'context_type = "ring"', paths, reason)


def _repeated(layout: Layout, keys: int, ranks: int) -> bool:
    """Whether key heads are repeated to the ranks: where one divides the other, by those who bring such ranks to FSDP.

    verl issue 1226: 40 ranks for 40 query and 8 key heads; LlamaFactory pull request 10794 has the same rule.
    """
    return layout.situation.plan.training.framework == "fsdp" and ranks % keys == 0


def _uneven_heads(layout: Layout) -> int | None:
    """Heads of a tensor rank that DeepSpeed exchanges unevenly: as many keys as queries, and more than context ranks.

    DeepSpeed edaa722, sequence/layer.py: single_all_to_all takes uneven_heads_all2all then; one count serves queries and keys.
    """
    heads, keys = (layout.size(f"model.{name}") for name in ("num_attention_heads", "num_key_value_heads"))
    context, tensor = layout.degree("context"), layout.degree("tensor")
    if (
        layout.situation.plan.training.framework != "deepspeed"
        or heads is None
        or heads % tensor
        or keys not in {None, heads}
    ):
        return None
    each = heads // tensor
    return each if each > context and each % context else None


def context_kernel(layout: Layout) -> Iterator[Broken]:
    """G10: Megatron-LM's own attention runs on one context rank: core/transformer/dot_product_attention.py asserts it."""
    training, context = layout.situation.plan.training, layout.degree("context")
    if context == 1 or (training.framework, training.attention) != ("megatron", "eager"):
        return
    message = (
        f"context {context} with eager attention: Megatron-LM refuses it, ranks exchange keys in fused kernels alone"
    )
    paths, reason = ("parallelism.context", "training.attention"), "context ranks with Megatron-LM's eager attention"
    yield Broken("G10", message, 'context = 1, or attention = "flash"', paths, reason)
