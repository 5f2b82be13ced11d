"""`export PLAN --to KIND [--rung NAME]`: text for a real launcher on stdout. It never submits."""

from __future__ import annotations

from trainplan.checks import findings_at_once
from trainplan.estimation import Estimate
from trainplan.interop.export.kinds import ExportError, exported
from trainplan_tui.cli.running import Options, Refused, complain, estimated, put
from trainplan_tui.text.printable import printable


def run(options: Options) -> int:
    """Print the text of one kind, byte for byte what a shell reads; refused where the plan cannot say it."""
    _, estimate = estimated(options)
    try:
        text = exported(options.to, estimate, options.rung or "")
    except ExportError as error:
        raise Refused(f"{options.plan}: {error}") from None
    for line in text.splitlines():
        if printable(line) != line:
            raise Refused(f"{options.plan}: the text would hold a character that a terminal obeys: {line}")
    put(text)
    if not options.rung:
        _warn(options, estimate)
    return 0


def _warn(options: Options, estimate: Estimate) -> None:
    """Errors of the plan beside its text, which is what it says all the same; a rung has sizes of its own."""
    for item in findings_at_once(estimate):
        if item.severity == "error":
            complain(f"{options.plan}: error {item.code}: {item.message}; `check` has the fix")
