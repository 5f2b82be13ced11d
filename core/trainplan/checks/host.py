"""Findings M10, M15 and M18: what a node's host memory holds of states, activations and a save, and whether it has room for them.

Offloaded states are more than a checkpoint's: gradients go to the host in fp32, and FSDP's weights live there. A margin that a
framework asks for itself is said.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from trainplan.alternatives.offload import step_in, updated_on_host
from trainplan.alternatives.reverse import tried
from trainplan.budgets.memory.recipe import all_on_host
from trainplan.budgets.memory.stages import V_SHAPED
from trainplan.budgets.memory.states import held
from trainplan.budgets.recipe import ONE_COPY, moment_bytes, moment_count, table_moment_bytes
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

GIB: Final = 2.0**30
STAGING: Final = 1.0
"""Copies of a node's share of a checkpoint that an asynchronous save holds in host memory: one, the copy that is written."""
MARGIN: Final = {"deepspeed": 1.5}
"""By which a framework's own estimate of host memory exceeds its states: DeepSpeed pull request 1536 prints 63.74 GiB for 2851 M
parameters, which is 1.5 x 16 bytes of each."""
PATHS: Final = ("cluster.host_memory_per_node", "training.optimizer_offload", "storage.async_checkpoint")


def host_memory(estimate: Estimate) -> list[Finding]:
    """M10: host memory does not hold what is offloaded to it and a node's share of a save, or has less than the usual margin."""
    host = estimate.situation["cluster.host_memory_per_node"]
    parts = parts_on_host(estimate)
    if not isinstance(host, Figure) or not parts:
        return []
    needed, states, size = sum(parts.values()), parts.get(STATES, 0.0), float(host)
    margin = MARGIN.get(estimate.plan.training.framework, 1.0)
    more = (margin - 1.0) * states
    if needed + more <= size:
        return []
    asks = f"; DeepSpeed's own estimate asks for {margin:g} times the states" if more else ""
    message, enough = f"a node's host holds {_said(parts)}, of {_gib(size)}{asks}", _gib_up(needed + more)
    if needed > size:
        fix = f"{_sync(estimate, parts, size - more)}{enough} a node at least"
        return [Finding("M10", "error", "memory", message, fix, PATHS, 800)]
    return [Finding("M10", "warning", "memory", message, f"{enough} a node", PATHS, 60)]


def host_memory_untold(estimate: Estimate) -> list[Finding]:
    """M15: states are offloaded, and how much memory a host has is not said."""
    states = _offloaded_states(estimate)
    if not states or isinstance(estimate.situation["cluster.host_memory_per_node"], Figure):
        return []
    margin = MARGIN.get(estimate.plan.training.framework)
    more = "" if margin is None else f"; DeepSpeed's own estimate asks for {_gib(margin * states)}"
    message = f"a node's host holds {_gib(states)} of offloaded states{more}, and its memory is not given"
    return [Finding("M15", "info", "memory", message, "give cluster.host_memory_per_node", PATHS[:2], 20)]


def loaded_by_each(estimate: Estimate) -> list[Finding]:
    """M18: every process of a node builds the whole model in fp32 before it is sharded, and the host has no room for that.

    A note: no plan says how one loads.

    huggingface/blog pull request 1412: 70 B x 4 bytes x 8 processes, 2 TB; DeepSpeed pull request 1536: 127.48 GiB for 2851 M
    without zero.Init, 1.5 x 4 bytes x 8; DeepSpeed issue 3448: 33 B on a host of 600 GB.
    """
    s, parameters = estimate.situation, estimate.model.parameters
    host, each = s["cluster.host_memory_per_node"], s["cluster.accelerators_per_node"]
    gathered = s.word("parallelism.sharding") in ("zero-3", "hsdp")
    if estimate.plan.training.framework not in ("fsdp", "deepspeed") or not gathered:
        return []
    if not all(isinstance(one, Figure) for one in (parameters, host, each)) or 4.0 * parameters * each <= float(host):
        return []
    message = (
        f"where each of {int(each)} processes builds the model before it is sharded, a node's host holds "
        f"{_gib(4.0 * float(parameters) * float(each))} of weights, of {_gib(float(host))}"
    )
    fix = "a meta device, zero.Init, or one process that loads and sends"
    return [Finding("M18", "info", "memory", message, fix, (PATHS[0], "parallelism.sharding"), 15)]


