"""`export PLAN --to KIND [--rung NAME]`: text for a real launcher on stdout. It never submits."""

from __future__ import annotations

import sys

from trainplan.interop.export.kinds import ExportError, exported
from trainplan_tui.cli.running import Options, Refused, estimated
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
    sys.stdout.write(text)
    return 0
