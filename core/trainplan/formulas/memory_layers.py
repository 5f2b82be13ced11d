"""Bytes that one layer keeps for backward, a token at a time, by kernel set.

Terms of the residual stream and terms inside attention and MLP are apart, because tensor ranks divide them differently.
The kernel sets were measured on real tensors (tests/golden/saved_bytes.toml). Kernel scratch is not counted.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import where

ORACLE = "saved tensors measured with torch 2.13 on CPU, tests/golden/saved_bytes.toml"
WHOLE_INPUTS = (
    "torchtitan fca8ab7b, models/llama3/parallelize.py: inputs of attention and feed_forward are replicated before their products, "
    "which keep them; Megatron-LM d98e8a64, core/tensor_parallel/layers.py keeps its own tokens and gathers again in backward"
)
KORTHIKANTI = "Korthikanti et al. 2022, arXiv 2205.05198, equations 1 to 4"


@formula("bytes", source=ORACLE)
def norm_kept(width: float, wide: float, normalised: float, output: float, statistics: float) -> float:
    """One norm of a token: its input (or fp32 copy), the normalised tensor, its output, and statistics (bytes each)."""
    return width * (wide + normalised + output) + statistics


@formula("bytes", source=ORACLE)
def residual_kept(norms: float, norm: float, sites: float, mask: float, hidden: float) -> float:
    """What a token keeps on the residual stream of one layer: its norms, and a mask at each dropout site."""
    return norms * norm + sites * mask * hidden


@formula("bytes", source=ORACLE)
def attention_kept(element: float, query: float, key_value: float) -> float:
    """Products of attention of a token: q, k, v and the output."""
    return element * (2.0 * query + 2.0 * key_value)


@formula("1", source="definition")
def kept_share(kept: float, element: float) -> float:
    """Bytes of a kept input over those of the compute type."""
    return kept / element


@formula(
    "bytes", source="TransformerEngine issue 1764: products in fp8 keep their own copy of what others keep in 16 bits"
)
def cast_kept(element: float, width: float) -> float:
    """A copy of a token in another type: attention's output in fp8, the router's input in 16 bits."""
    return element * width


@formula("bytes", source="Megatron-LM rows of SimuMax v1.2: v is a view that keeps the packed qkv alive")
def rotary_kept(element: float, query: float, key_value: float) -> float:
    """Rotated copies of q and k beside the packed projection."""
    return element * (query + key_value)


@formula("bytes", source=ORACLE)
def expanded_attention_kept(element: float, query: float) -> float:
    """Eager attention of a token in plain operators: q, k and v expanded to all heads, and the output."""
    return element * 4.0 * query


@formula("bytes", source=KORTHIKANTI + "; " + ORACLE)
def scores_kept(heads: float, keys: float, score: float) -> float:
    """Score matrices of a token in eager attention: heads x keys x bytes kept of one score."""
    return heads * keys * score


@formula("bytes", source=ORACLE)
def log_sum_exp_kept(heads: float) -> float:
    """The log-sum-exp of flash attention in fp32, one for each head; selective recompute does not keep it."""
    return 4.0 * heads


@formula("bytes", source=ORACLE)
def padded_latent_kept(element: float, heads: float, query_size: float, value_size: float) -> float:
    """Latent attention with v padded to the size of q and k: q, k, v, the padded output, and the slice of it."""
    return element * heads * (4.0 * query_size + value_size)


@formula("bytes", source=ORACLE)
def core_inputs_kept(element: float, heads: float, query_size: float, value_size: float) -> float:
    """Latent attention whose core is computed again: q, k, the padded v, and the slice of the output."""
    return element * heads * (3.0 * query_size + value_size)


@formula(
    "bytes", source="Megatron-LM multi_latent_attention.py, read second-hand; rows of SimuMax v1.2", verified=False
)
def latent_kept(element: float, heads: float, query_size: float, nope: float, value_size: float) -> float:
    """Latent attention in Megatron: q before and after assembly, k assembled, k and v as projected, the output."""
    return element * heads * (3.0 * query_size + nope + 2.0 * value_size)


@formula("bytes", source=ORACLE)
def rotary_part_kept(rope: float, element: float) -> float:
    """The rotary part of the latent projection, where a view of it keeps its base."""
    return rope * element


@formula("bytes", source=ORACLE)
def mlp_kept(element: float, copies: float, width: float) -> float:
    """An MLP of a token: gate, up and product where gated and fused (3 copies), one more in plain operators, 2 without gate."""
    return element * copies * width


@formula(
    "bytes", source="dispatched and returned copies of a token; mlc-ai/pith-train pull request 18 for the imbalance"
)
def routed_kept(
    chosen: float, imbalance: float, element: float, streams: float, hidden: float, copies: float, width: float
) -> float:
    """Routed experts of a token: k copies dispatched and returned, k MLPs, times the imbalance of the fullest rank."""
    return chosen * imbalance * element * (streams * hidden + copies * width)


DISPATCHER = (
    "Megatron-LM moe/token_dispatcher.py dispatch_postprocess: gathered over expert tensor ranks before the experts"
)


@formula("1", source=DISPATCHER)
def routed_streams(expert_tensor: float, share: float, others: float) -> float:
    """Copies of a routed token that are kept: as the experts read it, with those of all expert tensor ranks, and others."""
    return expert_tensor * share + others


@formula("bytes", source=ORACLE)
def router_kept(experts: float) -> float:
    """The router of a token: its probabilities in fp32."""
    return 4.0 * experts


@formula("bytes", source=ORACLE)
def choice_kept(chosen: float, element: float) -> float:
    """Choice of experts of a token: three indices of 8 bytes, the weight in fp32 and cast, and the sum of weights."""
    return chosen * (28.0 + element) + 4.0


@formula("bytes", source=ORACLE)
def head_statistics(heads: float) -> float:
    """Statistics of a norm over each head, in fp32."""
    return 4.0 * heads


@formula("bytes", source=ORACLE)
def checkpointed_kept(element: float, hidden: float) -> float:
    """Full recompute keeps the layer's input of a token."""
    return element * hidden


