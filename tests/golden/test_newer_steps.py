"""Steps of Megatron-Bridge's containers of June to August 2026, which no number was fitted on, as their recipes ran them.

What those recipes switched on is in the rows: experts in one kernel with their gate, a step as one graph, attention in fp8, and
transfers of experts hidden behind the other direction. What each is worth follows from bytes, launches and kernels' rates.
"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any, Final

import pytest
from test_layout_cases import found, made
from throughput_plans import case, predicted, rows

NEWER: Final = ("expert_kernels", "cuda_graphs", "attention_precision", "overlap_expert")
BY_ID: Final = {row["id"]: (source, row) for source, row in rows(fitted=False)}
SINKS: Final = "GPT OSS 120B"
"""The model that is in no fit of experts: on racks it runs a fifth to a quarter slower than the others' numbers say."""


@cache
def error(name: str, *, without: tuple[str, ...] = ()) -> float:
    """Predicted over measured less one; `without` takes settings out of the row."""
    source, row = BY_ID[name]
    kept = {key: value for key, value in row.items() if key not in without}
    return float(predicted(case(source, kept))[0].predicted_step_time) / row["step_time"] - 1.0


LAYOUT: Final = ("model", "accelerator", "gpus", "mbs", "gbs", "precision")


def apart(*, fused: bool, sparse: bool = True, without: tuple[str, ...] = ()) -> dict[tuple[Any, ...], float]:
    """The median error of each layout: containers repeat them."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for name, (_, row) in BY_ID.items():
        if row["sparse"] is sparse and ("expert_kernels" in row) is fused and row["model"] != SINKS:
            found.setdefault(tuple(row[key] for key in LAYOUT), []).append(error(name, without=without))
    return {layout: median(errors) for layout, errors in found.items()}


def test_no_fit_has_seen_these_rows() -> None:
    assert len(BY_ID) == 35
    assert not BY_ID.keys() & {row["id"] for _, row in rows()}


def test_steps_with_fused_experts_are_nearer_than_those_of_the_fit_left_out() -> None:
    """20 rows of 8 layouts, DeepSeek-V3 and both Qwen3 on GB200, GB300 and B300; a median of 12 % is the fit's, left out.

    DeepSeek-V3 lies 16 % slow, Qwen3-30B 4 % fast to 7 % slow, Qwen3-235B 5 to 11 % slow. Predicted with grouped kernels, no graph,
    16-bit attention and dispatch in sight they are 25 to 66 % too slow.
    """
    off = apart(fused=True)
    assert len(off) == 8
    assert median(map(abs, off.values())) <= 0.12
    assert max(map(abs, off.values())) <= 0.18
    grouped = apart(fused=True, without=NEWER).values()
    assert min(grouped) >= 0.25
    assert median(grouped) >= 0.40


@pytest.mark.parametrize("setting", NEWER)
def test_each_setting_makes_each_step_shorter(setting: str) -> None:
    told = [name for name in BY_ID if setting in BY_ID[name][1]]
    assert len(told) >= 16
    assert all(error(name) < error(name, without=(setting,)) for name in told)


def test_those_without_the_newer_kernels_stay_where_they_were() -> None:
    """DeepSeek-V3 on B300, Kimi K2 on GB300 and Qwen3-30B on H100, whose recipes had none of them; and Llama 3.1 405B."""
    sparse, dense = apart(fused=False), apart(fused=False, sparse=False)
    assert (len(sparse), len(dense)) == (3, 7)
    assert max(map(abs, sparse.values())) <= 0.11
    assert median(map(abs, dense.values())) <= 0.08
    assert max(map(abs, dense.values())) <= 0.20


def test_the_model_that_is_in_no_fit_is_as_slow_as_on_racks_of_other_containers() -> None:
    """A fifth to a quarter, as on GB200 and GB300 since 25.11; 26.02.01 to 26.04.01 on B200 and H100 are within 6 %."""
    told = [error(name) for name, (_, row) in BY_ID.items() if row["model"] == SINKS]
    assert len(told) == 5
    assert all(-0.26 <= one <= -0.17 for one in told)


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
GRAPH: Final = {"training__cuda_graphs": "full-iteration"}
FUSED: Final = {**GRAPH, "training__expert_kernels": "fused"}
FLAT: Final = {"parallelism__pipeline": 1, "parallelism__virtual_pipeline": 1}


def codes(code: str, **more: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.severity, one.paths) for one in found(made(**{**RACK, **more}), code)]


def test_kernels_that_a_part_or_a_framework_has_not_are_told() -> None:
    """C23: TransformerEngine's ops/fused/grouped_mlp.py, Megatron-LM's experts.py, cuda_graph.md and paged_stash.md."""
    assert not codes("C23", **FUSED, training__attention_precision="fp8")
    attention = {"training__attention_precision": "fp8"}
    for more, field, other in (
        ({**FUSED, "cluster__accelerator": "h100-sxm"}, "expert_kernels", "cluster.accelerator"),
        ({**FUSED, "training__precision": "bf16-mixed"}, "expert_kernels", "training.precision"),
        ({**FUSED, "training__kernels": "torch-eager"}, "expert_kernels", "training.kernels"),
        (
            {**FUSED, "parallelism__tensor": 2, "parallelism__expert_tensor": 2},
            "expert_kernels",
            "parallelism.expert_tensor",
        ),
        ({**GRAPH}, "cuda_graphs", "training.expert_kernels"),
        ({**GRAPH, "training__framework": "torchtitan"}, "cuda_graphs", "parallelism.pipeline"),
        ({**GRAPH, "training__framework": "torchtitan", **FLAT}, "cuda_graphs", "parallelism.expert"),
        ({**GRAPH, "training__framework": "maxtext"}, "cuda_graphs", "training.framework"),
        ({**attention, "cluster__accelerator": "a100-sxm-80"}, "attention_precision", "cluster.accelerator"),
        ({**attention, "training__precision": "bf16-mixed"}, "attention_precision", "training.precision"),
        ({**attention, "training__framework": "torchtitan"}, "attention_precision", "training.framework"),
    ):
        assert codes("C23", **more) == [("warning", (f"training.{field}", other))], more


def test_a_model_without_experts_is_told_once_and_a_missing_one_not_at_all() -> None:
    dense = {"model": {"preset": "llama-3.1-405b"}, "parallelism__expert": 1}
    assert not codes("C23", **dense, training__expert_kernels="fused", training__precision="bf16-mixed")
    assert [one.paths for one in found(made(**{**RACK, **dense, **FUSED}), "P12")] == [("training.expert_kernels",)]
    assert not found(made(**{**RACK, "model": {}, **FUSED}), "P12")


def test_the_fix_of_a_graph_is_fused_experts_where_the_part_has_them() -> None:
    (graph,) = found(made(**{**RACK, **GRAPH}), "C23")
    assert graph.fix.startswith('expert_kernels = "fused"')
    (hopper,) = found(made(**{**RACK, **GRAPH, "cluster__accelerator": "h100-sxm"}), "C23")
    assert "fused" not in hopper.fix


def test_memory_of_a_graph_and_what_others_gained_are_told() -> None:
    assert codes("M19", **FUSED) == [("warning", ("memory.runtime_overhead", "training.cuda_graphs"))]
    assert not codes("M19", **FUSED, memory__runtime_overhead="12GiB")
    assert not codes("M19")
    (gain,) = found(made(**RACK), "P15")
    assert (gain.severity, len(gain.paths)) == ("info", 4)
    assert "1.17 to 1.56" in gain.message
    assert not codes("P15", **FUSED)
    assert not codes("P15", training__expert_kernels="grouped")
    assert not codes("P15", cluster__accelerator="h100-sxm")


def test_the_range_of_gains_is_that_of_the_two_containers_where_layouts_stayed() -> None:
    """The rows of 26.04.01 and 26.06 with fused experts, of one microbatch and layout."""
    keys = ("model", "accelerator", "precision", "gpus", "mbs", "gbs", "tp", "pp", "cp", "ep")
    old = {tuple(row.get(key) for key in keys): row for _, row in rows() if row.get("table") == "26.04.01 pretrain"}
    new = [row for _, row in BY_ID.values() if row["table"] == "26.06 pretrain" and "expert_kernels" in row]
    both = [(old[key], row) for row in new if (key := tuple(row.get(one) for one in keys)) in old]
    gains = sorted(after["tokens_per_second"] / before["tokens_per_second"] for before, after in both)
    assert [round(gain, 2) for gain in gains] == [1.17, 1.3, 1.3, 1.33, 1.43, 1.56]
