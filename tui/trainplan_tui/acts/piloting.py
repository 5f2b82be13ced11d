"""What the keys of Pilot do: logs and evidence on their way into a rung, checks, waivers, launch texts on their way out."""

from __future__ import annotations

import datetime as dt
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.plan.edit import Edited
from trainplan.plan.read import UnknownPath, Unusable
from trainplan.review.items import LASTING
from trainplan.review.ladder import RungState, ladder, rung_names
from trainplan.review.measuring import with_check, with_status, without_check
from trainplan.review.signing import Answers, said_act
from trainplan_tui.acts.recording import done, now, person
from trainplan_tui.acts.reviewing import evidence_from
from trainplan_tui.sheets.asking import PathSheet
from trainplan_tui.sheets.form import Asked, FormSheet
from trainplan_tui.sheets.sheet import Host

if TYPE_CHECKING:
    from trainplan_tui.state.session import Session


def rung_under(host: Host) -> str:
    """The rung of the row under the cursor, empty where there is none."""
    row = host.row()
    return row.id.split(".")[1] if row is not None and row.id.startswith("pilot.") and ".checks." in row.id else ""


def _check_under(host: Host) -> tuple[str, str]:
    """Rung and check under the cursor, two empty words where there is none."""
    row = host.row()
    if row is None or not rung_under(host):
        host.message = "no check under the cursor"
        return "", ""
    parts = row.id.split(".")
    return parts[1], parts[3]


def attempt(host: Host, make: Callable[[], Edited], what: str) -> str:
    """One edit of the ladder; what is wrong with it, else nothing."""
    try:
        after = make()
    except Unusable as error:
        return error.errors[0].message
    except UnknownPath as error:
        return str(error)
    host.session.commit(after, what)
    return ""


def take_log(host: Host) -> None:
    """Ask for a log; it is read on a thread, and what it measured is shown beside the plan before anything is taken."""
    rung = rung_under(host)

    def read(path: Path) -> bool:
        from trainplan.interop.sacct import is_sacct
        from trainplan_tui.sheets.measuring import LogSheet

        if not os.path.isfile(path):
            host.message = f"{path} is {'a folder: a log is a file in it' if os.path.isdir(path) else 'not there'}"
            return False
        if is_sacct(str(path)):
            files = shlex.join((host.session.path.name, os.path.relpath(path, host.session.path.parent)))
            host.message = f"output of sacct, no log: trainplan-tui calibrate {files} --write takes its failures"
            return False
        host.open_sheet(LogSheet(host, path, rung))
        return True

    of = f" of rung {rung}" if rung else ""
    note = "Megatron-LM, NeMo, torchtitan, OLMo-core, CSV or JSON lines; tab completes"
    host.open_sheet(PathSheet(host, "log", f"take a log{of}", note, f"{host.session.path.parent}/", read))


def show_launch(host: Host) -> None:
    """The launch text of the rung under the cursor, else of the full run."""
    from trainplan_tui.sheets.launch import LaunchSheet

    host.open_sheet(LaunchSheet(host, rung_under(host)))


def waive(host: Host) -> None:
    """Waive the rung under the cursor, with a reason."""
    rung = rung_under(host)
    if rung and host.session.shown.unsaved:
        host.message = "unsaved edits: a waiver stands on the saved plan. w saves, u takes back"
    elif rung:
        waive_rung(host, rung)
    else:
        host.message = "no rung under the cursor"


def waive_rung(host: Host, rung: str) -> None:
    """A rung waived with a reason and an end, in the record and in the plan; an empty reason opens it again."""
    state = next(one.rung for one in host.session.shown.reviewed.now.rungs if one.rung.name == rung)
    last = now().date() + dt.timedelta(days=LASTING)
    asked = (
        Asked("signer", "owner", person(host.session), "who answers for it"),
        Asked("reason", "reason", state.reason, "empty opens the rung again"),
        Asked("until", "until", str(last), "the last day"),
    )
    notes = (f"a waived rung does not count as passed; {LASTING} days at most",)
    host.open_sheet(
        FormSheet(host, "waive", f"waive rung {rung}", asked, lambda told: _waived(host, rung, told), notes)
    )


def _waived(host: Host, rung: str, told: dict[str, str]) -> str:
    session, reason = host.session, told["reason"]
    saved = not session.shown.unsaved
    waived = any(one.rung == rung and one.status == "waived" for one in session.shown.plan.pilot)
    if not reason and not waived:
        return "no reason"
    try:
        until = dt.date.fromisoformat(told["until"])
        present = session.history.now
        after = with_status(present.text, present.plan, rung, "waived" if reason else "open", reason, session.path.name)
    except ValueError:
        return f'the end is "{told["until"]}". A day such as {now().date() + dt.timedelta(days=LASTING)}'
    except Unusable as error:
        return error.errors[0].message
    if not now().date() <= until <= now().date() + dt.timedelta(days=LASTING):
        return f"a waiver ends within {LASTING} days: {now().date() + dt.timedelta(days=LASTING)} at the latest"
    answers = Answers(told["signer"], reason=reason)
    act = said_act("waive" if reason else "reopen", rung, answers, present.plan, now())
    host.close_sheet()
    if done(host, replace(act, until=until if reason else None)):
        session.commit(after, f"pilot.{rung}")
        if saved:
            host.do("file.save")
        host.message = f"{rung} {f'waived until {until}' if reason else 'open again'}: {host.message}"
    return ""


