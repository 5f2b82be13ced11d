"""Published runs nearest to a plan: how far each is, and in what it differs.

Distance adds doublings of model size, length and scale, and fixed amounts for another part, precision or kind of model. It ranks
runs; it is no measure of how wrong a number taken from one would be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from math import log2
from typing import Any

from trainplan.budgets.compute import peak_flops
from trainplan.budgets.kernels import family_of
from trainplan.estimation import Estimate
from trainplan.evidence.published import Run, precision_class
from trainplan.frozen import record
from trainplan.quantity.figure import Figure

SIZE, LENGTH, SCALE = 1.0, 0.5, 0.25
"""Weights of one doubling."""

OTHER_FAMILY, OTHER_PART, OTHER_PRECISION, OTHER_KIND, OTHER_EXPERTS = 4.0, 0.25, 1.5, 3.0, 0.5
NEAR_SIZE, NEAR_LENGTH = 0.6, 0.6
"""Doublings within which a run has the plan's size and length."""


@record
class Near:
    """A run beside a plan: its distance, its utilization by the plan's convention and peak, and what differs."""

    run: Run
    distance: float
    utilization: float
    differences: tuple[str, ...]
    alike: bool


@record
class _Target:
    accelerator: str
    family: str
    precision: str
    sparse: bool
    size: float
    length: float
    accelerators: float
    convention: str
    peak: float
    fused: bool


def nearest_runs(estimate: Estimate, runs: Sequence[Run], count: int = 5) -> tuple[Near, ...]:
    """The nearest runs of those handed in, nearest first; none where the plan lacks model, part, length or size."""
    target = _target(estimate)
    if target is None:
        return ()
    found = sorted(((_distance(target, run), place) for place, run in enumerate(runs)))[:count]
    return tuple(_near(target, runs[place], distance) for distance, place in found)


def alike_runs(estimate: Estimate, runs: Sequence[Run]) -> tuple[Near, ...]:
    """All runs of the plan's family of parts, precision, kind of model, size and length."""
    target = _target(estimate)
    if target is None:
        return ()
    return tuple(_near(target, run, _distance(target, run)) for run in runs if _alike(target, run))


def _target(estimate: Estimate) -> _Target | None:
    plan, flops = estimate.plan, estimate.speed.flops
    figures = (
        flops.flops_per_token_6n,
        estimate.tokens.stretches[-1].sequence_length,
        estimate.mesh.world_size,
        peak_flops(estimate.situation),
    )
    if plan.cluster.accelerator is None or not all(isinstance(figure, Figure) and figure > 0 for figure in figures):
        return None
    size, length, world, peak = (float(figure) for figure in figures)
    return _Target(
        plan.cluster.accelerator,
        family_of(plan.cluster.accelerator),
        precision_class(plan.training.precision),
        estimate.model.shape.expert_layers is not None,
        size,
        length,
        world,
        plan.utilization.convention,
        peak,
        plan.training.expert_kernels == "fused",
    )


def _alike(target: _Target, run: Run) -> bool:
    if run.precision != target.precision or run.sparse != target.sparse or run.family != target.family:
        return False
    size, length, _ = _doublings(target, run)
    return abs(size) <= NEAR_SIZE and abs(length) <= NEAR_LENGTH


def _doublings(target: _Target, run: Run) -> tuple[float, float, float]:
    """Of model size, length and scale, from the plan to the run."""
    return (
        log2(run.flops["6n"] / target.size),
        log2(run.sequence_length / target.length),
        log2(run.accelerators / target.accelerators),
    )


def _distance(target: _Target, run: Run) -> float:
    size, length, scale = _doublings(target, run)
    distance = SIZE * abs(size) + LENGTH * abs(length) + SCALE * abs(scale)
    distance += OTHER_FAMILY * (run.family != target.family) + OTHER_PART * (run.accelerator != target.accelerator)
    distance += OTHER_PRECISION * (run.precision != target.precision) + OTHER_KIND * (run.sparse != target.sparse)
    return distance + OTHER_EXPERTS * _other_experts(target, run)


def _other_experts(target: _Target, run: Run) -> bool:
    """Whether both have experts, and one of them in fused kernels."""
    return target.sparse and run.sparse and run.fused != target.fused


def _near(target: _Target, run: Run, distance: float) -> Near:
    size, length, scale = _doublings(target, run)
    words = (
        (run.accelerator != target.accelerator, run.accelerator),
        (run.precision != target.precision, run.precision),
        (run.sparse != target.sparse, "experts" if run.sparse else "dense"),
        (_other_experts(target, run), "fused experts" if run.fused else "grouped experts"),
        (abs(size) > 0.1, f"{2**size:.2g} x the active size"),
        (abs(length) > 0.1, f"{2**length:.2g} x the length"),
        (abs(scale) > 0.1, f"{2**scale:.2g} x the accelerators"),
        (run.recompute == "full", "full recompute"),
    )
    differences = tuple(word for differs, word in words if differs)
    return Near(run, distance, run.utilization(target.convention, target.peak), differences, _alike(target, run))


def claim_of_run(near: Near) -> dict[str, Any]:
    """The plan fields that take a run as the evidence of utilization, by path."""
    run = near.run
    words = (
        f"{run.title}: {run.model}",
        f"{run.accelerators:,.0f} x {run.accelerator}",
        f"{run.sequence_length:,.0f} tokens long",
        f"{run.tokens_per_second:,.0f} tokens/s a device",
    )
    found: dict[str, Any] = {
        "utilization.value": float(f"{near.utilization:.4g}"),
        "utilization.evidence": "published",
        "utilization.source": ", ".join(words),
    }
    year, _, month = run.published.partition("-")
    return {**found, "utilization.date": dt.date(int(year), int(month), 1)} if month else found


def claim_of_prediction(estimate: Estimate) -> dict[str, Any]:
    """The plan fields that take the predicted step as utilization; it stays an assumption. Empty where nothing is predicted."""
    step = estimate.step
    edges = (step.predicted_utilization, step.predicted_utilization_low, step.predicted_utilization_high)
    if not all(isinstance(edge, Figure) and 0 < edge <= 1 for edge in edges):
        return {}
    value, low, high = (float(f"{edge:.4g}") for edge in edges)
    return {
        "utilization.value": value,
        "utilization.low": low,
        "utilization.high": high,
        "utilization.evidence": "assumed",
        "utilization.source": "predicted from the layout by the step-time model",
    }
