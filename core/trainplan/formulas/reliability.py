"""Failures, checkpoints and what they cost in time."""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, exp, floor, maximum, minimum, poisson_bound, sqrt, where

DEFINITION = "definition"
KOKOLIS = "Kokolis et al., HPCA 2025, arXiv 2410.21680"
DALY = "Daly 2006, FGCS 22(3): higher order estimate of the optimum checkpoint interval"
GRACE = (
    "section 6.3 of the research notes: two steps and two saves; the minute is that of the batch script, whose signal Slurm may "
    "send 60 s early"
)
YOUNG = "Young 1974: first order approximation to the optimum checkpoint interval"


@formula("s", source=KOKOLIS, verified=False)
def time_between_failures(failures_per_node_day: float, nodes: float, fixed_failures_per_day: float) -> float:
    """Mean time between failures that stop the job: nodes fail at one rate each, the rest of the site at a fixed one.

    Less than one failure in a thousand years, none among them, counts as one: the time stays finite.
    """
    return 86400.0 / maximum(failures_per_node_day * nodes + fixed_failures_per_day, 1.0 / 365250.0)


@formula("s", source=DEFINITION)
def recovery_time(detection_time: float, restart_time: float) -> float:
    """Time from a failure until training goes on."""
    return detection_time + restart_time


@formula("s", source=YOUNG, verified=False)
def young_interval(stall: float, between_failures: float) -> float:
    """sqrt(2 x stall x time between failures): useful work between two checkpoints, where the stall is short."""
    return sqrt(2.0 * stall * between_failures)


@formula("s", source=DALY)
def daly_interval(stall: float, between_failures: float) -> float:
    """Daly's higher order optimum of useful work between checkpoints; the time between failures where stalls are as long."""
    root = sqrt(stall / (2.0 * between_failures))
    series = sqrt(2.0 * stall * between_failures) * (1.0 + root / 3.0 + root * root / 9.0) - stall
    return where(stall < 2.0 * between_failures, series, between_failures)


@formula("s", source=DALY, verified=False)
def daly_first_order(stall: float, between_failures: float, recovery: float) -> float:
    """Daly's first order optimum: sqrt(2 x stall x (time between failures + recovery)) - stall, for short stalls."""
    return sqrt(2.0 * stall * (between_failures + recovery)) - stall


@formula("s", source="NVIDIA, arXiv 2410.18124: Tc = Ts + sqrt(2 (Tf + Tr) Ts + Ts^2)")
def availability_interval(stall: float, between_failures: float, recovery: float) -> float:
    """The interval of the best availability, told from start to start of a save: the stall is in it."""
    return stall + sqrt(2.0 * (between_failures + recovery) * stall + stall * stall)


@formula("1", source="Young 1974, first order: what is left after stalls, lost work and recovery")
def goodput_first_order(interval: float, stall: float, recovery: float, between_failures: float) -> float:
    """Productive share where stalls and failures are rare: each failure loses half an interval and a recovery."""
    return 1.0 - stall / interval - (interval / 2.0 + recovery) / between_failures


@formula("1", source=KOKOLIS + ": expected effective training time ratio", verified=False)
def effective_time_ratio(interval: float, stall: float, recovery: float, between_failures: float) -> float:
    """Productive share where both are rare, as Meta writes it: (1 - (u0 + interval/2) / MTBF) / (1 + stall / interval)."""
    return (1.0 - (recovery + interval / 2.0) / between_failures) / (1.0 + stall / interval)


@formula("s", source="section 6.3 of the research notes: detection, restart and half an interval")
def loss_per_failure(recovery: float, interval: float) -> float:
    """What one failure costs in time: recovery, and on average half an interval of work done again."""
    return recovery + interval / 2.0


@formula("s", source="section 6.3 of the research notes: half an interval for each failure")
def lost_work(failures: float, interval: float) -> float:
    """Work done again over the whole run."""
    return failures * interval / 2.0


@formula("1", source="section 6.3 of the research notes: Poisson failures in one repair, at 99 %")
def spares(failures_per_node_day: float, nodes: float, repair: float) -> float:
    """Spare nodes that cover 99 of 100 repair times: so many nodes, or fewer, fail while one is repaired."""
    return poisson_bound(failures_per_node_day * nodes * repair / 86400.0)


@formula("s", source="section 6.3 of the research notes: a grace of two steps and two saves before the time limit")
def longest_interval(limit: float, step: float, stall: float) -> float:
    """The longest interval whose checkpoint is written before the job's time limit; one step at the least."""
    return maximum(limit - 2.0 * (step + stall), step)


@formula("s", source=DEFINITION)
def whole_steps(interval: float, shortest: float, longest: float, step: float) -> float:
    """An interval in whole optimizer steps, one at the least, nearest to the one wanted between the shortest and longest feasible.

    Where a write or an upload holds it, it is rounded up; where the job's limit does, down.
    """
    wanted = floor(minimum(maximum(interval, shortest), longest) / step + 0.5)
    fewest = ceil(shortest / step - 1e-9)
    most = floor(longest / step + 1e-9)
    return maximum(1.0, minimum(maximum(wanted, fewest), most)) * step


@formula("1", source=DALY)
def slowdown(interval: float, stall: float, recovery: float, between_failures: float) -> float:
    """Expected wall time over productive time, Poisson failures, restarts that succeed; recovery counts detection too."""
    return (
        between_failures
        * exp(recovery / between_failures)
        * (exp((interval + stall) / between_failures) - 1.0)
        / interval
    )


@formula("1", source=DEFINITION)
def goodput(slow: float) -> float:
    """Productive time over expected wall time."""
    return 1.0 / slow


@formula("1", source=DEFINITION)
def expected_failures(wall: float, between_failures: float) -> float:
    """Failures that stop the job over the whole run."""
    return wall / between_failures


@formula("s", source=GRACE)
def grace(step: float, stall: float) -> float:
    """Time before a job's limit at which it is told to save and end: two steps and two saves, a minute at the least."""
    return maximum(2.0 * (step + stall), 60.0)


@formula("s", source=DEFINITION)
def time_in_job(limit: float, before_limit: float, restart: float) -> float:
    """What one job of a time-limited run trains: its limit less a start and the grace before the limit, 0 where none is left."""
    return maximum(limit - before_limit - restart, 0.0)


@formula("1", source="section 6.3 of the research notes: ceil(time / (limit - grace))")
def job_count(busy: float, useful: float) -> float:
    """Jobs of a run whose jobs have a time limit."""
    return ceil(busy / useful)


@formula("s", source=DEFINITION)
def queue_time(jobs: float, gap: float, restart: float) -> float:
    """What lies between the jobs of a run whose jobs have a time limit: a wait, and the start of the next one."""
    return (jobs - 1.0) * (gap + restart)


@formula("s", source=DEFINITION)
def busy_time(compute: float, slow: float, evaluation: float) -> float:
    """What the jobs of a run do: compute time with failures and checkpoints, and evaluation that stops training."""
    return compute * slow + evaluation


@formula("currency", source="definition")
def overhead_cost(cost: float, productive: float) -> float:
    """Money for time in which training does not move on: saves, failures, restarts."""
    return cost * (1.0 - productive)
