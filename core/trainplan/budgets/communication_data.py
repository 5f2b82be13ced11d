"""Data parallelism: gradients scattered or reduced, weights gathered, by kind of sharding and for experts apart."""

from __future__ import annotations

from functools import cache

from trainplan.budgets.communication import Operation, link_of
from trainplan.budgets.kernels import Conditions
from trainplan.budgets.memory_recipe import element_bytes, reduced_bytes, reshards
from trainplan.budgets.memory_states import Held
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.record import record
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.figure import Figure, given, total
from trainplan.formulas import communication as f
from trainplan.formulas import communication_data as d


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


def rounds_of(s: Situation, microbatches: Figure) -> Rounds:
    """By sharding: an all-reduce is two rounds of the gradient; zero-3 gathers in forward and backward of every microbatch."""
    sharding = str(s.word("parallelism.sharding"))
    full = s.word("training.gradient_accumulation") == "full"
    once = _count("rounds of a step", 1.0, sharding)
    if sharding in ("zero-3", "hsdp"):
        gathers = _count("gathers of a weight", 2.0 if reshards(s) else 1.0, sharding)
        return Rounds(gathers, _count("scatters of a gradient", 1.0, sharding), once if full else microbatches, True)
    if sharding == "none":
        return Rounds(
            _count("gathers of a weight", 0.0, sharding), _count("ways of a gradient", 2.0, sharding), once, False
        )
    gathers, scatters = _count("gathers of a weight", 1.0, sharding), _count("scatters of a gradient", 1.0, sharding)
    if sharding == "zero-2" and not full:
        return Rounds(d.each_round(gathers, microbatches), scatters, microbatches, False)
    return Rounds(gathers, scatters, once, False)


@cache
def _count(name: str, value: float, sharding: str) -> Figure:
    return given(name, value, "1", f"parallelism.sharding {sharding}; ZeRO, arXiv 1910.02054", kind="default")


def group_of(s: Situation, ranks: Figure, stride: Figure) -> Group:
    """A group whose neighbours are `stride` ranks apart."""
    return Group(ranks, f.group_inside(s["cluster.scale_up_domain"], stride, ranks))


def data_operations(
    s: Situation, model: ModelBudget, mesh: MeshBudget, parts: Held, k: Conditions, microbatches: Figure, window: Figure
) -> tuple[Operation, ...]:
    """Collectives of dense parameters and of experts; `window` is the microbatch that can hide them (s)."""
    plan, pipeline = rounds_of(s, microbatches), s["parallelism.pipeline"]
    each = d.collective_bytes(plan.gathers, element_bytes(s), plan.scatters, reduced_bytes(s))
    dense = group_of(s, parts.ranks, s["parallelism.tensor"])
    mean, most = _dense(s, model, parts, pipeline)
    found = [_sharded("gradients and weights", mean, most, each, dense, k, plan)]
    if model.shape.expert_layers is not None:
        experts = d.mean_experts(model.shape.expert_layers, parts.experts, pipeline)
        group = group_of(s, parts.expert_ranks, s["parallelism.expert"])
        found.append(_sharded("experts: gradients, weights", experts, experts, each, group, k, plan))
    if s.word("parallelism.sharding") == "hsdp":
        found.append(_replicas(s, mesh, mean, dense, k, plan.rounds))
    return _together(found, plan, k, window, model, dense, pipeline)


@record
class _Part:
    """Bytes of a step and time of one round, of one group."""

    name: str
    bytes: Figure
    time: Figure
    link: str


def _sharded(name: str, mean: Figure, most: Figure, each: Figure, group: Group, k: Conditions, plan: Rounds) -> _Part:
    sent = d.times(d.ring_share(mean, each, group.ranks), plan.rounds)
    time = d.group_time(d.ring_share(most, each, group.ranks), group.ranks, group.inside, k.domain, k.fabric)
    return _Part(name, sent, time, link_of(group.ranks, group.ranks, group.inside))


def _dense(s: Situation, model: ModelBudget, parts: Held, pipeline: Figure) -> tuple[Figure, Figure]:
    """Parameters but for experts on the mean rank, and on an end rank."""
    shape = model.shape
    none = given("no layer with experts", 0.0, "1", "the model has none", kind="file")
    sparse = none if shape.expert_layers is None else shape.expert_layers
    ends = total(embedding=parts.embedding, head=parts.head)
    given_parts = (shape.dense_layers, parts.dense, sparse, parts.sparse, ends, pipeline)
    return d.mean_parameters(*given_parts), d.end_parameters(*given_parts)


def _replicas(s: Situation, mesh: MeshBudget, mean: Figure, shard: Group, k: Conditions, rounds: Figure) -> _Part:
    """hsdp: gradients of a shard are reduced over its replicas, which are whole shard groups apart."""
    replicas = d.replica_count(mesh.data, s["parallelism.context"], shard.ranks)
    two, none = _count("ways of a gradient", 2.0, "hsdp"), _count("gathers of a weight", 0.0, "hsdp")
    each = d.collective_bytes(none, element_bytes(s), two, reduced_bytes(s))
    apart = d.rank_stride(s["parallelism.tensor"], shard.ranks)
    group = group_of(s, replicas, apart)
    sent = d.ring_share(d.shard_parameters(mean, shard.ranks), each, replicas)
    time = d.group_time(sent, replicas, group.inside, k.domain, k.fabric)
    return _Part("gradients over replicas", sent, d.round_time(time, rounds), link_of(replicas, replicas, group.inside))


def _together(
    parts: list[_Part], plan: Rounds, k: Conditions, window: Figure, model: ModelBudget, group: Group, pipeline: Figure
) -> tuple[Operation, ...]:
    """All groups hide behind one window: what stays in sight is worked out for their sum and shared by their times."""
    times = {part.name: part.time for part in parts}
    if plan.layerwise:
        times["fixed"] = d.gather_latency(model.shape.layers, pipeline, group.ranks, group.inside)
    whole = total(**times)
    shown = f.time_times(d.exposed_time(whole, k.data_exposed, window), plan.rounds)
    return tuple(
        Operation(
            "data",
            part.name,
            part.bytes,
            part.link,
            f.time_times(part.time, plan.rounds),
            d.shared_time(shown, part.time, total(**{one.name: one.time for one in parts})),
        )
        for part in parts
    )


def updated(s: Situation, model: ModelBudget, parts: Held) -> tuple[Figure, Figure, Figure, Figure]:
    """Parameters that an end rank updates, experts apart, and the ranks over which either is shared."""
    pipeline, shape = s["parallelism.pipeline"], model.shape
    none = given("no layer with experts", 0.0, "1", "the model has none", kind="file")
    alone = given("optimizer on every rank", 1.0, "1", "parallelism.sharding none", kind="default")
    sharded = s.word("parallelism.sharding") != "none"
    experts = none if shape.expert_layers is None else d.mean_experts(shape.expert_layers, parts.experts, pipeline)
    _, most = _dense(s, model, parts, pipeline)
    ranks = (parts.ranks, parts.expert_ranks) if sharded else (alone, alone)
    return most, experts, *ranks
