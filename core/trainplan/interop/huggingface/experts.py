"""The experts of a config.json: how many, how wide, shared ones, and in which layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainplan.interop.huggingface.family import Family, said
from trainplan.interop.huggingface.layers import MOST_LAYERS, spacing, sparse_layers
from trainplan.interop.huggingface.reading import Reading

EXPERTS: Final = (
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "moe_num_experts",
    "ffn_config.moe_num_experts",
)
CHOSEN: Final = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_k",
    "moe_top_k",
    "ffn_config.moe_top_k",
)
EXPERT_WIDTH: Final = (
    "moe_intermediate_size",
    "moe_ffn_hidden_size",
    "ffn_config.ffn_hidden_size",
    "expert_ffn_hidden_size",
)
SHARED: Final = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
SHARED_WIDTH: Final = (
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "moe_shared_expert_intermediate_size",
)


def expert_fields(reading: Reading, family: Family, model: Mapping[str, Any]) -> dict[str, Any]:
    """The plan's table of experts, and the list of layers where two numbers cannot say which have them."""
    experts = reading.count(*EXPERTS) if family.sparse else None
    depth = model["num_hidden_layers"]
    if experts is None or depth is None or depth > MOST_LAYERS:
        return {}
    width = reading.count(*EXPERT_WIDTH)
    found: dict[str, Any] = {
        "num_experts": experts,
        "num_experts_per_tok": reading.count(*CHOSEN),
        "moe_intermediate_size": reading.count("intermediate_size") if width is None else width,
        **{field.split(".")[1]: said(reading, value) for field, value in family.fields.items() if "." in field},
        **_shared(reading),
    }
    sparse = sparse_layers(reading, family.sparse, depth)
    pair = spacing(sparse)
    if pair is None:
        words = ["sparse" if flag else "dense" for flag in sparse]
        return {"moe": found, "mlp_layer_types": words}
    return {"moe": found | {"first_k_dense_replace": pair[0], "moe_layer_freq": pair[1]}}


def _shared(reading: Reading) -> dict[str, Any]:
    number, width = reading.count(*SHARED, least=0), reading.count(*SHARED_WIDTH, least=0)
    if number is None and width is None:
        return {}
    found = {"num_shared_experts": 1 if number is None else number, "shared_expert_intermediate_size": width}
    return found if width != 0 else {"num_shared_experts": 0}
