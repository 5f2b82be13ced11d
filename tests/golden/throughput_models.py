"""The model of a published throughput row as a plan's tables: a preset where the row names one, else the shapes that it prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainplan.catalogue import entry

Row = dict[str, Any]

SHAPES: Final[Mapping[str, Row]] = {
    "gpt3-5b": {"hidden": 4096, "layers": 24, "heads": 32, "ffn": 16384, "vocab": 51200},
}
"""Shapes of models that a table only names: NeMo launcher conf/training/gpt3/5b.yaml, from memory."""


def layers_of(row: Row) -> int:
    """Layers of a row's model."""
    if "layers" in row:
        return int(row["layers"])
    if row["model"] in SHAPES:
        return int(SHAPES[row["model"]]["layers"])
    preset = entry("models", str(row["preset"]))
    assert preset is not None
    return int(preset["num_hidden_layers"].value)


def model_text(row: Row) -> str:
    """The model tables of a row's plan."""
    if "hidden" not in row and row["model"] not in SHAPES:
        return f'[model]\npreset = "{row["preset"]}"\n'
    shape: Row = row if "hidden" in row else dict(SHAPES[row["model"]])
    gated, kv = bool(shape.get("gated", False)), shape.get("kv_heads", shape["heads"])
    lines = [
        "[model]",
        f"num_hidden_layers = {shape['layers']}",
        f"hidden_size = {shape['hidden']}",
        f"intermediate_size = {shape.get('ffn', 4 * shape['hidden'])}",
        f"num_attention_heads = {shape['heads']}",
        f"num_key_value_heads = {kv}",
        f"head_dim = {_head(shape)}",
        f"vocab_size = {shape.get('vocab', 51200)}",
        f"gated_mlp = {str(gated).lower()}",
        f"tie_word_embeddings = {str(not gated).lower()}",
        *_plain(row, gated),
    ]
    return "\n".join([*lines, *_sparse(shape), *_latent(shape)]) + "\n"


def _plain(row: Row, gated: bool) -> list[str]:
    """A model with a gate has RMS norms and rotary embeddings; the others LayerNorms, and MPT no embedding in the layer."""
    if gated:
        return []
    own = ['position_embedding = "none"'] if str(row["model"]).startswith("mpt") else []
    return ['norm = "layernorm"', *own]


def _head(shape: Row) -> int:
    """The head size. Heads that do not divide the width are a misprint: the next size that is a multiple of 8 stands for it."""
    if shape.get("head_dim"):
        return int(shape["head_dim"])
    size = shape["hidden"] / shape["heads"]
    return int(size) if size == int(size) else int(-(-size // 8) * 8)


def _sparse(shape: Row) -> list[str]:
    if not shape.get("experts"):
        return []
    found = [
        "[model.moe]",
        f"num_experts = {shape['experts']}",
        f"num_experts_per_tok = {shape['topk']}",
        f"moe_intermediate_size = {shape['moe_ffn']}",
        f"num_shared_experts = {1 if shape.get('shared_ffn') else 0}",
        f"first_k_dense_replace = {shape.get('dense_layers', 0)}",
    ]
    return [*found, f"shared_expert_intermediate_size = {shape['shared_ffn']}"] if shape.get("shared_ffn") else found


def _latent(shape: Row) -> list[str]:
    if not shape.get("kv_lora"):
        return []
    query = [f"q_lora_rank = {shape['q_lora']}"] if shape.get("q_lora") else []
    return [
        "[model.mla]",
        *query,
        f"kv_lora_rank = {shape['kv_lora']}",
        f"qk_nope_head_dim = {shape['qk_nope']}",
        f"qk_rope_head_dim = {shape['qk_rope']}",
        f"v_head_dim = {shape['v_dim']}",
    ]
