"""Architectures without experts, one row for each `model_type`.

Rows follow the modules of transformers 5.24.0, and each was counted by instantiation.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.huggingface.family import (
    BIAS,
    BIASED,
    COHERE,
    ERNIE,
    EXAONE,
    FOUR,
    GLM,
    GPT,
    GPTJ,
    HEAD_NORM,
    LATENT,
    LLAMA,
    OLMO,
    PLAIN,
    SIDE,
    TIED,
    UNTIED,
    Family,
    Said,
)

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
    "cohere": Family({**COHERE, "qk_norm": Said("use_qk_norm", False), "qk_norm_scope": "projection"}),
    "cohere2": Family(COHERE, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "olmo": Family({**UNTIED, **BIAS, "norm": "none"}),
    "olmo2": Family(OLMO),
    "olmo3": Family(OLMO, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "glm": Family(GLM, defaults={"head_dim": 128, "num_key_value_heads": 2}),
    "glm4": Family({**GLM, **FOUR}, defaults={"head_dim": 128, "num_key_value_heads": 2}),
    "apertus": Family({**UNTIED, **BIAS, **HEAD_NORM, "gated_mlp": False, "activation_parameters": 2}),
    "nemotron": Family({**LLAMA, **PLAIN}),
    "smollm3": Family({**LLAMA, **TIED}, "late", defaults={"num_key_value_heads": 4}),
    "granite": Family(LLAMA),
    "granite_swa": Family({**LLAMA, **TIED, "attention_sinks": True}),
    "helium": Family({**UNTIED, "attention_bias": Said("attention_bias", False), "mlp_bias": Said("mlp_bias", False)}),
    "arcee": Family({**LLAMA, "gated_mlp": False}),
    "exaone4": Family(EXAONE, "pattern", defaults={"sliding_window": 4096, "sliding_window_pattern": 4}),
    "seed_oss": Family(
        {
            **LLAMA,
            "attention_bias": Said("attention_bias", True),
            "attention_output_bias": Said("attention_out_bias", False),
        },
        defaults={"num_key_value_heads": 8, "head_dim": 128},
    ),
    "ernie4_5": Family(ERNIE, defaults={"num_key_value_heads": 2, "head_dim": 128}),
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
