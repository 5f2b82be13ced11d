"""Signing, waiving, attaching, noting: what the keys of Readiness ask for, and the acts that the answers make.

It refuses to decide what may be signed; the review does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.files.attaching import EvidenceError, evidence_of_file
from trainplan.review import signing
from trainplan.review.items import BY_NAME, Item
from trainplan.review.record import EvidenceHash
from trainplan.review.signing import Answers
from trainplan_tui.acts.recording import changed_on_disk, done, meanwhile_of, now, person, read_record
from trainplan_tui.panes.names import is_item
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.form import Asked, FormSheet
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.dossier import NOTHING

if TYPE_CHECKING:
    from trainplan.review.record import Kind
    from trainplan_tui.state.session import Session


def item_under(host: Host) -> Item | None:
    """The readiness item of the row under the cursor."""
    row = host.row()
    return BY_NAME.get(row.id.split(".")[1]) if row is not None and is_item(row.id) else None


def ticked(session: Session, item: Item) -> tuple[str, ...]:
    """The attested points that were answered in this session."""
    return tuple(point for point in item.attested if point in session.ticks.get(item.name, ()))


def refusals(host: Host, item: Item, answers: Answers | None = None) -> tuple[str, ...]:
    """Why an item cannot be signed now. Without answers, what the form asks for is taken as given."""
    session, reviewed = host.session, host.session.shown.reviewed
    failed = [one.check for one in reviewed.checks_of(item.name) if one.verdict == "failed"]
    dossier = session.dossier or NOTHING
    given = answers or Answers("somebody", note="somewhere", ticked=ticked(session, item))
    return signing.sign_refusals(item, given, dossier.record, failed, dossier.broken, saved=not session.shown.unsaved)


def sign(host: Host) -> None:
    """Ask for what a signature needs, or say why it is not offered."""
    item = item_under(host)
    if item is None:
        host.message = "no item under the cursor: 0 shows them"
        return
    sign_item(host, item)


def sign_item(host: Host, item: Item) -> None:
    """Ask for what a signature of an item needs, or say why it is not offered."""
    if host.session.dossier is None or host.session.dossier.at is None:
        host.message = "the files are still being checked; S again in a moment"
        return
    if changed_on_disk(host):
        return
    why = refusals(host, item)
    if why:
        host.message = f"signing is not offered: {why[0]}" + (f" (and {len(why) - 1} more)" if len(why) > 1 else "")
        return
    record = host.session.dossier.record
    asked = (
        Asked("signer", "signer", person(host.session)),
        Asked("role", "role", item.signer),
        Asked("author", "author", signing.author_now(record, item.name), "who made the evidence"),
        Asked("note", "note", "", item.evidence),
    )
    notes = (
        []
        if record.one_person or not item.blocking
        else ["blocking: the author of the evidence cannot be the only signer"]
    )
    files = signing.evidence_now(record, item.name)
    notes.append(
        f"over {len(files)} file{'' if len(files) == 1 else 's'} and the plan as saved; enter on the last line signs"
    )
    host.open_sheet(FormSheet(host, "sign", f"sign {item.name}", asked, lambda told: _signed(host, item, told), notes))


def _answers(told: dict[str, str]) -> Answers:
    words = [told.get(name, "") for name in ("role", "author", "note", "reason", "approver", "until")]
    role, author, note, reason, approver, until = words
    return Answers(told["signer"], role, author, note, reason, approver, until)


def _signed(host: Host, item: Item, told: dict[str, str]) -> str:
    session = host.session
    if others := meanwhile_of(session, item.name):
        return others
    answers = replace(_answers(told), ticked=ticked(session, item))
    why = refusals(host, item, answers)
    if why:
        return why[0]
    record = (session.dossier or NOTHING).record
    act = signing.sign_act(item, answers, session.shown.plan, session.shown.estimate.quantities, record, now())
    host.close_sheet()
    if done(host, act):
        session.forget_ticks(item.name)
    return ""


def waive(host: Host) -> None:
    """Waive the item under the cursor, with a reason."""
    item = item_under(host)
    if item is None:
        host.message = "no item under the cursor: 0 shows them"
    else:
        waive_item(host, item)


def attach(host: Host) -> None:
    """Attach a file to the item under the cursor."""
    item = item_under(host)
    if item is None:
        host.message = "no item under the cursor: 0 shows them"
    else:
        attach_to(host, item.name, item.evidence)


def waive_item(host: Host, item: Item) -> None:
    """Ask for reason, approver and end, where the item may be waived."""
    if item.blocking:
        host.message = f"{item.name} is blocking: it cannot be waived"
        return
    if changed_on_disk(host):
        return
    asked = (
        Asked("signer", "owner", person(host.session), "who answers for it"),
        Asked("reason", "reason", "", "and what is done instead"),
        Asked("approver", "approver", "", "who agreed"),
        Asked("until", "until", str(signing.last_day(item, now())), "the last day"),
    )
    notes = (f"{item.waivable} days at most; it ends when what it covers changes",)
    host.open_sheet(
        FormSheet(host, "waive", f"waive {item.name}", asked, lambda told: _waived(host, item, told), notes)
    )


def _waived(host: Host, item: Item, told: dict[str, str]) -> str:
    session, answers = host.session, _answers(told)
    if others := meanwhile_of(session, item.name):
        return others
    why = signing.waive_refusals(item, answers, now(), saved=not session.shown.unsaved)
    if why:
        return why[0]
    record = (session.dossier or NOTHING).record
    act = signing.waive_act(item, answers, session.shown.plan, session.shown.estimate.quantities, record, now())
    host.close_sheet()
    done(host, act)
    return ""


def tell_evidence(host: Host) -> None:
    """Name the evidence of the item under the cursor."""
    item = item_under(host)
    if item is not None:
        tell_evidence_of(host, item)


def tell_evidence_of(host: Host, item: Item) -> None:
    """Name an item's evidence, with what is wrong with it."""
    dossier = host.session.dossier or NOTHING
    files = signing.evidence_now(dossier.record, item.name)
    told = [dossier.broken.get(file, f"{file.path} sha256 {file.sha256[:8]}") for file in files]
    host.message = f"evidence: {'; '.join(told)}" if told else "no evidence attached: a attaches a file"


