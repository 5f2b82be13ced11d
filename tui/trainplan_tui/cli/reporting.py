"""`report PLAN [-o FILE] [--csv]`: what people sign, as Markdown or CSV, on stdout or in a file that did not exist."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

from trainplan.estimation import Estimate
from trainplan.files.signoffs import RecordError
from trainplan.files.standing import standing_of
from trainplan.forecast.finish import forecast
from trainplan.plan.read import Opened, plan_of_text
from trainplan.plan.remarks import standing_remarks
from trainplan.report.facts import facts_of
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
    if options.output is not None and options.output != "-":
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
    text = plan.source.text
    before = plan_of_text(text, options.plan) if options.set else plan.plan
    remarks = standing_remarks(text, before, plan.plan)
    facts = facts_of(name_of(plan), str(plan.source.path), estimate, standing, remarks, tuple(options.set))
    return report(facts, Markdown(printable, cells))
