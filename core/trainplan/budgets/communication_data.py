"""Data parallelism: gradients scattered or reduced, weights gathered, by kind of sharding and for experts apart."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.communication import Operation, link_of
from trainplan.budgets.kernels import Conditions
from trainplan.budgets.memory.recipe import element_bytes, reduced_bytes, reshards
from trainplan.budgets.memory.stages import end_layers
from trainplan.budgets.memory.states import Held
from trainplan.budgets.memory.work import bucket_elements
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.formulas import communication as f
from trainplan.formulas import communication_data as d
from trainplan.formulas.memory_states import shard_ranks
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of
from trainplan.quantity.formula import named_sum


@record
class Rounds:
    """What one parameter costs in a step: gathers of its weight and scatters of its gradient, and rounds of all that."""

    gathers: Figure
    scatters: Figure
    rounds: Figure
    layerwise: bool


@record
class Group:
    """Ranks that share states: how many, and how many of them in one domain."""

    ranks: Figure
    inside: Figure


LAYERWISE: Final = ("torchtitan", "fsdp", "maxtext")
"""Frameworks whose collectives run layer by layer under every sharding: FSDP units, and XLA's scan over layers."""


NO_EXPERTS: Final = given("no layer with experts", 0.0, "1", "the model has none", kind="file")
ALONE: Final = given("optimizer on every rank", 1.0, "1", "parallelism.sharding none", kind="default")

BOTH_ENDS: Final = named_sum("1", "embedding", "head")


def rounds_of(s: Situation, microbatches: Figure) -> Rounds:
    """By sharding: an all-reduce is two rounds of the gradient; zero-3 gathers in forward and backward of every microbatch.

    Full gradients are scattered once.
    """
    sharding = str(s.word("parallelism.sharding"))
    full = s.word("training.gradient_accumulation") == "full"
    once = _count("rounds of a step", 1.0, sharding)
    if sharding in ("zero-3", "hsdp"):
        gathers = _count("gathers of a weight", 2.0 if reshards(s) else 1.0, sharding)
        scatters = _count("scatters of a gradient", 1.0, sharding)
        if not gathers_again(s):
            return Rounds(gathers, scatters, once, True)
        return Rounds(gathers, d.each_round(scatters, microbatches) if full else scatters, microbatches, True)
    if sharding == "none":
        return Rounds(
            _count("gathers of a weight", 0.0, sharding), _count("ways of a gradient", 2.0, sharding), once, False
        )
    gathers, scatters = _count("gathers of a weight", 1.0, sharding), _count("scatters of a gradient", 1.0, sharding)
    if sharding == "zero-2" and not full:
        return Rounds(d.each_round(gathers, microbatches), scatters, microbatches, False)
    return Rounds(gathers, scatters, once, False)


def gathers_again(s: Situation) -> bool:
    """Whether every microbatch gathers the weights under zero-3 and hsdp.

    Full gradients spare the scatters of a microbatch and no gather: FSDP reshards in no_sync too (torch
    distributed/fsdp/_runtime_utils.py, _post_backward_reshard; _fully_shard/_fsdp_param_group.py, post_backward, read
    again). Pipeline stages turn that off (distributed/pipelining/stage.py), where weights stay after forward.
    """
    return s.word("training.gradient_accumulation") != "full" or reshards(s) or s.plan.parallelism.pipeline == 1


@cache
def _count(name: str, value: float, sharding: str) -> Figure:
    return given(name, value, "1", f"parallelism.sharding {sharding}; ZeRO, arXiv 1910.02054", kind="default")


def group_of(s: Situation, ranks: Figure, stride: Figure) -> Group:
    """A group whose neighbours are `stride` ranks apart."""
    return Group(ranks, f.group_inside(s["cluster.scale_up_domain"], stride, ranks))


def replica_domains(s: Situation, mesh: MeshBudget) -> Figure:
    """Scale-up domains of the ranks that reduce gradients of one stage: all its replicas, and their context ranks."""
    group = group_of(s, shard_ranks(mesh.data, s["parallelism.context"]), s["parallelism.tensor"])
    return d.spanned_domains(group.ranks, group.inside)


def data_operations(
    s: Situation, model: ModelBudget, mesh: MeshBudget, parts: Held, k: Conditions, microbatches: Figure, window: Figure
) -> tuple[Operation, ...]:
    """Collectives of dense parameters and of experts; `window` is the microbatch that can hide them (s)."""
    plan, pipeline = rounds_of(s, microbatches), s["parallelism.pipeline"]
    each = d.collective_bytes(plan.gathers, element_bytes(s), plan.scatters, reduced_bytes(s))
    dense = group_of(s, parts.ranks, s["parallelism.tensor"])
    mean, most = _dense(s, model, parts, pipeline)
    waits = _Waits(s, model.shape.layers, pipeline, plan)
    found = [_sharded("gradients and weights", mean, most, each, dense, k, waits)]
    if model.shape.expert_layers is not None:
        experts = _experts(s, model.shape.expert_layers, parts, pipeline)
        group = group_of(s, parts.expert_ranks, s["parallelism.expert"])
        found.append(_sharded("expert gradients", experts, experts, each, group, k, waits))
    if s.word("parallelism.sharding") == "hsdp":
        found.append(_replicas(s, mesh, mean, dense, k, waits))
    return _together(s, found, plan, k, window)


@record
class _Part:
    """Bytes of a step and time of one round, of one group."""

    name: str
    bytes: Figure
    time: Figure
    link: str


