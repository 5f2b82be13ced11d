"""Peaks that frameworks' own tests record, against the ledger: allocated bytes of one rank, with every argument printed."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, made, model

SEVEN = model(
    intermediate_size=16384,
    num_key_value_heads=8,
    vocab_size=131073,
    gated_mlp=False,
    mlp_bias=True,
    attention_bias=True,
    attention_output_bias=True,
    norm="layernorm",
    position_embedding="learned",
    max_position_embeddings=8192,
)
EIGHT = {"cluster__nodes": 1, "cluster__accelerators_per_node": 8}
STAGES = {
    "parallelism__pipeline": 4,
    "parallelism__virtual_pipeline": 8,
    "parallelism__schedule": "interleaved",
}
RANKS = {
    "parallelism__tensor": 4,
    "parallelism__sequence_parallel": False,
    "batch__micro_batch_sequences": 2,
}


def on_the_last_rank(**changes: Any) -> float:
    """Most that the last pipeline rank allocates, GiB: Megatron-LM's last rank writes what tests record."""
    return float(made(**changes).memory.table[-1].allocated) / GIB


@pytest.mark.parametrize(
    ("laid", "part", "peak"),
    [
        (STAGES, "a100-sxm-80", 56.335),
        (STAGES, "h100-sxm", 56.551),
        (STAGES, "gb200-nvl72", 56.363),
        (RANKS, "a100-sxm-80", 54.192),
        (RANKS, "h100-sxm", 53.219),
        (RANKS, "gb200-nvl72", 54.219),
    ],
)
def test_seven_billion_parameters_with_megatron_s_own_loss(laid: dict[str, Any], part: str, peak: float) -> None:
    """Megatron-LM d98e8a6, tests/functional_tests: gpt3_7b_tp1_pp4_memory_speed and gpt3_7b_tp4_pp1_memory_speed.

    Its own loss with 12 bytes of a logit, 16 over tensor ranks, read 63.7 and 58.3 GiB.
    """
    read = on_the_last_rank(
        model=SEVEN,
        training__framework="megatron",
        training__loss="plain",
        training__dropout=0.1,
        data__sequence_length=8192,
        batch__global_batch_sequences=8,
        cluster__accelerator=part,
        **EIGHT,
        **laid,
    )
    assert read == pytest.approx(peak, rel=0.03)


LATENT = {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
PROXY = {
    "num_hidden_layers": 16,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 32,
    "vocab_size": 51712,
    "qk_norm": True,
    "moe": {
        "num_experts": 32,
        "num_experts_per_tok": 4,
        "moe_intermediate_size": 1024,
        "num_shared_experts": 1,
        "first_k_dense_replace": 1,
    },
    "mla": LATENT,
    "mtp": {"num_nextn_predict_layers": 1},
}


def test_experts_with_latent_attention_and_a_prediction_depth() -> None:
    """Megatron-LM d98e8a6, moe/gpt3_mcore_te_tp2_pp2_ep4_etp1_memory_speed: 53.98 and 55.98 GiB on two clusters of H100."""
    read = on_the_last_rank(
        model=PROXY,
        training__framework="megatron",
        training__attention="eager",
        training__loss="fused",
        data__sequence_length=4096,
        batch__global_batch_sequences=32,
        batch__micro_batch_sequences=4,
        parallelism__tensor=2,
        parallelism__pipeline=2,
        parallelism__virtual_pipeline=4,
        parallelism__schedule="interleaved",
        parallelism__expert=4,
        cluster__accelerator="h100-sxm",
        **EIGHT,
    )
    assert 0.97 * 53.981 < read < 1.03 * 55.983
