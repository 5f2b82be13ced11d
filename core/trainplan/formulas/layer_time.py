"""Time of one layer's parts: matrix products on a rate that shapes and precision bend, attention, memory-bound work, host floor.

Every formula is of one microbatch on one accelerator. Memory pressure and kernels of single frameworks are not counted.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, floor, maximum, minimum, sqrt, where

MODEL = "step-time model fitted on published rows, catalogue/evidence; additive roofline"
DEFINITION = "definition"


@formula("tokens", source=DEFINITION)
def rank_tokens(micro_batch: float, sequence: float, context: float) -> float:
    """Tokens of one microbatch on one context rank."""
    return micro_batch * sequence / context


@formula("FLOP/s", source=MODEL)
def matmul_rate(peak: float, efficiency: float, speedup: float) -> float:
    """Rate of large matrix products: bf16 peak x efficiency of the family x gain of a lower precision."""
    return peak * efficiency * speedup


@formula("1", source=MODEL)
def variant_efficiency(efficiency: float, factor: float) -> float:
    """Efficiency of a variant of a family: with less power or memory bandwidth than its peak asks for."""
    return efficiency * factor


@formula("bytes/s", source=MODEL)
def stream_rate(bandwidth: float, streaming: float, element: float) -> float:
    """Rate at which operands of two bytes stream: bandwidth / (streaming factor x element relative to bf16)."""
    return bandwidth / (streaming * element)


@formula("s", source=MODEL)
def product_time(rows: float, columns: float, inner: float, rate: float, stream: float) -> float:
    """Time of one product, rows x inner by inner x columns: its FLOP at the rate and its three operands streamed."""
    return 2.0 * rows * columns * inner / rate + 2.0 * (columns * inner + rows * inner + rows * columns) / stream


@formula("tokens", source=MODEL)
def expert_rows(
    tokens: float, chosen: float, expert: float, experts: float, tensor: float, expert_tensor: float
) -> float:
    """Tokens that one expert sees of one microbatch with balanced routing, one at least; ranks that split it see the same ones."""
    return maximum(1.0, tokens * chosen * expert * expert_tensor / (experts * tensor))


@formula(
    "1",
    source="a layer waits for its fullest expert rank; mlc-ai/pith-train pull request 18 for the usual imbalance, 1.2",
)
def fullest_share(imbalance: float, expert: float) -> float:
    """Tokens on the fullest expert rank over those of a usual one, which has 1.2 times the mean; one with one expert rank.

    The fitted numbers hold what imbalance their rows had: up to the usual one nothing is added, so that a plan is held against
    published runs as they are. Those of Megatron-Bridge were balanced by force (its perf recipes), which a real run is not: up
    to a fifth of the experts' time, inside the range that is shown. A router that left ranks uneven halved the rate of a
    balanced run (marin-community/marin issue 7668, 31 to 15 % of the peak).
    Memory-bound work beside the products is counted at the mean.
    """
    return where(expert > 1.0, maximum(1.0, imbalance / 1.2), 1.0)


@formula("tokens", source=DEFINITION)
def fullest_tokens(tokens: float, share: float) -> float:
    """Tokens of the mean rank, told for the fullest."""
    return tokens * share


@formula("FLOP/s", source=MODEL)
def grouped_rate(peak: float, efficiency: float, speedup: float, most: float, half: float, rows: float) -> float:
    """Rate of grouped products: large-product rate x most / (1 + half / tokens of one expert)."""
    return peak * efficiency * speedup * most / (1.0 + half / rows)


@formula("s", source=MODEL)
def grouped_time(rows: float, each: float, columns: float, inner: float, rate: float, stream: float) -> float:
    """Time of a product grouped by expert: `rows` routed tokens in all, `each` of one expert."""
    return 2.0 * rows * columns * inner / rate + 2.0 * rows * (columns * inner / each + inner + columns) / stream


@formula(
    "tokens",
    source="Megatron-LM core/transformer/moe/token_dispatcher.py: rows are gathered over the expert tensor ranks",
)
def gathered_tokens(rows: float, expert_tensor: float) -> float:
    """Routed tokens of a rank with those of the ranks that split its experts: each computes its part of all."""
    return rows * expert_tensor


@formula("tokens", source=DEFINITION)
def routed_tokens(tokens: float, chosen: float, tensor: float) -> float:
    """Token copies that the experts of one rank compute of one microbatch."""
    return tokens * chosen / tensor


@formula("1", source=DEFINITION)
def query_key_value_columns(heads: float, key_value_heads: float, head: float, tensor: float) -> float:
    """Outputs of the query, key and value projection on one tensor rank."""
    return (heads + 2.0 * key_value_heads) * head / tensor


@formula("1", source=DEFINITION)
def head_columns(heads: float, size: float, tensor: float) -> float:
    """Width of all heads on one tensor rank."""
    return heads * size / tensor


@formula("1", source=DEFINITION)
def split_width(width: float, ways: float, tensor: float) -> float:
    """Outputs of `ways` parallel projections of a width on one tensor rank."""
    return ways * width / tensor


@formula("FLOP/s", source=MODEL)
def attention_rate(peak: float, efficiency: float, most: float, share: float, own: float) -> float:
    """Rate of a fused attention core: peak x min(efficiency, most) x share of the kernel set x what is the part's own.

    A part's own are a faster exponential unit, or kernels that do not use what is new in it.
    """
    return peak * minimum(efficiency, most) * share * own


@formula(
    "1",
    source="FlashAttention csrc/flash_attn/src/static_switch.h at 2bce87c, HEADDIM_SWITCH: 32 to 192 in steps of 32, 256",
)
def kernel_head(size: float) -> float:
    """Head size of the kernel that a fused core runs on: the next that was built; the rest of it is padding."""
    return where(size > 256.0, size, where(size > 192.0, 256.0, ceil(size / 32.0) * 32.0))


@formula("s", source=MODEL)
def fused_attention_time(
    tokens: float,
    keys: float,
    heads: float,
    query: float,
    value: float,
    tensor: float,
    rate: float,
    start: float,
    s: float,
) -> float:
    """Forward of a fused attention core; `keys` is the mean that one query sees, `start` the length that costs as much again.

    Document masks save nothing here: some kernels skip masked blocks and others do not, and no row was measured with them.
    Dropout is not counted.
    """
    return 2.0 * tokens * keys * heads * (query + value) / tensor / rate * (1.0 + start / s)


@formula("1", source=MODEL)
def misaligned(size: float, penalty: float) -> float:
    """How much slower products over a head size run that is not a multiple of 8: they leave the tensor cores."""
    return where(size - floor(size / 8.0) * 8.0 == 0.0, 1.0, penalty)


@formula("s", source=MODEL)
def eager_attention_time(
    tokens: float,
    s: float,
    heads: float,
    head: float,
    tensor: float,
    slower: float,
    rate: float,
    stream: float,
    share: float,
    memory: float,
) -> float:
    """Forward of a materialised attention core: two products over all s x s scores, and 9 bytes of each score in the softmax."""
    products = 4.0 * tokens * s * heads * head / tensor * slower * (1.0 / rate + (2.0 / s + 1.0 / head) / stream)
    return products + 9.0 * share * tokens * s * heads / tensor / memory


@formula("bytes/s", source=MODEL)
def memory_rate(bandwidth: float) -> float:
    """Bandwidth that memory-bound work reaches: 0.85 of the part's."""
    return 0.85 * bandwidth


