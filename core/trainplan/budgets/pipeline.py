"""The bubble of the plan's pipeline schedule."""

from __future__ import annotations

from trainplan.budgets.situation import Situation
from trainplan.figure import Figure
from trainplan.formulas import pipeline as f
from trainplan.kinds import choose


def pipeline_bubble(s: Situation, microbatches: Figure) -> Figure:
    """Idle time of the pipeline over ideal step time, with equal stages."""
    p, virtual = s["parallelism.pipeline"], s["parallelism.virtual_pipeline"]
    return choose(
        s.plan.parallelism.schedule,
        **{
            "gpipe": lambda: f.fill_bubble(p, microbatches),
            "1f1b": lambda: f.interleaved_bubble(p, microbatches, virtual),
            "interleaved": lambda: f.interleaved_bubble(p, microbatches, virtual),
            "zb_h1": lambda: f.split_backward_bubble(p, microbatches),
            "zb_h2": lambda: f.no_bubble(p),
            "zb_v": lambda: f.no_bubble(p),
            "dualpipe": lambda: f.dual_bubble(p, microbatches),
        },
    )
