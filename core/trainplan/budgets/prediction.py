"""The predicted step and the predicted run: the last stretch's step with its parts, and the time of all steps at each one's own.

A prediction does not replace the plan's utilization: it stands beside what the plan claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainplan.budgets.communication import DIMENSIONS, CommunicationBudget, communication_budget
from trainplan.budgets.compute import Throughput
from trainplan.budgets.kernels import Conditions, conditions
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.steptime import WATERFALL, no_step, step_parts
from trainplan.budgets.stretches import At, kinds, places
from trainplan.budgets.tokens import MeshBudget, TokenBudget, over_stretches
from trainplan.formulas import compute as c
from trainplan.formulas import steptime as f
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, blocked, total_of


@record
class StepBudget:
    """Seconds of a step and its 80 % range, the utilization by the plan's convention, and the parts, which sum to the step.

    The step is the last stretch's; compute time, mean step and utilization are the whole run's, at the step of each stretch.
    """

    predicted_step_time: Figure
    predicted_step_time_low: Figure
    predicted_step_time_high: Figure
    predicted_compute_time: Figure
    predicted_mean_step_time: Figure
    predicted_utilization: Figure
    predicted_utilization_low: Figure
    predicted_utilization_high: Figure
    waterfall: Mapping[str, Figure]


def step_budget(
    s: Situation,
    model: ModelBudget,
    mesh: MeshBudget,
    tokens: TokenBudget,
    speed: Throughput,
    bubble: Figure,
    known: Conditions | None = None,
) -> tuple[StepBudget, CommunicationBudget]:
    """The predicted step and its transfers; `known` are other conditions than the plan's own, as of a published run."""
    last = tokens.stretches[-1].situation
    reason = no_step(last, model, mesh, tokens)
    if reason is not None:
        return _blocked(reason)
    k = conditions(last) if known is None else known
    waterfall, operations = step_parts(model, mesh, At(last, speed.flops, tokens.microbatches, bubble), k)
    step = total_of(waterfall)
    time, mean = run_time(s, model, mesh, tokens, speed, step, known)
    return _budget(model, tokens, speed, mesh, k, step, time, mean, waterfall), communication_budget(operations, step)


def run_time(
    s: Situation,
    model: ModelBudget,
    mesh: MeshBudget,
    tokens: TokenBudget,
    speed: Throughput,
    step: Figure,
    known: Conditions | None = None,
) -> tuple[Figure, Figure]:
    """Time of all steps of the run (s), each stretch at its own, and the mean of a step; `step` is the last stretch's."""
    stands = kinds(tokens)
    last = len(stands) - 1
    steps = {last: step}
    for place, at in places(s, mesh, tokens, speed).items() if len(set(stands)) > 1 else ():
        if place != last:
            told = at.microbatches
            parts = None if isinstance(told, Blocked) else step_parts(model, mesh, at, known or conditions(at.s))[0]
            steps[place] = blocked(told.code, "s") if isinstance(told, Blocked) else total_of(parts or {})
    pairs = zip(tokens.stretches, stands, strict=True)
    time = over_stretches(tokens.stretches, [c.stretch_time(one.steps, steps[place]) for one, place in pairs])
    return time, step if len(steps) == 1 else c.mean_step(time, tokens.steps)


def _budget(
    model: ModelBudget,
    tokens: TokenBudget,
    speed: Throughput,
    mesh: MeshBudget,
    k: Conditions,
    step: Figure,
    time: Figure,
    mean: Figure,
    waterfall: Mapping[str, Figure],
) -> StepBudget:
    factor = k.numbers["range.dense" if model.shape.expert_layers is None else "range.sparse"]
    use = _use_of_step(tokens, speed, mesh) if mean is step else _use_of_run(tokens, speed, mesh)
    whole = step if mean is step else time
    low, high = f.time_below(step, factor), f.time_above(step, factor)
    fast, slow = (low, high) if mean is step else (f.time_below(time, factor), f.time_above(time, factor))
    return StepBudget(step, low, high, time, mean, use(whole), use(slow), use(fast), waterfall)


def _use_of_step(tokens: TokenBudget, speed: Throughput, mesh: MeshBudget) -> Callable[[Figure], Figure]:
    def use(time: Figure) -> Figure:
        flops, world = speed.flops_per_token, mesh.world_size
        return f.utilization_of_time(flops, tokens.global_batch_tokens, world, speed.peak_flops, time)

    return use


def _use_of_run(tokens: TokenBudget, speed: Throughput, mesh: MeshBudget) -> Callable[[Figure], Figure]:
    paces = zip(tokens.stretches, speed.paces, strict=True)
    worked = [c.stepped_flops(one.steps, one.step_tokens, pace.token) for one, pace in paces]
    flops = over_stretches(tokens.stretches, worked)

    def use(time: Figure) -> Figure:
        return f.utilization_of_run(flops, mesh.world_size, speed.peak_flops, time)

    return use


def _blocked(code: str) -> tuple[StepBudget, CommunicationBudget]:
    time, share, sent = blocked(code, "s"), blocked(code), blocked(code, "bytes")
    step = StepBudget(time, time, time, time, time, share, share, share, dict.fromkeys(WATERFALL, time))
    return step, CommunicationBudget(sent, sent, sent, sent, sent, time, share, dict.fromkeys(DIMENSIONS, time), ())
