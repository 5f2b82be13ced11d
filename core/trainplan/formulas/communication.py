"""Bytes that one accelerator sends in a step, and the time that its links need, by dimension.

Bytes are one way and the mean over accelerators. Gradient-norm reductions and the embedding's own reductions are not
counted: latency only. A group that spans whole nodes leaves each node once and uses all its links to the fabric.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import floor, maximum, minimum, power, where

STUDY = "step-time study, section 2.4 and 2.6; checked on published rows, catalogue/evidence"
RING = "ring collectives: each rank sends (n - 1)/n of the result"
DEFINITION = "definition"


@formula("bytes/s", source="nominal x 0.8: NVLink ring collectives, ml-engineering network README")
def domain_rate(nominal: float) -> float:
    """What collectives reach of the scale-up link, one way and for each accelerator."""
    return 0.8 * nominal


@formula("bytes/s", source="nominal x 0.75: measured all-reduce over four nodes, ml-engineering network README")
def fabric_rate(nominal: float, site: float) -> float:
    """What collectives reach of the fabric, one way, each accelerator; `site` is 1 unless a fabric was measured to be worse."""
    return 0.75 * nominal * site


@formula("1", source=DEFINITION)
def group_inside(domain: float, stride: float, group: float) -> float:
    """Members of a group in one scale-up domain, where neighbours are `stride` ranks apart."""
    return maximum(1.0, minimum(floor(domain / stride), group))


@formula(
    "bytes", source="Megatron-LM mappings.py, sequence parallel: an all-gather and a reduce-scatter for each all-reduce"
)
def tensor_bytes(
    layers: float,
    tokens: float,
    hidden: float,
    element: float,
    tensor: float,
    reductions: float,
    microbatches: float,
    pipeline: float,
) -> float:
    """Tensor parallel: the all-reduces of a layer and microbatch."""
    return reductions * 2.0 * (tensor - 1.0) / tensor * element * tokens * hidden * layers * microbatches / pipeline


@formula(
    "1",
    source="Megatron-LM, arXiv 1909.08053, section 3; side by side, attention and MLP are summed before one all-reduce: "
    "GPT-NeoX, arXiv 2204.06745, section 2.1",
)
def tensor_reductions(recomputed: float, side_by_side: float) -> float:
    """All-reduces of a layer and microbatch: four, and two more where forward is computed again; half where blocks are parallel."""
    return (4.0 + 2.0 * recomputed) / (1.0 + side_by_side)


@formula("s", source=STUDY)
def tensor_time(
    tokens: float,
    hidden: float,
    element: float,
    tensor: float,
    inside: float,
    domain: float,
    fabric: float,
    reductions: float,
) -> float:
    """Transfers of tensor parallelism in one layer and microbatch, on the slower of both links."""
    volume = 2.0 * element * tokens * hidden
    outside = tensor / inside
    each = maximum((tensor - 1.0) / (tensor * domain), (outside - 1.0) / (outside * fabric * inside))
    return reductions * volume * each


@formula("s", source=STUDY)
def tensor_latency(tensor: float, inside: float, latency: float, reductions: float) -> float:
    """Fixed time of the same collectives: two ring walks each, four times as long across domains."""
    return reductions * 2.0 * latency * (tensor - 1.0) * where(tensor > inside, 4.0, 1.0)


@formula("bytes", source="ring attention: keys and values forward and backward, their gradients backward")
def ring_bytes(
    tokens: float, key_value_width: float, element: float, context: float, tensor: float, recomputed: float
) -> float:
    """Context parallel by ring, one attention layer and microbatch: keys and values of all other ranks pass by."""
    return (3.0 + recomputed) * (context - 1.0) * tokens * 2.0 * key_value_width * element / tensor


@formula(
    "bytes", source="DeepSpeed Ulysses, arXiv 2309.14509: queries, keys, values in and output out, forward and backward"
)
def all_to_all_bytes(
    tokens: float,
    head_width: float,
    key_value_width: float,
    element: float,
    context: float,
    tensor: float,
    recomputed: float,
) -> float:
    """Context parallel by all-to-all, one attention layer and microbatch."""
    return (
        (4.0 + 2.0 * recomputed)
        * (context - 1.0)
        / context
        * tokens
        * (head_width + key_value_width)
        * element
        / tensor
    )


@formula(
    "s",
    source="latency of 10 us inside a domain and 20 us across, calculon systems/a100_80g.json; the study's model has none",
)
def message_starts(count: float, crosses: float) -> float:
    """Fixed times of so many messages between two ranks; `crosses` is 1 where they leave the domain."""
    return count * (10e-6 + 10e-6 * crosses)


@formula("1", source=DEFINITION)
def leaves_domain(span: float, domain: float) -> float:
    """1 where so many neighbouring ranks do not fit one domain, else 0."""
    return where(span > domain, 1.0, 0.0)


@formula("1", source=DEFINITION)
def ring_messages(context: float, recomputed: float) -> float:
    """Messages of one attention layer and microbatch around the ring: all other ranks' keys and values, each pass."""
    return (3.0 + recomputed) * (context - 1.0)


@formula("1", source=DEFINITION)
def exchange_messages(context: float, recomputed: float) -> float:
    """Collectives of one attention layer and microbatch by all-to-all: four forward, four backward, none for one rank."""
    return where(context > 1.0, 4.0 * (2.0 + recomputed), 0.0)


