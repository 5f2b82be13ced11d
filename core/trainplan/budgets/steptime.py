"""The parts of a predicted step in seconds, which sum to it, at the length and the batch of one stretch of the run.

It knows no data loading, no memory pressure and no checkpoint stall.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from trainplan.budgets.communication import (
    Operation,
    context_operation,
    expert_operations,
    head_operation,
    pipeline_operation,
    tensor_operation,
    traffic,
)
from trainplan.budgets.communication_data import NO_EXPERTS, data_operations, replica_domains, updated
from trainplan.budgets.kernels import Conditions
from trainplan.budgets.layer_time import Cut, LayerTime, cut, head_time, layer_time
from trainplan.budgets.memory.recipe import reduced_bytes
from trainplan.budgets.memory.stages import end_layers, most_stages, turned_ends
from trainplan.budgets.memory.states import held
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.recipe import (
    MASTER_BYTES,
    MEGATRON,
    TORCHTITAN,
    WEIGHT_BYTES,
    moment_bytes,
    moment_count,
    one_copy,
)
from trainplan.budgets.shape import has_table
from trainplan.budgets.situation import Situation
from trainplan.budgets.stretches import At
from trainplan.budgets.tokens import MeshBudget, TokenBudget
from trainplan.formulas import steptime as f
from trainplan.frozen import field_names, record
from trainplan.quantity.figure import Blocked, Figure, given, total_of
from trainplan.quantity.formula import named_sum

WATERFALL: Final = (
    "products",
    "attention",
    "elementwise",
    "host",
    "head",
    "tensor",
    "context",
    "expert",
    "pipeline",
    "data",
    "imbalance",
    "bubble",
    "optimizer",
    "stragglers",
)
"""Parts of the predicted step in the order in which they are drawn; they sum to it."""


CAST: Final = (
    "Megatron-LM core/optimizer/optimizer.py, main_param.grad = model_param.grad.float(): 2 read, 4 written, 4 read"
)


OWN_HEAD: Final = given("the model's own head", 1.0, "1", "definition", kind="file")
NO_LAYER: Final = given("no such layer", 0.0, "s", "the model has none", kind="file")
NO_TIME: Final = LayerTime(NO_LAYER, NO_LAYER, NO_LAYER, NO_LAYER)

WITH_DEPTHS: Final = named_sum("1", "layers", "depths")
HEADS: Final = named_sum("1", "own", "depths")


@record
class _Step:
    """What the step is made of: seconds of one microbatch over all layers by part, the head, and all transfers."""

    parts: Mapping[str, Figure]
    head: Figure
    operations: tuple[Operation, ...]


def step_parts(
    model: ModelBudget, mesh: MeshBudget, at: At, k: Conditions
) -> tuple[Mapping[str, Figure], tuple[Operation, ...]]:
    """Parts of the step (s), whose sum it is, and its transfers; `no_step` is asked before."""
    made = _made(at.s, model, mesh, k, cut(at.s, at.flops), at.microbatches)
    return _waterfall(model, mesh, at, k, made)


def no_step(s: Situation, model: ModelBudget, mesh: MeshBudget, tokens: TokenBudget) -> str | None:
    """Why no step can be told, or None."""
    needed = [model.parameters, mesh.data, tokens.microbatches, s["data.sequence_length"]]
    if s.word("parallelism.sharding") == "hsdp":
        needed.append(s["parallelism.shard_size"])
    for figure in needed:
        if isinstance(figure, Blocked):
            return figure.code
    if not model.shape.sparse:
        return "model-depth"
    layers, stages = model.shape.layers, s["parallelism.pipeline"]
    known = isinstance(layers, Figure) and isinstance(stages, Figure)
    return "G4" if known and stages > most_stages(s, int(layers)) else None


def _made(s: Situation, model: ModelBudget, mesh: MeshBudget, k: Conditions, here: Cut, microbatches: Figure) -> _Step:
    shape, w = model.shape, traffic(s, model, mesh, here, microbatches)
    operations = [tensor_operation(k, w), context_operation(s, model, k, w), pipeline_operation(s, k, w)]
    if s.word("training.head") == "gathered":
        operations.append(head_operation(s, model, k, w, _head_count(s)))
    if shape.expert_layers is not None:
        operations.extend(expert_operations(s, k, w, shape.expert_layers))
    return _Step(_layers(s, model, k, here), _heads(s, model, k, here), tuple(operations))


def _layers(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> dict[str, Figure]:
    """Seconds of one microbatch over all layers, prediction depths with them, by part."""
    shape = model.shape
    sparse_layers = NO_EXPERTS if shape.expert_layers is None else shape.expert_layers
    dense = layer_time(s, model, k, here, sparse=False) if model.dense is not None else NO_TIME
    sparse = layer_time(s, model, k, here, sparse=True) if shape.expert_layers is not None else NO_TIME
    counts = [shape.dense_layers, sparse_layers]
    if has_table(s, "mtp"):
        kind = 1 if shape.sparse and shape.sparse[-1] else 0
        counts[kind] = WITH_DEPTHS(layers=counts[kind], depths=s["model.mtp.num_nextn_predict_layers"])
    return {
        name: f.layers_time(counts[0], getattr(dense, name), counts[1], getattr(sparse, name))
        for name in field_names(LayerTime)
    }


def _heads(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> Figure:
    head = head_time(s, model, k, here)
    return f.repeated_time(head, _head_count(s)) if has_table(s, "mtp") else head


def _head_count(s: Situation) -> Figure:
    """The model's own head and those of its prediction depths."""
    return HEADS(own=OWN_HEAD, depths=s["model.mtp.num_nextn_predict_layers"]) if has_table(s, "mtp") else OWN_HEAD


