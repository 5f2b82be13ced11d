"""How fast a proposed layout would be beside the plan's own, in a sentence: what the walk and a choice are told with.

The walk follows rules of thumb about memory; the step model says what its proposal costs. It proposes nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainplan.alternatives.offload import grown, step_of
from trainplan.alternatives.reverse import changed, tried
from trainplan.plan.plan import Plan
from trainplan.quantity.numbers import time


def pace(plan: Plan, fields: Mapping[str, Any]) -> str:
    """The predicted step with some fields changed against the plan's, and which part grows; empty where none is predicted."""
    if not fields:
        return ""
    before, after = step_of(plan), step_of(changed(plan, dict(fields)))
    if before.seconds is None or after.seconds is None:
        return ""
    share = float(after.seconds) / float(before.seconds) - 1.0
    words = (
        f"predicted step {_told(float(after.seconds))}, the plan's {_told(float(before.seconds))}, {100 * share:+.0f} %"
    )
    cause = grown(before, after)
    here = tried(plan)
    if share <= 0.0 or not here.fits(known=here.broken):
        return f"{words}: {cause}" if cause else words
    return f"slower than the plan, which fits: {words}{f': {cause}' if cause else ''}"


def _told(seconds: float) -> str:
    scale = time(seconds)
    return f"{scale.text(seconds)} {scale.unit}"