STATES: Final = "offloaded states"


def parts_on_host(estimate: Estimate) -> dict[str, float]:
    """Bytes in the host memory of one node, by what they are; those that are none are left out."""
    checkpoint, nodes = estimate.checkpoint.checkpoint, estimate.situation["cluster.nodes"]
    staged = 0.0
    if estimate.plan.storage.async_checkpoint and isinstance(checkpoint, Figure) and isinstance(nodes, Figure):
        staged = STAGING * float(checkpoint / nodes)
    parts = {
        STATES: _offloaded_states(estimate),
        "activations": _offloaded_activations(estimate),
        "a save that is being written": staged,
    }
    return {name: size for name, size in parts.items() if size > 0.0}


def _said(parts: dict[str, float]) -> str:
    each = [f"{_gib(size)} of {name}" for name, size in parts.items()]
    return " and ".join(each)


def _sync(estimate: Estimate, parts: dict[str, float], host: float) -> str:
    """The other way out where the copy of a save is what is too much; `host` is what the margin leaves of it."""
    kept = sum(size for name, size in parts.items() if not name.startswith("a save"))
    return "async_checkpoint = false, or " if estimate.plan.storage.async_checkpoint and kept <= host else ""


def _offloaded_states(estimate: Estimate) -> float:
    """Bytes of the states of all ranks of a node that the optimizer's offload keeps on the host."""
    if not estimate.plan.training.optimizer_offload or not isinstance(estimate.mesh.world_size, Figure):
        return 0.0
    parameters = updated_on_host(step_in(estimate))
    if not isinstance(parameters, Figure):
        return 0.0
    of_a_rank = float(parameters) * _bytes_each(estimate) + _more_of_tables(estimate)
    return of_a_rank * float(estimate.situation["cluster.accelerators_per_node"])


def _more_of_tables(estimate: Estimate) -> float:
    """Bytes that an end rank's embedding table and head have beyond as much of a matrix; none where the optimizer is alike."""
    s = estimate.situation
    each = table_moment_bytes(s)
    if each is None:
        return 0.0
    parts = held(s, estimate.model, estimate.mesh)
    both = s.plan.parallelism.pipeline == 1 or s.plan.parallelism.schedule in V_SHAPED
    elements = float(parts.table) + (float(parts.own_head) if both else 0.0)
    ranks = 1.0 if s.word("parallelism.sharding") == "none" else float(parts.ranks)
    return elements / float(parts.tensor) / ranks * float(each)


def _bytes_each(estimate: Estimate) -> float:
    """Bytes of one offloaded parameter: moments, and but for MaxText an fp32 copy and a gradient of the same type."""
    s, training = estimate.situation, estimate.plan.training
    moments = float(moment_count(s) * moment_bytes(s))
    if training.framework in ONE_COPY and not all_on_host(s):
        return moments
    each = 2.0 if training.precision == "bf16-pure" else 4.0
    return moments + 2.0 * each


def _offloaded_activations(estimate: Estimate) -> float:
    """Bytes of activations that a node holds for its fullest rank's like: those that would be on the devices otherwise."""
    if not estimate.plan.training.activation_offload or not estimate.memory.table:
        return 0.0
    rank = tried(estimate.plan, {"training.activation_offload": False}).memory.fullest
    if rank is None:
        return 0.0
    kept = next(one for one in rank.instants if one.name == "loss").part("activations")
    return float(kept) * float(estimate.situation["cluster.accelerators_per_node"])


def _gib(value: float) -> str:
    return f"{value / GIB:,.1f} GiB"


def _gib_up(value: float) -> str:
    """The least tenth of a GiB that is enough."""
    return f"{ceil(10.0 * value / GIB) / 10.0:,.1f} GiB"


HOST_CHECKS: Final = (host_memory, host_memory_untold, loaded_by_each)
