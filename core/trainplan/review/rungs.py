"""A rung beside its record: what moved since it was measured, thresholds that were loosened and by whom, a waiver that ended.

What people do to a rung is an act of the record, made here: a measurement with what it stood on, a loosened threshold with the
old one and the reason. It refuses to read files and a clock.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.review.covers import Change, Covers, Quantities, changes, covered
from trainplan.review.ladder import CheckState, RungState, threshold
from trainplan.review.record import Act, EvidenceHash, Record


@dataclass(frozen=True, slots=True)
class Loosening:
    """A threshold that lets pass what an earlier one did not: which, when it was recorded the act, and whether after measuring."""

    metric: str
    old: str
    new: str
    origin: str
    act: Act | None = None
    after_measuring: bool = False


@dataclass(frozen=True, slots=True)
class RungReview:
    """One rung, and what moved since it was measured: fields that its measurement covered in the record.

    `ended` is the day on which its waiver ended, `waiver` the act that gave it; `broken` says what is wrong with the evidence of
    its measurement.
    """

    rung: RungState
    changed: tuple[Change, ...] = ()
    last: Act | None = None
    loosened: tuple[Loosening, ...] = ()
    ended: dt.date | None = None
    broken: str = ""
    waiver: Act | None = None

    @property
    def state(self) -> str:
        """The verdict, or stale where a passed rung was measured on another plan, or open where its waiver ended."""
        if self.ended is not None and self.rung.verdict == "waived":
            return "open"
        moved = self.changed or self.broken
        return "stale" if moved and self.rung.verdict in ("passed", "waiting") else self.rung.verdict


def rung_covers(rung: RungState, plan: Plan, quantities: Quantities) -> Covers:
    """What a measurement of a rung made now stands on: fields of the plan, and its thresholds as `pilot.RUNG.METRIC`."""
    limits = {_limit_path(rung, check.metric): check.pass_if for check in rung.checks}
    return {**covered(plan, quantities, rung.covers, ()), **limits}


def measurement(
    rung: RungState,
    plan: Plan,
    quantities: Quantities,
    signer: str,
    at: dt.datetime,
    evidence: tuple[EvidenceHash, ...] = (),
    note: str = "",
) -> Act:
    """The act of one who measured a rung on the plan as it is."""
    covers = rung_covers(rung, plan, quantities)
    return Act(
        "attach",
        rung.name,
        signer,
        at,
        author=signer,
        note=note,
        plan=plan_hash(plan),
        covers=covers,
        evidence=evidence,
    )


def loosening(rung: RungState, metric: str, pass_if: str, signer: str, at: dt.datetime, reason: str) -> Act:
    """The act of one who loosens a threshold of a rung, over the one that the rung has now. Raises ValueError without a reason."""
    old = next((check.pass_if for check in rung.checks if check.metric == metric), None)
    if old is None:
        raise ValueError(f"{rung.name} has no check {metric}")
    if not reason:
        raise ValueError("a loosened threshold needs a reason")
    return Act("loosen", rung.name, signer, at, verdict=pass_if, reason=reason, covers={metric: old})


def rung_review(
    rung: RungState,
    plan: Plan,
    quantities: Quantities,
    record: Record,
    today: dt.date,
    broken: Mapping[EvidenceHash, str] | None = None,
) -> RungReview:
    """A rung with what its record says."""
    acts = [act for act in record.acts if act.subject == rung.name and act.kind not in ("note", "mode")]
    measured = [act for act in acts if act.covers and act.kind != "loosen"]
    last = measured[-1] if measured else None
    fields = {path: value for path, value in last.covers.items() if not path.startswith("pilot.")} if last else {}
    harmed = [broken[file] for file in last.evidence if file in broken] if last and broken else []
    return RungReview(
        rung,
        changes(fields, plan, quantities),
        last,
        tuple(found for check in rung.checks if (found := _loosened(rung, check, acts, last))),
        _ended(acts, today),
        harmed[0] if harmed else "",
        next((act for act in reversed(acts) if act.kind == "waive"), None),
    )


def _limit_path(rung: RungState, metric: str) -> str:
    return f"pilot.{rung.name}.{metric}"


def _loosened(rung: RungState, check: CheckState, acts: list[Act], last: Act | None) -> Loosening | None:
    """Against the threshold when it was measured, else against the default."""
    told = [
        act
        for act in acts
        if act.kind == "loosen" and check.metric in act.covers and _equal(act.verdict, check.pass_if)
    ]
    act = told[-1] if told else None
    then = str(last.covers.get(_limit_path(rung, check.metric), "")) if last else ""
    if _looser(check.pass_if, then):
        return Loosening(check.metric, then, check.pass_if, "when it was measured", act, after_measuring=True)
    if check.loosened:
        return Loosening(check.metric, check.default, check.pass_if, check.origin, act)
    if act is not None and _looser(check.pass_if, str(act.covers[check.metric])):
        return Loosening(check.metric, str(act.covers[check.metric]), check.pass_if, "before", act)
    return None


def _looser(own: str, other: str) -> bool:
    one, two = threshold(own), threshold(other)
    return one is not None and two is not None and one.looser_than(two)


def _equal(one: str, other: str) -> bool:
    return threshold(one) == threshold(other) and threshold(one) is not None


def _ended(acts: list[Act], today: dt.date) -> dt.date | None:
    """The day on which the last waiver of a rung ended, if it did."""
    waived = [act for act in acts if act.kind == "waive"]
    until = waived[-1].until if waived else None
    return until if until is not None and until < today else None
