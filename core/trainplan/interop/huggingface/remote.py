"""Architectures whose modules lie beside their weights or went with an older transformers, one row for each `model_type`.

Rows follow vLLM's modules for the same weights (vllm/model_executor/models), read again, and counts that were published of them.
Types that are another architecture under another name are not here but in `families`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trainplan.interop.huggingface.family import BIAS, ROUTED, TIED, UNTIED, Family, Said
from trainplan.interop.huggingface.reading import Reading

REMOTE: Final[dict[str, Family]] = {
    "chatglm": Family(UNTIED),
    "qwen": Family({**UNTIED, "attention_bias": True}),
    "baichuan": Family(UNTIED),
    "internlm": Family({**UNTIED, "attention_bias": Said("bias", True), "attention_output_bias": Said("bias", True)}),
    "orion": Family({**UNTIED, "norm": "layernorm"}),
    "minicpm": Family({**TIED, **BIAS}),
    "deepseek": Family({**UNTIED, **BIAS}, sparse=ROUTED),
    "bailing_moe": Family({**UNTIED, "qk_norm": Said("use_qk_norm", False)}, sparse=ROUTED),
    "bailing_moe_v2": Family({**UNTIED, "qk_norm": Said("use_qk_norm", True)}, sparse=ROUTED),
}


def _chatglm(reading: Reading) -> dict[str, Any]:
    """ChatGLM 2 to 4: every linear layer has a bias, or the query, key and value projection alone."""
    every = reading.flag("add_bias_linear", False)
    found: dict[str, Any] = {"attention_bias": reading.flag("add_qkv_bias", False) or every}
    found |= {"attention_output_bias": every, "mlp_bias": every, "final_norm": reading.flag("post_layer_norm", True)}
    if not reading.flag("rmsnorm", True):
        found["norm"] = "layernorm"
    return found


def _qwen(reading: Reading) -> dict[str, Any]:
    every = not reading.flag("no_bias", True)
    return {"attention_output_bias": every, "mlp_bias": every}


def _baichuan(reading: Reading) -> dict[str, Any]:
    """The files of 7B and 13B say the same but for their sizes; the larger one has ALiBi."""
    return {} if reading.count("hidden_size") == 4096 else {"position_embedding": "alibi"}


def _bailing(reading: Reading) -> dict[str, Any]:
    every = reading.flag("use_bias", False)
    joint = reading.flag("use_qkv_bias", False) or every
    return {"attention_bias": joint, "attention_output_bias": every, "mlp_bias": every}


REMOTE_SPECIAL: Final[dict[str, Callable[[Reading], dict[str, Any]]]] = {
    "chatglm": _chatglm,
    "qwen": _qwen,
    "baichuan": _baichuan,
    "bailing_moe": _bailing,
    "bailing_moe_v2": _bailing,
}
