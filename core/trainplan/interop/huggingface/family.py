"""What an architecture of Hugging Face does by itself, and the pieces that many of them share.

A value is what the plan field is, or `Said`: the key of config.json that says it, and what the class means without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainplan.interop.huggingface.reading import Reading


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


def said(reading: Reading, value: Any) -> Any:
    """The value of a plan field: itself, or what the file says."""
    return reading.flag(value.key, value.default) if isinstance(value, Said) else value


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

EXAONE: Final = {**UNTIED, **HEAD_NORM}
COHERE: Final = {**TIED, **BIAS, **SIDE, "norm": "layernorm", "norm_bias": False}
OLMO: Final = {**UNTIED, **BIAS, **WIDE_NORM}
ERNIE: Final = {
    **TIED,
    "attention_bias": Said("use_bias", False),
    "attention_output_bias": Said("use_bias", False),
    "mlp_bias": Said("use_bias", False),
}
