"""Rules of context and sequence parallelism: what sequences and heads have to divide by, and the attention that is refused."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, lcm
from typing import Final

from trainplan.budgets.layout import Broken, Layout, nearest
from trainplan.budgets.legality.frameworks import EXCHANGES
from trainplan.budgets.shape import cannot_fuse, keeps_scores

WHOLE_SLICES: Final = ("deepspeed", "maxtext", "fsdp")
"""Frameworks whose all-to-all leaves a context rank one slice; Megatron-LM cuts two of every sequence.

DeepSpeed edaa722, runtime/sequence_parallel/ulysses_sp.py; MaxText e591f30, configs/types.py: max_target_length.
"""

COPIED: Final = ("deepspeed", "fsdp")
"""Frameworks with which key heads of all-to-all are repeated where they are fewer than the ranks.

DeepSpeed edaa722, runtime/sequence_parallel/ulysses_sp.py: kv_replication_factor; over FSDP verl-project/verl issue 1226.
"""


def sequence(layout: Layout) -> Iterator[Broken]:
    """G9: context ranks take two slices each, and sequence parallel splits every slice over the tensor ranks.

    torchtitan b5bcd76, trainer.py, cuts the tokens of a microbatch, whatever their sequences.
    """
    length, context, tensor = layout.sequence_length, layout.degree("context"), layout.degree("tensor")
    plan = layout.situation.plan
    split = tensor if plan.parallelism.sequence_parallel else 1
    heads = plan.parallelism.context_type == "all-to-all" and plan.training.framework in WHOLE_SLICES
    step = context * split if heads else sequence_step(context, tensor, split > 1, plan.training.framework)
    micro = layout.size("batch.micro_batch_sequences") if plan.training.framework == "torchtitan" else 1
    if length is None or length * (micro or 1) % step == 0:
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
    if _without_core(layout):
        return  # no exchange is right, as the next rule says
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
        if size is None or size % ranks == 0:
            continue
        if name == "key heads" and ranks % size == 0 and layout.situation.plan.training.framework in COPIED:
            yield from _copied_keys(layout, size, ranks)
            return
        message = f"{size} {name} do not divide over {ranks} ranks of context x tensor, which all-to-all needs"
        paths = ("parallelism.context_type", "parallelism.context")
        fix = " or ".join(_exchanged_otherwise(layout))
        yield Broken("G10", message, fix, paths, f"{size} {name} not divisible by context x tensor")
        return  # key heads that break too are mended by the same


def _exchanged_otherwise(layout: Layout) -> Iterator[str]:
    """A ring where the framework's released code has one, else the context ranks over which both kinds of heads divide."""
    plan, tensor = layout.situation.plan, layout.degree("tensor")
    if "ring" in EXCHANGES[plan.training.framework].words:
        yield 'context_type = "ring"'
        return
    heads, keys = (layout.size(f"model.num_{name}_heads") or 0 for name in ("attention", "key_value"))
    common, beside = gcd(heads, keys), tensor * layout.degree("pipeline")
    whole = layout.world // beside if layout.world is not None and layout.world % beside == 0 else 0
    yield f"context = {nearest(gcd(common // tensor, whole), layout.degree('context')) if common % tensor == 0 else 1}"


def _copied_keys(layout: Layout, keys: int, ranks: int) -> Iterator[Broken]:
    """Key heads that are repeated, where the query heads divide; one that all of them break is said of these alone."""
    heads, tensor = layout.size("model.num_attention_heads"), layout.degree("tensor")
    if heads is None or heads % ranks:
        return
    message = f"{keys} key heads on {ranks} ranks of context x tensor: verl and DeepSpeed's Ulysses repeat them, others refuse"
    fix = (
        f"context = {max(keys // tensor, 1)}, or code that repeats them"
        if keys % tensor == 0
        else "code that repeats them"
    )
    paths, reason = (
        ("parallelism.context", "model.num_key_value_heads"),
        f"{keys} key heads repeated over context x tensor",
    )
    yield Broken("G10", message, fix, paths, reason, "warning")


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


def balanced_ring(layout: Layout) -> Iterator[Broken]:
    """G18: MaxText e591f30, utils/max_utils.py: a balanced ring pairs slices of an even number of ranks."""
    plan, context = layout.situation.plan, layout.degree("context")
    if (
        plan.training.framework != "maxtext"
        or plan.parallelism.context_type != "ring"
        or context % 2 == 0
        or context == 1
    ):
        return
    message = f"context {context} by ring is odd: MaxText balances the ring over pairs"
    fix = "an even context, or context_parallel_load_balance off"
    yield Broken("G18", message, fix, ("parallelism.context",), "MaxText: context ranks of a ring are odd", "warning")


def context_kernel(layout: Layout) -> Iterator[Broken]:
    """G10: unfused attention runs on one context rank: Megatron-LM's core/transformer/dot_product_attention.py asserts it.

    TransformerEngine d0067d0, dot_product_attention/utils.py, has no core left for context ranks and heads that are not fused.
    """
    s, context = layout.situation, layout.degree("context")
    if not _without_core(layout):
        return
    reason, never = "context ranks with Megatron-LM's eager attention", cannot_fuse(s)
    kind = "attention that TransformerEngine does not fuse" if never else "eager attention"
    message = f"context {context} with {kind}: Megatron-LM refuses it, ranks exchange keys in fused kernels alone"
    fix = "context = 1, or " + ("heads, a part and a number type that it fuses" if never else 'attention = "flash"')
    yield Broken("G10", message, fix, ("parallelism.context", "training.attention"), reason)


def _without_core(layout: Layout) -> bool:
    """Whether context ranks have no attention that runs on them."""
    s = layout.situation
    return layout.degree("context") > 1 and s.plan.training.framework == "megatron" and keeps_scores(s)
