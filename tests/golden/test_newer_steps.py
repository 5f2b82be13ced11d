"""Steps of Megatron-Bridge's containers of June to August 2026, which no number was fitted on, as their recipes ran them.

What those recipes switched on is in the rows: experts in one kernel with their gate, a step as one graph, attention in fp8, and
transfers of experts hidden behind the other direction. What each is worth follows from bytes, launches and kernels' rates.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from statistics import median
from typing import Any, Final

import pytest
from test_layout_cases import found, made
from throughput_plans import case, predicted, rows

NEWER: Final = ("expert_kernels", "cuda_graphs", "attention_precision", "overlap_expert")
BY_ID: Final = {row["id"]: (source, row) for source, row in rows(fitted=False)}
SINKS: Final = "GPT OSS 120B"
"""The model that runs a fifth to a quarter slower than the others' numbers say in rows of every container, and is in no fit."""


@cache
def error(name: str, *, without: tuple[str, ...] = ()) -> float:
    """Predicted over measured less one; `without` takes settings out of the row."""
    source, row = BY_ID[name]
    kept = {key: value for key, value in row.items() if key not in without}
    return float(predicted(case(source, kept))[0].predicted_step_time) / row["step_time"] - 1.0


def names(*, fused: bool, sparse: bool = True) -> list[str]:
    return [
        name
        for name, (_, row) in BY_ID.items()
        if row["sparse"] is sparse and ("expert_kernels" in row) is fused and row["model"] != SINKS
    ]


def spread(errors: Iterable[float]) -> tuple[float, float, float]:
    """Median and largest size, and signed median."""
    kept = list(errors)
    return median(map(abs, kept)), max(map(abs, kept)), median(kept)


def test_no_fit_has_seen_these_rows() -> None:
    assert len(BY_ID) == 34
    assert not BY_ID.keys() & {row["id"] for _, row in rows()}


def test_steps_with_fused_experts_are_as_close_as_dense_ones() -> None:
    """20 rows of DeepSeek-V3 and both Qwen3 on GB200, GB300 and B300; a stack of grouped kernels is 26 to 66 % slower."""
    told = names(fused=True)
    assert len(told) == 20
    middle, most, lean = spread(error(name) for name in told)
    assert (middle <= 0.10, most <= 0.14, abs(lean) <= 0.03) == (True, True, True)
    grouped = [error(name, without=NEWER) for name in told]
    assert min(grouped) >= 0.25
    assert median(grouped) >= 0.40


@pytest.mark.parametrize("setting", NEWER)
def test_each_setting_makes_each_step_shorter(setting: str) -> None:
    told = [name for name in BY_ID if setting in BY_ID[name][1]]
    assert len(told) >= 16
    assert all(error(name) < error(name, without=(setting,)) for name in told)


def test_those_without_the_newer_kernels_stay_where_they_were() -> None:
    """DeepSeek-V3 on B300 and Qwen3-30B on H100, whose recipes had none of them; and Llama 3.1 405B."""
    told = names(fused=False)
    assert len(told) == 2
    assert max(abs(error(name)) for name in told) <= 0.04
    dense = names(fused=False, sparse=False)
    assert len(dense) == 7
    middle, most, _ = spread(error(name) for name in dense)
    assert (middle <= 0.072, most <= 0.18) == (True, True)


def test_the_model_that_is_in_no_fit_is_as_slow_as_in_all_containers() -> None:
    told = [error(name) for name, (_, row) in BY_ID.items() if row["model"] == SINKS]
    assert len(told) == 5
    assert all(-0.24 <= one <= -0.18 for one in told)


RACK: Final[dict[str, Any]] = {
    "model": {"preset": "deepseek-v3"},
    "cluster__accelerator": "gb300-nvl72",
    "cluster__accelerators_per_node": 4,
    "cluster__nodes": 64,
    "data__sequence_length": 4096,
    "batch__global_batch_sequences": 4096,
    "parallelism__pipeline": 2,
    "parallelism__virtual_pipeline": 8,
    "parallelism__expert": 32,
    "training__precision": "fp8-mixed",
}
FUSED: Final = {"training__expert_kernels": "fused", "training__cuda_graphs": "full-iteration"}


def codes(code: str, **more: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.severity, one.paths) for one in found(made(**{**RACK, **more}), code)]


def test_kernels_that_a_part_or_a_framework_has_not_are_told() -> None:
    """C23: TransformerEngine's ops/fused/grouped_mlp.py, and Megatron-LM's cuda_graph.md and paged_stash.md."""
    assert not codes("C23", **FUSED)
    assert codes("C23", **FUSED, cluster__accelerator="h100-sxm") == [
        ("warning", ("training.expert_kernels", "cluster.accelerator"))
    ]
    assert codes("C23", **FUSED, training__precision="bf16-mixed") == [
        ("warning", ("training.expert_kernels", "training.precision"))
    ]
    dense = {"model": {"preset": "llama-3.1-405b"}, "parallelism__expert": 1}
    assert not codes("C23", **dense, training__expert_kernels="fused", training__precision="bf16-mixed")
    assert [one.paths for one in found(made(**{**RACK, **dense, **FUSED}), "P12")] == [("training.expert_kernels",)]
    assert codes("C23", training__cuda_graphs="full-iteration") == [
        ("warning", ("training.cuda_graphs", "training.expert_kernels"))
    ]
    assert codes("C23", training__attention_precision="fp8", cluster__accelerator="a100-sxm-80") == [
        ("warning", ("training.attention_precision", "cluster.accelerator"))
    ]
    assert codes("C23", training__attention_precision="fp8", training__framework="torchtitan") == [
        ("warning", ("training.attention_precision", "training.framework"))
    ]


def test_memory_of_a_graph_and_what_others_gained_are_told() -> None:
    assert codes("M19", **FUSED) == [("warning", ("memory.runtime_overhead", "training.cuda_graphs"))]
    assert not codes("M19", **FUSED, memory__runtime_overhead="12GiB")
    assert not codes("M19")
    assert codes("P15") == [("info", ("training.expert_kernels",))]
    assert not codes("P15", **FUSED)
    assert not codes("P15", cluster__accelerator="h100-sxm")
