"""Measured values of a rung's checks, as far as a log alone can say them; the rest a person measures and types."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from trainplan.estimation import Estimate
from trainplan.interop.calibration import Calibration
from trainplan.quantity.figure import Figure
from trainplan.review.ladder import ladder


def rung_values(estimate: Estimate, found: Calibration, rung: str) -> dict[str, float]:
    """Values by check of the rung: ratios to the plan, 1 is as planned. Empty where the log says nothing of its checks."""
    asked = {check.metric for one in ladder(estimate.plan) if one.name == rung for check in one.checks}
    values = _values(estimate, found, rung)
    return {metric: float(f"{value:.4g}") for metric, value in values.items() if metric in asked and value is not None}


PARTS: Final = ("unit", "one-batch")
"""Rungs that run a small part of the model or of the data: their rate says nothing of the run's."""
NODES: Final = ("one-device", "one-node")


def as_rung(estimate: Estimate, found: Calibration, rung: str) -> Calibration:
    """A calibration as evidence of one rung: nothing for the plan from its first two, and never more than the rung's scale."""
    if doubt := _larger(estimate, found, rung):
        found = replace(found, notes=(*found.notes, doubt))
    if rung in PARTS:
        note = f"rung {rung} runs a part of the model or of the data: it sets nothing for the whole plan"
        return replace(found, edits={}, notes=(*found.notes, note))
    if not rung or "utilization.evidence" not in found.edits:
        return found
    scale = "measured-node" if rung in NODES else found.evidence if found.measured.world else "measured-scaled"
    return replace(found, evidence=scale, edits={**found.edits, "utilization.evidence": scale})


def _larger(estimate: Estimate, found: Calibration, rung: str) -> str:
    """What is odd where a log is of more devices than its rung has; empty where it is not."""
    node, world = estimate.situation["cluster.accelerators_per_node"], found.measured.world
    most = 1.0 if rung == "one-device" else float(node) if rung == "one-node" and isinstance(node, Figure) else None
    if most is None or world is None or world <= most:
        return ""
    return f"the log is of {world:,.0f} devices and rung {rung} has {most:,.0f}: it is another run's, or its rung is a later one"


def _values(estimate: Estimate, found: Calibration, rung: str) -> dict[str, float | None]:
    one, planned = found.measured, found.planned
    ratio = "memory.calibration" in found.edits
    return {
        "utilization": found.utilization,
        "utilization_variation": None if one.of_means else one.variation,
        "tokens_per_second": one.rate,
        "tokens_per_second_ratio": _ratio(one.rate, planned["tokens_per_second_per_accelerator"])
        if rung == "short-scaled"
        else None,
        "peak_memory_error": abs(float(found.edits["memory.calibration"]) - 1.0) if ratio else None,
        "checkpoint_overhead_ratio": _overhead(estimate, found),
    }


def _ratio(measured: float | None, planned: float | None) -> float | None:
    return None if measured is None or not planned else measured / planned


def _overhead(estimate: Estimate, found: Calibration) -> float | None:
    """Measured stall of the plan's, at the plan's own interval."""
    stall = estimate.checkpoint.checkpoint_stall
    return _ratio(found.measured.stall, float(stall)) if isinstance(stall, Figure) else None
