"""`review PLAN`: readiness and pilot without the app, as text that can be pasted; exit status 1 while not ready."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan import asjson
from trainplan.files.automatic import Checked, automatic_checks
from trainplan.files.evidence import FileCheck, checked_evidence, evidence_of
from trainplan.files.pilotlogs import pilot_runs
from trainplan.files.signoffs import RecordError, record_path, recorded
from trainplan.plan.canonical import plan_hash
from trainplan.review.computed import computed_checks, is_ready
from trainplan.review.findings import review_findings
from trainplan.review.pilotruns import unlike_full_run
from trainplan.review.plain import as_data, lines
from trainplan.review.state import review
from trainplan_tui.cli.checking import print_finding
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json


def run(options: Options) -> int:
    """Print items, rungs and findings; nothing is written."""
    plan, estimate = estimated(options)
    now, path = dt.datetime.now(dt.UTC), Path(options.plan)
    try:
        record = recorded(path, now)
    except RecordError as error:
        raise Refused(str(error)) from None
    files = checked_evidence(path.parent, evidence_of(record))
    broken = {one.file: one.message for one in files if one.verdict == "broken"}
    found = review(plan.plan, estimate.quantities, record, now.date(), broken)
    runs = pilot_runs(path.parent, plan.plan)
    told = (*review_findings(plan.plan, found), *unlike_full_run(plan.plan, estimate.quantities, runs))
    by_itself = computed_checks(plan.plan, estimate.quantities, found, now.date())
    on_disk = automatic_checks(path.parent, plan.plan, record=record, quantities=estimate.quantities, now=now)
    looked = (*by_itself, *on_disk)
    ready = is_ready(found, looked, told)
    if options.json:
        data = {"format": 1, **as_data(found), "ready": ready, "evidence": [_file(one) for one in files]}
        data["automatic"] = [_looked(one) for one in looked]
        write_json({**data, "findings": [asjson.finding(item) for item in told]})
        return 0 if ready else 1
    say(f"{name_of(plan)}, {plan_hash(plan.plan)[:12]}, {now:%Y-%m-%d %H:%M} UTC, record {record_path(path).name}")
    for line in lines(found, ready=ready):
        say(line)
    for one in files:
        _print_file(one)
    for one in looked:
        say(f"{one.verdict:<8} {one.item}: {one.check}: {one.found}")
    for item in told:
        print_finding(item)
    return 0 if ready else 1


def _file(one: FileCheck) -> dict[str, str]:
    return {"path": one.file.path, "state": one.verdict, "message": one.message, "leads_out": one.leads_out}


def _looked(one: Checked) -> dict[str, str]:
    return {"item": one.item, "check": one.check, "verdict": one.verdict, "found": one.found}


def _print_file(one: FileCheck) -> None:
    say(f"{'checked' if one.verdict != 'unknown' else 'unknown'}  {one.message}")
    if one.leads_out:
        say(f"         a link leads out of the plan's folder, to {one.leads_out}")
