"""Layouts of public reports that a framework refuses or runs, and what its code says of them now."""

from __future__ import annotations

from typing import Any

import pytest
from test_framework_cases import EXPERTS
from test_layout_cases import found, made, model

AUTO = {"training__framework": "deepspeed"}


def codes(estimated: Any, *names: str) -> list[tuple[str, str]]:
    return [(one.severity, one.code) for name in names for one in found(estimated, name)]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"parallelism__pipeline": 2}, "prediction depths with pipeline ranks: torchtitan refuses to train them"),
        ({"parallelism__context": 2}, "prediction depths with context ranks: torchtitan refuses to train them"),
        ({"parallelism__tensor": 2}, None),
        ({"parallelism__pipeline": 2, "training__framework": "megatron"}, None),
    ],
)
def test_torchtitan_predicts_further_tokens_without_pipeline_and_context(changes: Any, told: str | None) -> None:
    """pytorch/torchtitan pull 4488 is open; b5bcd76, models/deepseek_v3/mtp.py, raises NotImplementedError."""
    laid = made(model=model(mtp={"num_nextn_predict_layers": 1}), **{"training__framework": "torchtitan", **changes})
    assert [finding.message for finding in found(laid, "G21")] == ([told] if told else [])


@pytest.mark.parametrize(
    ("length", "context", "precision", "legal"),
    [(5500, 2, "fp8-mixed", False), (5504, 2, "fp8-mixed", True), (5500, 2, "bf16-mixed", True)],
)
def test_tokens_of_a_rank_are_rows_of_fp8_products(length: int, context: int, precision: str, legal: bool) -> None:
    """NVIDIA-NeMo/Speech pull 8869: sequences are padded so that TransformerEngine's products in fp8 take a rank's slice."""
    laid = made(
        training__precision=precision,
        parallelism__context=context,
        data__sequence_length=length,
        cluster__accelerator="h100-sxm",
    )
    assert (not found(laid, "G19")) is legal


@pytest.mark.parametrize(
    ("framework", "pipeline", "last", "severity"),
    [("megatron", 1, 1, "error"), ("megatron", 1, 32, None), ("deepspeed", 1, 1, None), ("megatron", 2, 16, None)],
)
def test_ends_of_one_stage(framework: str, pipeline: int, last: int, severity: str | None) -> None:
    """NVIDIA/Megatron-LM issue 1778: 20 layers with one stage and a last one of 1 built a model of 1 layer; d98e8a6 refuses."""
    laid = made(training__framework=framework, parallelism__pipeline=pipeline, parallelism__last_stage_layers=last)
    assert {finding.severity for finding in found(laid, "G4")} == ({severity} if severity else set())


@pytest.mark.parametrize(
    ("framework", "context", "length", "legal"),
    [
        ("deepspeed", 4, 4100, True),
        ("deepspeed", 8, 4100, False),
        ("maxtext", 4, 4100, True),
        ("megatron", 4, 4100, False),
    ],
)
def test_ulysses_gives_a_rank_one_slice(framework: str, context: int, length: int, legal: bool) -> None:
    """deepspeedai/DeepSpeed issue 5177 and MaxText pull 4687 ask for context ranks; Megatron-LM for twice as many everywhere."""
    laid = made(
        training__framework=framework,
        parallelism__context=context,
        parallelism__context_type="all-to-all",
        data__sequence_length=length,
    )
    assert (not found(laid, "G9")) is legal


@pytest.mark.parametrize(
    ("framework", "context", "expected"),
    [
        ("fsdp", 8, []),
        ("fsdp", 16, [("error", "G10")]),
        ("fsdp", 40, [("warning", "G10")]),
        ("deepspeed", 40, [("warning", "G10")]),
        ("megatron", 40, [("error", "G10")]),
    ],
)
def test_ulysses_repeats_key_heads(framework: str, context: int, expected: list[tuple[str, str]]) -> None:
    """verl-project/verl issue 1226: 40 query and 8 key heads run on 8 or 40 ranks; DeepSpeed edaa722, ulysses_sp.py, alike."""
    laid = made(
        model=model(hidden_size=5120, num_attention_heads=40, num_key_value_heads=8),
        training__framework=framework,
        cluster__nodes=context,
        parallelism__context=context,
        parallelism__context_type="all-to-all",
        data__sequence_length=1600,
    )
    assert sorted(set(codes(laid, "G10"))) == expected


@pytest.mark.parametrize(("context", "told"), [(2, []), (3, [("warning", "G18")]), (1, [])])
def test_maxtext_balances_a_ring_over_pairs(context: int, told: list[tuple[str, str]]) -> None:
    """MaxText e591f30, utils/max_utils.py: cp_size must be a multiple of 2."""
    laid = made(
        training__framework="maxtext",
        cluster__nodes=6,
        parallelism__context=context,
        data__sequence_length=6144,
        batch__global_batch_sequences=60,
    )
    assert codes(laid, "G18") == told


@pytest.mark.parametrize(
    ("sharding", "changes", "severity"),
    [
        ("zero-3", {}, "warning"),
        ("zero-3", {"parallelism__tensor": 2}, "error"),
        ("zero-3", {"parallelism__context": 2, "parallelism__context_type": "all-to-all"}, "error"),
        ("hsdp", {"parallelism__shard_size": 4}, "error"),
        ("zero-2", {}, None),
        ("zero-3", {"parallelism__expert": 1}, None),
    ],
)
def test_deepspeed_shards_no_parameters_of_its_own_experts(sharding: str, changes: Any, severity: str | None) -> None:
    """deepspeedai/DeepSpeed issues 1392 and 2870: MoE not supported with stage 3; edaa722 lets AutoEP, and AutoEP alone."""
    told = {"training__framework": "deepspeed", "parallelism__sharding": sharding, "parallelism__expert": 4, **changes}
    assert {finding.severity for finding in found(made(model=model(moe=EXPERTS), **told), "G23")} == (
        {severity} if severity else set()
    )


