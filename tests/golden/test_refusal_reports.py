"""Layouts that a framework refused or that failed in public reports of 2025 and 2026, and what would have run."""

from __future__ import annotations

from typing import Any

import pytest
from test_framework_cases import EXPERTS
from test_framework_reports import codes
from test_layout_cases import found, made, model

ULYSSES = {"training__framework": "deepspeed", "parallelism__context_type": "all-to-all"}


@pytest.mark.parametrize(("expert", "split", "told"), [(2, 2, [("error", "G22")]), (1, 2, []), (2, 1, []), (1, 1, [])])
def test_copies_of_a_shard_group_divide_the_data_ranks_of_experts(
    expert: int, split: int, told: list[tuple[str, str]]
) -> None:
    """NVIDIA/Megatron-LM issue 4342 and pull 4984: 4 ranks, tensor 2, expert 2, two optimizer instances: 1 data rank of experts."""
    laid = made(
        model=model(num_hidden_layers=4, moe=EXPERTS),
        cluster__nodes=4,
        parallelism__tensor=2,
        parallelism__expert=expert,
        parallelism__expert_tensor=split,
        parallelism__sharding="hsdp",
        parallelism__shard_size=1,
    )
    assert codes(laid, "G22") == told
    assert all("expert = 1" in finding.fix for finding in found(laid, "G22"))


@pytest.mark.parametrize(
    ("sharding", "precision", "context", "told"),
    [
        ("none", "bf16-mixed", 4, 1),
        ("none", "fp32", 4, 0),
        ("zero-1", "bf16-mixed", 4, 0),
        ("none", "bf16-mixed", 1, 0),
    ],
)
def test_ulysses_of_deepspeed_wants_stages(sharding: str, precision: str, context: int, told: int) -> None:
    """deepspeedai/DeepSpeed issue 7833: stages 1 to 3 train with Ulysses, stage 0 fails in the first step of the optimizer."""
    laid = made(**ULYSSES, parallelism__sharding=sharding, parallelism__context=context, training__precision=precision)
    assert len(found(laid, "G21")) == told


@pytest.mark.parametrize(
    ("heads", "keys", "ranks", "fix"), [(48, 48, 64, "context = 16"), (28, 4, 8, "context = 4"), (28, 4, 4, None)]
)
def test_ulysses_is_told_the_ranks_over_which_heads_divide(heads: int, keys: int, ranks: int, fix: str | None) -> None:
    """DeepSpeed issue 4674 found 16 for itself where 64 failed; LongPO issue 5 asks how 28 heads run on 8: there is no ring."""
    laid = made(
        model=model(num_attention_heads=heads, num_key_value_heads=keys, hidden_size=128 * heads, num_hidden_layers=8),
        **ULYSSES,
        parallelism__sharding="zero-3",
        parallelism__context=ranks,
        cluster__nodes=ranks,
    )
    fixes = [finding.fix for finding in found(laid, "G10")]
    assert [one.startswith(str(fix)) for one in fixes] == ([True] if fix else [])


@pytest.mark.parametrize(
    ("framework", "pipeline", "recompute", "told"),
    [
        ("megatron", 2, "none", "2 pipeline stages"),
        ("megatron", 1, "full", "full recompute"),
        ("megatron", 1, "none", None),
        ("torchtitan", 2, "full", None),
    ],
)
def test_megatron_offloads_activations_of_one_stage(
    framework: str, pipeline: int, recompute: str, told: str | None
) -> None:
    """NVIDIA-NeMo/Megatron-Bridge pull 3144: ValueError, no pipeline parallelism with CPU offloading; Megatron pull 1913 has it."""
    laid = made(
        training__framework=framework,
        training__activation_offload=True,
        parallelism__pipeline=pipeline,
        parallelism__recompute=recompute,
    )
    messages = [finding.message for finding in found(laid, "G21") if "host memory" in finding.message]
    assert [f"with {told}:" in message for message in messages] == ([True] if told else [])


