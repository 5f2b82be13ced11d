"""Findings R1 to R12: goodput, the interval, spares, restarts, time limits and timeouts.

What a plan cannot say stays out: watchdogs (R8), switches for a second person (R9), straggler policy (R11).
"""

from __future__ import annotations

import math
from math import ceil
from typing import Final

from trainplan.budgets.reliability import job_time, jobs
from trainplan.checks.storage import counted, heard, spell, time_at_least, time_at_most
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.formulas import reliability as f
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole

LEAST_GOODPUT: Final = 0.90
UNSTABLE: Final = 4.0
HELD: Final = 0.01
"""Relative distance up to which an interval is at what holds it."""

TIMEOUTS: Final = {"torchtitan": (100.0, "train_timeout_seconds"), "megatron": (600.0, "distributed-timeout-minutes")}
"""Default collective timeout (s) and the option that sets it, by framework."""


def low_goodput(estimate: Estimate) -> list[Finding]:
    """R1: less than nine tenths of the time is productive."""
    goodput = estimate.faults.goodput
    if not isinstance(goodput, Figure) or goodput >= LEAST_GOODPUT:
        return []
    message = f"goodput is {100 * goodput:.1f} %; Llama 3 405B had above 90 %"
    fix = f"recovery faster than {spell(estimate.faults.recovery_time)}, or a shorter stall"
    paths = ("reliability.restart_time", "reliability.detection_time", "storage.checkpoint_floor")
    return [Finding("R1", "warning", "reliability", message, fix, paths, 70)]


def interval_off(estimate: Estimate) -> list[Finding]:
    """R2: the interval is infeasible, past the job's time limit, or more than twice away from the best one."""
    used, best, shortest = estimate.faults.interval, estimate.faults.daly_interval, estimate.faults.shortest_interval
    if not isinstance(used, Figure) or not isinstance(best, Figure) or not isinstance(shortest, Figure):
        return []
    limit, own = (
        estimate.plan.reliability.job_time_limit,
        not isinstance(estimate.plan.reliability.checkpoint_interval, str),
    )
    if own and used < shortest:
        least = time_at_least(shortest)
        return [_interval("error", f"below the shortest feasible one, {least}", estimate, least)]
    if limit is not None and used > float(limit):
        said = f"above the job's time limit, {spell(float(limit))}: nothing is saved"
        return [_interval("error", said, estimate, _feasible(estimate, float(shortest), float(best))[1])]
    if best / 2.0 <= used <= best * 2.0:
        return []
    nearest, fix = _feasible(estimate, float(shortest), float(best))
    if not own or nearest is None or (nearest != best and abs(used - nearest) <= HELD * nearest):
        return [_bound(estimate, float(used), float(best))]
    said = f"{_times(used, best)} the best one, {spell(best)}"
    if nearest != best:
        said += f", from which {_binding(estimate, nearest)} keeps it"
    return [_interval("warning", said, estimate, fix)]


def _feasible(estimate: Estimate, shortest: float, best: float) -> tuple[float | None, str]:
    """The feasible interval nearest to the best one (s), and how it is written so that it holds; None where a job has no room."""
    longest = math.inf
    if estimate.plan.reliability.job_time_limit is not None:
        longest = float(job_time(estimate.situation, estimate.speed.longest_step, estimate.checkpoint.checkpoint_stall))
    if longest < shortest:
        return None, "a longer limit"
    if best > longest:
        return longest, time_at_most(longest)
    if best <= shortest:
        return shortest, time_at_least(shortest)
    return best, spell(best) if heard(spell(best), best) >= shortest else time_at_least(best)


def _times(used: float, best: float) -> str:
    ratio = max(used / best, best / used)
    written = f"{ratio:.1f}" if ratio < 1e6 else "more than 1e6"
    return f"{written} times" if used > best else f"1/{written} of"


