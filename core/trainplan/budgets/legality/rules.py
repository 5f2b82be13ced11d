"""Rules of a layout: what has to divide what, which meshes and shardings a framework has, and which number would be legal.

Rules relate fields, so a broken one is never an unusable file. The pane, the search and the answers in reverse ask here.
G1 (mesh) and G2 (batch) are checked where tokens are counted; they block what follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd
from typing import Final

from trainplan.budgets.layout import Broken, Layout, nearest
from trainplan.budgets.legality.context import balanced_ring, context_heads, context_kernel, sequence
from trainplan.budgets.legality.experts import (
    expert_sequence,
    experts_in_group,
    replicated_experts,
    replicated_groups,
    sharded_experts,
    split_experts,
    tensor_in_experts,
)
from trainplan.budgets.legality.fp8 import accumulated_fp8, fp8_sizes, fp8_tokens
from trainplan.budgets.legality.frameworks import SHARDINGS, left_out, nearest_word
from trainplan.budgets.legality.heads import heads_and_widths, tensors
from trainplan.budgets.legality.released import (
    beside_stages,
    even_stages,
    exchange,
    fixed_chunks,
    group_of_one,
    offloaded_stages,
    own_ranks,
    prediction_alone,
    sequence_groups,
    shared_states,
    tied_stages,
    uneven_chunks,
    windows_in_ring,
)
from trainplan.budgets.legality.stages import chunks, filled_stages, layers_over_stages, released_schedule, schedule

ONE_MESH: Final = ("torchtitan", "fsdp", "maxtext")
"""Frameworks whose expert ranks are cut out of the one mesh; Megatron and DeepSpeed lay a second one."""

FULLY: Final = ("zero-2", "zero-3", "hsdp")
FSDP_OPTIMIZERS: Final = ("adamw", "sgd-momentum")
"""Megatron-LM d98e8a6, training/arguments.py: --use-megatron-fsdp asserts sgd or adam."""

EXPERT_PATHS: Final = ("parallelism.expert", "parallelism.expert_tensor", "parallelism.pipeline", "cluster.nodes")


def second_mesh(layout: Layout) -> Iterator[Broken]:
    """G3: Megatron and DeepSpeed lay a second mesh for experts, which divides the world."""
    expert, etp, pipeline = (layout.degree(name) for name in ("expert", "expert_tensor", "pipeline"))
    world, group = layout.world, expert * etp * pipeline
    one = layout.situation.plan.training.framework in ONE_MESH
    if one or world is None or expert * etp == 1 or world % group == 0:
        return
    message = f"{world:,} accelerators do not divide by {group:,} (expert tensor x expert x pipeline)"
    reason = "accelerators not divisible by expert tensor x expert x pipeline"
    yield Broken("G3", message, _legal_expert(layout, world, etp, pipeline), EXPERT_PATHS, reason)


def _legal_expert(layout: Layout, world: int, etp: int, pipeline: int) -> str:
    """The most expert ranks that divide what is left of the world, with one expert tensor rank where the plan's do not."""
    experts = layout.size("model.moe.num_experts") or 1
    if world % pipeline:
        return "fewer pipeline stages"
    if world % (etp * pipeline):
        return f"expert = {gcd(world // pipeline, experts)} and expert_tensor = 1"
    return f"expert = {gcd(world // (etp * pipeline), experts)}"


def one_mesh(layout: Layout) -> Iterator[Broken]:
    """G3: torchtitan and its like cut expert ranks out of data x context x tensor."""
    expert, etp, tensor, data = (*(layout.degree(name) for name in ("expert", "expert_tensor", "tensor")), layout.data)
    one = layout.situation.plan.training.framework in ONE_MESH
    if not one or layout.world is None or expert * etp == 1:
        return
    if etp not in (1, tensor):
        message = f"expert tensor {etp} is neither 1 nor tensor {tensor}: one mesh has no other"
        fix = "expert_tensor = 1" + _expert_besides(layout, expert, tensor)
        yield Broken("G3", message, fix, EXPERT_PATHS[1:2], "expert tensor neither 1 nor tensor")
        return
    if data is None:
        return
    ranks = data * layout.degree("context") * tensor // etp
    if ranks % expert:
        message = f"expert {expert} does not divide the {ranks:,} ranks of data x context x tensor"
        reason = "data x context x tensor not divisible by expert"
        yield Broken("G3", message, f"expert = {_nearest_expert(layout, ranks, expert)}", EXPERT_PATHS, reason)


def _nearest_expert(layout: Layout, ranks: int, expert: int) -> str:
    """Expert ranks that divide the ranks of the mesh and the experts."""
    return nearest(gcd(ranks, layout.size("model.moe.num_experts") or ranks), expert)


def _expert_besides(layout: Layout, expert: int, tensor: int) -> str:
    """What expert ranks have to be besides, with one expert tensor rank; nothing where the plan's are legal."""
    ranks = (layout.data or 0) * layout.degree("context") * tensor
    return f" and expert = {_nearest_expert(layout, ranks, expert)}" if ranks % expert else ""


def experts(layout: Layout) -> Iterator[Broken]:
    """G8: expert ranks divide experts, and expert tensor ranks their width."""
    count, expert, etp = layout.size("model.moe.num_experts"), layout.degree("expert"), layout.degree("expert_tensor")
    if layout.shape.expert_layers is None:
        if expert * etp > 1:
            message = f"expert {expert} for a model without experts"
            fix = "expert = 1" if etp == 1 else "expert = 1 and expert_tensor = 1"
            yield Broken("G8", message, fix, ("parallelism.expert",), "expert ranks for a model without experts")
        return
    if count is not None and count % expert:
        message = f"{count} experts do not divide over {expert} expert ranks"
        paths = ("parallelism.expert", "model.moe.num_experts")
        yield Broken(
            "G8", message, f"expert = {_expert_of(layout, count)}", paths, f"{count} experts not divisible by expert"
        )
    width = layout.size("model.moe.moe_intermediate_size")
    if width is not None and width % etp:
        message = f"expert width {width:,} does not divide over {etp} expert tensor ranks"
        paths, reason = ("parallelism.expert_tensor",), f"expert width {width:,} not divisible by expert tensor"
        yield Broken("G8", message, f"expert_tensor = {nearest(width, etp)}", paths, reason)


