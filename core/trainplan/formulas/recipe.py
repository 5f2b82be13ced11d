"""Bytes that a recipe keeps of one parameter."""

from __future__ import annotations

from trainplan.formula import formula


@formula("bytes", source="Megatron-LM docs dist_optimizer.md; section 3.2 of the research notes")
def saved_bytes_per_parameter(weight: float, master: float, moments: float, moment_bytes: float) -> float:
    """Bytes that a full checkpoint saves of one parameter; gradients are never saved."""
    return weight + master + moments * moment_bytes
