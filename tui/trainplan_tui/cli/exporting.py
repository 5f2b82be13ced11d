"""`export PLAN --to KIND [--rung NAME]`: text for a real launcher on stdout. It never submits."""

from __future__ import annotations

import sys

from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.megatron import megatron_text
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.slurm import slurm_text
from trainplan.interop.export.titan import titan_module, titan_toml
from trainplan_tui.cli.running import Options, Refused, estimated
from trainplan_tui.text.printable import printable


def run(options: Options) -> int:
    """Print the text of one kind, byte for byte what a shell reads; refused where the plan cannot say it."""
    _, estimate = estimated(options)
    try:
        text = _TEXTS[options.to](run_of(estimate, options.rung or ""))
    except ExportError as error:
        raise Refused(f"{options.plan}: {error}") from None
    for line in text.splitlines():
        if printable(line) != line:
            raise Refused(f"{options.plan}: the text would hold a character that a terminal obeys: {line}")
    sys.stdout.write(text)
    return 0


_TEXTS = {
    "slurm": slurm_text,
    "megatron": megatron_text,
    "torchtitan": titan_module,
    "torchtitan-toml": titan_toml,
    "deepspeed": deepspeed_json,
}
