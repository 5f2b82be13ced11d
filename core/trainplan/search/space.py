"""What a search sweeps: the values of every number of a layout and the words of every kind.

Numbers run over divisors of what they have to divide, the plan's own value with them. What the plan says beside these
fields stays: its global batch, its sequence, how context ranks exchange. It judges nothing; the rules do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod
from typing import Any, Final, get_args

from trainplan.alternatives.reverse import changed
from trainplan.budgets.layout import divisors, whole
from trainplan.budgets.legality.experts import SPLIT_EXPERTS, WHOLE_EXPERTS
from trainplan.budgets.legality.frameworks import used_schedule
from trainplan.budgets.legality.released import piped_layers
from trainplan.budgets.memory.recipe import reshards
from trainplan.budgets.memory.stages import BY_ITSELF, MOST_RANKS
from trainplan.budgets.shape import has_table, known_depth, sparse_layers
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import mesh_budget
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Schedule, Sharding

EXPERT_TENSOR, EXPERT = "parallelism.expert_tensor", "parallelism.expert"
VIRTUAL, PIPELINE = "parallelism.virtual_pipeline", "parallelism.pipeline"
TENSOR, CONTEXT = "parallelism.tensor", "parallelism.context"
RECOMPUTE = "parallelism.recompute"
MICRO, SHARD = "batch.micro_batch_sequences", "parallelism.shard_size"

AXES: Final[tuple[str, ...]] = (EXPERT_TENSOR, EXPERT, SHARD, VIRTUAL, PIPELINE, TENSOR, CONTEXT, MICRO)
"""Numbers that are swept, one axis of a mask each, in the order of the axes."""

SHARDINGS: Final[tuple[str, ...]] = get_args(Sharding)
SCHEDULES: Final[tuple[str, ...]] = get_args(Schedule)
GROUPS: Final = tuple(word for word in SCHEDULES if word != "interleaved")
"""Schedules that go through the budgets apart: interleaved is 1f1b with virtual stages there, and one column has both."""
RECOMPUTES: Final = ("none", "selective", "full")


@dataclass(frozen=True, slots=True)
class Stages:
    """Pipelines that are cut in one way: even, or with so many layers on the ends."""

    pipelines: tuple[int, ...]
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """All combinations of a search: values by path, pipelines by their cut, and shard sizes, which only hsdp has.

    `forks` lets in what the released code of the plan's framework has not; without it only the plan's own words are.
    """

    plan: Plan
    axes: Mapping[str, tuple[int, ...]]
    stages: tuple[Stages, ...]
    shard_sizes: tuple[int, ...]
    forks: bool = False

    @property
    def considered(self) -> int:
        """Every combination, before any is rejected."""
        numbers = prod(len(values) for values in self.axes.values())
        pipelines = sum(len(one.pipelines) for one in self.stages)
        return numbers * pipelines * self.shards * len(SCHEDULES) * len(RECOMPUTES)

    @property
    def shards(self) -> int:
        """Kinds of sharding, hsdp once for each size of its group."""
        return len(SHARDINGS) - 1 + len(self.shard_sizes)

    def of_words(self, stages: Stages, *, sharding: str, schedule: str, deep: bool) -> Plan:
        """The plan with the words of some layouts; columns take the place of all else. `deep` has a pipeline."""
        return changed(
            self.plan,
            {
                "parallelism.sharding": sharding,
                "parallelism.schedule": schedule,
                "parallelism.first_stage_layers": stages.first,
                "parallelism.last_stage_layers": stages.last,
                PIPELINE: max(stages.pipelines) if deep else 1,
            },
        )

    def let_in(self) -> frozenset[str]:
        """Words that may be those of a fork: all, or the plan's sharding, the schedule of its pipeline, its ranks and exchange."""
        if self.forks:
            ranks = _ranks("tensor", "context", "expert")
            return frozenset((*SHARDINGS, *SCHEDULES, *ranks, "ring", "all-to-all", SPLIT_EXPERTS, WHOLE_EXPERTS))
        parallel, sharding = self.plan.parallelism, Situation(self.plan).word("parallelism.sharding") or "none"
        schedule = used_schedule(parallel.schedule, parallel.virtual_pipeline)
        degrees = {"tensor": parallel.tensor, "context": parallel.context, "expert": parallel.expert}
        own = _ranks(*(name for name, degree in degrees.items() if degree > 1))
        told = [schedule if parallel.pipeline > 1 else "", parallel.context_type if parallel.context > 1 else ""]
        if (parallel.expert > 1) == (parallel.expert_tensor > 1):
            told.append(SPLIT_EXPERTS if parallel.expert > 1 else WHOLE_EXPERTS if parallel.tensor > 1 else "")
        return frozenset((sharding, *own, *filter(None, told)))


def _ranks(*names: str) -> Iterator[str]:
    """Ranks by every choice of some dimensions, as the rule of a framework without them names them."""
    for count in range(1, len(names) + 1):
        yield from (f"{' and '.join(one)} ranks" for one in combinations(names, count))


