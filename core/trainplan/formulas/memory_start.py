"""Bytes on the device before a run is under way: while a checkpoint is read, and while kernels are tuned.

How often a state is held then is a trait of the framework, cited where it is looked up. What the allocator keeps is not here.
"""

from __future__ import annotations

from trainplan.formula import formula


@formula("bytes", source="definition")
def restored_bytes(
    master: float, moments: float, moment_bytes: float, master_again: float, moments_again: float
) -> float:
    """Bytes a parameter of the optimizer while a checkpoint is read: what stays, and what is held once more."""
    return master * (1.0 + master_again) + moments * moment_bytes * (1.0 + moments_again)


@formula("bytes", source="definition")
def held_more(bytes_held: float, again: float) -> float:
    """A state and its copies."""
    return bytes_held * (1.0 + again)


@formula("bytes", source="definition")
def share_allocated(bytes_held: float, share: float) -> float:
    """The part of a state that is allocated before the first step."""
    return bytes_held * share


@formula("bytes", source="PyTorch inductor tunes a kernel where it first runs: of backward, with all activations alive")
def tuned_temporaries(temporaries: float, workspace: float) -> float:
    """Temporaries of the first layer of backward, and what tuning its kernels takes beside them."""
    return temporaries + workspace
