"""Findings of the ladder (L) and of the review (V): what a person would otherwise find out at the launch.

They read no file: what is wrong with evidence (V2) is handed in with the review. L6 needs a log and is not here.
"""

from __future__ import annotations

from typing import Final

from trainplan.finding import ORDER, Finding, Severity
from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.review.computed import MEASURED_BY
from trainplan.review.record import Act
from trainplan.review.state import Review, RungReview

_REVIEW: Final = "PLAN.signoffs.jsonl"


def review_findings(plan: Plan, found: Review) -> tuple[Finding, ...]:
    """Every finding of a review, errors first."""
    told = [finding for rung in found.rungs for finding in _rung_findings(rung)]
    told += _order(found) + _items(found) + _measured(found) + _record(found)
    told += _edited(plan, found)
    return tuple(sorted(told, key=lambda finding: ORDER[finding.severity]))


def _pilot(code: str, severity: Severity, rung: str, message: str, fix: str) -> Finding:
    return Finding(code, severity, "pilot", message, fix, (f"pilot.{rung}",))


def _ready(code: str, severity: Severity, item: str, message: str, fix: str) -> Finding:
    return Finding(code, severity, "readiness", message, fix, (f"readiness.{item}" if item else _REVIEW,))


def _rung_findings(one: RungReview) -> list[Finding]:
    rung, found = one.rung, list[Finding]()
    bare = [check.metric for check in rung.checks if check.verdict == "passed" and not check.evidence]
    if rung.claimed == "passed" and rung.verdict not in ("passed", "waiting"):
        message = f"rung {rung.number} {rung.name} is marked passed, and its checks do not show it: {rung.verdict}"
        found.append(_pilot("L1", "warning", rung.name, message, "measured values and the files that show them"))
    elif bare and rung.verdict in ("passed", "waiting"):
        message = f"rung {rung.number} {rung.name} passed without an evidence file: {', '.join(bare)}"
        found.append(_pilot("L1", "warning", rung.name, message, "the log of the rung as evidence"))
    if one.state == "stale":
        moved = f"{one.changed[0]}" + (f" and {len(one.changed) - 1} more" if len(one.changed) > 1 else "")
        message = f"rung {rung.number} {rung.name} was measured before {moved}"
        found.append(_pilot("L3", "warning", rung.name, message, "measure it again, or undo the change"))
    for check in rung.checks:
        if check.loosened:
            message = f"{rung.name}: {check.metric} passes at {check.pass_if}; the default is {check.default}, from {check.origin}"
            found.append(_pilot("L4", "info", rung.name, message, "a note in the record: who, when and why"))
    if rung.verdict == "waived":
        message = f"rung {rung.number} {rung.name} is skipped: {rung.reason}"
        found.append(_pilot("L5", "info", rung.name, message, "an end of the waiver in the reason"))
    return found


def _order(found: Review) -> list[Finding]:
    return [
        _pilot(
            "L2",
            "warning",
            one.rung.name,
            f"rung {one.rung.number} {one.rung.name} meets its thresholds before {one.rung.waits_for} has passed",
            f"{one.rung.waits_for} first, or a waiver with a reason",
        )
        for one in found.rungs
        if one.rung.verdict == "waiting"
    ]


def _items(found: Review) -> list[Finding]:
    told: list[Finding] = []
    for one in found.items:
        act = one.last
        if act is None:
            continue
        if act.kind == "sign" and one.state == "open":
            told.append(_ready("V1", "error", one.item.name, f"{one.item.name}: {one.why}", "a second signer"))
        if act.kind == "waive" and one.state == "open":
            code = "V3" if "ended" in one.why else "V9"
            told.append(_ready(code, "error", one.item.name, f"{one.item.name}: {one.why}", "a signature"))
        if one.state == "stale":
            code = "V2" if one.broken else "V7" if one.changed else "V4"
            told.append(_ready(code, "error", one.item.name, f"{one.item.name}: {one.why}", "sign again"))
    return told


def _measured(found: Review) -> list[Finding]:
    item = next(one for one in found.items if one.item.name == "measured")
    wrong = [
        one.rung.name for one in found.rungs if one.rung.name in MEASURED_BY and one.state not in ("passed", "waived")
    ]
    if item.state != "signed" or not wrong:
        return []
    message = f"measured is signed, and the rungs that it rests on have not passed or are stale: {', '.join(wrong)}"
    return [_ready("V5", "error", "measured", message, "the rungs first, then the signature")]


def _record(found: Review) -> list[Finding]:
    told = [
        _ready("V6" if "future" in harm.message else "V8", "error", "", str(harm), "the line as version control has it")
        for harm in found.record.harms
    ]
    told += [_ready("V8", "info", "", str(note), "") for note in found.record.notes]
    told += [_ready("V8", "warning", "", line, "the record rules; write the item again") for line in found.unmirrored]
    return told


def _edited(plan: Plan, found: Review) -> list[Finding]:
    """V7 for the plan as a whole: the last signature was over another plan, though nothing that it covers moved."""
    signed = [act for act in found.record.acts if act.kind == "sign" and act.plan]
    stale = any(one.state == "stale" for one in found.items)
    if not signed or stale or signed[-1].plan == plan_hash(plan):
        return []
    return [_ready("V7", "info", "", f"the plan changed since {_who(signed[-1])}; no covered value moved", "")]


def _who(act: Act) -> str:
    return f"{act.signer} signed {act.subject} on {act.at:%Y-%m-%d}"