def test_expert_ranks_that_are_proposed_divide_the_mesh() -> None:
    """pytorch/torchtitan pull 4258: experts and the sparse mesh both divide over expert ranks; of 6 ranks 4 never do."""
    laid = made(
        model=model(num_hidden_layers=4, moe=EXPERTS),
        training__framework="torchtitan",
        cluster__nodes=6,
        parallelism__expert=6,
        batch__global_batch_sequences=60,
    )
    assert [finding.fix for finding in found(laid, "G8")] == ["expert = 2"]


@pytest.mark.parametrize(("tensor", "told"), [(8, False), (4, True)])
def test_a_single_data_rank_gathers_nothing(tensor: int, told: bool) -> None:
    """The layout of torchtitan pull 1312, tensor 8 on 8 ranks: zero-3 over one rank sends nothing, so nothing is said of it."""
    laid = made(training__framework="torchtitan", parallelism__tensor=tensor)
    assert bool(found(laid, "P10")) is told


def test_a_shard_group_is_never_asked_to_have_more_ranks_than_there_are() -> None:
    """Issue 4342 once more: two ranks share states, and a scale-up domain of 8 over tensor 2 would be four."""
    laid = made(
        cluster__nodes=1,
        cluster__accelerators_per_node=4,
        parallelism__tensor=2,
        parallelism__sharding="hsdp",
        parallelism__shard_size=1,
    )
    assert [finding.fix.partition(",")[0] for finding in found(laid, "P9")] == ["shard_size = 2"]


def refused(**changes: Any) -> set[str]:
    """Codes of errors of the mesh and the layout."""
    return {
        code for severity, code in codes(made(**changes), "G3", "G4", "G5", "G8", "G9", "G16") if severity == "error"
    }


GLM = model(num_hidden_layers=46, moe={"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1408})
NODES = {"cluster__nodes": 8, "cluster__accelerators_per_node": 8}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (
            {"model": GLM, **NODES, "parallelism__pipeline": 4, "parallelism__tensor": 8, "parallelism__expert": 16},
            "G4",
        ),
        ({"model": model(num_hidden_layers=33), "parallelism__pipeline": 2}, "G4"),
        (
            {
                "model": model(num_hidden_layers=48),
                "cluster__nodes": 48,
                "parallelism__pipeline": 6,
                "parallelism__virtual_pipeline": 2,
                "parallelism__schedule": "interleaved",
                "batch__global_batch_sequences": 24,
            },
            "G5",
        ),
        ({"model": GLM, "parallelism__tensor": 2, "parallelism__expert": 8, "parallelism__expert_tensor": 2}, "G3"),
        (
            {
                "model": GLM,
                "cluster__nodes": 4,
                "parallelism__pipeline": 2,
                "parallelism__expert": 2,
                "parallelism__expert_tensor": 2,
            },
            "G3",
        ),
        ({"model": GLM, "parallelism__tensor": 2, "parallelism__sequence_parallel": False}, "G16"),
        ({"training__framework": "torchtitan", "parallelism__tensor": 8, "data__sequence_length": 4100}, "G9"),
        ({"model": GLM, "training__framework": "torchtitan", "parallelism__expert": 3}, "G3"),
    ],
    ids=[
        "swift-5737",
        "bionemo-784",
        "speech-14288",
        "bridge-5754",
        "speech-14838",
        "rl-1075",
        "titan-1312",
        "titan-4258",
    ],
)
def test_what_was_refused_is_an_error(changes: dict[str, Any], code: str) -> None:
    """ms-swift 5737, bionemo-recipes 784, NeMo Speech 14288, 14838, Megatron-Bridge 5754, NeMo RL 1075, torchtitan 1312, 4258."""
    assert code in refused(**changes)


def test_a_dense_model_needs_no_sequence_parallel() -> None:
    """ROCm/Megatron-LM pull 85: the rule of experts is not one of dense models."""
    assert not refused(parallelism__tensor=2, parallelism__sequence_parallel=False)
