"""`review PLAN`: readiness and pilot without the app, as text that can be pasted; exit status 1 while not ready."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan.files.automatic import Checked
from trainplan.files.evidence import FileCheck
from trainplan.files.signoffs import RecordError
from trainplan.files.standing import Standing, standing_of
from trainplan.plan.canonical import plan_hash
from trainplan.review.plain import as_data, lines
from trainplan.review.record import record_path
from trainplan.views import asjson
from trainplan_tui.cli.checking import print_finding
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json


def run(options: Options) -> int:
    """Print items, rungs and findings; nothing is written."""
    plan, estimate = estimated(options)
    now, path = dt.datetime.now(dt.UTC), Path(options.plan)
    try:
        found = standing_of(path, estimate, now)
    except RecordError as error:
        raise Refused(str(error)) from None
    if options.json:
        write_json(_as_json(found))
        return 0 if found.ready else 1
    say(f"{name_of(plan)}, {plan_hash(plan.plan)[:12]}, {now:%Y-%m-%d %H:%M} UTC, record {record_path(path).name}")
    for line in lines(found.review, ready=found.ready):
        say(line)
    for one in found.files:
        _print_file(one)
    for one in found.checks:
        say(f"{one.verdict:<8} {one.item}: {one.check}: {one.found}")
    for item in found.findings:
        print_finding(item)
    return 0 if found.ready else 1


def _as_json(found: Standing) -> dict[str, object]:
    return {
        "format": 1,
        **as_data(found.review),
        "ready": found.ready,
        "evidence": [_file(one) for one in found.files],
        "automatic": [_looked(one) for one in found.checks],
        "findings": [asjson.finding(item) for item in found.findings],
    }


def _file(one: FileCheck) -> dict[str, str]:
    return {"path": one.file.path, "state": one.verdict, "message": one.message, "leads_out": one.leads_out}


def _looked(one: Checked) -> dict[str, str]:
    return {"item": one.item, "check": one.check, "verdict": one.verdict, "found": one.found}


def _print_file(one: FileCheck) -> None:
    say(f"{'checked' if one.verdict != 'unknown' else 'unknown'}  {one.message}")
    if one.leads_out:
        say(f"         a link leads out of the plan's folder, to {one.leads_out}")