def _interval(severity: str, said: str, estimate: Estimate, fix: str) -> Finding:
    message = f"checkpoint interval {spell(estimate.faults.interval)} is {said}"
    paths = ("reliability.checkpoint_interval", "reliability.job_time_limit")
    weight = 1e5 if severity == "error" else 40
    return Finding("R2", "error" if severity == "error" else "warning", "reliability", message, fix, paths, weight)


def _bound(estimate: Estimate, used: float, best: float) -> Finding:
    """The automatic interval cannot be the best one: a step, a write, an upload or the time limit binds."""
    message = f"the interval is held at {spell(used)} by {_binding(estimate, used)}; the best is {spell(best)}"
    paths = ("storage.upload_bandwidth", "storage.write_bandwidth", "reliability.job_time_limit")
    return Finding("R2", "warning", "reliability", message, "more bandwidth, or a longer limit", paths, 40)


def _binding(estimate: Estimate, used: float) -> str:
    limit = estimate.plan.reliability.job_time_limit
    if limit is not None and used <= float(limit) * 1.01 and used >= float(limit) * 0.5:
        return "the job's time limit"
    parts = (
        ("one step", estimate.speed.longest_step),
        ("the write", estimate.checkpoint.write_time),
        ("the upload", estimate.checkpoint.upload_time),
    )
    known = [(float(value), name) for name, value in parts if isinstance(value, Figure)]
    return max(known)[1]


def restart_not_measured(estimate: Estimate) -> list[Finding]:
    """R3: a restore drill was made, and the restart time is still the default."""
    drill, today = estimate.plan.storage.last_restore_drill, estimate.today
    if drill is None or (today is not None and drill > today) or estimate.situation.written("reliability.restart_time"):
        return []
    default = spell(estimate.situation["reliability.restart_time"])
    message = f"a restore drill has a date, and the restart time is still the default, {default}"
    return [Finding("R3", "warning", "reliability", message, "the drill's own time", ("reliability.restart_time",), 20)]


def slow_restore(estimate: Estimate) -> list[Finding]:
    """R12: a checkpoint is read for longer than a restart takes altogether, which is what goodput counts.

    A restore is its place in the queue, the bytes over the read bandwidth, and the start of the job; OPT-175B's logbook has
    downloads of 1.6 TB that hung.
    """
    reading, restart = estimate.checkpoint.restore_time, estimate.situation["reliability.restart_time"]
    if not isinstance(reading, Figure) or not isinstance(restart, Figure) or reading <= restart:
        return []
    message = f"reading a checkpoint back takes {spell(reading)}, and a restart {spell(restart)} with all else"
    fix = f"a restart of {ceil(reading / 60.0):,} min and more, or more read bandwidth"
    paths = ("reliability.restart_time", "storage.read_bandwidth")
    return [Finding("R12", "warning", "reliability", message, fix, paths, 60)]


def many_jobs(estimate: Estimate) -> list[Finding]:
    """R4: the run is longer than one job may be, or a job is over before it trains."""
    limit, s = estimate.plan.reliability.job_time_limit, estimate.situation
    step, stall = estimate.speed.longest_step, estimate.checkpoint.checkpoint_stall
    if limit is None or not isinstance(step, Figure) or not isinstance(stall, Figure):
        return []
    restart, paths = s["reliability.restart_time"], ("reliability.job_time_limit", "reliability.restart_time")
    if job_time(s, step, stall) <= 0.0:
        before = f.grace(step, stall)
        said = f"a start takes {spell(restart)}, the grace at its end {spell(before)}"
        message = f"a job of {spell(float(limit))} trains nothing: {said}"
        fix = f"a limit of {spell(60.0 * (float(restart + before) // 60.0 + 1.0))} and more"
        return [Finding("R4", "error", "reliability", message, fix, paths, 1e5)]
    busy = f.busy_time(estimate.speed.compute_time, estimate.faults.slowdown, estimate.evaluation.blocking_time)
    count = jobs(s, busy, step, stall)
    if not isinstance(count, Figure) or count <= 1.0:
        return []
    message = f"the run takes {counted(min(float(count), 1e12), 'job')} of {spell(float(limit))}"
    fix = "requeue, a job array of one at a time, or a chain of dependencies"
    return [Finding("R4", "info", "reliability", message, fix, paths[:1])]