def attach(host: Host) -> None:
    """The file that shows the measured value of the check under the cursor."""
    rung, metric = _check_under(host)
    if not rung:
        return
    path = f"pilot.{rung}.checks.{metric}.evidence"
    folder = host.session.path.parent
    written = next(
        check.evidence
        for one in _rungs(host.session)
        if one.name == rung
        for check in one.checks
        if check.metric == metric
    )
    note = "the file that shows the measured value; tab completes"
    begin = str(folder / written) if written else f"{folder}/"
    host.open_sheet(
        PathSheet(host, "evidence", f"evidence of {metric}", note, begin, lambda file: _shown_by(host, path, file))
    )


def _shown_by(host: Host, path: str, file: Path) -> bool:
    found = evidence_from(host, file)
    return found is not None and host.apply(path, found[0].path)


def add(host: Host) -> None:
    """One more check of the rung under the cursor, of the plan's own."""
    rung = rung_under(host)
    if rung:
        ask_check(host, rung)
    else:
        host.message = "no rung under the cursor"


def ask_check(host: Host, rung: str) -> None:
    """Ask for one more check of a rung; without one, for the rung too."""

    def take(told: dict[str, str]) -> str:
        now, file = host.session.history.now, host.session.path.name
        rung = told.get("rung", of)
        wrong = attempt(
            host, lambda: with_check(now.text, now.plan, rung, told["metric"], told["pass_if"], file), f"pilot.{rung}"
        )
        if not wrong:
            host.close_sheet()
            if not of:
                host.jump(f"pilot.{rung}.checks.{told['metric']}")
            host.message = f"{rung} has a check {told['metric']}; u takes it back"
        return wrong

    of, title = rung, f"one more check of {rung}" if rung else "add a check to a rung of the pilot"
    asked = (
        *(() if rung else (Asked("rung", "rung", "", f"one of {', '.join(rung_names(host.session.shown.plan))}"),)),
        Asked("metric", "check", "", "a name, such as gradient_spikes"),
        Asked("pass_if", "passes at", "", "such as <= 0.10"),
    )
    host.open_sheet(FormSheet(host, "check", title, asked, take))


def remove(host: Host) -> None:
    """Take the check under the cursor out of its rung; a default one only with a reason, which the record keeps."""
    rung, metric = _check_under(host)
    if not rung:
        return
    check = next(
        check for one in _rungs(host.session) if one.name == rung for check in one.checks if check.metric == metric
    )
    if not check.default:
        _removed(host, rung, metric)
        return

    def take(told: dict[str, str]) -> str:
        if not told["reason"]:
            return "a default check is left out with a reason; esc keeps it"
        host.close_sheet()
        if _removed(host, rung, metric):
            host.session.reasons[f"pilot.{rung}.checks.{metric}"] = told["reason"]
        return ""

    notes = (f"a default check, from {check.origin}; the record says why when the plan is saved",)
    asked = (Asked("reason", "reason"),)
    host.open_sheet(FormSheet(host, "why", f"why is {metric} left out of {rung}", asked, take, notes))


def _removed(host: Host, rung: str, metric: str) -> bool:
    """A check out of its rung, the cursor on what stands there now; whether it went."""
    present, file, rows = host.session.history.now, host.session.path.name, host.rows()
    place = host.cursor.position(rows)
    wrong = attempt(host, lambda: without_check(present.text, present.plan, rung, metric, file), f"pilot.{rung}")
    host.message = wrong or f"{metric} is out of {rung}; u brings it back"
    after = host.rows()
    if not wrong and place < len(after) and after[place].id:
        host.cursor.put(after[place])
    return not wrong


def _rungs(session: Session) -> tuple[RungState, ...]:
    return ladder(session.shown.plan)


def saved_value(session: Session, path: str) -> str:
    """What the saved plan says at a field of a check, empty where it says nothing."""
    _, rung, _, metric, field = path.split(".")
    found = [
        check
        for one in ladder(session.saved.plan)
        if one.name == rung
        for check in one.checks
        if check.metric == metric
    ]
    value = getattr(found[0], field) if found else None
    return "" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def why_loosened(host: Host, path: str) -> None:
    """Ask why a threshold now lets more pass; the record says it when the plan is saved."""
    _, rung, _, metric, _ = path.split(".")
    check = next(
        check for one in _rungs(host.session) if one.name == rung for check in one.checks if check.metric == metric
    )
    if not check.loosened:
        return

    def take(told: dict[str, str]) -> str:
        if not told["reason"]:
            return "a loosened threshold needs a reason; esc takes it back"
        host.session.reasons[path] = told["reason"]
        host.close_sheet()
        host.message = f"{metric} passes at {check.pass_if}; the record says why when the plan is saved"
        return ""

    def left() -> None:
        host.do("edit.undo")
        host.message = f"{metric} passes at what it was"

    notes = (f"the default is {check.default}, from {check.origin}",)
    host.open_sheet(
        FormSheet(host, "why", f"why is {metric} loosened", (Asked("reason", "reason"),), take, notes, left)
    )
