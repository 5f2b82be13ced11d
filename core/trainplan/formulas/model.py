"""Parameters of every part of a decoder but attention, each by its own formula; the sums are made elsewhere.

Counts are elements of trained tensors: whole numbers, exact in float64 up to 9e15. What is never trained (rotary
tables, a router's correction kept as a buffer) is not counted.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, minimum

MEGATRON = "Megatron-LM megatron/training/theoretical_memory_usage.py"
COUNTED = "transformers 5.24.0, counted by instantiation on the meta device"


@formula("1", source=COUNTED)
def embedding_parameters(vocabulary: float, width: float) -> float:
    """The input table: one row for each entry of the model's own vocabulary. Padding is memory, not model."""
    return vocabulary * width


@formula("1", source=COUNTED)
def head_parameters(vocabulary: float, width: float) -> float:
    """The output head without its bias. A tied head is the input table: it multiplies, and adds no parameter."""
    return vocabulary * width


@formula("1", source=COUNTED)
def head_bias_parameters(vocabulary: float) -> float:
    """The bias of the output head, as in GPT-J and Phi-2."""
    return vocabulary


@formula("1", source=COUNTED)
def embedding_projection_parameters(width: float, hidden: float) -> float:
    """Two projections between a narrower embedding table and the residual stream, in and out, no bias: OPT-350M."""
    return 2.0 * width * hidden


@formula("1", source=COUNTED)
def position_parameters(positions: float, offset: float, hidden: float) -> float:
    """A learned position table: a row for each position, and the rows before the first. Rotary and ALiBi have none."""
    return (positions + offset) * hidden


@formula("1", source=MEGATRON)
def gated_mlp_parameters(hidden: float, width: float) -> float:
    """Gate, up and down projections of a gated MLP (SwiGLU, GeGLU), without biases."""
    return 3.0 * hidden * width


@formula("1", source=MEGATRON)
def plain_mlp_parameters(hidden: float, width: float) -> float:
    """Up and down projections of an MLP without a gate, without biases."""
    return 2.0 * hidden * width


@formula("1", source=COUNTED)
def gated_mlp_bias_parameters(width: float) -> float:
    """Biases of the gate and up projections of a gated MLP; tensor ranks split them."""
    return 2.0 * width


@formula("1", source=COUNTED)
def plain_mlp_bias_parameters(width: float) -> float:
    """Bias of the up projection of an MLP without a gate; tensor ranks split it."""
    return width


@formula("1", source=COUNTED)
def down_bias_parameters(hidden: float) -> float:
    """Bias of the down projection of an MLP; every tensor rank holds it."""
    return hidden


@formula("1", source=COUNTED)
def norm_parameters(hidden: float, vectors: float) -> float:
    """One norm of full width: a weight vector, and a bias vector where LayerNorm has one."""
    return hidden * vectors


@formula("1", source=COUNTED)
def block_norm_parameters(norms: float, norm: float) -> float:
    """All norms of full width in one block; query and key norms belong to attention."""
    return norms * norm


@formula("1", source=COUNTED + "; Megatron-LM --moe-layer-freq as a number")
def expert_layers(layers: float, first_dense: float, frequency: float) -> float:
    """Layers with experts: layer i, from 0, has them if i >= first_dense and i is a multiple of the frequency."""
    return ceil(layers / frequency) - ceil(minimum(first_dense, layers) / frequency)


@formula("1", source="definition")
def dense_layers(layers: float, expert_layers: float) -> float:
    """Layers whose MLP has no experts."""
    return layers - expert_layers


@formula("1", source=MEGATRON)
def router_parameters(hidden: float, experts: float) -> float:
    """The router of one layer, without bias. A correction bias moved by a rule, not by gradients, is no parameter."""
    return hidden * experts


@formula("1", source=COUNTED)
def router_bias_parameters(experts: float) -> float:
    """A trained bias of one layer's router, as in gpt-oss."""
    return experts


@formula("1", source=MEGATRON)
def routed_parameters(layers: float, experts: float, expert: float) -> float:
    """Routed experts of all layers: all of them, or those of one token, by the number of experts put in."""
    return layers * experts * expert


@formula("1", source=MEGATRON)
def shared_parameters(shared: float, expert: float) -> float:
    """Shared experts of one layer, through which every token goes."""
    return shared * expert


@formula("1", source=COUNTED)
def shared_gate_parameters(hidden: float) -> float:
    """A gate of one output on the shared experts of one layer, as in Qwen1.5-MoE."""
    return hidden


@formula("1", source="definition")
def over_layers(layers: float, parameters: float) -> float:
    """The same part in every layer of a kind."""
    return layers * parameters


@formula("1", source="DeepSeek-V3, arXiv 2412.19437, section 2.2, not read again", verified=False)
def mtp_projection_parameters(hidden: float) -> float:
    """The projection of one prediction depth, from two streams to one."""
    return 2.0 * hidden * hidden


@formula("1", source="DeepSeek-V3, arXiv 2412.19437, section 2.2, not read again", verified=False)
def mtp_norm_parameters(norm: float) -> float:
    """Norms of one prediction depth outside its block: on the stream, on the embedding, before the shared head."""
    return 3.0 * norm


@formula("1", source="Megatron-LM --make-vocab-size-divisible-by, default 128")
def vocabulary_step(divisor: float, tensor: float) -> float:
    """What the vocabulary is padded to a multiple of, so that every tensor rank holds as many rows."""
    return divisor * tensor


@formula("1", source="Megatron-LM megatron/training/tokenizer, padded vocabulary")
def padded_vocabulary(vocabulary: float, step: float) -> float:
    """The vocabulary as memory, communication and checkpoints see it; parameters and FLOPs use the model's own."""
    return ceil(vocabulary / step) * step
