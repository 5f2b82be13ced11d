"""Layouts that one framework takes and another refuses, read in their code or in public pull requests of it."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import found, made, model, one


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


@pytest.mark.parametrize(
    ("framework", "fate"), [("megatron", "2 would be dropped"), ("maxtext", "2 would be left over")]
)
def test_only_megatron_dropped_layers(framework: str, fate: str) -> None:
    """NVIDIA/Megatron-LM issue 1304: 28 of 30 layers were built. MaxText refuses them: configs/types.py of e591f30."""
    laid = made(model=model(num_hidden_layers=30), training__framework=framework, parallelism__pipeline=4)
    assert fate in one(laid, "G4").message


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
    assert bool(found(laid, "G10")) is refused
