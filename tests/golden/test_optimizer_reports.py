"""Optimizers, number types and schedules that frameworks refused in public reports, and what their code says now."""

from __future__ import annotations

from typing import Any

import pytest
from test_framework_reports import codes
from test_layout_cases import found, made, model

MEGATRON, TITAN, DEEP, XLA, FSDP = (
    {"training__framework": name} for name in ("megatron", "torchtitan", "deepspeed", "maxtext", "fsdp")
)


def optimizer(name: str, **changes: Any) -> dict[str, Any]:
    return {"training__optimizer": name, **changes}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({**MEGATRON, **optimizer("sgd-momentum")}, [("error", "G24")]),
        ({**MEGATRON, **optimizer("sgd-momentum", parallelism__sharding="none")}, []),
        ({**MEGATRON, **optimizer("sgd-momentum", parallelism__sharding="zero-2")}, [("warning", "G24")]),
        ({**MEGATRON, **optimizer("sgd-momentum", parallelism__sharding="zero-3")}, [("warning", "G24")]),
        ({**MEGATRON, **optimizer("adamw", parallelism__sharding="zero-3")}, []),
        ({**MEGATRON, **optimizer("muon")}, []),
        ({**MEGATRON, **optimizer("lion")}, []),
        ({**MEGATRON, **optimizer("muon", parallelism__sharding="zero-3")}, [("error", "G12")]),
        ({**MEGATRON, **optimizer("muon", training__precision="fp16-mixed")}, [("error", "C22")]),
        ({**MEGATRON, **optimizer("lion", training__moment_dtype="bf16")}, [("error", "C22")]),
        ({**MEGATRON, **optimizer("muon", training__optimizer_offload=True)}, [("error", "C22")]),
        ({**MEGATRON, "training__moment_dtype": "bf16"}, []),
        ({**MEGATRON, "training__moment_dtype": "bf16", "parallelism__sharding": "none"}, [("error", "G24")]),
        ({**MEGATRON, "training__optimizer_offload": True, "parallelism__sharding": "none"}, [("error", "G24")]),
        ({**MEGATRON, "training__optimizer_offload": True}, []),
        ({**MEGATRON, **optimizer("adafactor")}, [("warning", "C21")]),
        ({**TITAN, **optimizer("adamw-8bit")}, [("warning", "C21")]),
        ({**TITAN, **optimizer("lion")}, [("warning", "C21")]),
        ({**TITAN, **optimizer("muon")}, []),
        ({**TITAN, "training__precision": "fp16-mixed"}, [("error", "C22")]),
        ({**XLA, **optimizer("lion")}, [("warning", "C21")]),
        ({**XLA, **optimizer("muon")}, []),
        ({**FSDP, **optimizer("adamw-8bit")}, []),
        ({**DEEP, **optimizer("adamw-8bit", parallelism__sharding="zero-2")}, [("warning", "C21")]),
        ({**DEEP, **optimizer("adamw-8bit", parallelism__sharding="none")}, []),
        ({**DEEP, **optimizer("muon", parallelism__sharding="zero-2")}, []),
        ({**DEEP, **optimizer("muon", parallelism__sharding="zero-3")}, [("warning", "C22")]),
        (
            {**DEEP, **optimizer("muon", parallelism__sharding="zero-2", training__optimizer_offload=True)},
            [("warning", "C22")],
        ),
        ({**DEEP, "training__optimizer_offload": True, "parallelism__sharding": "none"}, [("error", "G24")]),
        ({**DEEP, "training__optimizer_offload": True, "parallelism__sharding": "zero-1"}, []),
    ],
)
def test_an_optimizer_and_its_states(changes: dict[str, Any], told: list[tuple[str, str]]) -> None:
    """Megatron-LM issues 1287 (sgd), 5961 (muon with FSDP) and 2164 (muon with zero-1, which runs now); pytorch/ao issue 1499.

    DeepSpeed issues 8463 and 4083, and axolotl pull request 2464, which kept muon from DeepSpeed and FSDP.
    """
    laid = made(**changes)
    assert codes(laid, "G12", "G24", "C21", "C22") == told


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({**TITAN, "batch__global_batch_sequences": 4}, "error"),
        ({**TITAN, "batch__global_batch_sequences": 8}, None),
        ({**TITAN, "batch__global_batch_sequences": 4, "parallelism__schedule": "gpipe"}, None),
        (
            {
                **TITAN,
                "batch__global_batch_sequences": 4,
                "parallelism__schedule": "interleaved",
                "parallelism__virtual_pipeline": 2,
            },
            None,
        ),
        ({**MEGATRON, "batch__global_batch_sequences": 4}, None),
    ],
)
def test_pytorch_wants_a_microbatch_for_each_stage(changes: dict[str, Any], severity: str | None) -> None:
    """pytorch/torchtitan issue 775: 8 stages and fewer microbatches hung; PyTorch 00722e6 raises ValueError in Schedule1F1B."""
    laid = made(parallelism__pipeline=8, **changes)
    assert {one.severity for one in found(laid, "G13")} == ({severity} if severity else set())
    fewer = changes["batch__global_batch_sequences"] < 8
    assert bool(found(laid, "P4")) is (fewer and severity is None)


