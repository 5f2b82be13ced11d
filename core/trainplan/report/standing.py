"""Pilot and readiness in a report: what was measured against which threshold, who signed what over what, and what is stale."""

from __future__ import annotations

from trainplan.quantity.unit import numbered
from trainplan.report.facts import Facts
from trainplan.report.found import bulleted
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.review.covers import Change
from trainplan.review.plain import measured_text, why_of
from trainplan.review.record import Act, EvidenceHash
from trainplan.review.rungs import Loosening, RungReview
from trainplan.review.state import ItemState

HASH = 12
"""Letters of a hash that stand for it."""


def pilot(facts: Facts, pen: Markdown) -> list[str]:
    """The ladder: every rung with its state, then every check with what was measured."""
    found = facts.standing.review.rungs
    passed = sum(one.state == "passed" for one in found if not one.rung.own)
    lines = [
        *pen.heading(2, "Pilot"),
        *pen.paragraph(f"{passed} of 7 rungs passed; a rung counts once all before it passed."),
    ]
    rungs = [(_number(one), one.rung.name, one.state, why_of(one), one.rung.question) for one in found]
    lines += pen.table(("no.", "rung", "state", "why", "asks"), rungs, right=("no.",))
    checks = [_check(one, place) for one in found for place in range(len(one.rung.checks))]
    lines += pen.heading(3, "Checks of the rungs")
    lines += pen.table(("rung", "check", "measured", "passes at", "state", "evidence"), checks, right=("measured",))
    loosened = [_loosened(one, told) for one in found for told in one.loosened]
    left_out = [
        (f"{one.rung.name}: the default check ", Code(name), " is left out")
        for one in found
        for name in one.rung.left_out
    ]
    return [*lines, *pen.bullets([*loosened, *left_out])]


def _number(one: RungReview) -> str:
    return "+" if one.rung.own else str(one.rung.number)


def _check(one: RungReview, place: int) -> tuple[Inline, ...]:
    check = one.rung.checks[place]
    evidence = Code(check.evidence) if check.evidence else ""
    return (one.rung.name, Code(check.metric), measured_text(check), check.passes_at, check.verdict, evidence)


def _loosened(one: RungReview, told: Loosening) -> Inline:
    by = (
        f", by {told.act.signer} on {told.act.at:%Y-%m-%d}: {told.act.reason}"
        if told.act
        else ", with no reason on record"
    )
    when = " after it was measured" if told.after_measuring else ""
    return (f"{one.rung.name}: ", Code(told.metric), f" was loosened{when} from {told.old} to {told.new}{by}")


def readiness(facts: Facts, pen: Markdown) -> list[str]:
    """The ten items, then who did what about each, what the program checked, and the findings of the review."""
    standing, review = facts.standing, facts.standing.review
    signed = f"{review.count('signed')} of {len(review.items)} items signed and not stale: "
    lines = pen.heading(2, "Readiness")
    lines += pen.paragraph(signed + ("ready." if standing.ready else "not ready."))
    if review.record.one_person:
        lines += pen.paragraph("One-person mode is on: whoever made the evidence may sign for it.")
    heads = ("no.", "item", "state", "by", "date", "lapses", "blocking", "why")
    lines += pen.table(heads, [_item(place, one) for place, one in enumerate(review.items, 1)], right=("no.",))
    lines += pen.heading(3, "What each item asks, and what was done about it")
    lines += pen.bullets([_told(one) for one in review.items])
    checked = [(one.item, one.check, one.verdict, one.found) for one in standing.checks]
    lines += [*pen.heading(3, "Checked by the program"), *pen.table(("item", "check", "verdict", "found"), checked)]
    lines += _evidence(facts, pen)
    told = [str(one) for one in (*review.record.harms, *review.record.notes)]
    lines += [*pen.heading(3, "The record of sign-offs"), *pen.bullets(told)] if told else []
    found = bulleted(standing.findings, pen, with_severity=True)
    return [*lines, *(pen.heading(3, "Findings of the review") if found else []), *found]


def _item(place: int, one: ItemState) -> tuple[Inline, ...]:
    by, date = (one.last.signer, f"{one.last.at:%Y-%m-%d}") if one.last else (one.owner, "")
    blocking, lapses = "yes" if one.item.blocking else "no", one.lapses.isoformat() if one.lapses else ""
    return (str(place), one.item.name, one.state, by, date, lapses, blocking, one.why)


def _told(one: ItemState) -> list[Inline]:
    """The question, what proves it, and the last act with what it stands on and what moved since."""
    lines: list[Inline] = [f"{one.item.name}: {one.item.question}", f"evidence asked for: {one.item.evidence}"]
    if one.last is not None:
        lines += [_act(one.last), *map(_file, one.last.evidence)]
        lines += [f"attested: {point}" for point in one.last.attested]
    return [*lines, *map(_moved, one.changed)]


def _act(act: Act) -> Inline:
    """Who did what, when, in which role, over which plan."""
    words = {"sign": "signed", "waive": "waived", "fail": "marked as failed", "reopen": "opened again"}
    role = f" as {act.role}" if act.role else ""
    told = f"{words.get(act.kind, act.kind)} by {act.signer}{role} on {act.at:%Y-%m-%d %H:%M} UTC"
    about = (
        ("evidence made by", act.author),
        ("reason:", act.reason),
        ("approved by", act.approver),
        ("note:", act.note),
    )
    rest = "".join(f"; {word} {text}" for word, text in about if text)
    covers = f"; {numbered(len(act.covers), 'value')} of the plan covered" if act.covers else ""
    return (told + rest + covers, "; plan hash ", Code(act.plan[:HASH])) if act.plan else told + rest + covers


def _file(file: EvidenceHash) -> Inline:
    size = f", {numbered(file.size, 'byte')}" if file.size else ""
    return ("evidence ", Code(file.path), f"{size}, sha256 ", Code(file.sha256 or "none"))


def _moved(change: Change) -> Inline:
    return ("stale: ", Code(change.path), f" was {change.old} when signed and is {change.new}")


def _evidence(facts: Facts, pen: Markdown) -> list[str]:
    """Files that signatures stand on, against their hashes."""
    rows: list[tuple[Inline, ...]] = [
        (Code(one.file.path), one.verdict, _link(one.message, one.leads_out)) for one in facts.standing.files
    ]
    return [*pen.heading(3, "Evidence files"), *pen.table(("file", "state", "found"), rows)] if rows else []


def _link(message: str, leads_out: str) -> str:
    return f"{message}; a link leads out of the plan's folder, to {leads_out}" if leads_out else message