@formula("bytes", source="torchtitan op-level selective checkpoint: every second matmul output and the flash output")
def alternate_kept(element: float, query: float, key_value: float, width: float) -> float:
    """Interior of a layer under op-level selective recompute, of a token."""
    return element * (2.0 * query + key_value + width)


@formula("bytes", source="torchtitan op-level selective checkpoint: every second matmul output and the flash output")
def alternate_residual_kept(element: float, hidden: float) -> float:
    """Residual stream of a layer under op-level selective recompute: its input and one output, of a token."""
    return element * 2.0 * hidden


@formula(
    "bytes", source="torchtitan op-level selective checkpoint: outputs of all_to_all_single, to the experts and back"
)
def exchanged_kept(element: float, chosen: float, imbalance: float, hidden: float, expert: float) -> float:
    """What expert ranks exchange of a token: its copies on the fullest rank, and its own copies as they come back."""
    return where(expert > 1.0, element * chosen * hidden * (imbalance + 1.0), 0.0)


@formula("tokens", source="definition")
def local_tokens(micro_batch: float, sequence_length: float, context: float) -> float:
    """Tokens of one microbatch on one rank; context ranks divide the sequence."""
    return micro_batch * sequence_length / context


@formula("bytes", source=KORTHIKANTI)
def layer_kept(tokens: float, residual: float, residual_ranks: float, interior: float, tensor: float) -> float:
    """What one layer keeps of one microbatch: the residual stream over its ranks, the interior over the tensor ranks."""
    return tokens * (residual / residual_ranks + interior / tensor)


@formula("bytes", source=WHOLE_INPUTS)
def gathered_kept(tokens: float, norms: float, element: float, hidden: float, residual_ranks: float) -> float:
    """What whole inputs of attention and MLP keep beyond this rank's tokens of them; one norm may serve both."""
    return tokens * where(norms < 2.0, norms, 2.0) * element * hidden * (1.0 - 1.0 / residual_ranks)


@formula(
    "1",
    source="torchtitan b5bcd76, models/common/MOE_SHARDING.md: tokens stay split with expert ranks and sequence parallelism",
)
def routed_inputs(norms: float, expert: float) -> float:
    """Norms of a layer without shared experts whose output is gathered: of attention alone where expert ranks route their own."""
    return where(expert > 1.0, 1.0, norms)


@formula("1", source=KORTHIKANTI)
def residual_ranks(tensor: float, sequence_parallel: float) -> float:
    """Ranks that divide the residual stream: the tensor ranks with sequence parallelism, else one."""
    return 1.0 + sequence_parallel * (tensor - 1.0)


@formula("1", source="definition")
def times(count: float, width: float) -> float:
    """Width of some equal parts together."""
    return count * width


@formula("1", source="definition: a rank that holds every expert computes its own tokens, k copies of each")
def fullest_tokens(imbalance: float, expert: float) -> float:
    """Routed tokens on the fullest expert rank over the mean; one where there is one expert rank, however uneven routing is."""
    return where(expert > 1.0, imbalance, 1.0)


@formula("1", source="definition; mlc-ai/pith-train pull request 18 for the imbalance")
def routed_width(chosen: float, imbalance: float, width: float) -> float:
    """Width of the experts that a token goes through, on the fullest rank."""
    return chosen * imbalance * width
