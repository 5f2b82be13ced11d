"""Finding C4 of a layout that moved: a utilization that was measured on another one than the plan has.

A log that is taken for the whole plan leaves in `utilization.source` on which layout the plan stood then; the domain notes call
evidence of another mesh or another length stale (section 2.6). Other sources say nothing of a layout and are not judged.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

FIELDS: Final = (
    "parallelism.tensor",
    "parallelism.pipeline",
    "parallelism.virtual_pipeline",
    "parallelism.context",
    "parallelism.expert",
    "parallelism.schedule",
    "parallelism.sharding",
    "parallelism.recompute",
    "batch.micro_batch_sequences",
    "cluster.nodes",
    "data.sequence_length",
)
"""What a layout is told by: the last word of each is its name; nodes and length are those of the whole run and its last stage."""

_TOLD: Final = re.compile(r"\blayout ((?:[a-z_]+=[\w.-]+ ?)+)")


def layout_told(estimate: Estimate) -> str:
    """The plan's layout as a source keeps it: `layout tensor=2 pipeline=8 ...`."""
    return "layout " + " ".join(f"{name}={value}" for name, value in _layout(estimate).items())


def moved_layout(estimate: Estimate) -> list[Finding]:
    """C4: the layout that the source of a measured utilization names is not the plan's."""
    claim = estimate.plan.utilization
    told = _TOLD.search(claim.source or "") if claim.evidence.startswith("measured") else None
    if told is None:
        return []
    then, now = dict(one.split("=", 1) for one in told[1].split()), _layout(estimate)
    moved = [path for path in FIELDS if (name := _name(path)) in then and name in now and then[name] != now[name]]
    if not moved:
        return []
    words = [f"{_name(path).replace('_', ' ')} {then[_name(path)]}, now {now[_name(path)]}" for path in moved]
    message = f"utilization was measured on another layout: {'; '.join(words)}"
    return [Finding("C4", "warning", "compute", message, "measure again", ("utilization.value", *moved), 34)]


def _layout(estimate: Estimate) -> dict[str, str]:
    """Each field's value by its name, where it is known."""
    plan, found = estimate.plan, dict[str, str]()
    for path in FIELDS:
        table, field = path.split(".")
        value = getattr(getattr(plan, table), field)
        if path == "data.sequence_length":
            value = estimate.tokens.stretches[-1].sequence_length
        if isinstance(value, float | Figure):
            found[_name(path)] = f"{float(value):.0f}"
        elif value is None or isinstance(value, str):
            found[_name(path)] = value or "default"
    return found


def _name(path: str) -> str:
    return path.rpartition(".")[2]
