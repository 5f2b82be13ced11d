"""`check PLAN`: the findings, for people and for CI."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.evidence.published import published_runs
from trainplan.finding import Finding, counted
from trainplan.views import asjson
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json


def run(options: Options) -> int:
    """Print every finding, errors first; exit status 1 with one of severity error."""
    plan, estimate = estimated(options)
    found = (*findings(estimate, published_runs()), *_unmirrored(options, estimate))
    if options.json:
        write_json({"format": 1, "findings": [asjson.finding(item) for item in found]})
    else:
        say(f"{name_of(plan)}: {counted(found)}")
        for item in found:
            print_finding(item)
    return 1 if any(item.severity == "error" for item in found) else 0


def _unmirrored(options: Options, estimate: Estimate) -> list[Finding]:
    """V6 and V8: sign-offs of a day to come, those that the record beside the plan has not, a harmed record; the record rules."""
    if not estimate.plan.readiness:
        return []
    from trainplan.files.signoffs import RecordError, recorded
    from trainplan.review.findings import review_findings
    from trainplan.review.state import review

    now = dt.datetime.now(dt.UTC)
    try:
        record = recorded(Path(options.plan), now)
    except RecordError as error:
        raise Refused(str(error)) from None
    found = review(estimate.plan, estimate.quantities, record, now.date())
    return [
        item for item in review_findings(estimate.plan, found) if item.code in ("V6", "V8") and item.severity != "info"
    ]


def print_finding(item: Finding) -> None:
    """A finding in two lines: what is so; the fix and the field that decides."""
    say(f"{_SIGNS[item.severity]} {item.code:<4} {item.message}")
    tail = [f"fix: {item.fix}"] if item.fix else []
    say("       " + "   ".join([*tail, f"({', '.join(item.paths)})"]))


_SIGNS = {"error": "E", "warning": "!", "info": "i"}
