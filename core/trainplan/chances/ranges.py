"""What the forecast draws from: the ranges of a plan. Those that it does not state are default widths, and each is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from trainplan.estimation import Estimate
from trainplan.quantity.unit import time_said

WIDTHS: Final = {
    "measured-here": (0.97, 1.02),
    "measured-scaled": (0.90, 1.05),
    "measured-node": (0.80, 1.05),
    "published": (0.85, 1.08),
    "assumed": (0.70, 1.10),
}
"""Low and high of utilization over its value where the plan has no range, by evidence: product judgement."""

RATE_SPREAD: Final = 0.5
"""Standard deviation of the logarithm of the failure rate: published rates of like machines differ by factors of 2."""

TENTH: Final = 1.2815515655446004
"""Standard deviations from the median to the tenth and ninetieth of a hundred."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Utilization, least, stated and largest; the spread of the failure rate; and sentences on what was assumed."""

    low: float
    value: float
    high: float
    rate_spread: float
    said: tuple[str, ...]


def ranges_of(estimate: Estimate) -> Ranges:
    """The ranges of a plan whose wall time follows."""
    claim = estimate.plan.utilization
    value = float(claim.value or 0.0)
    below, above = WIDTHS[claim.evidence]
    low = float(claim.low) if claim.low is not None else value * below
    high = float(claim.high) if claim.high is not None else min(value * above, 1.0)
    stated = claim.low is not None and claim.high is not None
    origin = "the plan's range" if stated else f"a default width for evidence {claim.evidence}"
    return Ranges(low, value, high, RATE_SPREAD, _said(estimate, low, value, high, origin))


def _said(estimate: Estimate, low: float, value: float, high: float, origin: str) -> tuple[str, ...]:
    s = estimate.situation
    restart = time_said(float(s["reliability.restart_time"]))
    spares = int(min(s["reliability.spare_nodes"], 10**9))
    return (
        f"utilization {low:.3f} to {high:.3f}, most often {value:.3f}: {origin}",
        f"failure rate: lognormal around the plan's, {math.exp(-TENTH * RATE_SPREAD):.2f} to "
        f"{math.exp(TENTH * RATE_SPREAD):.2f} times it in 80 of 100 histories",
        f"restart: exponential with a mean of {restart}, each drawn anew",
        f"{spares} spare nodes: once they are used up, replicas on missing nodes stand still until a repair ends",
        "not drawn: price, tokens, planned downtime, evaluation",
    )
