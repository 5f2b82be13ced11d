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
    values = _worst([_values(estimate, one, rung) for one in found.parts or (found,)])
    return {metric: float(f"{value:.4g}") for metric, value in values.items() if metric in asked and value is not None}


PARTS: Final = ("unit", "one-batch")
"""Rungs that run a small part of the model or of the data: their rate says nothing of the run's."""
NODES: Final = ("one-device", "one-node")


def as_rung(estimate: Estimate, found: Calibration, rung: str) -> Calibration:
    """A calibration as evidence of one rung: nothing for the plan from its first two, and never more than the rung's scale."""
    found = replace(found, notes=(*found.notes, *_beside_itself(estimate, found, rung)))
    if doubt := _larger(estimate, found, rung):
        found = replace(found, notes=(*found.notes, doubt))
    if rung in PARTS and not found.stands:
        return found
    if rung in PARTS:
        note = f"rung {rung} runs a part of the model or of the data: it sets nothing for the whole plan"
        return replace(found, edits={}, notes=(*found.notes, note))
    if not rung or "utilization.evidence" not in found.edits:
        return found
    scale = "measured-node" if rung in NODES else found.evidence if found.ran.world else "measured-scaled"
    return replace(found, evidence=scale, edits={**found.edits, "utilization.evidence": scale})


def _beside_itself(estimate: Estimate, found: Calibration, rung: str) -> list[str]:
    """Said where a ratio of the rung is not made, or is one to an earlier measurement and not to what was planned before it."""
    asked = {check.metric for one in ladder(estimate.plan) if one.name == rung for check in one.checks}
    ratios, claim = [metric for metric in OWN if metric in asked], estimate.plan.utilization
    if not ratios or not found.stands:
        return []
    if found.own:
        return [
            f"the plan's utilization is from this very log: {' and '.join(ratios)} against itself would say 1 and are left alone. "
            "--set utilization.value=PLANNED --set utilization.source=before has the ratio to what was planned"
        ]
    if (claim.evidence or "").startswith("measured"):
        return [
            f"the plan's utilization is measured: {ratios[0]} is to that of {(claim.source or 'an earlier log').partition(', ')[0]}"
        ]
    return []


def _larger(estimate: Estimate, found: Calibration, rung: str) -> str:
    """What is odd where a log is of more devices than its rung has; empty where it is not."""
    node, world = estimate.situation["cluster.accelerators_per_node"], found.measured.world
    most = 1.0 if rung == "one-device" else float(node) if rung == "one-node" and isinstance(node, Figure) else None
    if most is None or world is None or world <= most:
        return ""
    return f"the log is of {world:,.0f} devices and rung {rung} has {most:,.0f}: it is another run's, or its rung is a later one"


OWN: Final = ("tokens_per_second_ratio", "checkpoint_overhead_ratio")
"""Ratios to values of the plan that a log itself sets there."""


def _values(estimate: Estimate, found: Calibration, rung: str) -> dict[str, float | None]:
    """Values by metric; none of a log that cannot be of the plan, and no ratio to a plan that rests on the same log."""
    if not found.stands:
        return {}
    one, peak = found.measured, found.edits.get("memory.calibration")
    values = {
        "utilization": found.utilization,
        "utilization_variation": None if one.of_means else one.variation,
        "tokens_per_second": one.rate,
        "tokens_per_second_ratio": _ratio(one.rate, found.ran.rate) if rung == "short-scaled" else None,
        "peak_memory_error": None if peak is None else abs(float(peak) - 1.0),
        "checkpoint_overhead_ratio": _overhead(estimate, found),
    }
    return {metric: value for metric, value in values.items() if not (found.own and metric in OWN)}


LEAST: Final = ("utilization", "tokens_per_second", "tokens_per_second_ratio")
"""Values of which the smallest is the worst."""


def _worst(runs: list[dict[str, float | None]]) -> dict[str, float | None]:
    """The worst value of several runs by metric; none where one of them cannot be of the plan."""
    if not all(runs):
        return {}
    found: dict[str, float | None] = {}
    for metric in dict.fromkeys(metric for run in runs for metric in run):
        values = [value for run in runs if (value := run.get(metric)) is not None]
        found[metric] = (min if metric in LEAST else max)(values) if values else None
    return found


def _ratio(measured: float | None, planned: float | None) -> float | None:
    return None if measured is None or not planned else measured / planned


def _overhead(estimate: Estimate, found: Calibration) -> float | None:
    """Measured stall of the plan's, at the plan's own interval."""
    stall = estimate.checkpoint.checkpoint_stall
    return _ratio(found.measured.stall, float(stall)) if isinstance(stall, Figure) else None
