"""Sizes and times of checkpoints."""

from __future__ import annotations

from trainplan.figure import formula

DEFINITION = "definition"


@formula("1", source="Megatron-LM --make-vocab-size-divisible-by")
def padded_parameters(parameters: float, padded: float, vocabulary: float, hidden: float, tables: float) -> float:
    """Parameters with the vocabulary as it is padded for framework and layout; `tables` is 2 where the head is its own."""
    return parameters + (padded - vocabulary) * hidden * tables


@formula("bytes", source="bigscience tr11-176B README: 2.3 TB for 176 B parameters; section 5.2 of the research notes")
def checkpoint_bytes(parameters: float, bytes_per_parameter: float) -> float:
    """One checkpoint: parameters x bytes that the recipe saves of each. Loader and RNG state (MB) are not in it."""
    return parameters * bytes_per_parameter


@formula(
    "s", source="section 5.2 of the research notes: copy of the rank's share to host memory at 25 GB/s", verified=False
)
def asynchronous_stall(floor_time: float, checkpoint: float, world: float, host_copy_rate: float) -> float:
    """Time that training waits for an asynchronous save: barriers and metadata, then each rank's share copied to the host."""
    return floor_time + checkpoint / (world * host_copy_rate)


@formula("s", source="section 5.2 of the research notes: bytes over the bandwidth of the whole system")
def synchronous_stall(floor_time: float, checkpoint: float, write_bandwidth: float) -> float:
    """Time that training waits for a synchronous save: barriers and metadata, then the whole checkpoint written."""
    return floor_time + checkpoint / write_bandwidth


@formula("s", source=DEFINITION)
def transfer_time(size: float, bandwidth: float) -> float:
    """Bytes over bandwidth."""
    return size / bandwidth
