"""Architectures with experts, one row for each `model_type`.

Rows follow the modules of transformers 5.24.0, and each was counted by instantiation. DBRX could not be, and follows
its modeling file.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.huggingface.family import (
    BIAS,
    COHERE,
    ERNIE,
    EXAONE,
    FOUR,
    HEAD_NORM,
    LATENT,
    OLMO,
    ROUTED,
    UNTIED,
    WIDE_NORM,
    Family,
    Said,
)

SPARSE: Final[dict[str, Family]] = {
    "mixtral": Family(UNTIED, "every", "every", {"num_key_value_heads": 8}),
    "qwen2_moe": Family(
        {
            **UNTIED,
            "attention_bias": Said("qkv_bias", True),
            "moe.num_shared_experts": 1,
            "moe.shared_expert_gate": True,
        },
        "late",
        "stepped",
    ),
    "qwen3_moe": Family({**UNTIED, **BIAS, **HEAD_NORM}, "late", "stepped", {"num_key_value_heads": 4}),
    "olmoe": Family(OLMO, sparse="every"),
    "flex_olmo": Family(OLMO, sparse="every"),
    "phimoe": Family(
        {**UNTIED, **BIAS, "norm": "layernorm", "head_bias": Said("lm_head_bias", False)},
        "every",
        "every",
        {"num_key_value_heads": 8},
    ),
    "gpt_oss": Family(
        {
            **UNTIED,
            "attention_bias": Said("attention_bias", True),
            "attention_output_bias": Said("attention_bias", True),
            "attention_sinks": True,
            "moe.router_bias": True,
            "moe.expert_bias": True,
        },
        "alternate",
        "every",
        {"head_dim": 64, "num_key_value_heads": 8, "sliding_window": 128},
    ),
    "llama4_text": Family(
        {**UNTIED, **BIAS, "moe.num_shared_experts": 1},
        "chunked",
        "interleaved",
        {"head_dim": 128, "num_key_value_heads": 8, "attention_chunk_size": 8192, "num_experts_per_tok": 1},
    ),
    "deepseek_v2": Family(LATENT, sparse=ROUTED, defaults={"q_lora_rank": 1536, "n_shared_experts": 2}),
    "deepseek_v3": Family(LATENT, sparse=ROUTED, defaults={"q_lora_rank": 1536, "n_shared_experts": 1}),
    "glm4_moe_lite": Family(
        LATENT, sparse=ROUTED, defaults={"q_lora_rank": 768, "n_shared_experts": 1, "first_k_dense_replace": 1}
    ),
    "glm4_moe": Family(
        {**UNTIED, "attention_bias": Said("attention_bias", False), "qk_norm": Said("use_qk_norm", False)},
        sparse=ROUTED,
        defaults={"num_key_value_heads": 8, "n_shared_experts": 1, "first_k_dense_replace": 1},
    ),
    "solar_open": Family(
        {**UNTIED, "attention_bias": Said("attention_bias", False)},
        sparse="every",
        defaults={"num_key_value_heads": 8, "n_shared_experts": 1, "head_dim": 128},
    ),
    "dots1": Family({**UNTIED, **BIAS, **HEAD_NORM}, sparse=ROUTED),
    "exaone_moe": Family(
        EXAONE,
        "pattern",
        ROUTED,
        {
            "sliding_window": 4096,
            "sliding_window_pattern": 4,
            "first_k_dense_replace": 1,
            "num_shared_experts": 1,
        },
    ),
    "afmoe": Family(
        {**UNTIED, **BIAS, **HEAD_NORM, **FOUR, "attention_gate": "element"},
        "pattern",
        ROUTED,
        {
            "sliding_window": 1024,
            "sliding_window_pattern": 4,
            "head_dim": 128,
            "num_shared_experts": 0,
            "first_k_dense_replace": 1,
        },
    ),
    "minimax_m2": Family({**UNTIED, **WIDE_NORM}, sparse="every", defaults={"num_key_value_heads": 8, "head_dim": 128}),
    "granitemoe": Family({**UNTIED, **BIAS}, sparse="every"),
    "granitemoeshared": Family({**UNTIED, **BIAS}, sparse="every"),
    "aria_text": Family({**UNTIED, **BIAS}, sparse="every", defaults={"moe_num_shared_experts": 2}),
    "granitemoe_swa": Family({**UNTIED, **BIAS, "attention_sinks": True}, sparse="every"),
    "cohere2_moe": Family(COHERE, "pattern", "every", {"sliding_window": 4096, "sliding_window_pattern": 4}),
    "mellum": Family({**UNTIED, **BIAS, **HEAD_NORM}, sparse="every", defaults={"head_dim": 128}),
    "hy_v3": Family(
        {**UNTIED, **BIAS, **HEAD_NORM},
        sparse=ROUTED,
        defaults={"head_dim": 128, "num_key_value_heads": 8, "num_shared_experts": 1, "first_k_dense_replace": 1},
    ),
    "hunyuan_v1_moe": Family({**UNTIED, **BIAS, **HEAD_NORM}, sparse="every", defaults={"num_shared_experts": 1}),
    "ernie4_5_moe": Family(
        ERNIE,
        sparse=ROUTED,
        defaults={"num_key_value_heads": 4, "first_k_dense_replace": 1, "num_shared_experts": 2},
    ),
    "dbrx": Family({**UNTIED, "norm": "layernorm", "norm_bias": False}, sparse="every"),
}