def few_spares(estimate: Estimate) -> list[Finding]:
    """R5: fewer spare nodes than cover 99 of 100 repairs, where the run is likely to lose a node at all."""
    needed, s = estimate.faults.spares, estimate.situation
    nodes, rate, wall = s["cluster.nodes"], s["reliability.failures_per_node_day"], estimate.money.wall_time
    if not isinstance(needed, Figure) or not isinstance(wall, Figure) or not isinstance(nodes, Figure):
        return []
    have = float(s["reliability.spare_nodes"])
    if have >= needed or rate * nodes * wall / 86400.0 < 0.01:
        return []
    covers = "covers" if needed == 1 else "cover"
    repairs = f"99 % of {spell(s['reliability.repair_time'])} repairs"
    message = f"{counted(have, 'spare node')}; {whole(needed)} {covers} {repairs}"
    fix = f"{counted(needed, 'spare node')}, or faster repair"
    return [Finding("R5", "warning", "reliability", message, fix, ("reliability.spare_nodes",), 50)]


def unstable(estimate: Estimate) -> list[Finding]:
    """R6: failures come within four times of a stall and a recovery."""
    mtbf, recovery, stall = estimate.faults.mtbf, estimate.faults.recovery_time, estimate.checkpoint.checkpoint_stall
    if not isinstance(mtbf, Figure) or not isinstance(recovery, Figure) or not isinstance(stall, Figure):
        return []
    if mtbf >= UNSTABLE * (stall + recovery):
        return []
    message = f"a failure every {spell(mtbf)}, against {spell(stall + recovery)} of stall and recovery"
    fix = "checkpoints in the memory of other nodes, and a faster restart"
    paths = ("reliability.restart_time", "reliability.failures_per_node_day", "cluster.nodes")
    return [Finding("R6", "warning", "reliability", message, fix, paths, 80)]


def short_timeout(estimate: Estimate) -> list[Finding]:
    """R7: a legitimate stall is longer than the framework's default collective timeout."""
    timeout = TIMEOUTS.get(estimate.plan.training.framework)
    if timeout is None:
        return []
    stalls = [("a save", estimate.checkpoint.checkpoint_stall, "storage.async_checkpoint")]
    if estimate.plan.evaluation.mode == "in-loop" and estimate.plan.evaluation.tasks:
        stalls.append(("an evaluation", estimate.evaluation.time_each, "evaluation.mode"))
    return [
        Finding(
            "R7",
            "warning",
            "reliability",
            f"{name} stops training for {spell(stall)}; the collective timeout is {spell(timeout[0])} by default",
            f"{timeout[1]} above {spell(stall)}",
            (path,),
            45,
        )
        for name, stall, path in stalls
        if isinstance(stall, Figure) and stall > timeout[0]
    ]


def failure_domain(estimate: Estimate) -> list[Finding]:
    """R10: nodes that fail together are more than the spares."""
    together, spares = estimate.plan.cluster.nodes_per_failure_domain, estimate.situation["reliability.spare_nodes"]
    if together is None or not isinstance(spares, Figure) or together <= spares:
        return []
    message = f"{whole(together)} nodes fail together, and {whole(spares)} are spare"
    paths = ("reliability.spare_nodes", "cluster.nodes_per_failure_domain")
    return [Finding("R10", "warning", "reliability", message, f"{whole(together)} spare nodes", paths, 40)]


RELIABILITY_CHECKS: Final = (
    low_goodput,
    interval_off,
    restart_not_measured,
    slow_restore,
    many_jobs,
    few_spares,
    unstable,
    short_timeout,
    failure_domain,
)
