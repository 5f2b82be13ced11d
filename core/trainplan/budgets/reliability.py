"""Failures and checkpoints: the interval in use and what both cost in time."""

from __future__ import annotations

from trainplan.budgets.situation import Situation
from trainplan.budgets.storage import CheckpointBudget
from trainplan.formulas import reliability as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, Quantity, blocked, given, largest

NO_LIMIT = given("no job time limit", 1e12, "s", "definition", kind="file")
NO_WAITS = given("waits between jobs, without a time limit", 0.0, "s", "definition", kind="file")


@record
class ReliabilityBudget:
    """Times between failures and checkpoints, the slowdown that follows, and the waits of a time-limited job."""

    mtbf: Figure
    recovery_time: Figure
    young_interval: Figure
    daly_first_order: Figure
    daly_interval: Figure
    availability_interval: Figure
    shortest_interval: Figure
    interval: Figure
    slowdown: Figure
    goodput: Figure
    goodput_first_order: Figure
    effective_time_ratio: Figure
    loss_per_failure: Figure
    spares: Figure
    queue_time: Figure


def reliability_budget(
    s: Situation, step_time: Figure, compute_time: Figure, checkpoint: CheckpointBudget, blocking: Figure
) -> ReliabilityBudget:
    """The plan's interval, or the best feasible one in whole steps, and its expected slowdown.

    `blocking` is evaluation that stops training (s): jobs of a time-limited run do it too.
    """
    stall = checkpoint.checkpoint_stall
    mtbf = f.time_between_failures(
        s["reliability.failures_per_node_day"], s["cluster.nodes"], s["reliability.fixed_failures_per_day"]
    )
    recovery = f.recovery_time(s["reliability.detection_time"], s["reliability.restart_time"])
    daly = f.daly_interval(stall, mtbf)
    shortest = _shortest(step_time, checkpoint)
    interval = _interval(s, daly, shortest, step_time, stall)
    slow = f.slowdown(interval, stall, recovery, mtbf)
    return ReliabilityBudget(
        mtbf=mtbf,
        recovery_time=recovery,
        young_interval=f.young_interval(stall, mtbf),
        daly_first_order=f.daly_first_order(stall, mtbf, recovery),
        daly_interval=daly,
        availability_interval=f.availability_interval(stall, mtbf, recovery),
        shortest_interval=shortest,
        interval=interval,
        slowdown=slow,
        goodput=f.goodput(slow),
        goodput_first_order=f.goodput_first_order(interval, stall, recovery, mtbf),
        effective_time_ratio=f.effective_time_ratio(interval, stall, recovery, mtbf),
        loss_per_failure=f.loss_per_failure(recovery, interval),
        spares=f.spares(s["reliability.failures_per_node_day"], s["cluster.nodes"], s["reliability.repair_time"]),
        queue_time=_queue_time(s, f.busy_time(compute_time, slow, blocking), step_time, stall),
    )


def _shortest(step_time: Figure, checkpoint: CheckpointBudget) -> Figure:
    """The least feasible interval: one step, and a write and an upload where the plan gives their bandwidths."""
    parts: dict[str, Quantity] = {"step": step_time}
    for name, time in (("write", checkpoint.write_time), ("upload", checkpoint.upload_time)):
        if isinstance(time, Figure):
            parts[name] = time
    return largest(**parts)


def _interval(s: Situation, daly: Figure, shortest: Figure, step_time: Figure, stall: Figure) -> Figure:
    wanted = s.plan.reliability.checkpoint_interval
    if isinstance(wanted, str):
        return f.whole_steps(daly, shortest, _longest(s, step_time, stall), step_time)
    return given("reliability.checkpoint_interval", float(wanted), "s", "plan file", kind="file", is_field=True)


def _longest(s: Situation, step_time: Figure, stall: Figure) -> Figure:
    limit = s.plan.reliability.job_time_limit
    if limit is not None:
        return f.longest_interval(s["reliability.job_time_limit"], step_time, stall)
    return NO_LIMIT


def _queue_time(s: Situation, busy: Figure, step_time: Figure, stall: Figure) -> Figure:
    if s.plan.reliability.job_time_limit is None:
        return NO_WAITS
    return f.queue_time(jobs(s, busy, step_time, stall), s["schedule.queue_gap"], s["reliability.restart_time"])


def jobs(s: Situation, busy: Figure, step_time: Figure, stall: Figure) -> Figure:
    """Jobs in which a run is busy so long (s) under the plan's time limit; blocked by R4 where one is over before it trains."""
    useful = job_time(s, step_time, stall)
    return blocked("R4") if isinstance(useful, Figure) and useful <= 0.0 else f.job_count(busy, useful)


def job_time(s: Situation, step_time: Figure, stall: Figure) -> Figure:
    """What one job trains under the plan's time limit, s; 0 where it is over before."""
    restart = s["reliability.restart_time"]
    return f.time_in_job(s["reliability.job_time_limit"], f.grace(step_time, stall), restart)


def expected_failures(wall_time: Figure, mtbf: Figure) -> Figure:
    """Failures that stop the job over the run."""
    return f.expected_failures(wall_time, mtbf)


def lost_work(failures: Figure, interval: Figure) -> Figure:
    """Work done again over the run."""
    return f.lost_work(failures, interval)


def overhead_cost(cost: Figure, goodput: Figure) -> Figure:
    """Money (the plan's currency) for time in which training does not move on."""
    return f.overhead_cost(cost, goodput)
