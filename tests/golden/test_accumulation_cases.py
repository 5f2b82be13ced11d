"""Gradients between microbatches and batches that do not divide, against public reports."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import found, made, model, one

from trainplan.alternatives.changes import single_changes

WIDE = model(
    num_hidden_layers=48,
    hidden_size=6144,
    intermediate_size=22528,
    num_attention_heads=48,
    num_key_value_heads=8,
    vocab_size=128256,
)
"""Close to the 26 B of tnt pull request 1057."""


def fsdp(**changes: Any) -> Any:
    """16 accelerators, weights and gradients in bf16, four microbatches."""
    return made(
        model=WIDE,
        training__framework="fsdp",
        training__precision="bf16-pure",
        training__gradient_dtype="bf16",
        cluster__nodes=2,
        cluster__accelerators_per_node=8,
        parallelism__sharding="zero-3",
        **changes,
    )


def test_gradients_that_are_not_reduced_stay_whole() -> None:
    """tnt pull request 1057: 26 B on 16 GPUs, 3.25 GB a rank sharded and about 52 GB unsharded."""
    whole, shared = fsdp(training__gradient_accumulation="full"), fsdp(training__gradient_accumulation="sharded")
    size = float(shared.model.parameters)
    assert float(shared.memory.gradients) / size == pytest.approx(3.25 / 26, rel=0.01)
    assert float(whole.memory.gradients) / size == pytest.approx(52 / 26, rel=0.01)


def test_reducing_in_every_microbatch_is_offered() -> None:
    """The flag that the pull request adds, and torchtitan's way, is among the changes that fit."""
    offered = single_changes(fsdp(training__gradient_accumulation="full").plan)
    assert ("training.gradient_accumulation", "sharded") in [(one.path, one.value) for one in offered]
    paths = [one.path for one in single_changes(fsdp(cluster__memory_per_accelerator=40e9).plan)]
    assert "training.gradient_accumulation" not in paths


def test_where_no_sync_would_not_fit_it_is_said() -> None:
    """transformers issue 29425: the Trainer accumulates under no_sync, and nothing turns it off."""
    finding = one(fsdp(), "M16")
    assert finding.severity == "warning"
    assert "gradients stay whole" in finding.message
    assert not found(fsdp(training__gradient_accumulation="sharded"), "M16")
    assert not found(fsdp(batch__global_batch_sequences=16), "M16")
    assert not found(fsdp(cluster__memory_per_accelerator=192e9), "M16")


@pytest.mark.parametrize(("batch", "micro", "ranks", "offered"), [(8, 16, 8, 1), (8, 3, 1, 2), (256, 2, 7, None)])
def test_a_smaller_micro_batch_is_offered_where_one_divides(
    batch: int, micro: int, ranks: int, offered: int | None
) -> None:
    """levanter pull request 1261, pytorch issue 126600, and OpenRLHF issue 346, where only another batch divides."""
    sizes = {"batch__global_batch_sequences": batch, "batch__micro_batch_sequences": micro}
    fix = one(made(cluster__nodes=ranks, training__framework="fsdp", **sizes), "G2").fix
    assert fix.startswith(f"micro_batch_sequences = {offered}") if offered else fix.startswith("252 sequences")


def test_fewer_tokens_than_a_batch_are_no_step() -> None:
    """A run of fewer tokens than one batch of 64 x 2,048 has no step."""
    finding = one(made(data__train_tokens=131071), "D27")
    assert (finding.severity, finding.message) == ("error", "131,071 train tokens are less than one batch of 131,072")
    assert not found(made(data__train_tokens=131072), "D27")


def test_shorter_chunks_are_offered_where_they_fit() -> None:
    """Megatron-Bridge pull request 3107: 70 B on 32 H100, tensor 4, pipeline 4; 5 chunks ran out of memory, 10 passed."""
    shape = model(
        num_hidden_layers=80, hidden_size=8192, intermediate_size=28672, num_attention_heads=64, vocab_size=128256
    )
    layout = {
        "model": shape | {"num_key_value_heads": 8},
        "cluster__nodes": 4,
        "cluster__accelerators_per_node": 8,
        "parallelism__tensor": 4,
        "parallelism__pipeline": 4,
        "parallelism__schedule": "interleaved",
        "data__sequence_length": 4096,
    }
    held = [float(made(parallelism__virtual_pipeline=chunks, **layout).memory.total) for chunks in (5, 10)]
    assert held[1] < held[0]
    tight = made(parallelism__virtual_pipeline=5, cluster__memory_per_accelerator=sum(held) / 2, **layout)
    offered = [(one.path, one.value) for one in single_changes(tight.plan)]
    assert ("parallelism.virtual_pipeline", 10) in offered
