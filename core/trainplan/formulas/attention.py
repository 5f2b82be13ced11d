"""Attention of one layer: its parameters, and the keys that one query sees on average.

Grouped-query attention covers multi-head (as many key heads as query heads) and multi-query (one). Latent attention
(MLA) has its own formulas. Keys count pairs that the mask lets through, not what a kernel computes and throws away.
"""

from __future__ import annotations

from trainplan.formulas.model import COUNTED, MEGATRON
from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import floor, minimum, where


@formula("1", source="Hugging Face configs, default of head_dim")
def head_size(hidden: float, heads: float) -> float:
    """Size of one head where no own size is given."""
    return hidden / heads


@formula("1", source=MEGATRON)
def attention_parameters(hidden: float, heads: float, key_value_heads: float, head: float) -> float:
    """Query, key, value and output projections of one layer, without biases and norms."""
    return 2.0 * hidden * head * (heads + key_value_heads)


@formula("1", source=COUNTED)
def attention_bias_parameters(heads: float, key_value_heads: float, head: float) -> float:
    """Biases of the query, key and value projections of one layer."""
    return (heads + 2.0 * key_value_heads) * head


@formula("1", source=COUNTED)
def output_bias_parameters(hidden: float) -> float:
    """Bias of the output projection of one layer."""
    return hidden


@formula("1", source=COUNTED)
def gate_parameters(hidden: float, heads: float, outputs: float) -> float:
    """Gate on the output of one attention layer: `outputs` is the head size, or 1 where each head has one gate."""
    return hidden * heads * outputs


@formula("1", source=COUNTED)
def head_norm_parameters(head: float, vectors: float) -> float:
    """Query and key norms of one layer whose weights all heads share, as in Qwen3 and Gemma 3."""
    return 2.0 * head * vectors


@formula("1", source=COUNTED)
def projection_norm_parameters(heads: float, key_value_heads: float, head: float, vectors: float) -> float:
    """Query and key norms of one layer over the whole projection, as in OLMo 2."""
    return (heads + key_value_heads) * head * vectors


@formula("1", source=COUNTED)
def sink_parameters(heads: float) -> float:
    """One trained sink for each query head of one layer, as in gpt-oss."""
    return heads


@formula("1", source=MEGATRON + "; " + COUNTED)
def latent_query_down_parameters(hidden: float, rank: float) -> float:
    """Query projection of one latent-attention layer, down to its rank; every tensor rank holds it."""
    return hidden * rank


@formula("1", source=MEGATRON + "; " + COUNTED)
def latent_query_up_parameters(inputs: float, heads: float, nope: float, rope: float) -> float:
    """Query projection of one latent-attention layer to all heads: from the rank, else from the hidden width."""
    return inputs * heads * (nope + rope)


@formula("1", source=MEGATRON + "; " + COUNTED)
def latent_key_value_down_parameters(hidden: float, rank: float, rope: float) -> float:
    """Key and value projection of one latent-attention layer, down to the rank and the rotating part.

    Every tensor rank holds it.
    """
    return hidden * (rank + rope)


@formula("1", source=MEGATRON + "; " + COUNTED)
def latent_key_value_up_parameters(rank: float, heads: float, nope: float, value: float) -> float:
    """Key and value projection of one latent-attention layer, from the rank up to the keys and values of all heads."""
    return rank * heads * (nope + value)


@formula("1", source=MEGATRON + "; " + COUNTED)
def latent_output_parameters(hidden: float, heads: float, value: float) -> float:
    """Output projection of one latent-attention layer."""
    return heads * value * hidden


@formula("1", source=COUNTED)
def latent_norm_parameters(rank: float) -> float:
    """The norm on one low-rank vector of latent attention."""
    return rank


@formula("1", source=COUNTED)
def latent_query_bias_parameters(rank: float) -> float:
    """Bias of the query's down projection, where attention_bias is set and the query has a rank."""
    return rank


@formula("1", source=COUNTED)
def latent_key_value_bias_parameters(rank: float, rope: float) -> float:
    """Bias of the down projection of keys and values, where attention_bias is set."""
    return rank + rope


@formula("1", source=COUNTED)
def latent_head_size(nope: float, rope: float) -> float:
    """Size of a query or key head of latent attention: the part without rotation and the part with."""
    return nope + rope


@formula("1", source="Megatron-LM num_floating_point_operations, attention term halved")
def causal_keys(length: float) -> float:
    """Keys that one query sees on average under a causal mask, by convention half the length.

    Exactly it is (length + 1) / 2.
    """
    return length / 2.0


@formula("1", source="sum of min(i, window) for i from 1 to length, over length")
def window_keys(length: float, window: float) -> float:
    """Keys that one query sees on average in a causal window; half the length where the window covers it.

    OLMo-core counts min(window, length), Megatron-Bridge half of that.
    """
    return where(window < length, window - window * (window - 1.0) / (2.0 * length), length / 2.0)


@formula("1", source="sum of chunk lengths squared, over twice the length; the last chunk may be shorter")
def chunk_keys(length: float, chunk: float) -> float:
    """Keys that one query sees on average where attention is causal inside chunks and stops at their borders."""
    whole = minimum(chunk, length)
    rest = length - floor(length / whole) * whole
    return (floor(length / whole) * whole * whole + rest * rest) / (2.0 * length)


@formula("tokens", source="sum of squared lengths over sum of lengths, for documents of equal length")
def document_length(mean: float, sequence: float) -> float:
    """Length that attention sees under document masks where only the mean length is known.

    Every document is taken at the mean, the least that the sum of squares can be; a spread of lengths gives more.
    A document longer than the sequence is cut to it; a border inside a document is not counted.
    """
    return minimum(mean, sequence)


@formula("tokens", source="sum of squared lengths over sum of lengths, for documents of equal length")
def weighted_length(share: float, mean: float, sequence: float) -> float:
    """A source's part of the length that attention sees: its share of the tokens, times its mean document or the sequence."""
    return share * minimum(mean, sequence)


@formula("1", source="definition")
def mean_keys(weighted: float, layers: float) -> float:
    """Keys that one query sees, averaged over the layers."""
    return weighted / layers


@formula("1", source="definition")
def weighted_keys(weight: float, keys: float) -> float:
    """Keys times the layers, or the share of tokens, that see so many."""
    return weight * keys


@formula("1", source="definition")
def source_share(amount: float, amounts: float) -> float:
    """Share of one source in the tokens of the mixture: by weight, or by unique tokens where no source has a weight."""
    return amount / amounts
