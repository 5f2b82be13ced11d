"""What a saved edit did to the ladder: rungs with new measured values, thresholds that let more pass than before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainplan.plan.plan import Plan
from trainplan.review.ladder import ladder, threshold


@dataclass(frozen=True, slots=True)
class Loosened:
    """One threshold that lets pass what it did not before."""

    rung: str
    metric: str
    old: str
    new: str

    @property
    def path(self) -> str:
        """The plan path of the threshold."""
        return f"pilot.{self.rung}.checks.{self.metric}.pass_if"


def measured_since(before: Plan, after: Plan) -> tuple[str, ...]:
    """Rungs whose measured values are others than before, in order; a value that was taken out does not count."""
    old, new = (_values(plan) for plan in (before, after))
    return tuple(dict.fromkeys(rung for (rung, metric), value in new.items() if old.get((rung, metric)) != value))


def _values(plan: Plan) -> dict[tuple[str, str], float]:
    return {
        (rung.rung or "", check.metric or ""): check.measured
        for rung in plan.pilot
        for check in rung.checks
        if check.measured is not None
    }


def loosened_since(before: Plan, after: Plan) -> Iterator[Loosened]:
    """Thresholds that are looser than before; a rung that was not written counts with its defaults."""
    old = {(rung.name, check.metric): check.pass_if for rung in ladder(before) for check in rung.checks}
    for rung in after.pilot:
        for check in rung.checks:
            key = rung.rung or "", check.metric or ""
            was, now = threshold(old.get(key)), threshold(check.pass_if)
            if was is not None and now is not None and now.looser_than(was):
                yield Loosened(*key, old[key], check.pass_if or "")