@formula("bytes/s", source=STUDY)
def context_rate(tensor: float, context: float, members: float, nodes: float, domain: float, fabric: float) -> float:
    """Link of a context group: the scale-up link inside a domain, else the fabric by all its members in a node."""
    return where(tensor * context <= nodes, domain, minimum(domain, fabric * members))


@formula(
    "bytes",
    source="tokens x experts of a token, to other ranks and back, forward and backward; Megatron-LM moe token dispatcher",
)
def expert_bytes(
    tokens: float, chosen: float, hidden: float, element: float, expert: float, tensor: float, recomputed: float
) -> float:
    """Expert parallel, one layer and microbatch: dispatch and combine, balanced routing."""
    return (4.0 + 2.0 * recomputed) * (expert - 1.0) / expert * tokens / tensor * chosen * hidden * element


@formula("1", source="DeepSeek-V3, arXiv 2412.19437, section 2.1.2: node-limited routing")
def node_limit(groups: float, chosen: float, nodes: float) -> float:
    """Domains that the experts of one token can lie in: its groups of experts, each over its share of the domains."""
    return chosen * maximum(1.0, nodes / groups)


@formula("1", source="DeepSeek-V3, arXiv 2412.19437: a token is sent once to each remote node")
def remote_copies(chosen: float, limit: float, nodes: float) -> float:
    """Copies of one token that leave for other domains: at most one each, and at most the node limit."""
    return minimum(minimum(chosen, limit), nodes * (1.0 - power(1.0 - 1.0 / nodes, chosen)))


@formula("1", source=DEFINITION)
def domains_of(group: float, domain: float) -> float:
    """Scale-up domains that a group of neighbours spans, one at least."""
    return maximum(1.0, group / domain)


@formula("bytes", source="DeepSeek-V3, arXiv 2412.19437: a token is sent once to each remote node")
def remote_expert_bytes(
    tokens: float, copies: float, hidden: float, element: float, nodes: float, tensor: float, recomputed: float
) -> float:
    """Part of the expert all-to-all that crosses the fabric, one layer and microbatch."""
    return (4.0 + 2.0 * recomputed) * (nodes - 1.0) / nodes * tokens / tensor * copies * hidden * element


@formula("s", source=STUDY)
def expert_time(inside: float, outside: float, domain: float, fabric: float, expert: float, start: float) -> float:
    """Dispatch and combine of one layer and microbatch: both links after each other, and a fixed start where there is a group."""
    return inside / domain + outside / fabric + where(expert > 1.0, start, 0.0)


@formula(
    "bytes",
    source="Megatron-LM token_dispatcher.py, MoEAlltoAllTokenDispatcher: gathered after dispatch, scattered before combine",
)
def expert_tensor_bytes(
    tokens: float, chosen: float, hidden: float, element: float, expert_tensor: float, tensor: float, recomputed: float
) -> float:
    """Expert tensor parallel, one layer and microbatch: routed tokens of all its ranks gathered, and their outputs scattered."""
    return (4.0 + 2.0 * recomputed) * (expert_tensor - 1.0) * tokens / tensor * chosen * hidden * element


@formula("bytes/s", source=STUDY)
def group_rate(group: float, nodes: float, domain: float, fabric: float) -> float:
    """Link of a group of neighbours: the scale-up link inside a domain, else the fabric."""
    return where(group <= nodes, domain, fabric)


@formula("s", source=DEFINITION)
def shown_time(transfers: float, exposed: float, fixed: float) -> float:
    """What stays in sight of transfers that overlap in part, and the fixed times."""
    return exposed * transfers + fixed


@formula("1", source=DEFINITION)
def exposed_share(overlap: float) -> float:
    """Share that compute cannot hide."""
    return 1.0 - overlap


@formula(
    "1",
    source="Megatron-LM core/tensor_parallel/layers.py since September 2021: backward of a column-parallel layer; "
    "Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2",
)
def tensor_shown_share(recomputed: float, sequence_parallel: float, exposed: float) -> float:
    """Share in sight of the four collectives of a layer, and two where forward is computed again.

    Backward sends the gradient of a column-parallel layer's input while it computes that of the weights: both all-reduces, or
    with sequence parallelism both reduce-scatters, which are half of them. `exposed` of these stays in sight, and as much of
    what sequence parallelism gathers once more: the inputs that it keeps only a slice of, two gathers of half an all-reduce.
    """
    hidden = (2.0 - sequence_parallel) * (1.0 - exposed) - sequence_parallel * exposed
    return 1.0 - hidden / (4.0 + 2.0 * recomputed)


@formula("bytes", source=DEFINITION)
def over_step(each: float, layers: float, microbatches: float, pipeline: float) -> float:
    """Bytes of one layer and microbatch over all layers of the mean pipeline rank and all microbatches."""
    return each * layers * microbatches / pipeline


@formula("s", source=DEFINITION)
def time_over_step(each: float, layers: float, microbatches: float, pipeline: float) -> float:
    """Time of one layer and microbatch over all layers of the mean pipeline rank and all microbatches."""
    return each * layers * microbatches / pipeline


@formula("s", source=DEFINITION)
def time_times(each: float, count: float) -> float:
    """Time of one round times the rounds of a step."""
    return each * count


@formula("bytes", source=DEFINITION)
def times_share(each: float, share: float) -> float:
    """Bytes of the mean rank, told for the fullest."""
    return each * share


@formula("bytes", source=DEFINITION)
def remaining(whole: float, part: float) -> float:
    """What is left of a volume without its part, nothing at least."""
    return maximum(0.0, whole - part)