def evidence_from(host: Host, file: Path) -> tuple[EvidenceHash, str] | None:
    """A file as evidence, and where a link leads; None where it cannot be, and the footer says why."""
    try:
        return evidence_of_file(host.session.path.parent, file)
    except EvidenceError as error:
        host.message = f"not attached. {error}"
        return None


def attach_to(host: Host, subject: str, wanted: str) -> None:
    """Ask for a file and who made it, and attach it with its hash."""

    def take(file: Path) -> bool:
        found = evidence_from(host, file)
        if found is None:
            return False
        session = host.session
        link = f"a link leads to {found[1]}" if found[1] else ""
        asked = (
            Asked("author", "author", session.author or person(session), "who made the evidence"),
            Asked("signer", "attached by", person(session)),
            Asked("job", "job", found[0].job, "number of the job that wrote it, if one did"),
            Asked("note", "note", link),
        )
        notes = ("the author cannot be the only signer of a blocking item",)
        then = _attaching(host, subject, found[0])
        host.open_sheet(FormSheet(host, "evidence", f"{found[0].path} as evidence of {subject}", asked, then, notes))
        return True

    begin = f"{host.session.path.parent}/"
    host.open_sheet(PathSheet(host, "evidence", f"evidence of {subject}", f"{wanted}; tab completes", begin, take))


def _attaching(host: Host, subject: str, file: EvidenceHash) -> Callable[[dict[str, str]], str]:
    def take(told: dict[str, str]) -> str:
        if not told["author"] or not told["signer"]:
            return "who made the evidence, and who attaches it"
        host.close_sheet()
        host.session.author = told["author"]
        if done(
            host,
            signing.attach_act(
                subject, (replace(file, job=told["job"]),), _answers(told), host.session.shown.plan, now()
            ),
        ):
            host.message = f"{file.path} attached to {subject}, sha256 {file.sha256[:8]}; made by {told['author']}"
        return ""

    return take


def say(host: Host, kind: Kind, item: Item) -> None:
    """A note, a failed item or one opened again: who, and a sentence."""
    title = {"note": "note on", "fail": "mark as failed:"}.get(kind, "open again:")

    def take(told: dict[str, str]) -> str:
        if not told["note"] or not told["signer"]:
            return "a name and a sentence"
        host.close_sheet()
        done(host, signing.said_act(kind, item.name, _answers(told), host.session.shown.plan, now()))
        return ""

    asked = (Asked("signer", "by", person(host.session)), Asked("note", "sentence"))
    host.open_sheet(FormSheet(host, kind, f"{title} {item.name}", asked, take))


def walk(host: Host) -> None:
    """The item under the cursor as challenge and response; from elsewhere the first that is not done."""
    from trainplan_tui.sheets.walking import Acts, WalkSheet

    if host.session.dossier is None:
        read_record(host.session)
    items, item = host.session.shown.reviewed.now.items, item_under(host)
    at = next((place for place, one in enumerate(items) if one.item is item), None)
    first = next((place for place, one in enumerate(items) if not one.done), 0)
    acts = Acts(refusals, sign_item, waive_item, attach_to, tell_evidence_of, say, summary)
    host.open_sheet(WalkSheet(host, first if at is None else at, acts))


def next_undone(host: Host) -> None:
    """The cursor on the next item that is neither signed nor waived."""
    undone = [f"readiness.{one.item.name}" for one in host.session.shown.reviewed.now.items if not one.done]
    rows = host.rows()
    at = host.cursor.position(rows)
    places = [place for place, row in enumerate(rows) if row.id in undone]
    if not places:
        host.message = "every item is signed or waived"
        return
    host.cursor.put(rows[next((place for place in places if place > at), places[0])])


def one_person(host: Host) -> None:
    """Switch one-person mode, which every summary says."""
    if host.session.dossier is None:
        read_record(host.session)
    on = not (host.session.dossier or NOTHING).record.one_person
    answers = Answers(person(host.session))
    if done(host, signing.mode_act(answers, host.session.shown.plan, now(), one_person=on)):
        host.message = (
            "one-person mode is on: whoever made the evidence may sign for it" if on else "one-person mode is off"
        )


def summary(host: Host) -> None:
    """The whole review as text that can be pasted."""
    from trainplan.review.plain import lines

    reviewed = host.session.shown.reviewed
    told = [host.session.name, *lines(reviewed.now, ready=reviewed.ready)]
    told += [f"{one.verdict:<8} {one.item}: {one.check}: {one.found}" for one in reviewed.checks]
    host.copy("\n".join(told) + "\n", f"{host.session.path.stem}-review")
