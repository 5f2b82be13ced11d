"""What an architecture of Hugging Face does by itself, as data: one row for each `model_type`.

A value is what the plan field is, or `Said`: the key of config.json that says it, and what the class means without the key.
Rows follow the modules of transformers 5.24.0, and each was counted by instantiation. A `model_type` that is not here is
read as Llama's, and the import says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Said:
    """A value that config.json says under `key`, and its default there."""

    key: str
    default: Any


@dataclass(frozen=True, slots=True)
class Family:
    """Plan fields of one architecture, rules for its layers, and defaults of keys that its class has."""

    fields: Mapping[str, Any]
    windows: str = "listed"
    sparse: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])


TIED: Final = {"tie_word_embeddings": Said("tie_word_embeddings", True)}
UNTIED: Final = {"tie_word_embeddings": Said("tie_word_embeddings", False)}
BIAS: Final = {
    "attention_bias": Said("attention_bias", False),
    "attention_output_bias": Said("attention_bias", False),
}
BIASED: Final = {"attention_bias": True, "attention_output_bias": True, "mlp_bias": True}
LLAMA: Final = {**UNTIED, **BIAS, "mlp_bias": Said("mlp_bias", False)}
PLAIN: Final = {"norm": "layernorm", "gated_mlp": False}
GPT: Final = {**TIED, **PLAIN, **BIASED, "position_embedding": "learned"}
HEAD_NORM: Final = {"qk_norm": True}
WIDE_NORM: Final = {"qk_norm": True, "qk_norm_scope": "projection"}
FOUR: Final = {"post_norms": True}
SIDE: Final = {"parallel_block": True, "norms_per_block": 1}
GPTJ: Final = {**UNTIED, **PLAIN, **SIDE, "mlp_bias": True, "head_bias": True}
LATENT: Final = {**UNTIED, **BIAS}
ROUTED: Final = "leading"
GLM: Final = {**UNTIED, "attention_bias": Said("attention_bias", True)}

_EXAONE: Final = {**UNTIED, **HEAD_NORM}
_COHERE: Final = {**TIED, **BIAS, **SIDE, "norm": "layernorm", "norm_bias": False}
_OLMO: Final = {**UNTIED, **BIAS, **WIDE_NORM}
_ERNIE: Final = {
    **TIED,
    "attention_bias": Said("use_bias", False),
    "attention_output_bias": Said("use_bias", False),
    "mlp_bias": Said("use_bias", False),
}

DENSE: Final[dict[str, Family]] = {
    "llama": Family(LLAMA),
    "mistral": Family(UNTIED, "every", defaults={"sliding_window": 4096, "num_key_value_heads": 8}),
    "ministral": Family(UNTIED, "every", defaults={"sliding_window": 4096, "num_key_value_heads": 8}),
    "ministral3": Family(UNTIED, "every", defaults={"num_key_value_heads": 8, "head_dim": 128}),
    "qwen2": Family({**UNTIED, "attention_bias": True}, "late"),
    "qwen3": Family({**UNTIED, **BIAS, **HEAD_NORM}, "late", defaults={"head_dim": 128}),
    "gemma": Family({**TIED, **BIAS}, defaults={"head_dim": 256}),
    "gemma2": Family({**TIED, **BIAS, **FOUR}, "alternate", defaults={"head_dim": 256, "sliding_window": 4096}),
    "gemma3_text": Family(
        {**TIED, **BIAS, **FOUR, **HEAD_NORM},
        "pattern",
        defaults={"head_dim": 256, "sliding_window": 4096, "sliding_window_pattern": 6},
    ),
    "vaultgemma": Family({**TIED, **BIAS}, "alternate", defaults={"head_dim": 256, "sliding_window": 4096}),
    "gpt2": Family(GPT),
    "gpt_bigcode": Family(GPT, defaults={"multi_query": True}),
    "gpt_neo": Family({**GPT, "attention_bias": False}, "local", defaults={"window_size": 256}),
    "gpt_neox": Family(
        {
            **UNTIED,
            **PLAIN,
            **BIAS,
            "attention_bias": Said("attention_bias", True),
            "attention_output_bias": Said("attention_bias", True),
            "mlp_bias": True,
            "parallel_block": Said("use_parallel_residual", True),
            "norms_per_block": 2,
        }
    ),
    "gptj": Family(GPTJ),
    "codegen": Family(GPTJ),
    "opt": Family(
        {
            **TIED,
            **PLAIN,
            "attention_bias": Said("enable_bias", True),
            "attention_output_bias": Said("enable_bias", True),
            "mlp_bias": Said("enable_bias", True),
            "position_embedding": "learned",
            "position_offset": 2,
            "final_norm": Said("do_layer_norm_before", True),
        },
        defaults={"max_position_embeddings": 2048},
    ),
    "bloom": Family({**TIED, **PLAIN, **BIASED, "position_embedding": "alibi", "embedding_norm": True}),
    "falcon": Family(
        {
            **TIED,
            **PLAIN,
            "attention_bias": Said("bias", False),
            "attention_output_bias": Said("bias", False),
            "mlp_bias": Said("bias", False),
            "parallel_block": Said("parallel_attn", True),
        },
        defaults={"multi_query": True},
    ),
    "mpt": Family({**TIED, **PLAIN, "norm_bias": False, "position_embedding": "alibi"}),
    "phi": Family(
        {
            **UNTIED,
            **PLAIN,
            **BIASED,
            **SIDE,
            "head_bias": True,
            "qk_norm": Said("qk_layernorm", False),
            "qk_norm_bias": Said("qk_layernorm", False),
        }
    ),
    "phi3": Family(UNTIED, "every"),
    "stablelm": Family(
        {
            **UNTIED,
            "norm": "layernorm",
            "attention_bias": Said("use_qkv_bias", False),
            "parallel_block": Said("use_parallel_residual", False),
            "qk_norm": Said("qk_layernorm", False),
            "qk_norm_scope": "projection",
        }
    ),
    "persimmon": Family(
        {
            **UNTIED,
            **PLAIN,
            **BIASED,
            "qk_norm": Said("qk_layernorm", True),
            "qk_norm_bias": Said("qk_layernorm", True),
        }
    ),
    "starcoder2": Family(
        {
            **TIED,
            **PLAIN,
            "attention_bias": Said("use_bias", True),
            "attention_output_bias": Said("use_bias", True),
            "mlp_bias": Said("use_bias", True),
        },
        "every",
        defaults={"num_key_value_heads": 2},
    ),
    "cohere": Family({**_COHERE, "qk_norm": Said("use_qk_norm", False), "qk_norm_scope": "projection"}),
    "cohere2": Family(_COHERE, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "olmo": Family({**UNTIED, **BIAS, "norm": "none"}),
    "olmo2": Family(_OLMO),
    "olmo3": Family(_OLMO, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "glm": Family(GLM, defaults={"head_dim": 128, "num_key_value_heads": 2}),
    "glm4": Family({**GLM, **FOUR}, defaults={"head_dim": 128, "num_key_value_heads": 2}),
    "apertus": Family({**UNTIED, **BIAS, **HEAD_NORM, "gated_mlp": False, "activation_parameters": 2}),
    "nemotron": Family({**LLAMA, **PLAIN}),
    "smollm3": Family({**LLAMA, **TIED}, "late", defaults={"num_key_value_heads": 4}),
    "granite": Family(LLAMA),
    "arcee": Family({**LLAMA, "gated_mlp": False}),
    "exaone4": Family(_EXAONE, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "seed_oss": Family(
        {
            **LLAMA,
            "attention_bias": Said("attention_bias", True),
            "attention_output_bias": Said("attention_out_bias", False),
        },
        defaults={"num_key_value_heads": 8, "head_dim": 128},
    ),
    "ernie4_5": Family(_ERNIE, defaults={"num_key_value_heads": 2, "head_dim": 128}),
    "hunyuan_v1_dense": Family({**UNTIED, **BIAS, **HEAD_NORM}),
    "hyperclovax": Family({**LLAMA, "post_norms": Said("use_post_norm", True)}),
    "internlm2": Family(
        {**UNTIED, "attention_bias": Said("bias", False), "attention_output_bias": Said("bias", False)}
    ),
    "internlm3": Family(
        {
            **UNTIED,
            "attention_bias": Said("qkv_bias", False),
            "attention_output_bias": Said("bias", False),
            "mlp_bias": Said("bias", False),
        },
        defaults={"num_key_value_heads": 2, "head_dim": 128},
    ),
    "jais2": Family(
        {
            **UNTIED,
            **PLAIN,
            "attention_bias": Said("attention_bias", True),
            "attention_output_bias": Said("attention_bias", True),
            "mlp_bias": Said("mlp_bias", True),
        }
    ),
    "nanochat": Family({**UNTIED, **BIAS, "norm": "none", "gated_mlp": False}),
    "cwm": Family(
        {**UNTIED, "mlp_bias": Said("mlp_bias", False)},
        "spaced",
        defaults={"num_key_value_heads": 8, "head_dim": 128, "sliding_window": 8192},
    ),
    "minicpm3": Family({**LATENT, **TIED, "mlp_bias": Said("mlp_bias", False)}),
    "youtu": Family({**LATENT, **TIED}),
}

EXPERTS: Final[dict[str, Family]] = {
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
    "olmoe": Family(_OLMO, sparse="every"),
    "flex_olmo": Family(_OLMO, sparse="every"),
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
        _EXAONE,
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
    "hunyuan_v1_moe": Family({**UNTIED, **BIAS, **HEAD_NORM}, sparse="every", defaults={"num_shared_experts": 1}),
    "ernie4_5_moe": Family(
        _ERNIE,
        sparse=ROUTED,
        defaults={"num_key_value_heads": 4, "first_k_dense_replace": 1, "num_shared_experts": 2},
    ),
    "dbrx": Family({**UNTIED, "norm": "layernorm", "norm_bias": False}, sparse="every"),
}

ALIASES: Final = {
    "gemma3": "gemma3_text",
    "llama4": "llama4_text",
    "kimi_k2": "deepseek_v3",
    "deepseek_v32": "deepseek_v3",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen2_5_vl": "qwen2",
    "qwen2_vl": "qwen2",
    "mistral3": "mistral",
}
"""Types that hold the text model of another type, or are the same network under another name."""

FAMILIES: Final[dict[str, Family]] = DENSE | EXPERTS
