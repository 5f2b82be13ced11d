"""Which of torchtitan's models a plan's shape is: it builds them by name, so a shape that differs in any field is refused.

Models are told by the catalogue's entry of the same shape, field by field; `test_real_parsers` holds them to torchtitan's own
registry. Layers are compared apart, since a rung of the pilot takes fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any, Final

from trainplan.budgets.model import model_budget
from trainplan.budgets.situation import Situation
from trainplan.estimation import Estimate
from trainplan.interop.export.run import ExportError, Run, whole
from trainplan.labels.series import series
from trainplan.plan.faults import table_in
from trainplan.plan.plan import Plan
from trainplan.plan.shape import Model
from trainplan.plan.tables import Table
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount

MODELS: Final = {
    "llama-3.1-8b": ("llama3", "8B", "llama3_8b"),
    "llama-3.1-70b": ("llama3", "70B", "llama3_70b"),
    "llama-3.1-405b": ("llama3", "405B", "llama3_405b"),
    "deepseek-v2-lite": ("deepseek_v3", "16B", "deepseek_v3_16b"),
    "deepseek-v3": ("deepseek_v3", "671B", "deepseek_v3_671b"),
    "qwen3-0.6b": ("qwen3", "0.6B", "qwen3_0_6b"),
    "qwen3-1.7b": ("qwen3", "1.7B", "qwen3_1_7b"),
    "qwen3-14b": ("qwen3", "14B", "qwen3_14b"),
    "qwen3-32b": ("qwen3", "32B", "qwen3_32b"),
    "qwen3-30b-a3b": ("qwen3", "30B-A3B", "qwen3_30b_a3b"),
}
"""Module, flavor and config function by the catalogue's entry: `models/*/config_registry.py` of torchtitan 0.3.0."""

_APART: Final = ("model.preset", "model.num_hidden_layers", "model.layer_types", "model.max_position_embeddings")

_HEADS: Final = ("model.num_key_value_heads", "model.head_dim")
"""What latent attention does not use: its own table says the widths, and every head has its keys."""


@dataclass(frozen=True, slots=True)
class TitanModel:
    """A model of torchtitan: module, flavor, config function, its layers and those of the run."""

    name: str
    flavor: str
    function: str
    layers: int
    run_layers: int


def titan_model(run: Run) -> TitanModel:
    """The model that the run's shape is. Raises ExportError with the nearest one and all in which it differs."""
    layers, small = whole(run.estimate, "model.num_hidden_layers"), run.rung not in ("", "short-scaled", "full")
    told: list[tuple[float, str, Situation, list[str]]] = []
    for preset, (name, flavor, function) in MODELS.items():
        given = _entry(preset)
        planned = int(given.value("model.num_hidden_layers"))
        here = run.estimate.situation
        unused = _HEADS if any(one.value("model.mla.kv_lora_rank") for one in (here, given)) else ()
        other = [path for path in _paths() if path not in unused and _value(here, path) != _value(given, path)]
        other += ["model.num_hidden_layers"] if layers > planned or (layers < planned and not small) else []
        if not other:
            return TitanModel(name, flavor, function, planned, layers)
        told.append((_distance(run.estimate.situation, given, other), f"{name} {flavor}", given, other))
    _, nearest, given, other = min(told, key=lambda one: one[0])
    raise ExportError(
        f"model: torchtitan has no model of this shape; the nearest, {nearest} {_sizes(run.estimate, given)}, differs in "
        + series(_difference(run.estimate.situation, given, path) for path in other)
    )


def _distance(s: Situation, other: Situation, paths: list[str]) -> float:
    """How far two shapes are: factors between their sizes, and one for each word, flag or part that only one has."""
    far = 0.0
    for path in paths:
        here, there = _value(s, path), _value(other, path)
        sizes = isinstance(here, float) and isinstance(there, float) and here > 0.0 and there > 0.0
        far += abs(log(here / there)) if sizes else 1.0
    return far


def _difference(s: Situation, other: Situation, path: str) -> str:
    return f"{path} ({_shown(other, path)} there, {_shown(s, path)} here)"


def _shown(s: Situation, path: str) -> str:
    value = _value(s, path)
    if isinstance(s.value(path), bool):
        return str(s.value(path)).lower()
    return "none" if value is None else f"{value:,.12g}" if isinstance(value, float) else str(value)


def _sizes(e: Estimate, other: Situation) -> str:
    """How many parameters both have, which says at once how far they are."""
    counts = (model_budget(other).parameters, e.model.parameters)
    words = [amount(float(one)) if isinstance(one, Figure) else "?" for one in counts]
    return f"with {words[0]} parameters where the plan has {words[1]}"


@cache
def _entry(preset: str) -> Situation:
    return Situation(Plan(format=1, model=Model(preset=preset)))


@cache
def _paths() -> tuple[str, ...]:
    return tuple(path for path in _fields(Model, "model") if path not in _APART)


def _fields(table: type[Table], path: str) -> Iterator[str]:
    for name, info in table.model_fields.items():
        inner = table_in(info.annotation)
        yield from (_fields(inner, f"{path}.{name}") if inner is not None else [f"{path}.{name}"])


def _value(s: Situation, path: str) -> Any:
    """A value as a number or a word; what is absent is what it means."""
    value = s.value(path)
    if value is None and path == "model.num_key_value_heads":
        value = s.value("model.num_attention_heads")
    if value is None and path == "model.head_dim" and s.value("model.num_attention_heads"):
        value = float(s.value("model.hidden_size") or 0) / float(s.value("model.num_attention_heads"))
    if value is None and path == "model.moe.shared_expert_intermediate_size":
        value = s.value("model.moe.moe_intermediate_size")
    return float(value) if isinstance(value, int | float) else value
