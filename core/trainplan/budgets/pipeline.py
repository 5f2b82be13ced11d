"""The bubble of the plan's pipeline schedule."""

from __future__ import annotations

from trainplan.budgets.situation import Situation
from trainplan.figure import Figure
from trainplan.formulas import pipeline as f


def pipeline_bubble(s: Situation, microbatches: Figure) -> Figure:
    """Idle time of the pipeline over ideal step time, with equal stages."""
    p, virtual = s["parallelism.pipeline"], s["parallelism.virtual_pipeline"]
    schedule = s.plan.parallelism.schedule
    if schedule == "gpipe":
        return f.fill_bubble(p, microbatches)
    if schedule == "zb-h1":
        return f.split_backward_bubble(p, microbatches)
    if schedule == "dualpipe":
        return f.dual_bubble(p, microbatches)
    if schedule in ("zb-h2", "zb-v"):
        return f.no_bubble(p)
    return f.interleaved_bubble(p, microbatches, virtual)
