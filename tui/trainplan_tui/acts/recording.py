"""Acts on their way into the record beside the plan, and from there into the plan's own mirror of it.

An act is appended to the record first, then mirrored in the plan's text, which is saved where nothing else was unsaved.
"""

from __future__ import annotations

import datetime as dt
import getpass
import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from trainplan.files.attaching import EvidenceError, evidence_of_file
from trainplan.files.save import ChangedOnDisk, SaveError
from trainplan.files.signoffs import RecordError, appended
from trainplan.plan.read import Unusable
from trainplan.plan.tree import SpliceError
from trainplan.review.ladder import RungState, ladder
from trainplan.review.measured import loosened_since, measured_since
from trainplan.review.mirror import mirrored
from trainplan.review.record import Act, EvidenceHash
from trainplan.review.rungs import loosening, measurement
from trainplan.review.signing import Answers, said_act
from trainplan.review.state import told_status
from trainplan_tui.panes.standing import acted
from trainplan_tui.sheets.sheet import Host
from trainplan_tui.state.dossier import NOTHING, read_dossier

if TYPE_CHECKING:
    from trainplan.plan.plan import Plan
    from trainplan_tui.state.session import Session


def now() -> dt.datetime:
    """The time of an act."""
    return dt.datetime.now(dt.UTC)


def person(session: Session) -> str:
    """Who acts: the name typed last in this session, else the login name."""
    try:
        return session.person or getpass.getuser()
    except (KeyError, OSError):
        return ""


def read_record(session: Session) -> None:
    """The record as it is on the disk now."""
    session.take_dossier(read_dossier(session.path, session.dossier or NOTHING, now()))


def changed_on_disk(host: Host) -> bool:
    """Whether the plan's file is another one than was read; then a sheet asks what to keep, and nothing is signed over it."""
    session = host.session
    try:
        same = session.sha256 is None or hashlib.sha256(session.path.read_bytes()).hexdigest() == session.sha256
    except OSError as error:
        host.message = (
            f"{session.path.name}: {error.strerror or error}; nothing is signed over a plan that is not there"
        )
        return True
    if not same:
        from trainplan_tui.sheets.disk import disk_sheet

        host.open_sheet(disk_sheet(host))
        host.message = "the plan changed on disk: a sign-off covers the file as it is"
    return not same


def meanwhile_of(session: Session, subject: str) -> str:
    """What others wrote about an item since its record was read; it is read now, so the next enter goes on."""
    before = len((session.dossier or NOTHING).record.acts)
    read_record(session)
    acts = [act for act in (session.dossier or NOTHING).record.acts[before:] if act.subject == subject]
    return f"{acted(acts[-1])}, meanwhile. enter goes on, esc leaves" if acts else ""


def done(host: Host, act: Act) -> bool:
    """An act into the record and the mirror; whether the record took it. The footer says what happened."""
    session = host.session
    saved = not session.shown.unsaved
    try:
        appended(session.path, act)
    except (RecordError, ValueError) as error:
        host.message = f"nothing was recorded. {error}"
        return False
    session.person = act.signer
    read_record(session)
    trouble = _mirror(session, act, saved=saved)
    host.message = f"{act.subject}: {acted(act).split(' ', 2)[2]}" + (f"; {trouble}" if trouble else "")
    return True


def _mirror(session: Session, act: Act, *, saved: bool) -> str:
    """The act in the plan's text, saved where the plan was; what went wrong, else nothing."""
    present, figures, reviewed = session.history.now, session.shown.estimate, session.shown.reviewed.now
    status = next((told_status(reviewed.record, one) for one in reviewed.items if one.item.name == act.subject), "")
    try:
        after = mirrored(present.text, present.plan, act, figures.quantities, session.path.name, status)
    except (SpliceError, Unusable) as error:
        return f"the plan does not mirror it: {error}"
    if after.text == present.text:
        return ""
    session.commit(after, f"readiness.{act.subject}")
    if not saved:
        return "mirrored in the unsaved plan"
    try:
        session.save()
    except (SaveError, ChangedOnDisk) as error:
        return f"recorded, but the plan's mirror is not saved: {error}"
    session.begin_history()
    return ""


def pilot_saved(host: Host, before: Plan) -> str:
    """A save that brought measured values or looser thresholds: the record says on which plan, who and why. What it says."""
    session = host.session
    acts = [*_loosenings(session, before), *_left_out(session, before), *_measurements(session, before)]
    try:
        for act in acts:
            appended(session.path, act)
    except (RecordError, ValueError) as error:
        return f"not in the record: {error}"
    if acts:
        read_record(session)
    return f"record: {', '.join(dict.fromkeys(act.subject for act in acts))}" if acts else ""


def _loosenings(session: Session, before: Plan) -> list[Act]:
    """A line for each threshold that lets more pass than in the saved plan, with the reason that was typed."""
    rungs, signer = {rung.name: rung for rung in ladder(before)}, person(session)
    found: list[Act] = []
    for one in loosened_since(before, session.shown.plan):
        reason = session.reasons.pop(one.path, "") or "no reason given"
        found.append(loosening(rungs[one.rung], one.metric, one.new, signer, now(), reason))
    return found


def _left_out(session: Session, before: Plan) -> list[Act]:
    """A note for each default check that the plan leaves out from now on, with the reason that was typed."""
    known = {(rung.name, metric) for rung in ladder(before) for metric in rung.left_out}
    found: list[Act] = []
    for rung in ladder(session.shown.plan):
        for metric in rung.left_out:
            if (rung.name, metric) not in known:
                reason = session.reasons.pop(f"pilot.{rung.name}.checks.{metric}", "") or "no reason given"
                answers = Answers(person(session), reason=reason, note=f"check {metric} left out")
                found.append(said_act("note", rung.name, answers, session.shown.plan, now()))
    return found


def _measurements(session: Session, before: Plan) -> list[Act]:
    """A line for each rung with new values: on which fields and thresholds, with the hashes of what shows it."""
    plan, quantities = session.shown.plan, session.shown.estimate.quantities
    rungs = {rung.name: rung for rung in ladder(plan)}
    return [
        measurement(rungs[name], plan, quantities, person(session), now(), _shown_by(session, rungs[name]))
        for name in measured_since(before, plan)
    ]


def _shown_by(session: Session, rung: RungState) -> tuple[EvidenceHash, ...]:
    """The rung's evidence files that can be read, each with its hash."""
    found: list[EvidenceHash] = []
    for path in dict.fromkeys(check.evidence for check in rung.checks if check.evidence):
        with suppress(EvidenceError):
            found.append(evidence_of_file(session.path.parent, session.path.parent / path, limit=2.0)[0])
    return tuple(found)
