"""`report PLAN [-o FILE] [--csv]`: what people sign, as Markdown or CSV, on stdout or in a file that did not exist."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from pathlib import Path

from trainplan import __version__
from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.files.signoffs import RecordError
from trainplan.files.standing import standing_of
from trainplan.forecast import forecast
from trainplan.plan.leaves import field_differences
from trainplan.plan.read import Opened, plan_of_text
from trainplan.plan.remarks import remarks_of
from trainplan.published import published_runs
from trainplan.report.facts import Facts
from trainplan.report.markdown import Markdown
from trainplan.report.page import report
from trainplan.report.quantities import as_csv
from trainplan_tui.cli.creating import write_new
from trainplan_tui.cli.running import Options, Refused, estimated, name_of, say
from trainplan_tui.text.printable import cells, printable


def run(options: Options) -> int:
    """Write the report, or the quantities; nothing of the plan or its record is changed."""
    plan, estimate = estimated(options)
    text = as_csv(estimate, forecast(estimate), printable) if options.csv else _page(options, plan, estimate)
    if options.output:
        write_new(Path(options.output), text, "")
        say(f"wrote {options.output}")
    else:
        sys.stdout.write(text)
    return 0


def _page(options: Options, plan: Opened, estimate: Estimate) -> str:
    try:
        standing = standing_of(Path(options.plan), estimate, dt.datetime.now(dt.UTC))
    except RecordError as error:
        raise Refused(str(error)) from None
    facts = Facts(
        name=name_of(plan),
        file=str(plan.source.path),
        version=__version__,
        estimate=estimate,
        forecast=forecast(estimate),
        findings=findings(estimate, published_runs()),
        standing=standing,
        remarks=_remarks(plan, options),
        changed=tuple(options.set),
    )
    return report(facts, Markdown(printable, cells))


def _remarks(plan: Opened, options: Options) -> Mapping[str, str]:
    """Comments of the file beside its values, those left out whose value is another one for this call."""
    found = remarks_of(plan.source.text)
    if options.set:
        before = plan_of_text(plan.source.text, options.plan)
        for path, _, _ in field_differences(before, plan.plan):
            found.pop(path, None)
    return found
