"""One plan, one estimate: every quantity by its key, and the findings.

Pure: no clock, no files but the catalogue, no printing. The same plan gives the same estimate.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from typing import Any, cast

from trainplan.budgets.communication import CommunicationBudget
from trainplan.budgets.compute import CostBudget, Throughput, cost_budget, throughput
from trainplan.budgets.evaluation import EvaluationBudget, evaluation_budget, evaluation_share
from trainplan.budgets.exhaustion import Exhaustion, exhaustion
from trainplan.budgets.memory.budget import MemoryBudget, memory_budget
from trainplan.budgets.mixture import MixtureBudget, mixture_budget
from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.packing import PackingBudget, packing_budget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.prediction import StepBudget, step_budget
from trainplan.budgets.reliability import (
    ReliabilityBudget,
    expected_failures,
    lost_work,
    overhead_cost,
    reliability_budget,
)
from trainplan.budgets.situation import Situation
from trainplan.budgets.space import Run, SpaceBudget, space_budget
from trainplan.budgets.storage import CheckpointBudget, checkpoint_budget
from trainplan.budgets.tokens import MeshBudget, TokenBudget, mesh_budget, token_budget
from trainplan.frozen import Remembering, field_names, record
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Choice, Figure, Given
from trainplan.review.quantities import pilot_passed, readiness_signed

Value = Figure | Blocked | Choice


@record
class Estimate(Remembering):
    """Everything that follows from one plan. `quantities` is in the order of the panes."""

    plan: Plan
    today: dt.date | None
    situation: Situation
    model: ModelBudget
    mesh: MeshBudget
    tokens: TokenBudget
    speed: Throughput
    checkpoint: CheckpointBudget
    faults: ReliabilityBudget
    money: CostBudget
    mixture: MixtureBudget
    exhaustion: Exhaustion
    packing: PackingBudget
    memory: MemoryBudget
    bubble: Figure
    evaluation: EvaluationBudget
    space: SpaceBudget
    step: StepBudget
    communication: CommunicationBudget
    quantities: Mapping[str, Value]

    def figure(self, key: str) -> Value:
        """The quantity of that key. Raises KeyError."""
        return self.quantities[key]

    @cached_property
    def keys_of(self) -> Mapping[int, str]:
        """Keys by the identity of their figure: how an input finds its own row."""
        found: dict[int, str] = {}
        for key, value in self.quantities.items():
            if isinstance(value, Figure) and not isinstance(value.origin, Given):
                found.setdefault(id(value), key)
        return found

    @cached_property
    def all_quantities(self) -> Mapping[str, Value]:
        """The quantities and, under a key of their own, all figures that they are made of."""
        found: dict[str, Value] = dict(self.quantities)
        known = dict(self.keys_of)
        for key in list(found):
            _add_inputs(found, known, key)
        return found

    @cached_property
    def all_keys_of(self) -> Mapping[int, str]:
        """As `keys_of`, for every figure that is an input of another."""
        found = dict(self.keys_of)
        for key, value in self.all_quantities.items():
            if isinstance(value, Figure) and not isinstance(value.origin, Given):
                found.setdefault(id(value), key)
        return found


def _add_inputs(found: dict[str, Value], known: dict[int, str], key: str) -> None:
    value = found[key]
    if not isinstance(value, Figure):
        return
    for name, item in value.named_inputs():
        if isinstance(item.origin, Given) or id(item) in known:
            continue
        inner = f"{key}.{name.replace(' ', '_').replace('.', '_')}"
        found[inner], known[id(item)] = item, inner
        _add_inputs(found, known, inner)


def estimate(plan: Plan, today: dt.date | None = None) -> Estimate:
    """Everything that follows from a plan. `today` dates evidence; without it no evidence is called old."""
    s = Situation(plan)
    model = model_budget(s)
    mesh = mesh_budget(s)
    tokens = token_budget(s, model.active_parameters, mesh.data)
    speed = throughput(s, model, tokens, mesh)
    checkpoint = checkpoint_budget(s, model, mesh)
    scores = evaluation_budget(s, model, speed, mesh)
    faults = reliability_budget(s, speed.longest_step, speed.compute_time, checkpoint, scores.blocking_time)
    money = cost_budget(s, speed, mesh, checkpoint, faults, scores.blocking_time, scores.separate_hours)
    mixture = mixture_budget(s, tokens, model.active_parameters)
    limits = exhaustion(s, tokens, mixture, speed.times, faults.slowdown)
    packing = packing_budget(s, model, mixture, speed.flops)
    memory, bubble = memory_budget(s, model, mesh, tokens), pipeline_bubble(s, tokens.microbatches)
    space = space_budget(s, Run(tokens, mixture, speed, mesh, checkpoint, faults, scores), today)
    step, communication = step_budget(s, model, mesh, tokens, speed, bubble)
    quantities = _quantities(model, mesh, tokens, speed, checkpoint, faults, money)
    for part in (mixture, limits, packing):
        _keyed(quantities, "tokens", part)
    _keyed(quantities, "memory", memory)
    quantities["parallelism.bubble"] = bubble
    _keyed(quantities, "parallelism", step)
    _keyed(quantities, "communication", communication)
    _keyed(quantities, "storage", space)
    _keyed(quantities, "evaluation", scores)
    quantities["evaluation.share"] = evaluation_share(scores, money.accelerator_hours)
    quantities["pilot.passed"] = pilot_passed(plan)
    quantities["readiness.signed"] = readiness_signed(plan, quantities, today)
    return Estimate(
        plan,
        today,
        s,
        model,
        mesh,
        tokens,
        speed,
        checkpoint,
        faults,
        money,
        mixture,
        limits,
        packing,
        memory,
        bubble,
        scores,
        space,
        step,
        communication,
        quantities,
    )


def _quantities(
    model: ModelBudget,
    mesh: MeshBudget,
    tokens: TokenBudget,
    speed: Throughput,
    checkpoint: CheckpointBudget,
    faults: ReliabilityBudget,
    money: CostBudget,
) -> dict[str, Value]:
    found: dict[str, Value] = {}
    _keyed(found, "model", model)
    _keyed(found, "tokens", tokens)
    _keyed(found, "compute", speed.flops)
    _keyed(found, "compute", speed)
    _keyed(found, "compute", money)
    _keyed(found, "parallelism", mesh)
    _keyed(found, "storage", checkpoint)
    _keyed(found, "reliability", faults)
    failures = expected_failures(money.wall_time, faults.mtbf)
    found["reliability.expected_failures"] = failures
    found["reliability.lost_work"] = lost_work(failures, faults.interval)
    found["reliability.overhead_cost"] = overhead_cost(money.cost, faults.goodput)
    return found


def _keyed(found: dict[str, Value], budget: str, values: Any) -> None:
    """Every quantity of a budget under `budget.field`; parts in a mapping under `budget.field.part`."""
    keys, read, alone = _keys(type(values), budget)
    if alone:
        found.update(zip(keys, read(values), strict=True))
        return
    for key, value in zip(keys, read(values), strict=True):
        kind = type(value)
        if kind is Figure or kind is Blocked or kind is Choice:
            found[key] = value
        elif kind is dict:
            parts = cast("dict[str, Value]", value)
            found.update(zip(_part_keys(key, tuple(parts)), parts.values(), strict=True))


@lru_cache(maxsize=100)
def _part_keys(key: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Keys of the parts of a mapping; kept, because sixty sources have hundreds and an edit seldom renames one."""
    return tuple([f"{key}.{part}" for part in parts])


@cache
def _keys(kind: type, budget: str) -> tuple[tuple[str, ...], attrgetter[tuple[Any, ...]], bool]:
    """Keys of the fields of a kind of budget, what reads all of these fields, and whether each is declared as a figure."""
    names = field_names(kind)
    alone = all(told == "Figure" for told in kind.__annotations__.values())
    return tuple(f"{budget}.{name}" for name in names), attrgetter(*names), alone
