"""Floating-point operations for one trained token, by each convention that the field uses.

A multiplication and an addition are two operations. Only matrix products count: no norms, softmax, rotary embedding,
activation or optimizer. Backward is twice forward. What torch's flop counter measures agrees to the
last integer.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula

COUNTER = "torch.utils.flop_counter, measured on small and full-size models; equal to the last integer"


@formula("FLOP", source=COUNTER)
def linear_flops(matmul: float) -> float:
    """Forward (2) and backward (4) of every weight that multiplies for one token.

    The input table is not in `matmul`: looking up a row is no product. Sizing rules that take all parameters count it.
    """
    return 6.0 * matmul


@formula("FLOP", source=COUNTER + "; Megatron-LM num_floating_point_operations")
def score_flops(heads: float, query_size: float, value_size: float, keys: float) -> float:
    """Forward and backward of scores and weighted values for one query, with `keys` summed over the layers.

    12 x heads x head size x keys where queries and values have one size; latent attention has two.
    """
    return 6.0 * heads * (query_size + value_size) * keys


@formula("FLOP", source="definition")
def token_flops(linear: float, scores: float) -> float:
    """Matrix products with weights and with keys and values, for one token."""
    return linear + scores


@formula("FLOP", source="BLOOM, bigscience train/tr11-176B-ml/README.md: 8 for 6 per parameter")
def full_recompute_flops(flops: float) -> float:
    """With the whole forward computed again in backward: 4 passes where there were 3.

    The head is in it, though frameworks recompute only the blocks; Narayanan et al. 2021 leave it out.
    """
    return flops * 4.0 / 3.0


@formula("FLOP", source="definition: backward is twice forward, so a forward is a third")
def selective_recompute_flops(flops: float, scores: float) -> float:
    """With scores and weighted values computed again in backward: a third of their forward and backward more.

    Korthikanti et al. 2022 count 1 + s/6h for it in GPT-3, which is the whole score term once more.
    """
    return flops + scores / 3.0
