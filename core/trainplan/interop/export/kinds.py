"""Launch texts by kind: one door for the command line and the app."""

from __future__ import annotations

from typing import Final

from trainplan.estimation import Estimate
from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.megatron import megatron_text
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.slurm import slurm_text
from trainplan.interop.export.titan import titan_module, titan_toml

__all__ = ["KINDS", "ExportError", "exported"]

_TEXTS: Final = {
    "slurm": slurm_text,
    "megatron": megatron_text,
    "torchtitan": titan_module,
    "torchtitan-toml": titan_toml,
    "deepspeed": deepspeed_json,
}
KINDS: Final = tuple(_TEXTS)


def exported(kind: str, estimate: Estimate, rung: str = "") -> str:
    """The text of one kind for the full run or a rung of the pilot. Raises ExportError, and KeyError for another kind."""
    return _TEXTS[kind](run_of(estimate, rung))