def _expert_of(layout: Layout, count: int) -> str:
    """The nearest expert ranks that divide the experts, and the mesh they are cut from where it is known."""
    expert, world, ranks = layout.degree("expert"), layout.world, count
    if layout.situation.plan.training.framework not in ONE_MESH:
        beside = layout.degree("expert_tensor") * layout.degree("pipeline")
        ranks = world // beside if world is not None and world % beside == 0 else count
    elif layout.data is not None:
        ranks = layout.data * layout.degree("context") * layout.degree("tensor") // layout.degree("expert_tensor")
    return nearest(gcd(count, ranks), expert)


def shard_group(layout: Layout) -> Iterator[Broken]:
    """G11: a shard group of hsdp divides the ranks that share states."""
    size, data = layout.size("parallelism.shard_size"), layout.data
    if layout.situation.word("parallelism.sharding") != "hsdp" or size is None or data is None:
        return
    ranks = data * layout.degree("context")
    if ranks % size:
        message = f"a shard group of {size} does not divide {ranks:,} ranks of data x context"
        paths, reason = ("parallelism.shard_size",), "data x context not divisible by the shard group"
        yield Broken("G11", message, f"shard_size = {nearest(ranks, size)}", paths, reason)


def sharding(layout: Layout) -> Iterator[Broken]:
    """G12: shardings that the framework does not have, alone or with a pipeline."""
    kind, framework = layout.situation.word("parallelism.sharding"), layout.situation.plan.training.framework
    paths = ("parallelism.sharding", "training.framework")
    if framework == "torchtitan" and kind == "zero-1":
        message = "torchtitan has no zero-1: it shards parameters or nothing"
        yield Broken("G12", message, "zero-3, hsdp or none", paths, "torchtitan has no zero-1")
    elif framework == "deepspeed" and kind in ("zero-2", "zero-3", "hsdp") and layout.degree("pipeline") > 1:
        message = f"DeepSpeed's pipeline does not run with {kind}: gradients accumulate over microbatches"
        reason = "DeepSpeed's pipeline runs with zero-1 at most"
        yield Broken("G12", message, "zero-1, or pipeline = 1", (*paths, "parallelism.pipeline"), reason)
    elif framework == "megatron" and kind in FULLY and layout.situation.plan.training.optimizer not in FSDP_OPTIMIZERS:
        optimizer = layout.situation.plan.training.optimizer
        message = f"{kind} with {optimizer}: Megatron-FSDP has adamw and sgd-momentum alone"
        paths, reason = (*paths, "training.optimizer"), f"Megatron-FSDP has no {optimizer}"
        yield Broken("G12", message, 'sharding = "zero-1"', paths, reason)
    elif kind is not None and kind not in SHARDINGS[framework].words:
        yield _unreleased_sharding(kind, framework, paths)


def _unreleased_sharding(kind: str, framework: str, paths: tuple[str, ...]) -> Broken:
    has = SHARDINGS[framework]
    message = f"{has.name}'s released code has no {kind}: it has {', '.join(has.words[:-1])} and {has.words[-1]}"
    fix = f"{nearest_word(kind, has) or has.words[0]} is nearest; the plan stands for a fork that has {kind}"
    return Broken("G12", message, fix, paths, left_out("shardings", has), "warning", unreleased=kind)


def tensor_domain(layout: Layout) -> Iterator[Broken]:
    """P1: a tensor group stays inside the scale-up domain."""
    tensor, domain = layout.degree("tensor"), layout.size("cluster.scale_up_domain")
    measured = layout.situation.plan.utilization.evidence in ("measured-here", "measured-scaled")
    if domain is None or tensor <= domain or measured:
        return
    message = f"tensor {tensor} reaches over the scale-up domain of {domain}; at 16 a group of two nodes keeps 0.43 of the speed"
    paths = ("parallelism.tensor", "cluster.scale_up_domain")
    reason = f"tensor beyond the scale-up domain of {domain}"
    most = max((step for step in tensors(layout) if step <= domain), default=1)
    yield Broken("P1", message, f"tensor = {most} at most, or a measurement here", paths, reason)


Rule = Callable[[Layout], Iterator[Broken]]

RULES: Final[tuple[Rule, ...]] = (
    second_mesh,
    one_mesh,
    layers_over_stages,
    chunks,
    heads_and_widths,
    experts,
    sequence,
    context_heads,
    context_kernel,
    balanced_ring,
    shard_group,
    sharding,
    released_schedule,
    schedule,
    filled_stages,
    tensor_domain,
    expert_sequence,
    fixed_chunks,
    uneven_chunks,
    windows_in_ring,
    fp8_sizes,
    fp8_tokens,
    own_ranks,
    exchange,
    even_stages,
    beside_stages,
    tied_stages,
    prediction_alone,
    experts_in_group,
    replicated_experts,
    split_experts,
    tensor_in_experts,
    sharded_experts,
    replicated_groups,
    sequence_groups,
    offloaded_stages,
    group_of_one,
    shared_states,
    accumulated_fp8,
)


def broken_rules(layout: Layout) -> list[Broken]:
    """Every rule that the layout breaks."""
    return [found for rule in RULES for found in rule(layout)]
