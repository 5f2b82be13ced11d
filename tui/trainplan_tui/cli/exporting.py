"""`export PLAN --to KIND`: text for a real launcher on stdout. It never submits."""

from __future__ import annotations

import sys

from trainplan.estimation import Estimate
from trainplan.interop.export.megatron import ExportError, megatron_arguments
from trainplan.interop.export.slurm import argument_lines, sbatch_script
from trainplan.plan.canonical import plan_hash
from trainplan_tui.cli.running import Options, Refused, estimated
from trainplan_tui.text.printable import printable


def run(options: Options) -> int:
    """Print the text of one kind, byte for byte what a shell reads; refused where the plan cannot say it."""
    _, estimate = estimated(options)
    try:
        text = _TEXTS[options.to](estimate)
    except ExportError as error:
        raise Refused(f"{options.plan}: {error}") from None
    for line in text.splitlines():
        if printable(line) != line:
            raise Refused(f"{options.plan}: the text would hold a character that a terminal obeys: {line}")
    sys.stdout.write(text)
    return 0


def _megatron(estimate: Estimate) -> str:
    lines = argument_lines(megatron_arguments(estimate))
    return "\n".join([f"# plan hash {plan_hash(estimate.plan)}", *lines]) + "\n"


_TEXTS = {"slurm": sbatch_script, "megatron": _megatron}
