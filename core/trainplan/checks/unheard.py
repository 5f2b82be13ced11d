"""Findings P12 and P13: fields that the plan says and that move nothing here, and work that the predicted step leaves out.

A field without effect is no error: it may have one in the next layout. What a default says is not the plan's word, and is not told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainplan.alternatives.offload import activations_on_host, step_in
from trainplan.alternatives.reverse import tried
from trainplan.budgets.framework_defaults import WORDS
from trainplan.budgets.shape import keeps_scores
from trainplan.catalogue import entry
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import duration

Deaf = Callable[[Estimate], bool]


def _one(path: str) -> Deaf:
    """Whether a degree is one."""
    return lambda estimate: estimate.situation[path] == 1.0


def _sharded(*words: str) -> Deaf:
    """Whether the sharding is one of these."""
    return lambda estimate: estimate.situation.word("parallelism.sharding") in words


def _latent(estimate: Estimate) -> bool:
    return estimate.model.shape.latent


def _layerwise(estimate: Estimate) -> bool:
    framework = estimate.plan.training.framework
    return framework not in ("megatron", "deepspeed") or _sharded("zero-3", "hsdp")(estimate)


def _dense(estimate: Estimate) -> bool:
    """Whether the model is known, and has no experts."""
    known = isinstance(estimate.situation["model.num_hidden_layers"], Figure)
    return known and estimate.model.shape.expert_layers is None


def _eager(estimate: Estimate) -> bool:
    return keeps_scores(estimate.situation)


def _own_moments(estimate: Estimate) -> bool:
    optimizer = entry("optimizers", estimate.plan.training.optimizer)
    return optimizer is not None and optimizer.get("moment_bytes") is not None


def _without(*kinds: str) -> Deaf:
    """Whether no layer is of one of these kinds."""
    return lambda estimate: not {*kinds}.intersection(estimate.situation.value("model.layer_types") or ())


MEASURE: Final = "measure one node with and without"
PIPELINE: Final = _one("parallelism.pipeline")
LATENT: Final = "latent attention has its own"

DEAF: Final[dict[str, tuple[Deaf, str]]] = {
    "parallelism.shard_size": (_sharded("none", "zero-1", "zero-2", "zero-3"), "states are not sharded in groups"),
    "parallelism.bucket_elements": (_layerwise, "gradients are reduced layer by layer"),
    "parallelism.reshard_after_forward": (_sharded("none", "zero-1", "zero-2"), "no weights are gathered for forward"),
    "parallelism.context_type": (_one("parallelism.context"), "there is one context rank"),
    "parallelism.schedule": (PIPELINE, "there is one pipeline stage"),
    "parallelism.first_stage_layers": (PIPELINE, "there is one pipeline stage"),
    "parallelism.last_stage_layers": (PIPELINE, "there is one pipeline stage"),
    "parallelism.overlap_tensor": (_one("parallelism.tensor"), "there is one tensor rank"),
    "parallelism.overlap_expert": (_one("parallelism.expert"), "there is one expert rank"),
    "training.head": (_one("parallelism.tensor"), "there is one tensor rank"),
    "training.expert_kernels": (_dense, "the model has no experts"),
    "training.attention_precision": (_eager, "attention that keeps its scores multiplies in 16 bits"),
    "training.gradient_accumulation": (_sharded("none", "zero-1"), "every rank has all gradients"),
    "training.moment_dtype": (_own_moments, "the optimizer has its own type of moments"),
    "training.moe_imbalance": (_one("parallelism.expert"), "there is one expert rank"),
    "model.sliding_window": (
        _without("sliding_attention", "chunked_attention"),
        "no layer of layer_types has a window",
    ),
    "model.attention_chunk_size": (_without("chunked_attention"), "no layer of layer_types is chunked_attention"),
    "model.num_key_value_heads": (_latent, LATENT),
    "model.head_dim": (_latent, LATENT),
    "model.qk_norm": (_latent, LATENT),
    "model.attention_gate": (_latent, "a gate on latent attention is not counted"),
}
"""Fields that some layouts do not hear: when, and why."""


def without_effect(estimate: Estimate) -> list[Finding]:
    """P12: a field that the plan says, other than by its default, and that moves nothing in this layout."""
    found = list[Finding]()
    for path, (deaf, why) in DEAF.items():
        if _said(estimate, path) and deaf(estimate):
            message = f"{path} has no effect here: {why}"
            budget = "model" if path.startswith("model.") else "parallelism"
            found.append(Finding("P12", "info", budget, message, f"leave {path} out", (path,), 5))
    return found


def _said(estimate: Estimate, path: str) -> bool:
    """Whether the plan says the field, and another value than it would have anyway."""
    if not estimate.situation.written(path):
        return False
    table, field = path.split(".")
    default = type(getattr(estimate.plan, table)).model_fields[field].default
    if path in WORDS:
        default = WORDS[path][estimate.plan.training.framework].value
    return estimate.situation.value(path) != default


def copied_activations(estimate: Estimate) -> list[Finding]:
    """P13: activations in host memory; what their copies add to a step is computed here and is not in the prediction."""
    if not estimate.plan.training.activation_offload or not estimate.memory.table:
        return []
    message, step = (
        "the predicted step leaves out copies of activations to host memory and back",
        step_in(estimate),
    )
    if step.seconds is not None and estimate.situation["parallelism.pipeline"] == 1.0:
        memory = tried(estimate.plan, {"training.activation_offload": False}).memory
        rank = memory.table[int(memory.worst_rank)]
        kept = next(one for one in rank.instants if one.name == "loss").part("activations")
        added = activations_on_host(step, kept) if isinstance(kept, Figure) else None
        message += f": {' '.join(duration(float(added.seconds)))} more, which {added.says}" if added is not None else ""
    return [Finding("P13", "warning", "parallelism", message, MEASURE, ("training.activation_offload",), 15)]


def left_out_work(estimate: Estimate) -> list[Finding]:
    """P13: what a plan says and no published pair measures, so that the predicted step has no time for it."""
    training, found = estimate.plan.training, list[Finding]()
    if estimate.situation["training.dropout"] > 0.0:
        message = "the predicted step leaves out dropout: drawing its masks, and reading them in backward"
        found.append(Finding("P13", "info", "parallelism", message, MEASURE, ("training.dropout",), 5))
    if training.optimizer == "muon":
        message = "the predicted step leaves out muon's own products: each matrix times itself, five times over"
        found.append(Finding("P13", "info", "parallelism", message, MEASURE, ("training.optimizer",), 5))
    return found


UNHEARD_CHECKS: Final = (without_effect, copied_activations, left_out_work)
