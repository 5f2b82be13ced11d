"""Launch texts by kind: one door for the command line and the app."""

from __future__ import annotations

from typing import Final

from trainplan.estimation import Estimate
from trainplan.interop.export.megatron import ExportError, megatron_arguments
from trainplan.interop.export.slurm import argument_lines, sbatch_script
from trainplan.plan.canonical import plan_hash

__all__ = ["KINDS", "ExportError", "exported"]

KINDS: Final = ("slurm", "megatron")


def exported(kind: str, estimate: Estimate, rung: str = "") -> str:
    """The text of one kind for the full run. Raises ExportError where the plan cannot say it, KeyError for another kind."""
    if rung not in ("", "full"):
        raise ExportError(f"there is no text of rung {rung} alone")
    return _TEXTS[kind](estimate)


def _megatron(estimate: Estimate) -> str:
    lines = argument_lines(megatron_arguments(estimate))
    return "\n".join([f"# plan hash {plan_hash(estimate.plan)}", *lines]) + "\n"


_TEXTS: Final = {"slurm": sbatch_script, "megatron": _megatron}
