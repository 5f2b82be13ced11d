"""What the program checks of the plan itself, without a file: rungs, cost against its approval, drills, vocabulary.

Where the plan does not say what a check needs the check is unknown, which is neither passed nor failed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from trainplan.finding import Finding
from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import numbered
from trainplan.review.covers import Quantities
from trainplan.review.state import Review

Verdict = Literal["passed", "failed", "unknown"]

CONTINGENCY: Final = 0.15
"""Share of the cost that an approval holds beyond it: the design notes' default."""
COST_LIMIT: Final = 0.05
MEASURED_BY: Final = ("one-device", "one-node", "few-nodes", "short-scaled")
"""The rungs that item `measured` rests on."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that the program looked at: the readiness item that it serves, its name, the verdict and what was found."""

    item: str
    check: str
    verdict: Verdict
    found: str


Found = tuple[Verdict, str]


def computed_checks(plan: Plan, quantities: Quantities, found: Review, today: dt.date) -> tuple[Checked, ...]:
    """Every check that follows from the plan, its figures and its record."""
    checks: tuple[tuple[str, str, Callable[[], Found]], ...] = (
        ("configs", "plan hash", lambda: ("passed", plan_hash(plan)[:12])),
        ("tokenizer", "vocabulary fits the padded one", lambda: _fits(plan, quantities)),
        ("tokenizer", "ids fit their type", lambda: _typed(plan, quantities)),
        ("contamination", "revision of the harness", lambda: _revision(plan)),
        ("measured", "rungs one-device to short-scaled", lambda: _rungs(found)),
        ("resume", "restore drill", lambda: _drill(plan, today)),
        ("cost", "accelerator-hours recomputed", lambda: _hours(quantities)),
        ("cost", "cost since the approval", lambda: _moved(quantities, found)),
        ("cost", "contingency of 15 %", lambda: _contingency(plan, quantities)),
    )
    return tuple(Checked(item, name, *work()) for item, name, work in checks)


def is_ready(found: Review, checks: Iterable[Checked], findings: Iterable[Finding]) -> bool:
    """Every item signed or waived over an unharmed record, no check of the program failed, no finding of severity error."""
    failed = any(one.verdict == "failed" for one in checks)
    return found.ready and not failed and not any(item.severity == "error" for item in findings)


def _number(quantities: Quantities, key: str) -> float | None:
    value = quantities.get(key)
    return float(value) if isinstance(value, Figure) else None


def _fits(plan: Plan, quantities: Quantities) -> Found:
    padded, own = _number(quantities, "model.padded_vocabulary"), plan.model.vocab_size
    if padded is None:
        return "unknown", "the plan has no vocabulary"
    if own is None:
        return "passed", f"the preset's, padded to {padded:,.0f}"
    return ("passed" if own <= padded else "failed"), f"{own:,.0f} of {padded:,.0f}"


def _typed(plan: Plan, quantities: Quantities) -> Found:
    padded, width = _number(quantities, "model.padded_vocabulary"), plan.data.bytes_per_token
    if padded is None or width is None:
        return "unknown", "data.bytes_per_token is not said"
    most = 256 ** int(width)
    return ("passed" if padded <= most else "failed"), f"{padded:,.0f} ids in {width:g} bytes, {most:,} at most"


def _revision(plan: Plan) -> Found:
    told = plan.evaluation.harness_revision
    if not told:
        return "unknown", "evaluation.harness_revision is not said"
    commit = re.fullmatch(r"[0-9a-f]{7,40}", told)
    return ("passed", told) if commit else ("failed", f"{told} is no commit: 7 to 40 hexadecimal digits pin it")


def _rungs(found: Review) -> Found:
    wrong = [
        f"{one.rung.name} {one.state}"
        for one in found.rungs
        if one.rung.name in MEASURED_BY and one.state not in ("passed", "waived")
    ]
    return ("failed", ", ".join(wrong)) if wrong else ("passed", "all four")


def _drill(plan: Plan, today: dt.date) -> Found:
    last, most = plan.storage.last_restore_drill, plan.storage.restore_drill_days
    if last is None:
        return "unknown", "storage.last_restore_drill is not said"
    age = (today - last).days
    if age < 0:
        return "failed", f"storage.last_restore_drill is {last}, in the future"
    return ("passed" if age <= most else "failed"), f"{numbered(age, 'day')} ago, {most:g} at most"


def _hours(quantities: Quantities) -> Found:
    hours = _number(quantities, "compute.accelerator_hours")
    return ("unknown", "accelerator-hours cannot be told") if hours is None else ("passed", f"{hours:,.0f} h")


def _moved(quantities: Quantities, found: Review) -> Found:
    """Against the last approval; without one there is nothing to compare."""
    cost = _number(quantities, "compute.cost")
    act = next((one.last for one in found.items if one.item.name == "cost"), None)
    before = act.covers.get("compute.cost") if act is not None else None
    if cost is None or isinstance(before, str | bool) or not before:
        return "unknown", "no cost" if cost is None else "no approval yet"
    share = cost / float(before) - 1
    return (
        "passed" if share <= COST_LIMIT else "failed"
    ), f"{before:,.0f} to {cost:,.0f}, {100 * share:+.1f} %, {100 * COST_LIMIT:.0f} % at most"


def _contingency(plan: Plan, quantities: Quantities) -> Found:
    cost, budget = _number(quantities, "compute.cost"), plan.schedule.budget
    if cost is None or budget is None:
        return "unknown", "schedule.budget is not said" if budget is None else "no cost"
    left = float(budget) / cost - 1
    told = f"{float(budget):,.0f} leaves {100 * left:.1f} % over {cost:,.0f}"
    return (
        ("passed", told)
        if left >= CONTINGENCY
        else ("failed", f"{told}; {cost * (1 + CONTINGENCY):,.0f} would hold it")
    )
