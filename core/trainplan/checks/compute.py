"""Findings C2 to C11 on utilization and its evidence. C9 compares logs and comes from calibration."""

from __future__ import annotations

import re
from typing import Final

from trainplan.catalogue import Entry, entry, names
from trainplan.checks.peaks import PEAK_CHECKS
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount

STALE_DAYS: Final = 180
HIGH, LOW = 0.60, 0.20


def above_ceiling(estimate: Estimate) -> list[Finding]:
    """C2 and C10: utilization above, or within 5 % of, the best measured matrix product of the part."""
    use, ceiling = estimate.speed.utilization, estimate.speed.ceiling_utilization
    if not isinstance(use, Figure) or not isinstance(ceiling, Figure):
        return []
    if use > ceiling:
        message = f"utilization {use:.3f} is above the best measured matmul, {ceiling:.3f} of the peak"
        return [Finding("C2", "error", "compute", message, f"at most {ceiling:.3f}", ("utilization.value",), 1e5)]
    if use > 0.95 * ceiling:
        message = (
            f"utilization {use:.3f} is within 5 % of the best measured matmul; parts of one node differ by that much"
        )
        return [Finding("C10", "warning", "compute", message, "measure the slowest rank", ("utilization.value",), 10)]
    return []


def unusual_utilization(estimate: Estimate) -> list[Finding]:
    """C3: above or below what published bf16 runs reach by the causal convention."""
    plan, use = estimate.plan, estimate.speed.utilization
    if not isinstance(use, Figure) or plan.utilization.convention != "causal":
        return []
    if use > HIGH:
        message = f"utilization {use:.3f} is above the published range of bf16 runs, 0.20 to 0.60"
        return [Finding("C3", "warning", "compute", message, "0.40 is usual", ("utilization.value",), 20)]
    if use < LOW:
        message = f"utilization {use:.3f} is below the published range of bf16 runs, 0.20 to 0.60"
        return [Finding("C3", "info", "compute", message, "look at the layout first", ("utilization.value",))]
    return []


def stale_evidence(estimate: Estimate) -> list[Finding]:
    """C4: evidence older than 180 days. What is dated after today is said by `dates`."""
    claim, today = estimate.plan.utilization, estimate.today
    if today is None or claim.date is None or claim.evidence == "assumed":
        return []
    age = (today - claim.date).days
    if age <= STALE_DAYS:
        return []
    message = f"the evidence of utilization is {age} days old; software moves by several percent in {STALE_DAYS}"
    return [Finding("C4", "warning", "compute", message, "measure again", ("utilization.date",), 15)]


def fp8_support(estimate: Estimate) -> list[Finding]:
    """C5: fp8 on a part without fp8; C6: fp8 on a part where it is no faster than bf16."""
    part = estimate.situation.part
    if part is None or estimate.plan.training.precision != "fp8-mixed":
        return []
    fast, dense = part.get("peak_flops_fp8"), part.get("peak_flops")
    if fast is None:
        message = f"fp8 on {part.name}, for which the catalogue has no fp8 rate"
        return [Finding("C5", "error", "compute", message, 'precision = "bf16-mixed"', ("training.precision",), 1e5)]
    if dense is not None and fast.value <= dense.value:
        message = f"fp8 runs no faster than bf16 on {part.name}"
        return [Finding("C6", "warning", "compute", message, 'precision = "bf16-mixed"', ("training.precision",), 30)]
    return []


_FAMILY = re.compile(
    r"\b(V100|A100|A800|H100|H800|H200|H20|GH200|B200|B300|GB200|GB300|MI250X?|MI300X|MI325X|MI355X|TPU|Gaudi\s?\d)\b",
    re.I,
)


def other_part(estimate: Estimate) -> list[Finding]:
    """C6: the evidence names another accelerator; utilization does not carry over with the peak."""
    claim, name = estimate.plan.utilization, estimate.plan.cluster.accelerator
    if claim.source is None or name is None or name not in names("accelerators"):
        return []
    named = {match.lower().replace(" ", "") for match in _FAMILY.findall(claim.source)}
    if not named or any(one in name.replace("-", "") for one in named):
        return []
    message = f"the evidence of utilization is from {', '.join(sorted(named)).upper()}, and the plan runs on {name}"
    fix = _carried(estimate, next(iter(named))) if len(named) == 1 else MEASURE
    return [Finding("C6", "warning", "compute", message, fix, ("utilization.source",), 30)]


