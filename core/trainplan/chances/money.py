"""What a run has cost by a time, and by when it has cost an amount: as the forecast counts it, by the finish alone."""

from __future__ import annotations

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure


def amount_time(estimate: Estimate, money: float) -> float | None:
    """The finish (s) at which a run has cost so much, as `compute.cost` counts; None where the cost does not follow from time."""
    price, wall = estimate.situation["cluster.price_per_accelerator_hour"], estimate.money.wall_time
    timed = float(estimate.money.accelerator_hours) + float(estimate.money.spare_hours)
    if not isinstance(price, Figure) or not isinstance(estimate.money.cost, Figure) or price <= 0.0 or timed <= 0.0:
        return None
    return (money / float(price) - float(estimate.evaluation.separate_hours)) / timed * float(wall)


def amount_by(estimate: Estimate, finish: float) -> float:
    """What a run that ends at `finish` (s) costs; the inverse of `amount_time`."""
    timed = float(estimate.money.accelerator_hours) + float(estimate.money.spare_hours)
    hours = finish / float(estimate.money.wall_time) * timed + float(estimate.evaluation.separate_hours)
    return hours * float(estimate.situation["cluster.price_per_accelerator_hour"])
