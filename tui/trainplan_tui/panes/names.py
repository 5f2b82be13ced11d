"""The panes of this version by name, and in which of them a finding stands."""

from __future__ import annotations

from typing import Final

from trainplan.finding import Finding
from trainplan.labels.names import QUANTITIES
from trainplan_tui.widgets.frame import PaneName

OVERVIEW: Final = PaneName("1", "Overview", "Overview")
TOKENS: Final = PaneName("2", "Tokens", "Tokens")
COMPUTE: Final = PaneName("3", "Compute", "Compute")
MEMORY: Final = PaneName("4", "Memory", "Memory")
MESH: Final = PaneName("5", "Mesh", "Parallelism")
STORAGE: Final = PaneName("6", "Storage", "Storage")
FAULTS: Final = PaneName("7", "Faults", "Reliability")
EVALUATION: Final = PaneName("8", "Eval", "Evaluation")
PILOT: Final = PaneName("9", "Pilot", "Pilot")
READY: Final = PaneName("0", "Ready", "Readiness")

BUDGETS: Final[dict[PaneName, tuple[str, ...]]] = {
    OVERVIEW: (),
    TOKENS: ("tokens",),
    COMPUTE: ("compute", "model"),
    MEMORY: ("memory",),
    MESH: ("parallelism", "communication"),
    STORAGE: ("storage",),
    FAULTS: ("reliability",),
    EVALUATION: ("evaluation",),
    PILOT: ("pilot",),
    READY: ("readiness",),
}
"""Budgets whose findings stand in a pane."""


def is_item(id_: str) -> bool:
    """Whether a row's id is of a readiness item: not of a figure about all of them, which ledgers draw."""
    return id_.startswith("readiness.") and id_ not in QUANTITIES


def is_standing(id_: str) -> bool:
    """Whether a row's id is of a readiness item or of a rung's check: what the review draws, and no ledger."""
    return is_item(id_) or (id_.startswith("pilot.") and ".checks." in id_)


def home_of(finding: Finding) -> str:
    """`3 Compute`: the pane in which a finding's field is; the budget's own name where it has no pane yet."""
    for name, budgets in BUDGETS.items():
        if finding.budget in budgets:
            return f"{name.digit} {name.short}"
    return finding.budget


SENT: Final = "time of "
"""Before the dimension and the operation in ids of rows of what a step sends."""

FIRST: Final = {
    "data.sources": "sources.add",
    "data.stages": "stages.add",
    "batch.schedule": "batches.add",
    "evaluation.tasks": "tasks.add",
}
"""Rows that stand for an empty list, and the command that adds its first entry."""
