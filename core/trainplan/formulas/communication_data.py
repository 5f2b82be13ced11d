"""Bytes and time of data parallelism: gathers of weights, scatters and reductions of gradients, and what compute hides of them.

Dense parameters and routed experts have groups of their own. The reduction of the gradient's norm is latency and is not counted.
"""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import log2, maximum, where

STUDY = "step-time study, section 2.6; checked on published rows, catalogue/evidence"
RING = "ring collectives: each rank sends (n - 1)/n of the result"
DEFINITION = "definition"


@formula("bytes", source=RING)
def ring_share(parameters: float, each: float, group: float) -> float:
    """Bytes that a gather or scatter of so many bytes a parameter sends from one rank."""
    return parameters * each * (group - 1.0) / group


@formula(
    "bytes", source="ZeRO, arXiv 1910.02054: scattered gradients and gathered weights, or a reduction of both ways"
)
def collective_bytes(gathers: float, weight: float, scatters: float, gradient: float) -> float:
    """Bytes a parameter of one round: gathers of weights and scatters of gradients, each in its own type."""
    return gathers * weight + scatters * gradient


@formula("s", source=STUDY)
def group_time(sent: float, group: float, inside: float, domain: float, fabric: float) -> float:
    """Time of a collective of a group: the larger of what crosses the scale-up link and what leaves the node by all its members."""
    whole = sent * group / maximum(group - 1.0, 1.0)
    outside = group / inside
    return maximum(sent / domain, whole * (outside - 1.0) / (outside * fabric * inside))


@formula("s", source=STUDY)
def collective_start(group: float, inside: float) -> float:
    """Fixed time of one collective: 15 us inside a domain, 60 us x log2 of twice the domains across, nothing for one rank.

    It is what makes small messages slow: bytes at the link's rate and this reach half the rate where both take as long.
    """
    outside = group / inside
    across = 60e-6 * log2(maximum(2.0, 2.0 * outside))
    return where(group > 1.0, where(outside > 1.0, across, 15e-6), 0.0)


@formula("1", source=DEFINITION)
def both_ways(gathers: float, scatters: float) -> float:
    """Collectives of one part of the parameters in a round."""
    return gathers + scatters


@formula("1", source=DEFINITION)
def spanned_domains(group: float, inside: float) -> float:
    """Scale-up domains that a group lies in."""
    return group / inside


@formula("1", source=STUDY)
def layer_collectives(each: float, layers: float, pipeline: float) -> float:
    """Collectives of a round that runs layer by layer: so many for each layer of the mean rank."""
    return each * layers / pipeline


@formula("1", source="Megatron-LM core/distributed/distributed_data_parallel.py, bucket_size, read again")
def bucket_parameters(replicas: float) -> float:
    """Parameters of one gradient bucket where reductions overlap: larger for more replicas, so that starts do not rule."""
    return maximum(40e6, 1e6 * replicas)


@formula("1", source=DEFINITION)
def bucket_collectives(each: float, parameters: float, bucket: float) -> float:
    """Collectives of a round that runs bucket by bucket, one bucket at least."""
    return each * maximum(1.0, parameters / bucket)


@formula("s", source=DEFINITION)
def started_time(transfers: float, count: float, start: float) -> float:
    """Time of a round: its bytes at the link's rate, and the start of each of its collectives."""
    return transfers + count * start


@formula("s", source=STUDY)
def exposed_time(time: float, exposed: float, window: float) -> float:
    """What stays in sight: the share that cannot overlap, and what of the rest is longer than the window."""
    return exposed * time + maximum(0.0, (1.0 - exposed) * time - window)


@formula("s", source="Megatron-LM core/pipeline_parallel/schedules.py, grad_sync_func of each chunk, read again")
def exposed_by_chunks(time: float, exposed: float, window: float, chunks: float, ranks: float) -> float:
    """What stays in sight where chunks of a rank reduce one after the other; with one chunk, as where it reduces at once.

    The gradients of a chunk leave after its own last microbatch, while the chunks that follow still run one microbatch
    for each pipeline rank: only the last chunk has no more than its own part of the window.
    """
    rest = (1.0 - exposed) * time
    last = (rest - window) / chunks
    every = rest - window * ((chunks - 1.0) * ranks + 1.0) / chunks
    return exposed * time + maximum(0.0, maximum(last, every))


@formula("bytes", source=DEFINITION)
def times(each: float, count: float) -> float:
    """Bytes of one round times the rounds of a step."""
    return each * count


@formula("1", source=DEFINITION)
def mean_parameters(
    layers: float, layer: float, expert_layers: float, expert_layer: float, ends: float, pipeline: float
) -> float:
    """Parameters of the mean pipeline rank but for routed experts; `ends` are embedding and head together."""
    return (layers * layer + expert_layers * expert_layer + ends) / pipeline


@formula("1", source=STUDY)
def end_parameters(
    layers: float, layer: float, expert_layers: float, expert_layer: float, ends: float, pipeline: float
) -> float:
    """Parameters of an end rank but for routed experts: its layers, and half of both tables where there is a pipeline."""
    return (layers * layer + expert_layers * expert_layer) / pipeline + ends * where(pipeline > 1.0, 0.5, 1.0)


@formula("1", source=DEFINITION)
def fullest_parameters(
    layers: float,
    layer: float,
    expert_layers: float,
    expert_layer: float,
    first: float,
    middle: float,
    last: float,
    embedding: float,
    head: float,
) -> float:
    """The same of the fullest rank where the plan says the layers of its ends, `middle` the most of the others."""
    each = (layers * layer + expert_layers * expert_layer) / (layers + expert_layers)
    return maximum(maximum(first * each + embedding, last * each + head), middle * each)


@formula("1", source="DeepSeek-V3, arXiv 2412.19437, table 2: parameters twice")
def stage_copies(pipeline: float) -> float:
    """Stages of which a DualPipe rank holds the parameters: its own and the mirrored one, where there is a pipeline."""
    return where(pipeline > 1.0, 2.0, 1.0)


@formula("1", source=DEFINITION)
def times_copies(parameters: float, copies: float) -> float:
    """Parameters of one stage times the stages that a rank holds."""
    return parameters * copies


@formula("1", source=DEFINITION)
def mean_experts(expert_layers: float, experts: float, pipeline: float) -> float:
    """Parameters of routed experts of the mean pipeline rank."""
    return expert_layers * experts / pipeline


@formula("1", source=DEFINITION)
def replica_count(data: float, context: float, shard: float) -> float:
    """Replicas of a shard group: data x context ranks over the ranks of one group."""
    return data * context / shard


@formula("1", source=DEFINITION)
def rank_stride(tensor: float, shard: float) -> float:
    """Ranks between one shard's replicas."""
    return tensor * shard


@formula("1", source=DEFINITION)
def shard_parameters(parameters: float, ranks: float) -> float:
    """Parameters of one shard."""
    return parameters / ranks


@formula("s", source=DEFINITION)
def shared_time(shown: float, part: float, whole: float) -> float:
    """The part's share of a time that several transfers cause together; nothing where they take no time."""
    return where(whole > 0.0, shown * part / where(whole > 0.0, whole, 1.0), 0.0 * shown)


@formula("s", source=DEFINITION)
def round_time(time: float, rounds: float) -> float:
    """A time of the step, told for each of its rounds."""
    return time / rounds


@formula("1", source=DEFINITION)
def each_round(count: float, rounds: float) -> float:
    """A count of the step, told for each of its rounds."""
    return count / rounds
