"""Findings C1 and C17: a peak in the plan that is not the part's own dense one.

Utilization is a share of the peak, so a peak of another part or another kind makes every time and cost wrong by its ratio. A peak
below the part's may be a measured one or that of a power limit, and is no error.
"""

from __future__ import annotations

from typing import Final

from trainplan.catalogue import Entry, entry, names
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.unit import prefixed

NEAR: Final = 0.005
"""How far two figures of one datasheet may lie apart by rounding."""
ABOVE, BELOW = 1.05, 0.95
"""Ratios to the part's own peak between which a peak is taken as that peak, rounded or clocked otherwise."""
PATH: Final = ("cluster.peak_flops",)


def _tflops(value: float) -> str:
    number, prefix = prefixed(value, 4)
    return f"{number} {prefix}FLOP/s"


def _fact(part: Entry, key: str) -> float | None:
    found = part.get(key)
    return float(found.value) if found is not None and isinstance(found.value, int | float) else None


def _is(fact: float | None, value: float) -> bool:
    return fact is not None and abs(fact / value - 1.0) < NEAR


def sparse_peak(estimate: Estimate) -> list[Finding]:
    """C1: the peak entered is the doubled figure that holds for structured sparsity."""
    peak, part = estimate.plan.cluster.peak_flops, estimate.situation.part
    if peak is None or part is None:
        return []
    own = _own(estimate, part)
    for key, name in (("sparse_bf16", "sparse bf16"), ("sparse_fp8", "sparse fp8")):
        if _is(_fact(part, key), peak) and own and not any(_is(one, peak) for one in own):
            message = f"peak_flops {peak:.4g} is the {name} figure of {part.name}"
            return [Finding("C1", "error", "compute", message, f"dense: {_tflops(own[-1])}", PATH, 1e5)]
    return []


def _own(estimate: Estimate, part: Entry) -> list[float]:
    """Dense peaks against which a run in the plan's precision may be told: bf16, and of an fp8 run fp8 too."""
    keys = ("peak_flops", "peak_flops_fp8") if estimate.plan.training.precision == "fp8-mixed" else ("peak_flops",)
    return [fact for fact in (_fact(part, key) for key in keys) if fact is not None]


def foreign_peak(estimate: Estimate) -> list[Finding]:
    """C17: the peak entered is above what the part does, or that of another part, or half of its own."""
    peak, part = estimate.plan.cluster.peak_flops, estimate.situation.part
    if peak is None or part is None or estimate.plan.training.precision == "fp32" or sparse_peak(estimate):
        return []
    own = _own(estimate, part)
    if not own or any(BELOW <= peak / one <= ABOVE for one in own):
        return []
    ratio, whose = peak / own[0], _whose(peak, part, own[0])
    above = peak > own[-1] * ABOVE
    if not above and not whose:
        return []
    message = f"peak_flops {_tflops(peak)} is {ratio:.3g} times the dense bf16 peak of {part.name}{whose}"
    fix = f"peak_flops = {own[0] / 1e12:g}T, or leave it out"
    return [Finding("C17", "error" if above else "warning", "compute", message, fix, PATH, 9e4)]


def _whose(peak: float, part: Entry, own: float) -> str:
    """Where a peak that is not the part's own comes from, in words; nothing where no entry has it."""
    if _is(own / 2.0, peak):
        return ": dense already, and halved again as if it were the sparse figure"
    others = ((name, entry("accelerators", name)) for name in names("accelerators") if name != part.name)
    found = [name for name, other in others if other is not None and _is(_fact(other, "peak_flops"), peak)]
    return f": it is that of {found[0]}{' among others' if len(found) > 1 else ''}" if found else ""


PEAK_CHECKS: Final = (sparse_peak, foreign_peak)