@record
class _Waits:
    """What says into how many collectives a round is cut."""

    s: Situation
    layers: Figure
    pipeline: Figure
    plan: Rounds

    def count(self, parameters: Figure, group: Group, k: Conditions) -> Figure:
        """Collectives of one round: by layer where weights are gathered so, else by bucket, one where nothing overlaps."""
        each = d.both_ways(self.plan.gathers, self.plan.scatters)
        if self.plan.layerwise or self.s.plan.training.framework in LAYERWISE:
            return d.layer_collectives(each, self.layers, self.pipeline)
        bucket = _bucket(self.s, group, k)
        return each if bucket is None else d.bucket_collectives(each, parameters, bucket)


def _bucket(s: Situation, group: Group, k: Conditions) -> Figure | None:
    """Parameters of a gradient bucket: the plan's, else the framework's; None where one call reduces all."""
    if s.value("parallelism.bucket_elements") is not None or s.plan.training.framework == "deepspeed":
        return bucket_elements(s)
    return None if k.eager else d.bucket_parameters(group.ranks)


def _sharded(name: str, mean: Figure, most: Figure, each: Figure, group: Group, k: Conditions, waits: _Waits) -> _Part:
    sent = d.times(d.ring_share(mean, each, group.ranks), waits.plan.rounds)
    moved = d.group_time(d.ring_share(most, each, group.ranks), group.ranks, group.inside, k.domain, k.fabric)
    start = d.collective_start(group.ranks, group.inside)
    time = d.started_time(moved, waits.count(most, group, k), start)
    return _Part(name, sent, time, link_of(group.ranks, group.ranks, group.inside))


def _dense(s: Situation, model: ModelBudget, parts: Held, pipeline: Figure) -> tuple[Figure, Figure]:
    """Parameters but for experts on the mean rank, and on an end rank, or on the fullest where the plan says its ends."""
    shape = model.shape
    sparse = NO_EXPERTS if shape.expert_layers is None else shape.expert_layers
    ends = BOTH_ENDS(embedding=parts.embedding, head=parts.head)
    given_parts = (shape.dense_layers, parts.dense, sparse, parts.sparse)
    mean, ended = d.mean_parameters(*given_parts, ends, pipeline), end_layers(s, shape.layers)
    if ended is None:
        return _copied(s, mean), _copied(s, d.end_parameters(*given_parts, ends, pipeline))
    return _copied(s, mean), d.fullest_parameters(*given_parts, *ended, parts.embedding, parts.head)


def _copied(s: Situation, parameters: Figure) -> Figure:
    """DualPipe holds a stage and its mirror, and reduces the gradients of both."""
    if s.plan.parallelism.schedule != "dualpipe":
        return parameters
    return d.times_copies(parameters, d.stage_copies(s["parallelism.pipeline"]))


def _experts(s: Situation, layers: Figure, parts: Held, pipeline: Figure) -> Figure:
    return _copied(s, d.mean_experts(layers, parts.experts, pipeline))


def _replicas(s: Situation, mesh: MeshBudget, mean: Figure, shard: Group, k: Conditions, waits: _Waits) -> _Part:
    """hsdp: gradients of a shard are reduced over its replicas, which are whole shard groups apart."""
    replicas = d.replica_count(mesh.data, s["parallelism.context"], shard.ranks)
    two, none = _count("ways of a gradient", 2.0, "hsdp"), _count("gathers of a weight", 0.0, "hsdp")
    each = d.collective_bytes(none, element_bytes(s), two, reduced_bytes(s))
    apart = d.rank_stride(s["parallelism.tensor"], shard.ranks)
    group = group_of(s, replicas, apart)
    sent = d.ring_share(d.shard_parameters(mean, shard.ranks), each, replicas)
    moved = d.group_time(sent, replicas, group.inside, k.domain, k.fabric)
    count = d.layer_collectives(two, waits.layers, waits.pipeline)
    time = d.round_time(d.started_time(moved, count, d.collective_start(replicas, group.inside)), waits.plan.rounds)
    return _Part("replica gradients", sent, time, link_of(replicas, replicas, group.inside))


def _together(s: Situation, parts: list[_Part], plan: Rounds, k: Conditions, window: Figure) -> tuple[Operation, ...]:
    """All groups hide behind one window: what stays in sight is worked out for their sum and shared by their times."""
    whole = total_of({part.name: part.time for part in parts})
    shown = f.time_times(_exposed(s, whole, plan, k, window), plan.rounds)
    return tuple(
        Operation(
            "data",
            part.name,
            part.bytes,
            part.link,
            f.time_times(part.time, plan.rounds),
            d.shared_time(shown, part.time, whole),
        )
        for part in parts
    )


def _exposed(s: Situation, whole: Figure, plan: Rounds, k: Conditions, window: Figure) -> Figure:
    """Megatron's chunks reduce one after the other, where gradients are reduced once a step."""
    if s.plan.training.framework != "megatron" or plan.layerwise:
        return d.exposed_time(whole, k.data_exposed, window)
    chunks, ranks = s["parallelism.virtual_pipeline"], s["parallelism.pipeline"]
    return d.exposed_by_chunks(whole, k.data_exposed, window, chunks, ranks)


def updated(s: Situation, model: ModelBudget, parts: Held) -> tuple[Figure, Figure, Figure, Figure]:
    """Parameters that an end rank updates, experts apart, and the ranks over which either is shared."""
    pipeline, shape = s["parallelism.pipeline"], model.shape
    sharded = s.word("parallelism.sharding") != "none"
    experts = NO_EXPERTS if shape.expert_layers is None else _experts(s, shape.expert_layers, parts, pipeline)
    _, most = _dense(s, model, parts, pipeline)
    ranks = (parts.ranks, parts.expert_ranks) if sharded else (ALONE, ALONE)
    return most, experts, *ranks
