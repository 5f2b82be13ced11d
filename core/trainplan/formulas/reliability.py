"""Failures, checkpoints and what they cost in time."""

from __future__ import annotations

from trainplan.figure import formula
from trainplan.numeric import ceil, exp, floor, maximum, minimum, sqrt, where

DEFINITION = "definition"
KOKOLIS = "Kokolis et al., HPCA 2025, arXiv 2410.21680"
DALY = "Daly 2006, FGCS 22(3): higher order estimate of the optimum checkpoint interval"
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


@formula("s", source=DEFINITION)
def whole_steps(interval: float, shortest: float, longest: float, step: float) -> float:
    """An interval between the shortest and longest feasible one, rounded to whole optimizer steps, one at the least."""
    return maximum(1.0, floor(minimum(maximum(interval, shortest), longest) / step + 0.5)) * step


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


@formula("s", source=DEFINITION)
def queue_time(busy: float, limit: float, gap: float) -> float:
    """Waits between the jobs of a run whose jobs have a time limit."""
    return (ceil(busy / limit) - 1.0) * gap


@formula("s", source=DEFINITION)
def busy_time(compute: float, slow: float) -> float:
    """Compute time with failures and checkpoints."""
    return compute * slow
