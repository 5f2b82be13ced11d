"""Finding C12: a utilization above what the nearest published runs reached. It looks only at runs that are handed in."""

from __future__ import annotations

from collections.abc import Sequence

from trainplan.estimation import Estimate
from trainplan.figure import Figure
from trainplan.finding import Finding
from trainplan.nearest import alike_runs
from trainplan.published import Run

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


def _days(estimate: Estimate, longer: float) -> str:
    time = estimate.speed.compute_time
    return f", which takes {time * longer / 86400:,.2f} d of compute" if isinstance(time, Figure) else ""
