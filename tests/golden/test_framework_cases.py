"""Layouts that one framework takes and another refuses, read in their code or in public pull requests of it."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import found, made, model, one

EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024}


def interleaved(microbatches: int, framework: str) -> Any:
    """Four stages of two chunks on four accelerators, so many microbatches in a step."""
    return made(
        training__framework=framework,
        cluster__nodes=4,
        parallelism__pipeline=4,
        parallelism__virtual_pipeline=2,
        parallelism__schedule="interleaved",
        batch__global_batch_sequences=microbatches,
    )


@pytest.mark.parametrize(
    ("microbatches", "legal"), [(3, True), (4, True), (9, False), (10, True), (11, False), (12, True)]
)
def test_rounds_of_pytorch_take_more_than_one_microbatch_a_stage(microbatches: int, legal: bool) -> None:
    """pytorch/pytorch pull 129597: 4 stages with 10 or 3 microbatches run; 9 are 2 rounds, which 9 does not divide into."""
    assert (not found(interleaved(microbatches, "torchtitan"), "G5")) is legal
    assert (not found(interleaved(microbatches, "megatron"), "G5")) is (microbatches % 4 == 0)


def test_the_message_names_the_rounds() -> None:
    assert "9 microbatches are no multiple of 2 rounds" in one(interleaved(9, "torchtitan"), "G5").message


@pytest.mark.parametrize(
    ("framework", "length", "legal"),
    [("torchtitan", 4100, False), ("torchtitan", 4104, True), ("megatron", 4100, True)],
)
def test_torchtitan_splits_two_slices_of_a_context_rank_over_tensor_ranks(
    framework: str, length: int, legal: bool
) -> None:
    """torchtitan b5bcd76, trainer.py: tensor x 2 context is 8 here; Megatron-LM asks for context x lcm(2, tensor), 4."""
    laid = made(
        training__framework=framework, parallelism__tensor=2, parallelism__context=2, data__sequence_length=length
    )
    assert (not found(laid, "G9")) is legal


@pytest.mark.parametrize(
    ("heads", "keys", "framework", "severity"),
    [
        (20, 20, "deepspeed", "warning"),
        (28, 28, "deepspeed", "warning"),
        (28, None, "deepspeed", "warning"),
        (24, 24, "deepspeed", None),
        (28, 4, "deepspeed", "error"),
        (4, 4, "deepspeed", "error"),
        (20, 20, "megatron", "error"),
    ],
)
def test_deepspeed_exchanges_heads_that_do_not_divide(
    heads: int, keys: int | None, framework: str, severity: str | None
) -> None:
    """DeepSpeed pull 6392: 20 heads over 8 ranks run, some ranks with one more; fewer heads than ranks or grouped keys do not."""
    laid = made(
        model=model(
            hidden_size=heads * 128, num_attention_heads=heads, **({"num_key_value_heads": keys} if keys else {})
        ),
        training__framework=framework,
        parallelism__context=8,
        parallelism__context_type="all-to-all",
    )
    assert {finding.severity for finding in found(laid, "G10")} == ({severity} if severity else set())


def test_megatron_dropped_layers_and_maxtext_refuses_them_once() -> None:
    """NVIDIA/Megatron-LM issue 1304: 28 of 30 layers were built. MaxText refuses them: configs/types.py of e591f30."""
    changes: dict[str, Any] = {"model": model(num_hidden_layers=30), "parallelism__pipeline": 4}
    assert "2 would be dropped" in one(made(training__framework="megatron", **changes), "G4").message
    laid = made(training__framework="maxtext", **changes)
    assert not found(laid, "G4")
    assert one(laid, "G21").fix == (
        "pipeline = 1 and virtual_pipeline = 1, or pipeline = 2, "
        "or MaxText's pipeline_parallel_layers of 28: the other 2 run on every stage's data"
    )


@pytest.mark.parametrize(("layers", "pipeline", "codes"), [(7, 2, ["G4"]), (8, 2, ["G21", "G4"]), (8, 7, ["G4"])])
def test_maxtext_pipelines_the_layers_with_experts(layers: int, pipeline: int, codes: list[str]) -> None:
    """MaxText e591f30, configs/types.py: pipeline_parallel_layers of a DeepSeek block leave first_num_dense_layers out."""
    laid = made(
        model=model(num_hidden_layers=layers, moe={**EXPERTS, "first_k_dense_replace": 1}),
        training__framework="maxtext",
        cluster__nodes=pipeline,
        parallelism__pipeline=pipeline,
        parallelism__schedule="gpipe",
        batch__global_batch_sequences=56,
    )
    assert sorted(one.code for code in ("G4", "G21", "G5") for one in found(laid, code)) == codes


@pytest.mark.parametrize(
    ("layers", "pipeline", "virtual", "framework", "severity"),
    [
        (36, 4, 2, "torchtitan", None),
        (36, 4, 2, "megatron", "error"),
        (6, 4, 2, "torchtitan", None),
        (5, 4, 2, "torchtitan", "error"),
        (61, 4, 2, "torchtitan", None),
        (36, 4, 3, "torchtitan", None),
        (37, 4, 3, "torchtitan", "warning"),
    ],
)
def test_torchtitan_spreads_layers_over_chunks(
    layers: int, pipeline: int, virtual: int, framework: str, severity: str | None
) -> None:
    """pytorch/torchtitan pull 1103: stages up to layers + 2, uneven by one; b5bcd76: 39 layers and ends in 12 by none a stage."""
    laid = made(
        model=model(num_hidden_layers=layers),
        training__framework=framework,
        cluster__nodes=4,
        parallelism__pipeline=pipeline,
        parallelism__virtual_pipeline=virtual,
        parallelism__schedule="interleaved",
        batch__global_batch_sequences=64,
    )
    assert {finding.severity for finding in found(laid, "G5")} == ({severity} if severity else set())


@pytest.mark.parametrize(("layers", "legal"), [(6, True), (5, False)])
def test_zb_v_has_two_chunks_a_rank(layers: int, legal: bool) -> None:
    """torchtitan b5bcd76, distributed/pipeline_parallel.py: a schedule of more stages cuts two a rank, with something in each."""
    laid = made(
        model=model(num_hidden_layers=layers),
        training__framework="torchtitan",
        cluster__nodes=4,
        parallelism__pipeline=4,
        parallelism__schedule="zb-v",
        batch__global_batch_sequences=64,
    )
    assert (not found(laid, "G13")) is legal


@pytest.mark.parametrize(
    ("expert", "split", "tensor", "framework", "told"),
    [
        (4, 2, 2, "torchtitan", "expert_tensor = 1; the plan stands for a version before pull 3167"),
        (4, 1, 2, "torchtitan", None),
        (1, 1, 2, "torchtitan", "expert_tensor = 2, which is what it does, or expert ranks"),
        (1, 2, 2, "torchtitan", None),
        (4, 1, 1, "torchtitan", None),
        (4, 2, 2, "megatron", None),
        (1, 1, 2, "megatron", None),
    ],
)
def test_torchtitan_splits_experts_over_tensor_ranks_or_over_expert_ranks(
    expert: int, split: int, tensor: int, framework: str, told: str | None
) -> None:
    """pytorch/torchtitan pull 3167 took expert tensor ranks away; b5bcd76, models/common/moe_sharding.py, has the two layouts."""
    laid = made(
        model=model(moe=EXPERTS),
        training__framework=framework,
        parallelism__tensor=tensor,
        parallelism__expert=expert,
        parallelism__expert_tensor=split,
    )
    assert [(finding.severity, finding.fix) for finding in found(laid, "G22")] == ([("warning", told)] if told else [])


@pytest.mark.parametrize(
    ("framework", "context", "refused"),
    [("fsdp", 40, False), ("fsdp", 8, False), ("fsdp", 16, True), ("fsdp", 20, True), ("megatron", 40, True)],
)
def test_key_heads_are_repeated_to_the_ranks_that_they_divide(framework: str, context: int, refused: bool) -> None:
    """verl issue 1226: 40 query and 8 key heads run on 40 ranks; 16 do not divide the queries, 20 no keys."""
    laid = made(
        model=model(hidden_size=5120, num_attention_heads=40, num_key_value_heads=8),
        training__framework=framework,
        parallelism__context=context,
        parallelism__context_type="all-to-all",
        cluster__nodes=80,
        data__sequence_length=8000,
        batch__global_batch_sequences=80,
    )
    assert any(finding.severity == "error" for finding in found(laid, "G10")) is refused
