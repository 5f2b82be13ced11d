"""The small whole plan that laws vary: every budget follows from it, and nothing in it is wrong."""

from __future__ import annotations

from typing import Any


def small(**changes: Any) -> dict[str, Any]:
    """The plan as parsed TOML, with fields changed by `table__field`."""
    data: dict[str, Any] = {
        "format": 1,
        "model": {
            "num_hidden_layers": 4,
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_attention_heads": 8,
            "vocab_size": 1024,
        },
        "data": {
            "train_tokens": 2**30,
            "sequence_length": 512,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "1T", "weight": 1.0}],
        },
        "batch": {"global_batch_sequences": 512},
        "cluster": {"accelerator": "h100-sxm", "nodes": 4, "price_per_accelerator_hour": 2.0},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "10GB/s", "read_bandwidth": "10GB/s"},
    }
    for path, value in changes.items():
        table, field = path.split("__")
        data.setdefault(table, {})[field] = value
    return data