@formula("bytes", source=MODEL)
def dense_elementwise_bytes(
    tokens: float,
    share: float,
    hidden: float,
    split: float,
    norms: float,
    streams: float,
    width: float,
    attention: float,
    tensor: float,
) -> float:
    """Bytes of norms, residuals, activations and head layouts of one dense layer, forward; `streams` = products of the MLP.

    Residuals are 6 elements of the width, and each norm reads one and writes one. Norms of queries and keys are not counted:
    0.9 % of a step of fused kernels (marin-community/marin issue 7668), less than rows of the fit can tell.
    """
    stream = (6.0 + 2.0 * norms) * hidden / split
    return share * 2.0 * tokens * (stream + (streams * width + 3.0 * attention) / tensor)


@formula("bytes", source=MODEL)
def expert_elementwise_bytes(
    tokens: float,
    share: float,
    hidden: float,
    split: float,
    norms: float,
    shared: float,
    routed: float,
    attention: float,
    tensor: float,
    chosen: float,
) -> float:
    """As of a dense layer, for one with experts: with shared width, routed width x experts of a token, and permutation."""
    stream = (6.0 + 2.0 * norms) * hidden / split
    inner = 3.0 * shared + 3.0 * routed + 3.0 * attention + 8.0 * chosen * hidden
    return share * 2.0 * tokens * (stream + inner / tensor)


