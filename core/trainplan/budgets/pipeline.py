"""The bubble of the plan's pipeline schedule."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.kernels import linear_recomputed
from trainplan.budgets.situation import Situation
from trainplan.formulas import pipeline as f
from trainplan.quantity.figure import Figure, given
from trainplan.quantity.formula import named_sum

SPLIT: Final = {"zb-h1": 2.0 / 3.0, "zb-h2": 1.0, "zb-v": 1.0}
"""Schedules that split the backward pass, and how much of what is computed again they wait for."""

IDLE: Final = named_sum("1", "nothing_again", "again")


def pipeline_bubble(s: Situation, microbatches: Figure) -> Figure:
    """Idle time of the pipeline over ideal step time, with equal stages; where backward is split, recompute adds to it."""
    idle, share = schedule_bubble(s, microbatches), SPLIT.get(s.plan.parallelism.schedule)
    if share is None or s.kind("parallelism.recompute") == "none":
        return idle
    again = f.recomputed_bubble(s["parallelism.pipeline"], microbatches, linear_recomputed(s), _waited(share))
    return IDLE(nothing_again=idle, again=again)


@cache
def _waited(share: float) -> Figure:
    return given("share of recompute that is waited for", share, "1", "arXiv 2401.10241, table 2", kind="default")


def schedule_bubble(s: Situation, microbatches: Figure) -> Figure:
    """The bubble of the schedule's own table, where nothing is computed again."""
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
