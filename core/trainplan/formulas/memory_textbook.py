"""Closed forms as their authors printed them, for comparison with the ledger; nothing in the product is computed from them.

They leave out embeddings, logits, buffers and fragmentation, each as its source does.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import maximum

KORTHIKANTI = "Korthikanti et al. 2022, arXiv 2205.05198"
ZERO = "Rajbhandari et al. 2020, arXiv 1910.02054, table 1"
DEEPSPEED = "DeepSpeed runtime/zero, estimate_zero2 and estimate_zero3 model states, commit edaa7221"


@formula("bytes", source=KORTHIKANTI + ", equation 2")
def tensor_parallel_layer(tokens: float, hidden: float, heads: float, keys: float, tensor: float) -> float:
    """One GPT layer with dropout, tensor parallel without sequence parallel: sbh (10 + 24/t + 5as/(ht))."""
    return tokens * (hidden * (10.0 + 24.0 / tensor) + 5.0 * heads * keys / tensor)


@formula("bytes", source=KORTHIKANTI + ", equation 4")
def sequence_parallel_layer(tokens: float, hidden: float, heads: float, keys: float, tensor: float) -> float:
    """One GPT layer with dropout, tensor and sequence parallel: sbh (34 + 5as/h) / t."""
    return tokens * (34.0 * hidden + 5.0 * heads * keys) / tensor


@formula("bytes", source=KORTHIKANTI + ", table 2")
def selective_layer(tokens: float, hidden: float, residual: float, interior: float, tensor: float) -> float:
    """One GPT layer with the attention core computed again: sbh (residual + interior/t)."""
    return tokens * hidden * (residual + interior / tensor)


@formula("bytes", source=KORTHIKANTI + ", table 2")
def checkpointed_layer(tokens: float, hidden: float) -> float:
    """One GPT layer under full recompute: its input, not divided by the tensor ranks."""
    return tokens * hidden * 2.0


@formula("bytes", source=KORTHIKANTI + ", equation 6")
def first_stage_activations(layer: float, layers: float, pipeline: float, virtual: float) -> float:
    """Activations of the first stage: all layers of the model, and with interleaving (p - 1)/(p v) more."""
    return layer * layers * (1.0 + (virtual > 1.0) * (pipeline - 1.0) / (pipeline * virtual))


@formula("bytes", source=KORTHIKANTI + ", figure 1: 18 bytes a parameter, embeddings left out")
def layer_states(layers: float, hidden: float, tensor: float, pipeline: float) -> float:
    """Weights, gradients and optimizer states of the layers of one rank: 18 x 12 L h2 / (t p)."""
    return 18.0 * 12.0 * layers * hidden * hidden / (tensor * pipeline)


@formula("bytes", source=ZERO, verified=False)
def zero_states(parameters: float, ranks: float, weights: float, gradients: float) -> float:
    """Model states of mixed-precision Adam, 16 bytes a parameter: 12 over the ranks, weights and gradients where sharded."""
    return parameters * (12.0 / ranks + 2.0 / (1.0 + weights * (ranks - 1.0)) + 2.0 / (1.0 + gradients * (ranks - 1.0)))


@formula("bytes", source=DEEPSPEED)
def deepspeed_zero2(parameters: float, ranks: float, offload: float) -> float:
    """ZeRO-2 states on the device: 2P + 18P/N, or 2P where the optimizer is in host memory."""
    return parameters * (2.0 + (1.0 - offload) * 18.0 / ranks)


@formula("bytes", source=DEEPSPEED)
def deepspeed_zero3(parameters: float, largest: float, ranks: float, optimizer: float, weights: float) -> float:
    """ZeRO-3 states on the device: 4 x the largest layer + 18P/N, 2P/N with the optimizer on the host, nothing with both."""
    return 4.0 * largest + (1.0 - weights) * (2.0 + (1.0 - optimizer) * 16.0) * parameters / ranks


@formula("bytes", source=DEEPSPEED)
def deepspeed_zero2_host(parameters: float, processes: float, floor_bytes: float, factor: float) -> float:
    """Host memory of a node under ZeRO-2; with offload `processes` is of the whole run, so it grows with the cluster."""
    return parameters * maximum(4.0 * processes, floor_bytes) * factor
