"""A rung of the pilot as a run of its own: the plan with few devices, few steps and, where memory asks for it, few layers.

Each accelerator does the work that it does in the full run: the same microbatches of the same length. The rungs short-scaled and
full are the whole plan, since faults of data and of step counts show nowhere else.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.run import ExportError, Run, kinds, whole, whole_figure, whole_run
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import Quantity, numbered
from trainplan.review.ladder import RUNGS

STEPS: Final = {"unit": 1, "one-batch": 500, "one-device": 1_000, "one-node": 1_000, "few-nodes": 1_000}
"""Steps of each rung: the thresholds of one-batch, one-device and one-node name them; few-nodes as many as one-node."""

SCALED_STEPS, SCALED_TIME = 1_000, 7_200.0  # steps, s: rung short-scaled runs for both
MOST_NODES: Final = 8
CHUNKS: Final = 2  # model chunks of a rank where the pipeline is shorter than the plan's, so that few layers can be cut
UNIT_LAYERS: Final = 2
SHORTEST: Final = 1_800.0  # s of a job


@dataclass(frozen=True, slots=True)
class Mesh:
    """Degrees of a rung on `nodes` nodes of `each` accelerators."""

    nodes: int
    each: int
    tensor: int
    pipeline: int
    context: int
    expert: int
    expert_tensor: int

    @property
    def data(self) -> int:
        """Data-parallel degree."""
        return self.nodes * self.each // (self.tensor * self.pipeline * self.context)


def run_of(found: Estimate, rung: str = "") -> Run:
    """The run of a rung; of the whole plan for "" and `full`. Raises ExportError."""
    if rung and rung not in RUNGS:
        raise ExportError(f"{rung} is no rung that has a run of its own. One of {', '.join(RUNGS)}")
    if rung in ("", "full"):
        return whole_run(found)
    if rung == "short-scaled":
        return _scaled(found)
    return _small(found, rung)


def layers_on(found: Estimate, devices: int) -> int:
    """Layers of the plan's model that fit on so few devices, whole nodes or a part of one. Raises ExportError where none do."""
    node = whole(found, "cluster.accelerators_per_node")
    each = min(devices, node)
    mesh = _mesh(found, max(1, devices // each), each)
    return whole(estimate(_fitting(found, "", _on_mesh(found, "one-node", mesh), mesh)), "model.num_hidden_layers")


def _scaled(found: Estimate) -> Run:
    step = found.quantities["compute.step_time"]
    enough = math.ceil(SCALED_TIME / step) if isinstance(step, Figure) else SCALED_STEPS
    stop = min(max(SCALED_STEPS, enough), whole(found, "tokens.steps"))
    limited = _limited(found.plan, stop, step)
    told = (
        f"the whole plan with its {whole(found, 'tokens.steps'):,} steps in the configuration, stopped after {stop:,}"
    )
    return Run(estimate(limited), found.plan, "short-scaled", (told,), stop)


def _limited(plan: Plan, steps: int, step: Any) -> Plan:
    """The plan with a time limit of twice what its steps take, in whole ten minutes."""
    restart = float(plan.reliability.restart_time)
    needed = 2 * steps * float(step) + restart if isinstance(step, Figure) else SCALED_TIME
    minutes = 10 * math.ceil(max(SHORTEST, needed) / 600)
    limit = {"job_time_limit": Quantity(60.0 * minutes, f"{minutes}min")}
    return plan.model_copy(update={"reliability": plan.reliability.model_copy(update=limit)})


def _small(found: Estimate, rung: str) -> Run:
    plan = _reduced(found, rung)
    small = estimate(plan)
    limited = _limited(plan, STEPS[rung], small.quantities["compute.step_time"])
    return Run(estimate(limited), found.plan, rung, tuple(_changes(found, small, rung)))


def _reduced(found: Estimate, rung: str) -> Plan:
    """The plan on the fewest devices of the rung that hold it. Raises ExportError where none do."""
    each = whole(found, "cluster.accelerators_per_node") if rung in ("one-node", "few-nodes") else 1
    meshes = [_mesh(found, nodes, each) for nodes in (_nodes(found, each) if rung == "few-nodes" else [1])]
    for mesh in meshes[:-1]:
        with contextlib.suppress(ExportError):
            return _fitting(found, rung, _on_mesh(found, rung, mesh), mesh)
    return _fitting(found, rung, _on_mesh(found, rung, meshes[-1]), meshes[-1])


def _changes(found: Estimate, small: Estimate, rung: str) -> list[str]:
    told = [
        f"{whole(small, 'parallelism.world_size'):,} of {whole(found, 'parallelism.world_size'):,} accelerators",
        f"{numbered(STEPS[rung], 'step')} of {numbered(whole(small, 'batch.global_batch_sequences'), 'sequence')}",
    ]
    layers, planned = (whole(one, "model.num_hidden_layers") for one in (small, found))
    told += [f"{layers} of {planned} layers"] if layers != planned else []
    names = ("tensor", "pipeline", "context", "expert", "expert_tensor", "virtual_pipeline")
    pairs = [(name, getattr(found.plan.parallelism, name), getattr(small.plan.parallelism, name)) for name in names]
    told += [f"{name} {int(new)} for {int(old)}" for name, old, new in pairs if old != new]
    return told + (["length and batch of the last stage"] if len(kinds(found)) > 1 else [])


def _mesh(found: Estimate, nodes: int, each: int) -> Mesh:
    plan, world = found.plan.parallelism, nodes * each
    tensor, context, pipeline = int(plan.tensor), int(plan.context), int(plan.pipeline)
    tensor = _divisor(tensor, lambda one: world % one == 0)
    context = _divisor(context, lambda one: world % (tensor * one) == 0)
    pipeline = _divisor(pipeline, lambda one: world % (tensor * context * one) == 0)
    expert_tensor = _divisor(int(plan.expert_tensor), lambda one: tensor % one == 0)
    expert = _divisor(int(plan.expert), lambda one: (world // pipeline) % (one * expert_tensor) == 0)
    return Mesh(nodes, each, tensor, pipeline, context, expert, expert_tensor)


def _divisor(degree: int, fits: Callable[[int], bool]) -> int:
    """The largest divisor of a degree that fits; 1 always does."""
    return next(one for one in range(degree, 0, -1) if degree % one == 0 and (one == 1 or fits(one)))


def _nodes(found: Estimate, each: int) -> list[int]:
    """Numbers of nodes from 2 that hold every planned degree, those that hold it twice where the plan has replicas."""
    plan, most = found.plan.parallelism, min(MOST_NODES, whole(found, "cluster.nodes"))
    model = int(plan.tensor * plan.pipeline * plan.context)
    fitting = [n for n in range(2, most + 1) if n * each >= model and n * each % model == 0]
    double = [n for n in fitting if n * each >= 2 * model] if whole(found, "parallelism.data") > 1 else []
    return double or fitting or [most]


def _on_mesh(found: Estimate, rung: str, mesh: Mesh) -> Plan:
    plan, last = found.plan, found.tokens.stretches[-1]
    micro, length = int(plan.batch.micro_batch_sequences), whole_figure(found, last.sequence_length)
    work = max(1, whole_figure(found, last.global_batch_sequences) // (micro * whole(found, "parallelism.data")))
    batch = micro * mesh.data * (1 if rung in ("unit", "one-batch") else work)
    tokens = STEPS[rung] * batch * length
    data = {"train_tokens": _count(tokens), "sequence_length": _count(length), "stages": ()}
    cluster = {"nodes": _count(mesh.nodes), "accelerators_per_node": _count(mesh.each)}
    changed = {
        "data": plan.data.model_copy(update=data),
        "batch": plan.batch.model_copy(update={"global_batch_sequences": _count(batch), "schedule": ()}),
        "cluster": plan.cluster.model_copy(update=cluster),
        "parallelism": plan.parallelism.model_copy(update=_degrees(plan, mesh)),
    }
    return plan.model_copy(update=changed)


def _degrees(plan: Plan, mesh: Mesh) -> dict[str, Any]:
    names = ("tensor", "pipeline", "context", "expert", "expert_tensor")
    found: dict[str, Any] = {name: _count(getattr(mesh, name)) for name in names}
    if mesh.pipeline != int(plan.parallelism.pipeline):
        chunks = min(CHUNKS, int(plan.parallelism.virtual_pipeline))
        found |= {"first_stage_layers": None, "last_stage_layers": None, "virtual_pipeline": _count(chunks)}
    if mesh.pipeline == 1:
        found |= {"virtual_pipeline": _count(1), "schedule": "1f1b"}
    shard = int(plan.parallelism.shard_size or 0)
    if shard and mesh.data % shard:
        found["shard_size"] = _count(math.gcd(shard, mesh.data))
    return found


def _count(value: int) -> Quantity:
    return Quantity(float(value), f"{value}")


def _fitting(found: Estimate, rung: str, plan: Plan, mesh: Mesh) -> Plan:
    """The plan with as many layers as fit on its devices; all of them where memory cannot be told."""
    layers, dense = (
        whole(found, "model.num_hidden_layers"),
        int(found.situation.value("model.moe.first_k_dense_replace") or 0),
    )
    least = dense + 1 if found.situation.value("model.moe.num_experts") else 1
    if rung == "unit":
        plan = with_layers(found, plan, min(layers, max(UNIT_LAYERS, least)))
    if _fits(plan):
        return plan
    chunk = mesh.pipeline * int(plan.parallelism.virtual_pipeline)
    fitting = [n for n in range(chunk, UNIT_LAYERS if rung == "unit" else layers, chunk) if n >= least]
    low, high = 0, len(fitting)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _fits(with_layers(found, plan, fitting[middle])) else (low, middle)
    if low == 0:
        layers_said, devices = numbered(max(least, chunk), "layer"), numbered(mesh.nodes * mesh.each, "accelerator")
        do = "does" if max(least, chunk) == 1 else "do"
        raise ExportError(
            f"rung {rung or 'of a log'}: {layers_said} {do} not fit on {devices}; begin with the next rung"
        )
    return with_layers(found, plan, fitting[low - 1])


def _fits(plan: Plan) -> bool:
    told = estimate(plan).quantities
    total, usable = told["memory.total"], told["memory.usable"]
    return not isinstance(total, Figure) or not isinstance(usable, Figure) or float(total) <= float(usable)


def with_layers(found: Estimate, plan: Plan, layers: int) -> Plan:
    """A plan with the first layers alone, as many as are asked for; `found` is the estimate that its own number is from."""
    if layers == whole(found, "model.num_hidden_layers"):
        return plan
    types = found.situation.value("model.layer_types")
    changed: dict[str, Any] = {"num_hidden_layers": _count(layers)}
    changed |= {"layer_types": tuple(types[:layers])} if types else {}
    uneven = {"first_stage_layers": None, "last_stage_layers": None}
    parallelism = plan.parallelism.model_copy(update=uneven)
    return plan.model_copy(update={"model": plan.model.model_copy(update=changed), "parallelism": parallelism})
