"""Findings of the ladder (L) and of the review (V): what a person would otherwise find out at the launch.

They read no file: what is wrong with evidence (V2) is handed in with the review. L6 needs logs: `pilotruns`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from trainplan.finding import ORDER, Finding, Severity
from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.review.computed import MEASURED_BY
from trainplan.review.record import Act
from trainplan.review.rungs import Loosening, RungReview
from trainplan.review.state import Review

_REVIEW: Final = "PLAN.signoffs.jsonl"
_RULES: Final = "the record rules; write the item again"


def review_findings(plan: Plan, found: Review) -> tuple[Finding, ...]:
    """Every finding of a review, errors first."""
    told = [finding for rung in found.rungs for finding in _rung_findings(rung)]
    told += _order(found) + _items(found) + _measured(found) + _record(found)
    told += _edited(plan, found)
    return tuple(sorted(told, key=lambda finding: ORDER[finding.severity]))


def claims(found: Review) -> tuple[Finding, ...]:
    """What the plan says of items and the record beside it does not, and harm to the record: V8 and V6, errors first.

    They are findings of the plan's file itself: whoever counts its findings counts them.
    """
    told = [finding for finding in _record(found) if finding.severity != "info"]
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
    found += _stale(one) + [_loosened(one, told) for told in one.loosened]
    if rung.left_out and rung.verdict != "open":
        message = f"{rung.name}: {len(rung.left_out)} default checks are left out, the first is {rung.left_out[0]}"
        found.append(_pilot("L4", "info", rung.name, message, "the default checks beside one's own, or a note why not"))
    return found + _skipped(one)


def _stale(one: RungReview) -> list[Finding]:
    rung = one.rung
    told = (
        [_pilot("L1", "warning", rung.name, f"evidence of {rung.name}: {one.broken}", "the file as it was measured")]
        if one.broken
        else []
    )
    if one.changed and rung.verdict in ("passed", "waiting"):
        moved = f"{one.changed[0]}" + (f" and {len(one.changed) - 1} more" if len(one.changed) > 1 else "")
        message = f"rung {rung.number} {rung.name} was measured before {moved}"
        told.append(_pilot("L3", "warning", rung.name, message, "measure it again, or undo the change"))
    return told


def _loosened(one: RungReview, told: Loosening) -> Finding:
    """Info where the record says who, when and why; a warning where it does not."""
    name, since = one.rung.name, " after it was measured" if told.after_measuring else ""
    message = f"{name}: {told.metric} passes at {told.new}, loosened{since} from {told.old} ({told.origin})"
    if told.act is None:
        return _pilot("L4", "warning", name, message, "an act in the record: who, when and why")
    act = told.act
    return _pilot("L4", "info", name, f"{message} by {act.signer} on {act.at:%Y-%m-%d}: {act.reason}", "")


def _skipped(one: RungReview) -> list[Finding]:
    rung = one.rung
    if rung.verdict != "waived":
        return []
    if one.ended is not None:
        message = f"rung {rung.number} {rung.name} was skipped until {one.ended}, which has passed: {rung.reason}"
        return [_pilot("L5", "warning", rung.name, message, "run the rung, or waive it again with a reason and an end")]
    message = f"rung {rung.number} {rung.name} is skipped: {rung.reason}"
    if one.waiver is None:
        message += "; no act in the record says by whom and until when"
        return [_pilot("L5", "warning", rung.name, message, "W in the pilot's pane, with an end")]
    return [_pilot("L5", "info", rung.name, message, "an end of the waiver in the record")]


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
    ] + _measured_late(found)


def _measured_late(found: Review) -> list[Finding]:
    """A rung that was measured again after the next one: the next one stood on what has been replaced."""
    told: list[Finding] = []
    for before, one in pairwise(found.rungs):
        if before.last and one.last and one.state == "passed" and before.last.at > one.last.at:
            message = f"{before.rung.name} was measured on {before.last.at:%Y-%m-%d}, after {one.rung.name}, which comes after it"
            told.append(
                _pilot("L2", "info", one.rung.name, message, f"{one.rung.name} again, where its result may differ")
            )
    return told


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
    told += [
        _ready("V8", "error" if _claimed(line) else "warning", line.split(" ", 1)[0], line, _RULES)
        for line in found.unmirrored
    ]
    return told


def _claimed(line: str) -> bool:
    """Whether a plan claims a sign-off or a waiver that its record has not."""
    return any(f"is {word} in the plan" in line for word in ("signed", "waived"))


def _edited(plan: Plan, found: Review) -> list[Finding]:
    """V7 for the plan as a whole: the last signature was over another plan, though nothing that it covers moved."""
    signed = [act for act in found.record.acts if act.kind == "sign" and act.plan]
    stale = any(one.state == "stale" for one in found.items)
    if not signed or stale or signed[-1].plan == plan_hash(plan):
        return []
    return [_ready("V7", "info", "", f"the plan changed since {_who(signed[-1])}; no covered value moved", "")]


def _who(act: Act) -> str:
    return f"{act.signer} signed {act.subject} on {act.at:%Y-%m-%d}"
