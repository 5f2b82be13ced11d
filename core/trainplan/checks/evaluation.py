"""Findings E1 to E9: what evaluation costs training, when it begins, and what its tasks cannot show.

What a plan cannot say stays out: baselines (E5), contamination against the newest source (E8), periodic losses (E10).
"""

from __future__ import annotations

from math import ceil
from typing import Final

from trainplan.checks.amounts import at_most
from trainplan.checks.storage import counted, disk, spell
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.formulas import evaluation as f
from trainplan.quantity.figure import Figure
from trainplan.quantity.numbers import device_bytes
from trainplan.quantity.unit import amount, whole

BLOCKING_WARNS, BLOCKING_FAILS = 0.01, 0.03
LARGE_SHARE, LATE, COARSE = 0.05, 0.01, 0.05


def blocking(estimate: Estimate) -> list[Finding]:
    """E1: evaluation inside the loop takes more than 1 % (warning) or 3 % (error) of the wall time."""
    stops, wall = estimate.evaluation.blocking_time, estimate.money.wall_time
    if not isinstance(stops, Figure) or not isinstance(wall, Figure) or stops <= BLOCKING_WARNS * wall:
        return []
    share = stops / wall
    severity = "error" if share > BLOCKING_FAILS else "warning"
    message = f"training waits {spell(stops)} for evaluation, {100 * share:.1f} % of the run"
    fix = "separate evaluation, or a longer interval"
    return [
        Finding(
            "E1", severity, "evaluation", message, fix, ("evaluation.mode", "evaluation.interval_tokens"), 1e3 * share
        )
    ]


def large_share(estimate: Estimate) -> list[Finding]:
    """E2: evaluation takes more than a twentieth of all accelerator-hours."""
    share = estimate.quantities["evaluation.share"]
    if not isinstance(share, Figure) or share <= LARGE_SHARE:
        return []
    message = f"evaluation takes {100 * share:.1f} % of all accelerator-hours"
    return [
        Finding(
            "E2", "info", "evaluation", message, "fewer items or a longer interval", ("evaluation.interval_tokens",)
        )
    ]


def late_start(estimate: Estimate) -> list[Finding]:
    """E3: the first evaluation comes after the first hundredth of the tokens, or never."""
    every, tokens = estimate.situation["evaluation.interval_tokens"], estimate.situation["data.train_tokens"]
    if not estimate.evaluation.rows or not isinstance(every, Figure) or not isinstance(tokens, Figure):
        return []
    if every <= LATE * tokens:
        return []
    said = f"at {100 * every / tokens:.1f} % of the run" if every <= tokens else "after its end"
    fix = f"one within {amount(at_most(LATE * tokens, 3))} tokens"
    return [
        Finding(
            "E3", "warning", "evaluation", f"the first evaluation is {said}", fix, ("evaluation.interval_tokens",), 15
        )
    ]


def coarse_tasks(estimate: Estimate) -> list[Finding]:
    """E4: a task of few items cannot show a change of five points."""
    found: list[Finding] = []
    for row in estimate.evaluation.rows:
        least = row.smallest_difference
        if isinstance(least, Figure) and least >= COARSE:
            message = f"{row.name} cannot show a change under {100 * least:.1f} points; {whole(row.items)} items"
            path = f"evaluation.tasks.{row.name}.items"
            found.append(Finding("E4", "info", "evaluation", message, "", (path,), float(least)))
    return found


def slow_queue(estimate: Estimate) -> list[Finding]:
    """E6: a separate evaluation takes longer than the time to the next one."""
    each, wall = estimate.evaluation.time_each, estimate.money.wall_time
    s = estimate.situation
    if estimate.plan.evaluation.mode == "in-loop" or not estimate.evaluation.rows:
        return []
    between = f.time_between(s["evaluation.interval_tokens"], s["data.train_tokens"], wall)
    if not isinstance(each, Figure) or not isinstance(between, Figure) or each <= between:
        return []
    message = f"an evaluation takes {spell(each)}, and the next begins after {spell(between)}: the queue grows for ever"
    places = s["evaluation.accelerators"] * each / between
    fix = counted(ceil(min(places, 1e13)), "accelerator")
    return [
        Finding(
            "E6", "error", "evaluation", message, fix, ("evaluation.accelerators", "evaluation.interval_tokens"), 1e4
        )
    ]


def no_revision(estimate: Estimate) -> list[Finding]:
    """E7: tasks have no harness revision."""
    if not estimate.evaluation.rows or estimate.plan.evaluation.harness_revision:
        return []
    message = "harness revision is empty: scores of two dates cannot be compared"
    return [
        Finding("E7", "warning", "evaluation", message, "the harness's commit", ("evaluation.harness_revision",), 25)
    ]


def does_not_fit(estimate: Estimate) -> list[Finding]:
    """E9: the weights do not fit the accelerators of evaluation, or have to be sharded anew for them."""
    if estimate.plan.evaluation.mode == "in-loop" or not estimate.evaluation.rows:
        return []
    count, usable = estimate.evaluation.accelerators, estimate.memory.usable
    light, s = estimate.checkpoint.light_checkpoint, estimate.situation
    if not isinstance(count, Figure) or not isinstance(usable, Figure) or not isinstance(light, Figure):
        return []
    gib = device_bytes
    if light > count * usable:
        message = f"weights of {disk(light, gib)} do not fit {whole(count)} accelerators of {disk(usable, gib)}"
        fix = f"{whole(-(-light // usable))} accelerators at the least"
        return [Finding("E9", "error", "evaluation", message, fix, ("evaluation.accelerators",), 1e5)]
    mesh = s["parallelism.tensor"] * s["parallelism.pipeline"]
    if mesh <= count:
        return []
    message = f"training shards weights over {whole(mesh)} ranks, evaluation has {whole(count)}: they are sharded anew"
    return [Finding("E9", "info", "evaluation", message, "try it in a pilot", ("evaluation.accelerators",))]


EVALUATION_CHECKS: Final = (
    blocking,
    large_share,
    late_start,
    coarse_tasks,
    slow_queue,
    no_revision,
    does_not_fit,
)
