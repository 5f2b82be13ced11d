"""FLOPs of a run, throughput, time, cost and energy.

FLOPs of one token are in `attention` and `model`; here they are multiplied, divided by peaks and priced.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, greatest_divisor

DEFINITION = "definition"
PALM = "Chowdhery et al. 2022, arXiv 2204.02311, appendix B: model FLOP utilization"
KAPLAN = "Kaplan et al. 2020, arXiv 2001.08361: 6 FLOP a parameter and token"


@formula("FLOP", source=DEFINITION)
def stretch_flops(tokens: float, flops_per_token: float) -> float:
    """Model FLOPs of one stretch: tokens x FLOP of one token by the plan's convention; recomputed forward not counted."""
    return tokens * flops_per_token


@formula("FLOP", source=DEFINITION)
def step_flops(compute_time: float, world: float, utilization: float, peak: float) -> float:
    """Model FLOPs of all whole steps, of which the last of each stage is full: their time x what the accelerators do in it."""
    return compute_time * world * utilization * peak


@formula("s", source=DEFINITION)
def on_size(time: float, world: float, size: float) -> float:
    """Time of the same work on another number of accelerators, at the same utilization."""
    return time * world / size


@formula("FLOP", source=KAPLAN, verified=False)
def flops_6pn(nonembedding_parameters: float, train_tokens: float) -> float:
    """6 x active parameters without embeddings and head x tokens: the planning rule, without attention."""
    return 6.0 * nonembedding_parameters * train_tokens


@formula("tokens/s", source=PALM, verified=False)
def tokens_per_second(utilization: float, peak: float, flops_per_token: float) -> float:
    """Tokens a second of one accelerator: utilization x peak / FLOP of one token, both by the same convention."""
    return utilization * peak / flops_per_token


@formula("s", source=DEFINITION)
def step_time(step_tokens: float, world: float, rate: float) -> float:
    """Time of one optimizer step: tokens a step over tokens a second of all accelerators."""
    return step_tokens / (world * rate)


@formula("s", source=DEFINITION)
def stretch_time(steps: float, step: float) -> float:
    """Time of all whole steps of one stretch, without failures, checkpoints or evaluation."""
    return steps * step


@formula("FLOP", source=DEFINITION)
def stepped_flops(steps: float, step_tokens: float, flops_per_token: float) -> float:
    """Model FLOPs of all whole steps of one stretch, by the plan's convention."""
    return steps * step_tokens * flops_per_token


@formula("s", source=DEFINITION)
def mean_step(compute_time: float, steps: float) -> float:
    """Mean time of a step over a run whose length or batch changes."""
    return compute_time / steps


@formula("1", source=DEFINITION)
def share_of_run(ratio: float, worked: float, every: float) -> float:
    """What one stretch adds to a ratio of the whole run: its own, by its share of the FLOPs."""
    return ratio * worked / every


@formula("s", source=DEFINITION)
def wall_time(compute_time: float, slowdown: float, evaluation: float, downtime: float, queue: float) -> float:
    """Time from the first step to the last.

    Compute time x slowdown (failures and checkpoints) + evaluation that blocks + planned downtime + waits between jobs.
    """
    return compute_time * slowdown + evaluation + downtime + queue


@formula("h", source=DEFINITION)
def accelerator_hours(wall: float, world: float) -> float:
    """Wall time x training accelerators. Spare nodes and separate evaluation are counted in the cost, not here."""
    return wall * world / 3600.0


@formula("h", source=DEFINITION)
def spare_hours(wall: float, spare_nodes: float, accelerators_per_node: float) -> float:
    """Accelerator hours of spare nodes, which are paid while they wait."""
    return wall * spare_nodes * accelerators_per_node / 3600.0


@formula("currency", source=DEFINITION)
def cost(hours: float, spare: float, evaluation: float, price: float) -> float:
    """(Training + spare + separate evaluation accelerator hours) x price of one hour. Storage and staff are not in it."""
    return (hours + spare + evaluation) * price


@formula("J", source="board power x power usage effectiveness; boards draw less than their limit", verified=False)
def energy(hours: float, power: float, pue: float) -> float:
    """Energy at the board's power limit and the site's overhead: an upper bound, hosts and network are not in it."""
    return hours * 3600.0 * power * pue


@formula("s", source=DEFINITION)
def time_for_compute(available: float, slowdown: float, evaluation: float, downtime: float, queue: float) -> float:
    """Compute time that fits before the deadline, at the present slowdown: (available - what blocks) / slowdown."""
    return (available - evaluation - downtime - queue) / slowdown


@formula("1", source=DEFINITION)
def required_utilization(training_flops: float, world: float, peak: float, compute_time: float) -> float:
    """Utilization at which the run ends at its deadline: FLOPs / (accelerators x peak x compute time), same slowdown."""
    return training_flops / (world * peak * compute_time)


@formula("1", source=DEFINITION)
def required_accelerators(
    training_flops: float, utilization: float, peak: float, compute_time: float, group: float
) -> float:
    """Accelerators that do the FLOPs in the time before the deadline at this utilization, rounded up to whole mesh groups."""
    return ceil(training_flops / (utilization * peak * compute_time) / group) * group


@formula("1", source=DEFINITION)
def mean_utilization(training_flops: float, world: float, peak: float, compute_time: float) -> float:
    """FLOPs / (accelerators x peak x time)."""
    return training_flops / (world * peak * compute_time)


@formula("1", source="Korthikanti et al. 2022, arXiv 2205.05198")
def hardware_utilization(utilization: float, hardware_flops: float, model_flops: float) -> float:
    """Utilization that counts recomputed forward too: MFU x hardware FLOP / model FLOP of a token."""
    return utilization * hardware_flops / model_flops


@formula("FLOP/s", source=DEFINITION)
def achieved_flops(utilization: float, peak: float) -> float:
    """Model FLOP a second of one accelerator."""
    return utilization * peak


@formula("1", source="ml-engineering: maximum achievable matmul FLOPS")
def ceiling_utilization(measured_matmul: float, peak: float) -> float:
    """The best measured matrix product as a share of the peak: no run is above it."""
    return measured_matmul / peak


@formula("1", source=DEFINITION)
def mesh_group(node: float, tensor: float, pipeline: float, context: float) -> float:
    """Least accelerators that are whole nodes and whole replicas: the least common multiple of both."""
    replica = tensor * pipeline * context
    return node * replica / greatest_divisor(node, replica)
