"""Rules of the frameworks' own code on experts: which ranks they share with what else, and which shardings take them."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Final

from trainplan.budgets.layout import Broken, Layout, divisors, nearest, nearest_of

SPLIT_EXPERTS: Final = "expert tensor ranks beside expert ranks"
WHOLE_EXPERTS: Final = "whole experts on tensor ranks"


def expert_sequence(layout: Layout) -> Iterator[Broken]:
    """G16: Megatron-LM d98e8a6, core/transformer/moe/moe_layer.py: experts under tensor ranks need sequence parallel."""
    plan = layout.situation.plan
    dense = layout.shape.expert_layers is None
    if (
        plan.training.framework != "megatron"
        or dense
        or layout.degree("tensor") == 1
        or plan.parallelism.sequence_parallel
    ):
        return
    message = f"tensor {layout.degree('tensor')} without sequence parallel in a model with experts: Megatron-LM refuses to train it"
    paths, reason = (
        ("parallelism.sequence_parallel", "parallelism.tensor"),
        "experts under tensor without sequence parallel",
    )
    yield Broken("G16", message, "sequence_parallel = true, or tensor = 1", paths, reason)


def experts_in_group(layout: Layout) -> Iterator[Broken]:
    """G22: torchtitan b5bcd76, distributed/parallel_dims.py: expert ranks divide a shard group x tensor, never its replicas."""
    size = layout.size("parallelism.shard_size")
    if layout.situation.word("parallelism.sharding") == "hsdp" and size is not None:
        yield from _within(layout, size * layout.degree("tensor"), f"the shard group of {size} x tensor")


def replicated_experts(layout: Layout) -> Iterator[Broken]:
    """G22: the same where nothing is sharded: expert ranks divide context x tensor."""
    if layout.situation.word("parallelism.sharding") == "none":
        yield from _within(
            layout, layout.degree("context") * layout.degree("tensor"), "context x tensor, replicas apart"
        )


def _within(layout: Layout, ranks: int, what: str) -> Iterator[Broken]:
    expert = layout.degree("expert")
    if layout.situation.plan.training.framework != "torchtitan" or ranks % expert == 0:
        return
    message = f"expert {expert} does not divide the {ranks:,} ranks of {what}: torchtitan shards experts inside them"
    fix = f"expert = {nearest(gcd(ranks, layout.size('model.moe.num_experts') or ranks), expert)}"
    paths, reason = ("parallelism.expert", "parallelism.sharding"), "expert ranks over torchtitan's replicas"
    yield Broken("G22", message, fix, paths, reason)


def split_experts(layout: Layout) -> Iterator[Broken]:
    """G22: DeepSpeed edaa722, moe/layer.py and utils/groups.py: experts are whole, or split as everything else over tensor ranks.

    Where they are split, expert ranks divide the data ranks.
    """
    etp, tensor, expert, data = *map(layout.degree, ("expert_tensor", "tensor", "expert")), layout.data
    if layout.situation.plan.training.framework != "deepspeed" or etp == 1:
        return
    paths = ("parallelism.expert_tensor", "parallelism.expert")
    if etp != tensor:
        message = f"expert tensor {etp} is neither 1 nor tensor {tensor}: DeepSpeed's experts have no other"
        yield Broken("G22", message, "expert_tensor = 1", paths, "DeepSpeed: expert tensor neither 1 nor tensor")
    elif data is not None and data % expert:
        legal = [step for step in divisors(gcd(data, layout.size("model.moe.num_experts") or data)) if step != expert]
        message = f"expert {expert} does not divide {data:,} data ranks, which DeepSpeed's split experts need"
        yield Broken(
            "G22", message, f"expert = {nearest_of(legal, expert)}", paths, "data ranks not divisible by expert"
        )


def tensor_in_experts(layout: Layout) -> Iterator[Broken]:
    """G22: torchtitan's experts are split over tensor ranks where there are no expert ranks, and whole where there are some.

    torchtitan b5bcd76, models/common/moe_sharding.py: expert_param_placement_sparse and _dense; expert tensor ranks beside
    expert ranks went with pytorch/torchtitan pull 3167.
    """
    expert, etp, tensor = map(layout.degree, ("expert", "expert_tensor", "tensor"))
    sparse = layout.shape.expert_layers is not None
    if layout.situation.plan.training.framework != "torchtitan" or not sparse or tensor == 1 or etp not in (1, tensor):
        return
    paths = ("parallelism.expert_tensor", "parallelism.expert", "parallelism.tensor")
    if expert > 1 and etp > 1:
        message = f"expert tensor {etp} beside expert {expert}: torchtitan has no expert tensor ranks any more"
        fix = "expert_tensor = 1; the plan stands for a version before pull 3167"
        reason = "expert tensor beside expert ranks, which torchtitan has no more"
        yield Broken("G22", message, fix, paths, reason, "warning", unreleased=SPLIT_EXPERTS)
    elif expert == 1 and etp == 1:
        message = (
            f"whole experts on {tensor} tensor ranks: without expert ranks torchtitan splits each over all of them"
        )
        reason = "whole experts on tensor ranks, which torchtitan has not without expert ranks"
        fix = f"expert_tensor = {tensor}, which is what it does, or expert ranks"
        yield Broken("G22", message, fix, paths, reason, "warning", unreleased=WHOLE_EXPERTS)


def sharded_experts(layout: Layout) -> Iterator[Broken]:
    """G23: DeepSpeed edaa722, runtime/engine.py, _validate_zero3_moe_compatibility: expert ranks with all parameters sharded."""
    kind, expert = layout.situation.word("parallelism.sharding"), layout.degree("expert")
    if (
        layout.situation.plan.training.framework != "deepspeed"
        or kind not in ("zero-3", "hsdp")
        or expert == 1
        or layout.shape.expert_layers is None
    ):
        return
    besides = [name for name in ("tensor", "context", "expert_tensor") if layout.degree(name) > 1]
    fix = f'sharding = "{"zero-2" if layout.degree("pipeline") == 1 else "zero-1"}"'
    paths = ("parallelism.sharding", "parallelism.expert", *(f"parallelism.{name}" for name in besides))
    if kind == "hsdp" or besides:
        what = "shard groups" if kind == "hsdp" else f"{' and '.join(besides).replace('_', ' ')} ranks"
        message = f"expert {expert} with {kind}: DeepSpeed refuses it together with {what}"
        yield Broken("G23", message, f"{fix}, or expert = 1", paths, f"DeepSpeed's expert ranks with {kind} and {what}")
        return
    message = f"expert {expert} with zero-3: DeepSpeed's own experts refuse it, and AutoEP alone runs it"
    yield Broken("G23", message, f"{fix}, or AutoEP", paths, "expert ranks with zero-3, for AutoEP alone", "warning")


def replicated_groups(layout: Layout) -> Iterator[Broken]:
    """G22: Megatron-LM d98e8a6, core/parallel_state.py: copies of the shard group divide the data ranks of experts too."""
    plan, size, data = layout.situation.plan, layout.size("parallelism.shard_size"), layout.data
    of_hsdp = plan.training.framework == "megatron" and layout.situation.word("parallelism.sharding") == "hsdp"
    if not of_hsdp or None in (size, data, layout.world) or layout.shape.expert_layers is None:
        return
    ranks, world = (data or 1) * layout.degree("context"), layout.world or 1
    expert, beside = layout.degree("expert"), layout.degree("expert_tensor") * layout.degree("pipeline")
    if ranks % (size or 1) or world % (expert * beside):
        return  # G11 and G3 say so
    copies, inside = ranks // (size or 1), world // (expert * beside)
    if inside % copies == 0:
        return
    message = f"data ranks of experts ({inside:,}) do not divide over {copies:,} shard groups: Megatron-LM refuses it"
    legal = divisors(gcd(world // (beside * copies), layout.size("model.moe.num_experts") or 1))
    fewer = (
        f"expert = {nearest_of(legal, expert)}, or " if world % (beside * copies) == 0 and expert not in legal else ""
    )
    paths, reason = (
        ("parallelism.shard_size", "parallelism.expert"),
        "data ranks of experts not divisible by shard groups",
    )
    yield Broken("G22", message, f"{fewer}shard_size = {ranks}", paths, reason)