def space(plan: Plan, *, forks: bool = False) -> Space:
    """The space of a plan; a number that nothing limits yet has the plan's own value alone."""
    s = Situation(plan)
    world = whole(mesh_budget(s).world_size) or 1
    mixed, node = has_table(s, "moe"), _count(s, "cluster.accelerators_per_node")
    domain = _count(s, "cluster.scale_up_domain") or node
    axes = {
        EXPERT_TENSOR: divisors(gcd(domain, world)) if mixed else (1,),
        EXPERT: divisors(_count(s, "model.moe.num_experts")) if mixed else (1,),
        VIRTUAL: _with(divisors(_chunked(s)), 2 if plan.training.framework == BY_ITSELF else None),
        TENSOR: divisors(world),
        CONTEXT: divisors(world),
        MICRO: divisors(gcd(*batches(plan))),
    }
    own = {path: _with(values, _count(s, path)) for path, values in axes.items()}
    groups = _with(divisors(world)[1:], plan.parallelism.shard_size)
    return Space(plan, own, tuple(_stages(plan, _chunked(s), world)), groups, forks)


def _chunked(s: Situation) -> int:
    """Layers that stages and chunks divide: all of them, but for the dense ones in front of MaxText's pipeline."""
    maxtext = s.plan.training.framework == "maxtext" and known_depth(s)
    return piped_layers(sparse_layers(s)) if maxtext else known_depth(s)


def _count(s: Situation, path: str) -> int:
    return whole(s[path]) or 0


def _with(values: tuple[int, ...], own: float | None) -> tuple[int, ...]:
    """The values and the plan's own among them."""
    return tuple(sorted({*values, int(own)})) if own else values


def batches(plan: Plan) -> list[int]:
    """Sequences of every global batch that the plan says."""
    told = [plan.batch, *plan.data.stages, *plan.batch.schedule]
    return [int(one.global_batch_sequences) for one in told if one.global_batch_sequences is not None]


def _stages(plan: Plan, layers: int, world: int) -> Iterator[Stages]:
    """Even pipelines; the plan's own ends; and ends one layer short where embedding and head make up for it.

    torchtitan cuts any number of stages by itself, so every pipeline of the accelerators is one of them.
    """
    own, parallel = int(plan.parallelism.pipeline), plan.parallelism
    first, last = _whole(parallel.first_stage_layers), _whole(parallel.last_stage_layers)
    itself = plan.training.framework == BY_ITSELF
    even = tuple(
        count
        for count in divisors(world if itself else layers)
        if count <= min(MOST_RANKS, layers + 2 if layers else 1)
    )
    free = first is None and last is None
    yield Stages(_with(even, own) if free else even)
    if not free:
        yield Stages((own,), first, last)
    for count in divisors(layers + 2) if layers and not itself else ():
        short = (layers + 2) // count - 1
        fills = 2 < count <= MOST_RANKS and short > 0 and layers % count > 0 and world % count == 0
        if fills and (count, first, last) != (own, short, short):
            yield Stages((count,), short, short)


def fields_of(plan: Plan, numbers: Mapping[str, int]) -> dict[str, Any]:
    """A layout as fields by path: words and ends of a group's plan, numbers by path, and the place of its recompute."""
    parallel = plan.parallelism
    schedule = used_schedule(parallel.schedule, numbers[VIRTUAL])
    return {
        **{path: numbers[path] for path in AXES if path != SHARD},
        "parallelism.sharding": parallel.sharding,
        SHARD: numbers[SHARD] if parallel.sharding == "hsdp" else None,
        "parallelism.schedule": schedule,
        RECOMPUTE: RECOMPUTES[numbers[RECOMPUTE]],
        "parallelism.first_stage_layers": _whole(parallel.first_stage_layers),
        "parallelism.last_stage_layers": _whole(parallel.last_stage_layers),
    }


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


def keeps_gathered(plan: Plan) -> bool:
    """Whether a plan's zero-3 is torchtitan's zero-2: over a pipeline it keeps what it gathered unless told otherwise."""
    s, parallel = Situation(plan), plan.parallelism
    torchtitan = plan.training.framework == "torchtitan" and parallel.pipeline > 1
    return torchtitan and s.word("parallelism.sharding") == "zero-3" and not reshards(s)


def own_fields(plan: Plan) -> dict[str, Any]:
    """The plan's own layout under the name by which a search counts it."""
    s, parallel = Situation(plan), plan.parallelism
    schedule = used_schedule(parallel.schedule, parallel.virtual_pipeline) if parallel.pipeline > 1 else "1f1b"
    sharding, ranks = s.word("parallelism.sharding"), (whole(mesh_budget(s).data) or 0) * int(parallel.context)
    one_group = sharding == "hsdp" and parallel.shard_size == ranks
    named = "zero-3" if one_group else "zero-2" if keeps_gathered(plan) else sharding
    words = {"parallelism.sharding": named, "parallelism.schedule": schedule}
    numbers = {path: _count(s, path) or 1 for path in AXES}
    return fields_of(changed(plan, words), numbers | {RECOMPUTE: RECOMPUTES.index(parallel.recompute)})


def changes(plan: Plan, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan would have to change to have a layout: path to value, None where the field goes."""
    s = Situation(plan)
    own = {path: s.word(path) if path == "parallelism.sharding" else s.value(path) for path in fields}
    return {path: value for path, value in fields.items() if own[path] != value}
