"""Plan an LLM training run before anyone submits it: a pure estimation core without a terminal.

from pathlib import Path
import trainplan
plan = trainplan.open_plan(Path("plans/llama-3.1-8b.toml")).plan
trainplan.estimate(plan).quantities["compute.cost"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainplan.checks import findings
    from trainplan.estimation import Estimate, estimate
    from trainplan.plan.plan import Plan
    from trainplan.plan.read import Unusable, open_plan

__version__ = "0.1.0"
__all__ = ["Estimate", "Plan", "Unusable", "estimate", "findings", "open_plan"]

_HOMES = {
    "Estimate": "trainplan.estimation",
    "estimate": "trainplan.estimation",
    "findings": "trainplan.checks",
    "Plan": "trainplan.plan.plan",
    "Unusable": "trainplan.plan.read",
    "open_plan": "trainplan.plan.read",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module trainplan has no attribute {name}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
