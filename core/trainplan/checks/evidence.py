"""Findings C12 and C16: a utilization above published runs, or outside what the step model predicts for this layout."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.estimation import Estimate
from trainplan.evidence.nearest import alike_runs
from trainplan.evidence.published import Run
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import duration

MARGIN = 1.02
"""How far above the best a utilization may be before it is said: published figures carry two digits."""


def above_published(estimate: Estimate, runs: Sequence[Run]) -> list[Finding]:
    """C12: above every published run of the same kind of part, precision, size and length; measurements here are not judged."""
    use = estimate.speed.utilization
    if not isinstance(use, Figure) or estimate.plan.utilization.evidence.startswith("measured"):
        return []
    alike = alike_runs(estimate, runs)
    if not alike:
        return []
    best = max(alike, key=lambda near: near.utilization)
    if use <= best.utilization * MARGIN:
        return []
    message = (
        f"utilization {use:.3f} is above the published runs of this part, precision, size and length, {len(alike)} of them; "
        f"the best is {best.run.model} on {best.run.accelerators:,.0f}, {best.utilization:.3f}"
    )
    days = _days(estimate, use / best.utilization)
    fix = f"{best.utilization:.3f}{days}"
    return [Finding("C12", "warning", "compute", message, fix, ("utilization.value",), 35)]


def against_step_model(estimate: Estimate) -> list[Finding]:
    """C16: the planned step is faster than the step model's range (warning) or slower (info); of a run in stages, all steps are.

    A utilization that another layout reached shows here when the layout is changed. Whole published runs are often slower than the
    model, which has no data stalls and no mixed lengths; a measurement of this very layout is not judged.
    """
    step = estimate.step
    staged = step.predicted_mean_step_time is not step.predicted_step_time
    planned = estimate.speed.compute_time if staged else estimate.speed.step_time
    predicted = step.predicted_compute_time if staged else step.predicted_step_time
    use, low, high = estimate.speed.utilization, step.predicted_utilization_low, step.predicted_utilization_high
    figures = (use, low, high, predicted, planned)
    if (
        not all(isinstance(figure, Figure) for figure in figures)
        or estimate.plan.utilization.evidence == "measured-here"
    ):
        return []
    if low <= use <= high:
        return []
    what = "of compute" if staged else "a step"
    over = " and the lengths and batches of all stretches" if staged else ""
    times = f"{_spelled(planned)} {what} planned, {_spelled(predicted)} predicted for this layout{over}"
    band = f"utilization {use:.3f} against {low:.3f} to {high:.3f}"
    if use > high:
        fix = f"evidence of this layout, or {step.predicted_utilization:.3f}"
        return [
            Finding(
                "C16", "warning", "compute", f"{times}; {band}", fix, ("utilization.value", "parallelism.tensor"), 33
            )
        ]
    fix = f"ask what the model leaves out; {step.predicted_utilization:.3f} is its own figure"
    return [Finding("C16", "info", "compute", f"{times}; {band}", fix, ("utilization.value",))]


def _spelled(seconds: Figure) -> str:
    return " ".join(duration(float(seconds))).strip()


def _days(estimate: Estimate, longer: float) -> str:
    time = estimate.speed.compute_time
    return f", which takes {time * longer / 86400:,.2f} d of compute" if isinstance(time, Figure) else ""
