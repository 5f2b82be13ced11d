"""Findings on days after today: what a plan says was done, and is not done yet. One row for each such field of the plan.

Days on which something will be (start, deadline, the end of a waiver) are no such fields. Signatures are held against the clock
where their record is read (V6), which rules over its mirror in the plan.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Final

from trainplan.estimation import Estimate
from trainplan.finding import Finding, Severity, budget_of
from trainplan.plan.plan import Plan

Dated = tuple[str, dt.date | None]
"""A path of the plan and the day that stands there."""

_Row = tuple[str, Severity, str, float, Callable[[Plan], Iterator[Dated]]]
"""Code, severity, what has that day, weight, and where it stands."""


def _built(plan: Plan) -> Iterator[Dated]:
    return ((f"data.sources.{one.name or place}.built", one.built) for place, one in enumerate(plan.data.sources))


def _one(path: str) -> Callable[[Plan], Iterator[Dated]]:
    table, name = path.split(".")
    return lambda plan: iter([(path, getattr(getattr(plan, table), name))])


DATED: Final[tuple[_Row, ...]] = (
    ("C4", "warning", "the evidence of utilization", 15, _one("utilization.date")),
    ("D19", "warning", "the last change of the preprocessing", 45, _one("data.preprocessing_changed")),
    ("D19", "warning", "shards", 45, _built),
    ("S10", "warning", "the restore drill", 30, _one("storage.last_restore_drill")),
)
"""Every day of a plan on which something was done. `tests/core/checks/test_dates` holds it against the plan's tables."""


def not_yet(estimate: Estimate) -> list[Finding]:
    """C4, D19, S10: a day after today on which something is said to have been done."""
    today = estimate.today
    if today is None:
        return []
    return [
        _ahead(row, path, day)
        for row in DATED
        for path, day in row[-1](estimate.plan)
        if day is not None and day > today
    ]


def _ahead(row: _Row, path: str, day: dt.date) -> Finding:
    code, severity, name, weight, _ = row
    of = f" of {path.split('.')[-2]}" if path.count(".") > 1 else ""
    message = f"{name}{of} {'are' if name.endswith('s') else 'is'} dated {day:%Y-%m-%d}, after today: not done yet"
    return Finding(code, severity, budget_of(path), message, "the day on which it was done", (path,), weight)


DATE_CHECKS: Final = (not_yet,)