@pytest.mark.parametrize(
    ("framework", "size", "told"), [("fsdp", 1, True), ("fsdp", 2, False), ("torchtitan", 1, False)]
)
def test_a_shard_group_of_one_reduces_nothing(framework: str, size: int, told: bool) -> None:
    """pytorch/pytorch issue 154888 and verl-project/verl issue 7493: HYBRID_SHARD over one rank trains a copy on every rank."""
    laid = made(training__framework=framework, parallelism__sharding="hsdp", parallelism__shard_size=size)
    assert codes(laid, "G11") == ([("warning", "G11")] if told else [])


@pytest.mark.parametrize(("sequences", "pipeline", "told"), [(64, 1, True), (8, 1, False), (64, 2, False)])
def test_maxtext_accumulates_no_gradients_in_fp8(sequences: int, pipeline: int, told: bool) -> None:
    """AI-Hypercomputer/maxtext e591f30, configs/types.py: FP8 quantization is not compatible with gradient accumulation."""
    laid = made(
        **XLA,
        training__precision="fp8-mixed",
        cluster__accelerator="h100-sxm",
        parallelism__pipeline=pipeline,
        parallelism__schedule="gpipe",
        batch__global_batch_sequences=sequences,
    )
    assert bool(found(laid, "G19")) is told


@pytest.mark.parametrize(
    ("framework", "kind", "told"),
    [
        ("megatron", "learned", True),
        ("megatron", "alibi", True),
        ("megatron", "rope", False),
        ("fsdp", "learned", False),
    ],
)
def test_megatron_predicts_further_tokens_with_rotary_positions(framework: str, kind: str, told: bool) -> None:
    """NVIDIA/Megatron-LM pull request 6472 lists what prediction depths do not take; d98e8a6 asserts rope or none."""
    shape = model(mtp={"num_nextn_predict_layers": 1}, position_embedding=kind, max_position_embeddings=4096)
    assert bool(found(made(model=shape, training__framework=framework), "model-prediction")) is told


@pytest.mark.parametrize(
    ("part", "told"), [("a100-sxm-80", True), ("l40s", False), ("h100-sxm", False), ("mi300x", False)]
)
def test_parts_before_ada_have_no_fp8(part: str, told: bool) -> None:
    """pytorch/torchtitan pull requests 549 (four L40 train in float8) and 3758: SM89 or later, and MI300."""
    laid = made(**TITAN, training__precision="fp8-mixed", cluster__accelerator=part)
    assert bool(found(laid, "C5")) is told


UNEVEN = [
    ({"model": model(num_hidden_layers=80), "cluster__nodes": 16, "parallelism__pipeline": 16, "virtual": 2}, "G5"),
    ({**TITAN, "cluster__nodes": 8, "parallelism__tensor": 2, "parallelism__pipeline": 3}, "G1"),
    ({**DEEP, "parallelism__pipeline": 2, "parallelism__sharding": "zero-2"}, "G12"),
    ({"model": {"preset": "gpt2"}, "data__sequence_length": 1024, "parallelism__tensor": 8}, "G6"),
    ({**DEEP, "cluster__nodes": 7, "batch__global_batch_sequences": 256, "batch__micro_batch_sequences": 2}, "G2"),
    (
        {
            "model": {"preset": "qwen3-8b"},
            "cluster__nodes": 4,
            "cluster__accelerator": "h100-sxm",
            "data__sequence_length": 16368,
            "parallelism__tensor": 4,
            "training__precision": "fp8-mixed",
        },
        "G19",
    ),
    ({**FSDP, "cluster__nodes": 1, "batch__global_batch_sequences": 2, "batch__micro_batch_sequences": 4}, "G2"),
    ({"model": {"preset": "qwen2.5-7b"}, "parallelism__tensor": 8}, "G6"),
]


@pytest.mark.parametrize(
    ("changes", "code"),
    UNEVEN,
    ids=[
        "megatron-468",
        "titan-27",
        "deepspeed-823",
        "colossalai-3043",
        "openrlhf-346",
        "nemo-rl-1551",
        "nanochat-532",
        "adaptthink-1",
    ],
)
def test_numbers_that_do_not_divide(changes: dict[str, Any], code: str) -> None:
    """What each was told when it started; the names of the cases are their repositories and numbers."""
    laid = dict(changes)
    if "virtual" in laid:
        laid |= {"parallelism__virtual_pipeline": laid.pop("virtual"), "parallelism__schedule": "interleaved"}
    assert "error" in {one.severity for one in found(made(**laid), code)}
