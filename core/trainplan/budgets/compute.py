"""FLOPs, throughput, time, cost and energy of the run, from FLOPs of a token down to money; and the size a deadline needs.

More nodes fail more often and need fewer jobs, so the time that a deadline leaves is asked of each size that is found until
the size stays. It knows no batch: whether one divides over that size is told where the size is named.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.flops import FlopsBudget, flops_budget
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.reliability import ReliabilityBudget, reliability_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.storage import CheckpointBudget, stalled
from trainplan.budgets.tokens import MeshBudget, Stretch, TokenBudget, over_stretches
from trainplan.budgets.weights import own_weights
from trainplan.formulas import compute as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, blocked, given

SIZES_ASKED: Final = 8
"""Sizes tried until one stays. Of two that name each other the larger holds, because it names a smaller one."""


@record
class Pace:
    """FLOPs of a token, speed and step time inside one stretch."""

    stretch: Stretch
    flops: FlopsBudget
    token: Figure
    rate: Figure
    step: Figure


@record
class Throughput:
    """FLOPs and speed. Per-token figures, speed and step time are at the last stretch's length and batch.

    `times` has the time of the steps of each stretch (s), `worked` its FLOPs, `paces` its FLOPs of a token and its step.
    """

    flops: FlopsBudget
    flops_per_token: Figure
    training_flops: Figure
    training_flops_6pn: Figure
    utilization: Figure
    hardware_utilization: Figure
    ceiling_utilization: Figure
    peak_flops: Figure
    achieved_flops: Figure
    tokens_per_second_per_accelerator: Figure
    step_time: Figure
    compute_time: Figure
    times: tuple[Figure, ...]
    worked: tuple[Figure, ...]
    paces: tuple[Pace, ...]

    @property
    def rates(self) -> tuple[Figure, ...]:
        """Tokens a second of one accelerator in each stretch."""
        return tuple([one.rate for one in self.paces])

    @property
    def steps(self) -> tuple[Figure, ...]:
        """Time of one step in each stretch, s."""
        return tuple([one.step for one in self.paces])

    @property
    def longest_step(self) -> Figure:
        """Time of a step in the stage where it is longest, s: what a checkpoint waits for. Blocked where one is."""
        known = [one for one in reversed(self.steps) if isinstance(one, Figure)]
        return (
            max(known)
            if len(known) == len(self.steps)
            else next(one for one in self.steps if not isinstance(one, Figure))
        )


def throughput(s: Situation, model: ModelBudget, tokens: TokenBudget, mesh: MeshBudget) -> Throughput:
    """Speed at the plan's utilization, and the time of all steps without failures or checkpoints."""
    peak, use = peak_flops(s), s["utilization.value"]
    paces = _paces(s, model, tokens, mesh, peak)
    last = paces[-1]
    convention = s.plan.utilization.convention
    times = tuple(f.stretch_time(one.stretch.steps, one.step) for one in paces)
    told = last.flops.flops_per_token_causal if convention in ("causal", "hardware") else last.token
    hardware = f.hardware_utilization(use, last.flops.flops_per_token_hardware, told)
    worked = tuple(f.stretch_flops(one.stretch.tokens, one.token) for one in paces)
    return Throughput(
        flops=last.flops,
        flops_per_token=last.token,
        training_flops=over_stretches(tokens.stretches, list(worked)),
        training_flops_6pn=f.flops_6pn(model.nonembedding_parameters, tokens.train_tokens),
        utilization=use,
        hardware_utilization=use if convention == "hardware" else hardware,
        ceiling_utilization=f.ceiling_utilization(s.part_fact("measured_matmul_bf16"), peak),
        peak_flops=peak,
        achieved_flops=f.achieved_flops(use, peak),
        tokens_per_second_per_accelerator=last.rate,
        step_time=last.step,
        compute_time=over_stretches(tokens.stretches, list(times)),
        times=times,
        worked=worked,
        paces=paces,
    )


def _paces(s: Situation, model: ModelBudget, tokens: TokenBudget, mesh: MeshBudget, peak: Figure) -> tuple[Pace, ...]:
    """The last stretch first: its documents, by its own weights, are those that masks are shown of."""
    found: list[Pace] = []
    told = own_weights(s, len(tokens.stretches) - 1)
    for one in reversed(tokens.stretches):
        before = next((pace for pace in found if pace.stretch.sequence_length is one.sequence_length), None)
        flops = before.flops if before is not None else flops_budget(one.situation, model, None if found else told)
        token = before.token if before is not None else by_convention(s, flops)
        rate = before.rate if before is not None else f.tokens_per_second(s["utilization.value"], peak, token)
        found.append(Pace(one, flops, token, rate, f.step_time(one.step_tokens, mesh.world_size, rate)))
    return tuple(reversed(found))


def by_convention(s: Situation, flops: FlopsBudget) -> Figure:
    """FLOP of a token by the convention that the plan's utilization is told in."""
    convention = s.plan.utilization.convention
    if convention == "6n":
        return flops.flops_per_token_6n
    if convention == "full":
        return flops.flops_per_token_full
    return flops.flops_per_token_causal if convention == "causal" else flops.flops_per_token_hardware