def _waterfall(
    model: ModelBudget, mesh: MeshBudget, at: At, k: Conditions, made: _Step
) -> tuple[dict[str, Figure], tuple[Operation, ...]]:
    s, m, p = at.s, at.microbatches, at.s["parallelism.pipeline"]
    inner = [one for one in made.operations if one.dimension in ("tensor", "context", "expert")]
    shown = {f"{one.dimension}: {one.name}": one.exposed for one in inner}
    found = {name: f.rank_time(part, m, p) for name, part in made.parts.items()}
    found["head"] = f.rank_time(made.head, m, p)
    work = total_of({**{name: found[name] for name in made.parts}, **shown})
    mean, slowest = _stages(s, model, work, found["head"], m, p)
    parts = held(s, model, mesh)
    data = data_operations(s, model, mesh, parts, k, m, slowest)
    operations = (*data, *made.operations)
    for dimension in ("tensor", "context", "expert", "pipeline", "data"):
        found[dimension] = _exposed(operations, dimension)
    found["imbalance"] = f.imbalance_time(slowest, mean, m)
    found["bubble"] = f.bubble_time(at.bubble, mean, m)
    found["optimizer"] = _optimizer(s, updated(s, model, parts), k, m)
    found["stragglers"] = f.straggler_time(total_of(found), k.numbers["growth"], replica_domains(s, mesh))
    return found, operations


def _optimizer(s: Situation, parts: tuple[Figure, Figure, Figure, Figure], k: Conditions, m: Figure) -> Figure:
    """The step of the parameters that a rank updates, on the device or on its host."""
    if not s.plan.training.optimizer_offload:
        return f.optimizer_time(*parts, _updated_bytes(s), k.memory)
    from trainplan.budgets.host import host_optimizer  # few plans offload, and the first figures do not wait for it
    from trainplan.formulas.offload import updated_parameters

    return total_of(host_optimizer(s, updated_parameters(*parts), m))


def _updated_bytes(s: Situation) -> Figure:
    """Bytes that an update moves of one parameter, by optimizer, precision and whether a second weight is written."""
    precision, source = s.plan.training.precision, TORCHTITAN if one_copy(s) else MEGATRON
    mixed = MASTER_BYTES[precision] > 0.0
    kept = _moved("bytes of what is updated", MASTER_BYTES[precision] or WEIGHT_BYTES[precision], source)
    weight = _moved("bytes of a weight written beside it", 2.0 if mixed and not one_copy(s) else 0.0, source)
    gradient = reduced_bytes(s)
    if mixed and gradient == 2.0:
        gradient = _moved("bytes of a gradient cast and read", 10.0, CAST)
    return f.optimizer_bytes(gradient, kept, moment_count(s), moment_bytes(s), weight)


@cache
def _moved(name: str, value: float, source: str) -> Figure:
    return given(name, value, "bytes", source)


def _exposed(operations: tuple[Operation, ...], dimension: str) -> Figure:
    parts: dict[str, Figure] = {}
    for one in operations:
        if one.dimension == dimension:
            parts[one.name] = one.exposed
    return total_of(parts) if parts else _none(dimension)


@cache
def _none(dimension: str) -> Figure:
    return given(f"no {dimension} parallelism", 0.0, "s", "the model has none", kind="file")


def _stages(
    s: Situation, model: ModelBudget, work: Figure, head: Figure, m: Figure, p: Figure
) -> tuple[Figure, Figure]:
    """One microbatch on the mean and on the slowest rank, from a step's work of the mean rank."""
    layers, heads = f.whole_time(work, m, p), f.whole_time(head, m, p)
    mean = f.mean_stage(layers, heads, p)
    ends = turned_ends(s, model.shape.layers) or end_layers(s, model.shape.layers)
    if ends is None:
        return mean, f.slowest_stage(layers, model.shape.layers, heads, p)
    first, most, last = ends
    return mean, f.ended_stage(layers, model.shape.layers, first, last, most, heads, p)
