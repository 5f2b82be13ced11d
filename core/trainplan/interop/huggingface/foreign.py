"""What a config.json can say and no plan can: refused in words, so that nothing of it is counted as if it were not there.

A key stands here only if it adds, shares or reshapes weights. Keys that merely are not known are listed by the import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainplan.interop.huggingface.reading import Reading

OTHER_LAYERS: Final = ("mamba", "ssm_", "linear_", "conv_", "rwkv", "hybrid_", "recurrent", "time_mix", "lru_")

KEYS: Final = {
    "is_encoder_decoder": "an encoder stands beside the decoder. A plan has a decoder alone.",
    "type_vocab_size": "there are token types, as an encoder has them. A plan has a decoder alone.",
    "cross_attention_layers": "layers attend to images. A plan knows attention to the text.",
    "hidden_size_per_layer_input": "every layer has an embedding of its own. A plan has one for all.",
    "block_configs": "layers have shapes of their own. A plan has one shape for all.",
    "num_key_value_heads_per_layer": "layers have key heads of their own. A plan has one number for all.",
    "num_attention_heads_per_layer": "layers have heads of their own. A plan has one number for all.",
    "num_query_heads": "layers have heads of their own. A plan has one number for all.",
    "num_kv_shared_layers": "layers share keys and values. A plan's layers have their own.",
    "use_cla": "layers share keys and values. A plan's layers have their own.",
    "parallel_attn_mlp_res": "a dense MLP runs beside the experts. A plan has one or the other in a layer.",
}

KINDS: Final = {
    "longcat_flash": "two attentions and two dense MLPs in a layer beside the experts",
    "gemma3n": "embeddings for each layer and low-rank residuals",
    "gemma3n_text": "embeddings for each layer and low-rank residuals",
    "openelm": "heads and widths that differ between layers",
}
"""Types whose keys alone do not show it, with what they have."""


def foreign(reading: Reading, kind: str, *, known: bool) -> Iterator[str]:
    """A sentence for each thing that a plan cannot say; kinds of layers are asked only of types that are not known."""
    if kind in KINDS:
        yield f"model_type {kind} has {KINDS[kind]}. A plan cannot say them."
        return
    other = () if known else tuple(key for key in reading.config if key.startswith(OTHER_LAYERS))
    if other:
        yield f"{other[0]} speaks of layers that are not attention. A plan cannot say them."
    for key, words in KEYS.items():
        if _says(reading.config.get(key)):
            reading.used.add(key)
            yield f"{key}: {words}"


def _says(value: Any) -> bool:
    """Whether a value turns something on: not null, false, zero, empty."""
    return bool(value)