@pytest.mark.parametrize(
    ("framework", "kind", "length", "severity"),
    [
        ("megatron", "rope", 4096, "warning"),
        ("torchtitan", "rope", 4096, "warning"),
        ("deepspeed", "rope", 4096, "info"),
        ("deepspeed", "learned", 4096, "error"),
        ("megatron", "learned", 2048, None),
    ],
)
def test_a_sequence_ends_where_positions_do(framework: str, kind: str, length: int, severity: str | None) -> None:
    """Megatron-LM d98e8a6, training/arguments.py, and torchtitan b5bcd76, models/common/decoder.py, refuse longer sequences."""
    laid = made(
        model=model(max_position_embeddings=2048, position_embedding=kind),
        training__framework=framework,
        data__sequence_length=length,
    )
    assert {finding.severity for finding in found(laid, "model-positions")} == ({severity} if severity else set())


@pytest.mark.parametrize(
    ("framework", "keys", "tensor", "severity"),
    [
        ("megatron", 4, 8, "warning"),
        ("torchtitan", 2, 8, "error"),
        ("fsdp", 4, 8, "error"),
        ("deepspeed", 4, 8, "error"),
        ("maxtext", 4, 8, "error"),
        ("fsdp", 4, 4, None),
    ],
)
def test_key_heads_are_copied_by_megatron_alone(framework: str, keys: int, tensor: int, severity: str | None) -> None:
    """huggingface/transformers issue 48307 and pytorch/torchtitan pull 2577: fewer key heads than tensor ranks fail."""
    laid = made(model=model(num_key_value_heads=keys), training__framework=framework, parallelism__tensor=tensor)
    assert {finding.severity for finding in found(laid, "G7")} == ({severity} if severity else set())
    assert "tensor = 16" not in str([finding.fix for finding in found(laid, "G7")])


@pytest.mark.parametrize(
    ("framework", "severity"), [("deepspeed", "warning"), ("megatron", "error"), ("torchtitan", "error")]
)
def test_deepspeed_cuts_heads_unevenly(framework: str, severity: str) -> None:
    """deepspeedai/DeepSpeed issue 3634: 52 heads on 8 ranks were refused; edaa722, tp_shard.py, gives four of them seven."""
    laid = made(
        model=model(num_attention_heads=52, hidden_size=6656), training__framework=framework, parallelism__tensor=8
    )
    assert codes(laid, "G6", "G7") == [(severity, "G6")]


def test_one_number_of_tensor_ranks_mends_one_finding() -> None:
    """DeepSpeed issue 3634 once more: heads, key heads and a width that all leave a rest are one fault with one fix."""
    shape = model(
        num_attention_heads=52, num_key_value_heads=26, hidden_size=6656, intermediate_size=17940, num_hidden_layers=8
    )
    (told,) = (one for code in ("G6", "G7") for one in found(made(model=shape, **AUTO, parallelism__tensor=8), code))
    assert told.message.startswith("52 query heads, 17,940 columns of the MLP and 26 key heads do not divide over 8")
    assert told.fix.startswith("tensor = 2")
    assert not codes(made(model=shape, **AUTO, parallelism__tensor=2), "G6", "G7")


def test_key_heads_that_query_heads_do_not_divide_into_are_told_once() -> None:
    """flash-linear-attention issue 1029: no number of tensor ranks mends such heads, so the layout says nothing of them."""
    laid = made(model=model(num_key_value_heads=6), parallelism__tensor=8)
    assert codes(laid, "model-groups", "G7") == [("error", "model-groups")]


@pytest.mark.parametrize(
    ("framework", "micro", "legal"), [("torchtitan", 1, False), ("torchtitan", 2, True), ("megatron", 2, True)]
)
def test_torchtitan_cuts_the_tokens_of_a_microbatch(framework: str, micro: int, legal: bool) -> None:
    """torchtitan b5bcd76, trainer.py: num_tokens_per_pp_microbatch is a multiple of tensor x 2 context."""
    laid = made(
        training__framework=framework,
        parallelism__tensor=2,
        parallelism__context=2,
        data__sequence_length=4100,
        batch__micro_batch_sequences=micro,
    )
    assert (not found(laid, "G9")) is legal


@pytest.mark.parametrize(
    ("microbatches", "told"), [(10, "rounds of 5 "), (7, "rounds of 7 "), (3, None), (6, "rounds of 6 ")]
)
def test_megatron_takes_longer_rounds_of_microbatches(microbatches: int, told: str | None) -> None:
    """verl-project/verl issue 1004: range [PP, M]; d98e8a6, pipeline_parallel/schedules.py: a rest is 0 or PP at least."""
    laid = made(
        cluster__nodes=4,
        parallelism__pipeline=4,
        parallelism__virtual_pipeline=2,
        parallelism__schedule="interleaved",
        batch__global_batch_sequences=microbatches,
    )
    fix = found(laid, "G5")[0].fix
    assert (told in fix) if told else ("rounds" not in fix)
