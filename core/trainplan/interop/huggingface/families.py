"""Every architecture that an import knows, by `model_type`; any other is read as Llama's, and the import says so."""

from __future__ import annotations

from typing import Any, Final

from trainplan.interop.huggingface.dense import DENSE
from trainplan.interop.huggingface.family import Family
from trainplan.interop.huggingface.remote import REMOTE
from trainplan.interop.huggingface.sparse import SPARSE

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
    "sarvam_moe": "glm4_moe",
    "sarvam_mla": "deepseek_v3",
    "iquestcoder": "llama",
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "mixformer-sequential": "phi",
    "phi-msft": "phi",
    "stablelm_epoch": "stablelm",
    "Yi": "llama",
    "aquila": "llama",
    "exaone": "llama",
    "xverse": "llama",
}
"""Types that hold the text model of another type, or are the same network under another name."""

OLDER: Final[dict[str, dict[str, Any]]] = {"RefinedWeb": {"new_decoder_architecture": True}}
"""Defaults of a name that its later one does not have: Falcon 40B's first name says the newer block by itself."""

FAMILIES: Final[dict[str, Family]] = DENSE | SPARSE | REMOTE
