"""Time that moving states or activations to host memory adds to a step, and what smaller moments take from it.

Bytes over the link of one device to its host, and Adam where it runs. Ranks of a node that wait for the same host memory are
not counted beyond their share of it.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import maximum

DEFINITION = "definition"


@formula("1", source=DEFINITION)
def updated_parameters(parameters: float, experts: float, ranks: float, expert_ranks: float) -> float:
    """Parameters that one rank updates."""
    return parameters / ranks + experts / expert_ranks


@formula("s", source=DEFINITION)
def link_time(sent: float, rate: float, reached: float) -> float:
    """Bytes one way over the host link, at the share of its rate that copies reach."""
    return sent / (rate * reached)


@formula("bytes", source="torch offload: gradients go to the host in the type of reduction, updated weights come back")
def offloaded_bytes(parameters: float, gradient: float, weight: float) -> float:
    """Gradients to the host and weights back, of the parameters that one rank updates."""
    return parameters * (gradient + weight)


@formula(
    "bytes",
    source="PyTorch CPUOffloadPolicy documentation: shards are copied in before a gather, gradients out in backward",
)
def offloaded_shards(parameters: float, gradient: float, weight: float, gathers: float, microbatches: float) -> float:
    """Weights that FSDP copies to the device and gradients that it copies back, of one rank's shards in one step."""
    return parameters * (gradient + weight * gathers) * microbatches


@formula("s", source="an optimizer on the host is shared by the accelerators of a node")
def host_update_time(parameters: float, per_node: float, rate: float) -> float:
    """Optimizer step on the host: the parameters of all ranks of a node at the rate of the node."""
    return parameters * per_node / rate


@formula("s", source="memory-bound optimizer step: each moment is read and written once")
def moments_time(parameters: float, moments: float, saved: float, memory: float) -> float:
    """Optimizer time that smaller moments save: `saved` bytes of each, read and written."""
    return 2.0 * parameters * moments * saved / memory


@formula("s", source="NVIDIA TransformerEngine documentation, CPU offloading: copies run beside forward and backward")
def uncovered_time(copied: float, compute: float) -> float:
    """Time of copies that forward (a third of compute) and backward (two thirds) do not cover, out and back."""
    return maximum(0.0, copied - compute / 3.0) + maximum(0.0, copied - 2.0 * compute / 3.0)


@formula("s", source=DEFINITION)
def saved_time(time: float) -> float:
    """A time that falls away, as a time added."""
    return -time


@formula("bytes", source=DEFINITION)
def step_bytes(kept: float, microbatches: float) -> float:
    """What is kept of every microbatch of a step."""
    return kept * microbatches


@formula("s", source=DEFINITION)
def with_stragglers(added: float, step: float, stragglers: float) -> float:
    """Time added to every rank, with the allowance for the slowest that the step has."""
    return added * step / (step - stragglers)