def peak_flops(s: Situation) -> Figure:
    """The dense peak that utilization is told against: the plan's own, else the part's in the training precision.

    An fp8 run is told against the bf16 peak, as published utilizations of fp8 runs mostly are: only linear layers run in fp8.
    """
    if s.plan.training.precision == "fp32" and not s.written("cluster.peak_flops"):
        return s.part_fact("peak_flops_fp32")
    return s["cluster.peak_flops"]


@record
class _Run:
    """What the size of a run is asked about; `blocking` is evaluation that stops training (s) at the plan's own size."""

    s: Situation
    speed: Throughput
    mesh: MeshBudget
    checkpoint: CheckpointBudget
    blocking: Figure


@record
class CostBudget:
    """Wall time and what it costs; what the deadline would need."""

    wall_time: Figure
    queue_time: Figure
    accelerator_hours: Figure
    spare_hours: Figure
    cost: Figure
    energy: Figure
    available_time: Figure
    required_utilization: Figure
    required_accelerators: Figure


def cost_budget(
    s: Situation,
    speed: Throughput,
    mesh: MeshBudget,
    checkpoint: CheckpointBudget,
    faults: ReliabilityBudget,
    blocking: Figure,
    evaluation_hours: Figure,
) -> CostBudget:
    """Wall time, hours and money; `blocking` is evaluation that stops training (s), `evaluation_hours` separate (h)."""
    downtime = s["schedule.planned_downtime"]
    wall = f.wall_time(speed.compute_time, faults.slowdown, blocking, downtime, faults.queue_time)
    hours = f.accelerator_hours(wall, mesh.world_size)
    spare = f.spare_hours(wall, s["reliability.spare_nodes"], s["cluster.accelerators_per_node"])
    available = _available(s)
    fits = f.time_for_compute(available, faults.slowdown, blocking, downtime, faults.queue_time)
    late = isinstance(fits, Figure) and fits <= 0
    fits = blocked("C8", "s") if late else fits
    return CostBudget(
        wall_time=wall,
        queue_time=faults.queue_time,
        accelerator_hours=hours,
        spare_hours=spare,
        cost=f.cost(hours, spare, evaluation_hours, s["cluster.price_per_accelerator_hour"]),
        energy=f.energy(hours, s.part_fact("power"), s["cluster.pue"]),
        available_time=available,
        required_utilization=f.required_utilization(speed.training_flops, mesh.world_size, speed.peak_flops, fits),
        required_accelerators=_sized(_Run(s, speed, mesh, checkpoint, blocking), available, fits),
    )


def _available(s: Situation) -> Figure:
    calendar = s.plan.schedule
    if calendar.deadline is None:
        return blocked("none", "s")
    if calendar.start is None:
        return blocked("missing:schedule.start", "s")
    seconds = float((calendar.deadline - calendar.start).days) * 86400.0
    text = f"{calendar.start.isoformat()} to {calendar.deadline.isoformat()}"
    return given("schedule.deadline", seconds, "s", f"plan file, {text}", kind="file", is_field=True)


def _sized(run: _Run, available: Figure, fits: Figure) -> Figure:
    """Accelerators that meet the deadline, at the failures, saves and waits that a run of that size has itself."""
    found = _size_for(run, fits)
    if not isinstance(found, Figure) or not isinstance(run.mesh.data, Figure):
        return found
    before = found
    for _ in range(SIZES_ASKED):
        left = _time_left(run, available, found)
        if not isinstance(left, Figure):
            return left
        if left <= 0:
            return blocked("C8", "1")
        before, found = found, _size_for(run, left)
        if not isinstance(found, Figure) or found == before:
            return found
    return max(before, found)


def _size_for(run: _Run, fits: Figure) -> Figure:
    """Accelerators that do all whole steps in so much time (s): whole nodes, and whole replicas."""
    speed = run.speed
    work = f.step_flops(speed.compute_time, run.mesh.world_size, speed.utilization, speed.peak_flops)
    return f.required_accelerators(work, speed.utilization, speed.peak_flops, fits, _mesh_group(run.s))


def _mesh_group(s: Situation) -> Figure:
    """Accelerators that a mesh grows by: whole nodes, and whole replicas."""
    node, tensor = s["cluster.accelerators_per_node"], s["parallelism.tensor"]
    return f.mesh_group(node, tensor, s["parallelism.pipeline"], s["parallelism.context"])


def _time_left(run: _Run, available: Figure, size: Figure) -> Figure:
    """Compute time that fits before the deadline on so many accelerators, s."""
    s, speed, world = run.s, run.speed, run.mesh.world_size
    nodes = float(size) / float(s["cluster.accelerators_per_node"])
    told = given("cluster.nodes", nodes, "1", "the size that is asked about", kind="file")
    there = s.replaced({"cluster.nodes": told})
    stop = f.on_size(run.blocking, world, size) if s.plan.evaluation.mode == "in-loop" else run.blocking
    step, work = f.on_size(speed.longest_step, world, size), f.on_size(speed.compute_time, world, size)
    faults = reliability_budget(there, step, work, stalled(s, run.checkpoint, size), stop)
    return f.time_for_compute(available, faults.slowdown, stop, s["schedule.planned_downtime"], faults.queue_time)
