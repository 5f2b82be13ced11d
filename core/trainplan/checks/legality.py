"""Findings G3 to G14 and P1, P3, P4: which rule of the layout is broken, and which number would be legal."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.layout import layout_of, whole
from trainplan.budgets.legality import broken_rules
from trainplan.estimation import Estimate
from trainplan.figure import Figure
from trainplan.finding import Finding

MOST_BUBBLE: Final = 0.20
"""Bubble over ideal step time above which a plan whose utilization is assumed is in error."""


def legal_layout(estimate: Estimate) -> list[Finding]:
    """Every broken rule of the mesh as a finding."""
    layout = layout_of(estimate.situation, estimate.model.shape, estimate.mesh, estimate.tokens)
    return [
        Finding(rule.code, rule.severity, "parallelism", rule.message, rule.fix, rule.paths, 1e5)
        for rule in broken_rules(layout)
    ]


def bubble(estimate: Estimate) -> list[Finding]:
    """P3: a bubble above 10 % of the ideal step is a warning, above 20 % an error unless the utilization was measured with it."""
    if not isinstance(estimate.bubble, Figure) or estimate.bubble <= 0.10:
        return []
    assumed = estimate.plan.utilization.evidence == "assumed"
    severity = "error" if estimate.bubble > MOST_BUBBLE and assumed else "warning"
    message = f"the pipeline is idle for {100 * estimate.bubble:.1f} % of the ideal step"
    fix = "four microbatches a stage, fewer stages, or virtual stages"
    paths = ("parallelism.pipeline", "batch.global_batch_sequences", "parallelism.virtual_pipeline")
    return [Finding("P3", severity, "parallelism", message, fix, paths, 100 * float(estimate.bubble))]


def filled_pipeline(estimate: Estimate) -> list[Finding]:
    """P4: fewer microbatches than stages never fill the pipeline."""
    count, stages = whole(estimate.tokens.microbatches), whole(estimate.situation["parallelism.pipeline"]) or 1
    if count is None or count >= stages:
        return []
    message = f"{count} microbatches for {stages} pipeline stages: some ranks always wait"
    paths = ("batch.global_batch_sequences", "parallelism.pipeline")
    return [Finding("P4", "warning", "parallelism", message, f"{stages} microbatches, better {4 * stages}", paths, 50)]


LEGALITY_CHECKS: Final = (legal_layout, bubble, filled_pipeline)
