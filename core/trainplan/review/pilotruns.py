"""What the logs of a rung say that it ran, beside the full run: another step count, mock data or a part of the data hide faults.

Finding L6. SmolLM3's two throughput faults appeared only with the whole data set and the real step count. It refuses to read
logs: what they say is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from trainplan.finding import Finding
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.review.covers import Quantities
from trainplan.review.ladder import RUNGS

LIKE_FULL: Final = RUNGS[5:]
"""Rungs that run what the full run will: short-scaled and full."""


@dataclass(frozen=True, slots=True)
class PilotRun:
    """What one log of a rung says: steps in its configuration, whether data were made up, and the data sets; None, () unsaid."""

    rung: str
    log: str
    steps: int | None = None
    mock: bool = False
    data: tuple[str, ...] = ()


def unlike_full_run(plan: Plan, quantities: Quantities, runs: Iterable[PilotRun] = ()) -> tuple[Finding, ...]:
    """L6 of every rung that has to run like the full run, from its measured checks and its logs."""
    told = [
        *_measured(plan),
        *(line for run in runs if run.rung in LIKE_FULL for line in _logged(plan, quantities, run)),
    ]
    return tuple(_finding(rung, message) for rung, message in told)


def _finding(rung: str, message: str) -> Finding:
    fix = "the real step count and the whole data set in the pilot's configuration"
    return Finding("L6", "warning", "pilot", message, fix, (f"pilot.{rung}",))


def _measured(plan: Plan) -> Iterator[tuple[str, str]]:
    for rung in plan.pilot:
        for check in rung.checks:
            if check.metric == "step_count_difference" and check.measured:
                yield (
                    rung.rung or "",
                    f"{rung.rung} ran with {check.measured:+,.0f} steps in its configuration against the plan",
                )


def _logged(plan: Plan, quantities: Quantities, run: PilotRun) -> Iterator[tuple[str, str]]:
    steps = quantities.get("tokens.steps")
    if run.steps is not None and isinstance(steps, Figure) and run.steps != int(steps):
        yield run.rung, f"{run.log}: {run.steps:,} steps in the configuration of {run.rung}, {int(steps):,} in the plan"
    if run.mock:
        yield run.rung, f"{run.log}: {run.rung} ran on mock data"
    if run.data and len(run.data) < sum(source.name is not None for source in plan.data.sources):
        yield run.rung, f"{run.log}: {run.rung} ran on {len(run.data)} of {len(plan.data.sources)} sources"
