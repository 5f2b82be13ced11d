"""`check PLAN`: the findings, for people and for CI."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.evidence.published import published_runs
from trainplan.files.beside import claims_beside, is_claimed
from trainplan.finding import ORDER, Finding, counted
from trainplan.views import asjson
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say, write_json


def run(options: Options) -> int:
    """Print every finding, errors first; exit status 1 with one of severity error."""
    plan, estimate = estimated(options)
    found = all_findings(Path(options.plan), estimate)
    if options.json:
        write_json({"format": 1, "findings": [asjson.finding(item) for item in found]})
    else:
        say(f"{name_of(plan)}: {counted(found)}")
        for item in found:
            print_finding(item)
    return 1 if any(item.severity == "error" for item in found) else 0


def all_findings(path: Path, estimate: Estimate) -> tuple[Finding, ...]:
    """Findings of a plan, and what it claims that its record has not. Raises Refused."""
    found, claims = findings(estimate, published_runs()), claims_of(path, estimate)
    return tuple(sorted((*claims, *found), key=lambda item: ORDER[item.severity])) if claims else found


def claims_of(path: Path, estimate: Estimate) -> tuple[Finding, ...]:
    """V8 where a plan claims sign-offs that the record beside it has not, V6 and V8 where that is harmed. Raises Refused."""
    if not is_claimed(path, estimate):
        return ()
    from trainplan.files.signoffs import RecordError

    try:
        return claims_beside(path, estimate, dt.datetime.now(dt.UTC))
    except RecordError as error:
        raise Refused(str(error)) from None


def print_finding(item: Finding) -> None:
    """A finding in two lines: what is so; the fix and the field that decides."""
    say(f"{_SIGNS[item.severity]} {item.code:<4} {item.message}")
    tail = [f"fix: {item.fix}"] if item.fix else []
    say("       " + "   ".join([*tail, f"({', '.join(item.paths)})"]))


_SIGNS = {"error": "E", "warning": "!", "info": "i"}