MEASURE: Final = "measure on this part"
SAME: Final = 1.02
"""Ratio up to which two rates are the same: data sheets round."""


def _carried(estimate: Estimate, family: str) -> str:
    """Whether a utilization of that family of parts holds on the plan's: by how much peak and memory bandwidth grow."""
    own, other = estimate.situation.part, _of_family(family)
    rates = [(one.get("peak_flops"), one.get("memory_bandwidth")) for one in (own, other) if one is not None]
    if own is None or len(rates) < 2 or any(fact is None for pair in rates for fact in pair):
        return MEASURE
    (peak, bandwidth), (before, slower) = [[float(fact.value) for fact in pair if fact is not None] for pair in rates]
    faster, wider = peak / before, bandwidth / slower
    told = f"its peak is x {faster:.2f} and its memory bandwidth x {wider:.2f} of {family.upper()}'s"
    if faster > SAME * wider:
        return f"a lower utilization until it is measured: {told}"
    if wider > SAME * faster:
        return f"{MEASURE}; utilization should not fall: {told}"
    return f"{MEASURE}; utilization may hold: {told}"


def _of_family(family: str) -> Entry | None:
    """The part of the catalogue that a family's name means most often: the module with the most memory, else the first."""
    found = [one for one in names("accelerators") if one.split("-")[0] == family]
    return (
        entry("accelerators", next((one for one in sorted(found, reverse=True) if "-sxm" in one), found[0]))
        if found
        else None
    )


def undated_measurement(estimate: Estimate) -> list[Finding]:
    """C7: a measurement that does not say what was measured, or when."""
    claim = estimate.plan.utilization
    if claim.value is None or claim.evidence in ("assumed",):
        return []
    absent = [name for name in ("source", "date") if getattr(claim, name) is None]
    if not absent:
        return []
    message = f"utilization is {claim.evidence}, without {' and '.join(absent)}: steps, scale and age are unknown"
    return [
        Finding("C7", "warning", "compute", message, f"give utilization.{absent[0]}", (f"utilization.{absent[0]}",), 12)
    ]


def range_holds_value(estimate: Estimate) -> list[Finding]:
    """C13: the range of utilization is given whole and has the value inside."""
    claim = estimate.plan.utilization
    if (claim.low is None) != (claim.high is None):
        absent = "low" if claim.low is None else "high"
        return [
            Finding(
                "C13",
                "error",
                "compute",
                f"utilization.{absent} is missing; a range has both ends",
                f"give utilization.{absent}",
                (f"utilization.{absent}",),
                1e4,
            )
        ]
    if claim.low is None or claim.high is None or claim.value is None or claim.low <= claim.value <= claim.high:
        return []
    message = f"utilization {claim.value:.3f} is outside its range {claim.low:.3f} to {claim.high:.3f}"
    return [
        Finding(
            "C13",
            "error",
            "compute",
            message,
            "a range that holds the value",
            ("utilization.low", "utilization.high"),
            1e4,
        )
    ]


def assumed_utilization(estimate: Estimate) -> list[Finding]:
    """C15: time and cost rest on an assumption."""
    claim = estimate.plan.utilization
    if claim.value is None or claim.evidence != "assumed":
        return []
    message = f"utilization {claim.value:.3f} is assumed; dates and cost are as good as that"
    return [
        Finding(
            "C15",
            "warning",
            "compute",
            message,
            "give evidence, source and date, or a pilot's log",
            ("utilization.evidence",),
            40,
        )
    ]


def expert_parameters(estimate: Estimate) -> list[Finding]:
    """C11: what of a mixture-of-experts model is counted with all parameters, and what with the active ones."""
    every, active = estimate.model.parameters, estimate.model.active_parameters
    if not isinstance(every, Figure) or not isinstance(active, Figure) or active >= every:
        return []
    fewer, all_of = (amount(count, 3) for count in (active, every))
    message = f"time follows {fewer} active parameters, memory and checkpoints all {all_of}"
    return [Finding("C11", "info", "compute", message, "", ("model.preset",))]


COMPUTE_CHECKS: Final = (
    *PEAK_CHECKS,
    above_ceiling,
    unusual_utilization,
    stale_evidence,
    fp8_support,
    other_part,
    undated_measurement,
    range_holds_value,
    assumed_utilization,
    expert_parameters,
)
