"""What may be signed or waived, and the acts that do it: one place for the app and whoever else writes the record.

A refusal is a sentence that says what is missing; nothing is signed over unsaved edits, failed checks, open points or changed
evidence. It refuses to write: an act is handed to whoever keeps the record.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.review.covers import Quantities
from trainplan.review.items import LASTING, Item, item_covers
from trainplan.review.record import ONE_PERSON, Act, EvidenceHash, Kind, Record

UNSAVED: Final = "unsaved edits: a sign-off covers the saved plan. w saves, u takes back"


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person typed for one act. `ticked` are the attested points of the item that were answered yes."""

    signer: str
    role: str = ""
    author: str = ""
    note: str = ""
    reason: str = ""
    approver: str = ""
    until: str = ""
    ticked: tuple[str, ...] = ()


def evidence_now(record: Record, subject: str) -> tuple[EvidenceHash, ...]:
    """The files of an item or rung: of its last sign-off and attached since, each path once with its latest hash."""
    found: dict[str, EvidenceHash] = {}
    for act in record.acts:
        if act.subject == subject and act.kind in ("attach", "sign", "waive"):
            found |= {file.path: file for file in act.evidence}
    return tuple(found.values())


def author_now(record: Record, subject: str) -> str:
    """Who made the evidence that was attached last; empty where nobody attached any."""
    attached = [act for act in record.acts if act.subject == subject and act.kind == "attach"]
    return (attached[-1].author or attached[-1].signer) if attached else ""


def sign_refusals(
    item: Item, answers: Answers, record: Record, failed: Sequence[str], broken: Iterable[EvidenceHash], *, saved: bool
) -> tuple[str, ...]:
    """Why an item cannot be signed now; empty where it can. `failed` are the names of the program's checks that failed."""
    evidence = evidence_now(record, item.name)
    changed = [file.path for file in evidence if file in set(broken)]
    opened = [point for point in item.attested if point not in answers.ticked]
    found = [
        "" if saved else UNSAVED,
        _failed(failed),
        _not_attested(opened, signature_now(record, item.name)) if opened else "",
        f"evidence is not what was attached: {', '.join(changed)}. Attach it again" if changed else "",
        ""
        if evidence or answers.note.strip()
        else f"no evidence: attach {item.evidence}, or say in the note where it is",
        "" if answers.signer.strip() else "no signer",
    ]
    return tuple(line for line in found if line)


def signature_now(record: Record, subject: str) -> Act | None:
    """The signature that is the last answer about an item; None where nobody signed, or somebody answered otherwise since."""
    deciding = [
        act for act in record.acts if act.subject == subject and act.kind in ("sign", "waive", "fail", "reopen")
    ]
    return deciding[-1] if deciding and deciding[-1].kind == "sign" else None


def _not_attested(opened: Sequence[str], last: Act | None) -> str:
    """The points that wait for an answer; of a signed item, that those of its signature are not taken over."""
    if last is None:
        return f"not attested: {'; '.join(opened)}"
    by = f"signed by {last.signer} on {last.at:%Y-%m-%d}"
    return f"{by}; a new signature needs each point attested again: {'; '.join(opened)}"


def _failed(failed: Sequence[str]) -> str:
    if not failed:
        return ""
    return f"{len(failed)} check{'' if len(failed) == 1 else 's'} of the program failed: {', '.join(failed)}"


def waive_refusals(item: Item, answers: Answers, now: dt.datetime, *, saved: bool) -> tuple[str, ...]:
    """Why an item cannot be waived with these answers; empty where it can."""
    if item.blocking:
        return (f"{item.name} is blocking: it cannot be waived",)
    found = ["" if saved else UNSAVED]
    found += [f"no {name}" for name in ("signer", "reason", "approver") if not getattr(answers, name).strip()]
    return (*(line for line in found if line), *_end_refusal(item, answers, now))


def _end_refusal(item: Item, answers: Answers, now: dt.datetime) -> tuple[str, ...]:
    most = now.date() + dt.timedelta(days=item.waivable)
    try:
        until = dt.date.fromisoformat(answers.until.strip())
    except ValueError:
        return (
            f'the end is "{answers.until.strip()}". A day such as {most}, which is the last that {item.name} allows',
        )
    if until < now.date():
        return (f"the waiver would end on {until}, which is past",)
    return (f"{item.name} is waived for {item.waivable} days at most: {most}",) if until > most else ()


def sign_act(item: Item, answers: Answers, plan: Plan, quantities: Quantities, record: Record, now: dt.datetime) -> Act:
    """The act that signs an item over what the plan says now."""
    act = _act("sign", item.name, answers, plan, now)
    return replace(
        act,
        verdict="pass",
        covers=item_covers(item, plan, quantities),
        evidence=evidence_now(record, item.name),
        attested=tuple(point for point in item.attested if point in answers.ticked),
    )


def waive_act(
    item: Item, answers: Answers, plan: Plan, quantities: Quantities, record: Record, now: dt.datetime
) -> Act:
    """The act that waives an item until a day. Raises ValueError where the day is none."""
    return replace(
        _act("waive", item.name, answers, plan, now),
        verdict="pass with waiver",
        reason=answers.reason.strip(),
        approver=answers.approver.strip(),
        until=dt.date.fromisoformat(answers.until.strip()),
        covers=item_covers(item, plan, quantities),
        evidence=evidence_now(record, item.name),
    )


def said_act(kind: Kind, subject: str, answers: Answers, plan: Plan, now: dt.datetime) -> Act:
    """A note, a failed item or one that is opened again: words, without anything that they cover."""
    return replace(_act(kind, subject, answers, plan, now), reason=answers.reason.strip())


def attach_act(subject: str, files: Sequence[EvidenceHash], answers: Answers, plan: Plan, now: dt.datetime) -> Act:
    """Evidence attached to an item or rung, by its author or in the author's name."""
    return replace(_act("attach", subject, answers, plan, now), evidence=tuple(files))


def mode_act(answers: Answers, plan: Plan, now: dt.datetime, *, one_person: bool) -> Act:
    """One-person mode switched on or off."""
    return replace(_act("mode", ONE_PERSON, answers, plan, now), verdict="on" if one_person else "off")


def _act(kind: Kind, subject: str, answers: Answers, plan: Plan, now: dt.datetime) -> Act:
    at = now.astimezone(dt.UTC).replace(microsecond=0)
    signer, author = answers.signer.strip(), answers.author.strip()
    return Act(kind, subject, signer, at, author, answers.role.strip(), note=answers.note.strip(), plan=plan_hash(plan))


def last_day(item: Item, now: dt.datetime) -> dt.date:
    """The last day of a waiver given now."""
    return now.date() + dt.timedelta(days=min(item.waivable, LASTING))
