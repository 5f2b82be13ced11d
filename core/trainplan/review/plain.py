"""A review as plain data for `--json`, and as lines that can be pasted into a discussion.

What the program checked, what people attested and what is unknown stand in fields of their own.
"""

from __future__ import annotations

from typing import Any

from trainplan.review.covers import Change
from trainplan.review.ladder import CheckState
from trainplan.review.record import Act, EvidenceHash
from trainplan.review.rungs import Loosening, RungReview
from trainplan.review.state import ItemState, Review


def as_data(found: Review) -> dict[str, Any]:
    """The review as JSON writes it: state of items and rungs, who signed, what moved, and the harms of the record."""
    return {
        "ready": found.ready,
        "overall": found.overall,
        "one_person": found.record.one_person,
        "counts": {state: found.count(state) for state in ("signed", "waived", "stale", "open", "failed")},
        "items": [_item(one) for one in found.items],
        "pilot": [_rung(one) for one in found.rungs],
        "record": {
            "acts": len(found.record.acts),
            "harms": [{"line": harm.line, "message": harm.message} for harm in found.record.harms],
            "notes": [{"line": note.line, "message": note.message} for note in found.record.notes],
        },
    }


def _item(one: ItemState) -> dict[str, Any]:
    return {
        "item": one.item.name,
        "state": one.state,
        "why": one.why,
        "blocking": one.item.blocking,
        "owner": one.owner,
        "signer": one.item.signer,
        "last": _act(one.last) if one.last else None,
        "stale": [_change(change) for change in one.changed],
        "lapses": one.lapses.isoformat() if one.lapses else None,
        "question": one.item.question,
        "evidence": one.item.evidence,
    }


def _act(act: Act) -> dict[str, Any]:
    return {
        "act": act.kind,
        "by": act.signer,
        "author": act.author,
        "role": act.role,
        "at": act.at.isoformat(),
        "plan": act.plan,
        "reason": act.reason,
        "note": act.note,
        "until": act.until.isoformat() if act.until else None,
        "evidence": [_file(file) for file in act.evidence],
    }


def _file(file: EvidenceHash) -> dict[str, Any]:
    return {
        "path": file.path,
        "sha256": file.sha256,
        "size": file.size,
        "modified": file.modified,
        "job": file.job,
    }


def _change(change: Change) -> dict[str, str]:
    return {"path": change.path, "old": change.old, "new": change.new}


def _rung(one: RungReview) -> dict[str, Any]:
    return {
        "rung": one.rung.name,
        "number": one.rung.number,
        "state": one.state,
        "waits_for": one.rung.waits_for,
        "feeds": one.rung.feeds,
        "reason": one.rung.reason,
        "stale": [_change(change) for change in one.changed],
        "broken": one.broken,
        "own": one.rung.own,
        "left_out": list(one.rung.left_out),
        "loosened": [_loosening(told) for told in one.loosened],
        "checks": [_check(check) for check in one.rung.checks],
    }


def _loosening(told: Loosening) -> dict[str, Any]:
    return {
        "metric": told.metric,
        "old": told.old,
        "new": told.new,
        "after_measuring": told.after_measuring,
        "by": told.act.signer if told.act else None,
        "at": told.act.at.isoformat() if told.act else None,
        "why": told.act.reason if told.act else None,
    }


def _check(check: CheckState) -> dict[str, Any]:
    return {
        "metric": check.metric,
        "pass_if": check.pass_if,
        "measured": check.measured,
        "state": check.verdict,
        "evidence": check.evidence,
        "default": check.default,
        "taken": check.taken,
        "origin": check.origin,
    }


def lines(found: Review, *, ready: bool) -> list[str]:
    """The review in lines of 80 columns where names allow: items, their count, rungs; `ready` also knows files and findings."""
    told = ["readiness         state    by             date        why"]
    told += [_item_line(number, one) for number, one in enumerate(found.items, 1)]
    harmed = ": the record is harmed" if found.record.harms else ""
    told.append(f"{_counts(found)}: {'ready' if ready else 'not ready'}{harmed}")
    if found.record.one_person:
        told.append("one-person mode is on: whoever made the evidence may sign for it")
    told.append("")
    told.append("pilot             state    measured against threshold")
    told += [line for one in found.rungs for line in _rung_lines(one)]
    passed = sum(one.state == "passed" for one in found.rungs if not one.rung.own)
    told.append(f"passed {passed} of 7, in order")
    return told


def _item_line(number: int, one: ItemState) -> str:
    by, date = (one.last.signer, f"{one.last.at:%Y-%m-%d}") if one.last else (one.owner, "")
    return f"{number:>2} {one.item.name:<15}{one.state:<9}{by:<14} {date:<12}{one.why}".rstrip()


def _counts(found: Review) -> str:
    states = ("signed", "waived", "stale", "open", "failed")
    return ", ".join(f"{state} {count}" for state in states if (count := found.count(state)))


def _rung_lines(one: RungReview) -> list[str]:
    rung = one.rung
    told = [f"{'+' if rung.own else rung.number:>2} {rung.name:<15}{one.state:<9}{why_of(one)}".rstrip()]
    told += [
        f"     {check.metric:<29} {measured_text(check):>10} {check.passes_at + ' ':<12}{check.verdict}"
        for check in rung.checks
    ]
    return told


def why_of(one: RungReview) -> str:
    """Why a rung is waived, stale or waits; empty where its checks say all."""
    waits = f"waits for {one.rung.waits_for}" if one.state == "waiting" else ""
    stale = one.broken or f"measured before {one.changed[0]}" if one.state == "stale" else ""
    return one.rung.reason or stale or waits


def measured_text(check: CheckState) -> str:
    """A measured value, `-` where there is none."""
    return "-" if check.measured is None else f"{check.measured:,.6g}"