@formula("1", source=DEFINITION)
def attention_elements(heads: float, query: float, key_value_heads: float, value: float) -> float:
    """Elements of queries, keys and values of one token."""
    return heads * query + key_value_heads * (query + value)


@formula("1", source=DEFINITION)
def key_value_width(key_value_heads: float, query: float, value: float) -> float:
    """Mean of the widths of all keys and of all values of one token."""
    return key_value_heads * (query + value) / 2.0


@formula("s", source=DEFINITION)
def over_rate(amount: float, rate: float) -> float:
    """An amount over the rate at which it is moved."""
    return amount / rate


@formula("s", source=MODEL)
def passes_time(forward: float, recomputed: float) -> float:
    """Forward, twice as much backward, and the share of forward that is computed again."""
    return (3.0 + recomputed) * forward


@formula(
    "s",
    source="PyTorch, torch.utils.checkpoint: the non-reentrant one stops recomputation as soon as all needed intermediate "
    "activations have been recomputed, by default",
)
def early_stopped_time(passes: float, last: float, skipped: float) -> float:
    """Passes over a block whose last product is not computed again: backward needs its input, and nobody its output.

    A block of experts weighs its last product's output, so it is needed there. All-reduces behind it are counted all the same.
    """
    return passes - skipped * last


@formula("s", source=MODEL)
def attention_passes_time(forward: float, backward: float, recomputed: float) -> float:
    """Attention core forward, `backward` times as much backward, and the share of forward that is computed again."""
    return (1.0 + backward + recomputed) * forward


@formula("s", source=MODEL)
def host_time(floor_time: float, recomputed: float, routing: float) -> float:
    """Time that the host needs to launch the kernels of one layer and microbatch; `routing` is what a layer with experts adds."""
    return floor_time * (3.0 + recomputed) / 3.0 + routing


@formula("s", source=MODEL)
def above_device_time(device: float, host: float) -> float:
    """What the host's floor adds to a layer's device time: the fourth root of the sum of fourth powers, less the device's."""
    return sqrt(sqrt(device * device * device * device + host * host * host * host)) - device


@formula("s", source=MODEL)
def head_time(products: float, tokens: float, vocabulary: float, ranks: float, each: float, memory: float) -> float:
    """Output head and loss of one microbatch: three products, and `each` bytes of every logit of a rank that the loss moves.

    `ranks` divide the logits at the loss: the tensor ranks, or one where they are gathered first.
    """
    return 3.0 * products + each * tokens * vocabulary / ranks / memory


@formula(
    "bytes",
    source="Megatron-LM core/tensor_parallel/layers.py, ColumnParallelLinear with gather_output: gathered in forward, split in "
    "backward, which sends nothing",
)
def gathered_logits_bytes(tokens: float, vocabulary: float, element: float, tensor: float, ranks: float) -> float:
    """Logits of one microbatch that tensor ranks send to each other before the loss; none where each keeps its own columns."""
    return where(ranks < tensor, (tensor - 1.0) / tensor * tokens * vocabulary * element, 0.0)
