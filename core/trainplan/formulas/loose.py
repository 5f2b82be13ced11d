"""Operators that run one by one, as PyTorch's do without a compiler: what they move through memory beyond fused kernels.

Each reads its inputs from memory and writes its output there. Bytes are of one layer and microbatch on one rank; biases are
added by the products in either case.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula

DEFINITION = "definition"
OPERATORS = (
    "operators of torchtitan 31a17bf, models/llama: RMSNorm in fp32, rotary embedding on complex fp32, silu(w1 x) * w3 x; each "
    "reads and writes its own tensors. Its table 1: compiling takes 23.6 us off a token of Llama 3.1 8B"
)


@formula("1", source=DEFINITION)
def query_and_key_elements(heads: float, key_value_heads: float, size: float) -> float:
    """Elements of queries and keys of one token."""
    return (heads + key_value_heads) * size


@formula("1", source=OPERATORS)
def norm_elements(norms: float, hidden: float, split: float, normed: float, tensor: float) -> float:
    """Elements of one token that RMS norms of a layer take: of the residual stream and of normed heads."""
    return norms * hidden / split + normed / tensor


@formula("bytes", source=OPERATORS)
def loose_forward_bytes(
    tokens: float, share: float, normed: float, rotated: float, gated: float, tensor: float
) -> float:
    """Bytes that operators one by one move in forward beyond fused kernels.

    An RMS norm takes 36 bytes of an element where a fused one takes 4: cast, square, mean, scale, cast back, weight. A rotary
    embedding takes 20 for 4, an activation and the product with its gate 10 for 6. A LayerNorm is one kernel.
    """
    return share * tokens * (32.0 * normed + (16.0 * rotated + 4.0 * gated) / tensor)


@formula("bytes", source=OPERATORS)
def loose_backward_bytes(
    tokens: float, share: float, normed: float, rotated: float, gated: float, summed: float, tensor: float
) -> float:
    """The same in backward: 70 bytes for 8 of a normed element, 20 for 8 of a rotated one, 18 for 12 of a gated one.

    `summed` are elements whose gradients are summed, 6 bytes each time: products that read one input each have one of it, on
    every tensor rank.
    """
    return share * tokens * (62.0 * normed + (12.0 * rotated + 6.0 * gated) / tensor + 6.0 * summed)


@formula("s", source=DEFINITION)
def loose_time(forward: float, backward: float, recomputed: float, memory: float) -> float:
    """Time of those bytes: forward, the share of it that is computed again, and backward."""
    return ((1.0 + recomputed) * forward + backward) / memory
