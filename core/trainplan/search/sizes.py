"""How many accelerators: the best layout on each of several cluster sizes, and what the run takes and costs there.

Each size is a search of its own with the plan's global batch. Time and cost are the estimate's, at the utilization that the step
model predicts for the layout, so failures, saves and evaluation are in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from trainplan.alternatives.reverse import changed
from trainplan.budgets.situation import Situation
from trainplan.estimation import estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure, Quantity
from trainplan.search.listing import none_fit, predicted
from trainplan.search.searching import Found, searched

SHARES: Final = tuple(
    Fraction(*pair) for pair in ((1, 8), (1, 4), (1, 2), (3, 4), (1, 1), (3, 2), (2, 1), (4, 1), (8, 1))
)
"""Cluster sizes tried, as shares of the plan's nodes."""

MOST_NODES: Final = 10**9
"""Nodes that the plan format takes at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """One cluster size: its best layout, or `why` there is none, and the run there: s and currency, or blocked.

    `in_time` and `in_budget` are None where the plan has no deadline or budget, or nothing can be told.
    """

    nodes: int
    accelerators: int
    considered: int
    fitting: int
    best: Found | None
    why: str
    wall_time: Quantity
    cost: Quantity
    in_time: bool | None
    in_budget: bool | None

    @property
    def meets(self) -> bool:
        """Whether a layout fits and neither the deadline nor the budget is missed."""
        return self.best is not None and self.in_time is not False and self.in_budget is not False


def node_counts(plan: Plan) -> tuple[int, ...]:
    """Whole node counts around the plan's own, rising; none where the plan has none."""
    own = Situation(plan)["cluster.nodes"]
    if not isinstance(own, Figure):
        return ()
    counts = (Fraction(int(own)) * share for share in SHARES)
    return tuple(sorted({int(count) for count in counts if count.denominator == 1 and count <= MOST_NODES}))


def sizes(plan: Plan, *, forks: bool = False) -> Iterator[Size]:
    """The best layout by predicted step on each cluster size, from the fewest nodes."""
    for nodes in node_counts(plan):
        yield size_of(changed(plan, {"cluster.nodes": nodes}), nodes, forks=forks)


def size_of(plan: Plan, nodes: int, *, forks: bool = False) -> Size:
    """The best layout of one cluster, and the run with it."""
    found = searched(plan, forks=forks)
    best = next(iter(found.best("time", 1)), None)
    run = estimate(plan) if best is None else predicted(changed(plan, dict(best.fields)))
    wall, cost = _if(best, run.money.wall_time), _if(best, run.money.cost)
    time, budget = run.money.available_time, Situation(plan)["schedule.budget"]
    return Size(
        nodes,
        int(run.mesh.world_size) if isinstance(run.mesh.world_size, Figure) else 0,
        found.considered,
        found.fitting,
        best,
        "" if best is not None else none_fit(found),
        wall,
        cost,
        _within(wall, time),
        _within(cost, budget),
    )


def _if(best: Found | None, value: Quantity) -> Quantity:
    return (
        Blocked("no layout fits", value.unit if isinstance(value, Blocked) else value.origin.unit)
        if best is None
        else value
    )


def _within(value: Quantity, limit: Quantity) -> bool | None:
    """Whether a value is within a limit, None where either is not known."""
    return bool(value <= limit) if isinstance(value, Figure) and isinstance(limit, Figure) else None
