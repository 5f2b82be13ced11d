"""Findings on weights: sums that are not 1 (D3), shares too small for a block (D5), weights that nothing reads (D23).

What the sampler would do with a wrong sum is said, because the figures follow it.
"""

from __future__ import annotations

import math
from typing import Final

from trainplan.budgets.mixture import MixtureBudget
from trainplan.budgets.weights import Phase, off
from trainplan.checks.amounts import share
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

ON_OFF_SUM: Final = {
    "normalised": "{name} divides by the sum without a word, and the figures do the same",
    "refused": "{name} refuses them, and nothing of the mixture follows",
    "unused": "{name} does not read weights",
    "premixed": "{name} has one mix: the figures divide by the sum, as whoever prepared it did",
}
"""What becomes of weights that do not sum to 1."""


def wrong_sums(estimate: Estimate) -> list[Finding]:
    """D3: weights of a stage, or of the sources, do not sum to 1."""
    found: dict[str, Finding] = {}
    for phase in estimate.mixture.phases:
        if phase.weights and all(isinstance(one, Figure) for one in phase.weights) and off(phase.weights):
            path = _table(estimate, phase)
            found.setdefault(path, _wrong_sum(estimate, phase, path))
    return list(found.values())


def _table(estimate: Estimate, phase: Phase) -> str:
    """Where the weights of a stage are written: in it, or with the sources."""
    data = estimate.plan.data
    own = any(
        one.weights is not None and phase.path == f"data.stages.{one.name or i}." for i, one in enumerate(data.stages)
    )
    return f"{phase.path}weights" if own else "data.sources"


def _wrong_sum(estimate: Estimate, phase: Phase, path: str) -> Finding:
    sums, rows, rule = math.fsum(phase.weights), estimate.mixture.rows, estimate.mixture.contract
    place = max(range(len(rows)), key=lambda i: phase.weights[i])
    right = phase.weights[place] + 1.0 - sums
    what = f"weights of {phase.name}" if path != "data.sources" else "weights of the sources"
    does = "" if rule is None else "; " + ON_OFF_SUM[rule.weights].format(name=rule.name)
    scaled = f"divide each by {sums:.6g}"
    fix = (
        f"{rows[place].name} {share(right)}, or {scaled}" if 0 <= right <= 1 else scaled if sums else "weights above 0"
    )
    field = f"{path}.{rows[place].name}" if path != "data.sources" else f"{path}.{rows[place].name}.weight"
    return Finding("D3", "error", "tokens", f"{what} sum to {sums:.6g}, not 1{does}", fix, (field, path), 1e5)


def never_sampled(estimate: Estimate) -> list[Finding]:
    """D5: a weight that is less than one sequence of Levanter's block is never sampled."""
    mixture = estimate.mixture
    if mixture.contract is None or mixture.contract.name != "levanter":
        return []
    block = estimate.plan.data.mixture_block or mixture.contract.numbers["block"]
    return [
        _never(estimate, mixture, phase, place, float(block))
        for phase in mixture.phases
        for place, (weight, one) in enumerate(zip(phase.weights, phase.shares, strict=True))
        if isinstance(one, Figure) and isinstance(weight, Figure) and weight > 0 and one == 0
    ]


def _never(estimate: Estimate, mixture: MixtureBudget, phase: Phase, place: int, block: float) -> Finding:
    name, weight = mixture.rows[place].name, phase.weights[place]
    path = _table(estimate, phase)
    field = f"{path}.{name}" if path != "data.sources" else f"{path}.{name}.weight"
    message = (
        f"{name} is never sampled in {phase.name}: {share(weight)} x {block:,.0f} is less than one sequence of a block"
    )
    fix = f"a weight from {1 / block:.4g}, or a block of {math.ceil(1 / weight):,} sequences"
    return Finding("D5", "error", "tokens", message, fix, (field, "data.mixture_block"), 1e4)


def unread_weights(estimate: Estimate) -> list[Finding]:
    """D23: weights, or a temperature, that the sampler or the plan itself passes over."""
    data, rule = estimate.plan.data, estimate.mixture.contract
    weighted = next((one.name for one in data.sources if one.weight is not None), None)
    if data.temperature is not None and weighted is not None:
        message = "data.temperature is set, and sources have weights; the weights hold"
        return [Finding("D23", "warning", "tokens", message, "leave one of them out", ("data.temperature",), 20)]
    told = weighted is not None or any(stage.weights is not None for stage in data.stages)
    if rule is None or rule.weights != "unused" or not told:
        return []
    path = f"data.sources.{weighted}.weight" if weighted is not None else "data.stages"
    message = f"{rule.name} does not read weights: shares are those of the unique tokens"
    return [Finding("D23", "warning", "tokens", message, "megatron-blended", ("data.sampler", path), 45)]


WEIGHT_CHECKS: Final = (wrong_sums, never_sampled, unread_weights)
