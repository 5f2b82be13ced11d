"""Peaks that Megatron-Bridge's performance notes and Megatron-LM's pull requests print, with their recipes' settings.

Their loss is Transformer Engine's, written over its logits: `_benchmark_common` of megatron/bridge/perf_recipes/_common.py at
067f987.
"""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, made

GIGABYTE = 1e9 / GIB
MEBIBYTE = 2**20 / GIB
RECIPE = {"training__framework": "megatron", "training__loss": "fused-in-place"}
LIGHT = {**RECIPE, "training__gradient_dtype": "bf16", "data__sequence_length": 4096}


def on(count: int, nodes: int = 1) -> dict[str, Any]:
    return {
        "cluster__nodes": nodes,
        "cluster__accelerators_per_node": count,
        "cluster__accelerator": "h100-sxm",
    }


def test_experts_over_two_nodes() -> None:
    """Megatron-Bridge, skills/perf-moe-comm-overlap: Qwen3-30B-A3B, EP 16, routing forced even: 62.166 GiB on rank 0.

    Two microbatches overlap there; without that this reads 6 % less.
    """
    memory = made(
        model={"preset": "qwen3-30b-a3b"},
        **LIGHT,
        **on(8, 2),
        batch__global_batch_sequences=1024,
        parallelism__expert=16,
        training__moe_imbalance=1.0,
    ).memory
    assert float(memory.allocated) / GIB == pytest.approx(62.166, rel=0.08)


def test_latent_attention_over_tensor_and_expert_ranks() -> None:
    """Megatron-Bridge, skills/perf-activation-recompute: Moonlight-16B-A3B, moments and gradients in bf16: 36.618 GB."""
    memory = made(
        model={"preset": "deepseek-v2-lite", "intermediate_size": 11264, "vocab_size": 163840},
        **LIGHT,
        **on(8),
        training__moment_dtype="bf16",
        batch__global_batch_sequences=4,
        parallelism__tensor=2,
        parallelism__expert=8,
    ).memory
    assert float(memory.allocated) / GIB == pytest.approx(36.618 * GIGABYTE, rel=0.03)


@pytest.mark.parametrize(("recompute", "peak"), [("none", 68704), ("full", 60154)])
def test_fourteen_layers_of_deepseek_v3(recompute: str, peak: int) -> None:
    """NVIDIA/Megatron-LM pulls 6311 and 6429: 64 H100, layout Ett|(tt|)*6mL, 2,048 tokens: allocated MiB."""
    memory = made(
        model={"preset": "deepseek-v3", "num_hidden_layers": 14},
        **RECIPE,
        **on(8, 8),
        data__sequence_length=2048,
        batch__global_batch_sequences=256,
        parallelism__pipeline=4,
        parallelism__virtual_pipeline=2,
        parallelism__schedule="interleaved",
        parallelism__last_stage_layers=2,
        parallelism__expert=16,
        parallelism__recompute=recompute,
        training__moe_imbalance=1.0,
    ).memory
    assert float(memory.allocated) / GIB == pytest.approx(peak * MEBIBYTE, rel=0.09)
