"""Findings P2, P5, P7, P9 and P10 on transfers, and heads that leave the tensor cores. P1, P3 and P4 are rules of the layout.

P6 cannot happen: the type of a reduction is always counted. P8 asks where spare nodes stand, which no plan says.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.communication_data import gathers_again
from trainplan.budgets.layout import divisors, whole
from trainplan.budgets.shape import leaves_fused
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure

WARN, MOST = 0.15, 0.30


def exposed_transfers(estimate: Estimate) -> list[Finding]:
    """P2: transfers that are not hidden take more than 15 % of the predicted step, an error above 30 %."""
    sent = estimate.communication
    share = sent.exposed_share
    if not isinstance(share, Figure) or share <= WARN:
        return []
    worst = max(sent.exposed, key=lambda name: float(sent.exposed[name]))
    part = float(sent.exposed[worst]) / float(sent.exposed_time)
    message = f"transfers take {100 * share:.1f} % of the predicted step in sight, {100 * part:.0f} % of that {worst} parallelism"
    paths = {
        "data": ("parallelism.sharding", "batch.global_batch_sequences"),
        "tensor": ("parallelism.tensor",),
        "context": ("parallelism.context",),
        "pipeline": ("parallelism.pipeline",),
        "expert": ("parallelism.expert",),
    }
    severity = "error" if share > MOST else "warning"
    return [Finding("P2", severity, "parallelism", message, _nearer(estimate, worst), paths[worst], 100 * float(share))]


def _nearer(estimate: Estimate, worst: str) -> str:
    """One step of the layout towards fewer or nearer ranks of the parallelism that shows most."""
    parallel, s = estimate.plan.parallelism, estimate.situation
    if worst == "data":
        return _less_moved(estimate)
    if worst == "pipeline":
        return "fewer virtual stages"
    degree = int(getattr(parallel, worst))
    domain = whole(s["cluster.scale_up_domain"]) or 1
    inside = max(domain // int(parallel.tensor), 1) if worst == "expert" else domain
    most = min(inside, degree - 1) if degree > inside else degree // 2
    return f"{worst} = {max((one for one in divisors(degree) if one <= most), default=1)}"


LESS_SHARDED: Final = {"zero-1": "none", "zero-2": "zero-1", "zero-3": "zero-2"}


def _less_moved(estimate: Estimate) -> str:
    """More tokens between two reductions, or less of the states moved for them."""
    less = LESS_SHARDED.get(estimate.situation.word("parallelism.sharding") or "")
    parts = [f"micro_batch_sequences = {2 * int(estimate.plan.batch.micro_batch_sequences)}"]
    return ", or ".join([*parts, f'sharding = "{less}"'] if less else parts)


def unmeasured_fabric(estimate: Estimate) -> list[Finding]:
    """P5: data or expert traffic over a fabric whose rate is the part's usual one, not this cluster's."""
    s, share = estimate.situation, estimate.communication.exposed_share
    if not isinstance(share, Figure) or share <= 0.05 or s.written("cluster.scale_out_bandwidth"):
        return []
    if not any(one.link == "fabric" and float(one.exposed) > 0 for one in estimate.communication.table):
        return []
    message = "the fabric's rate is the usual one of the part; a shared or untuned fabric reached a third of that"
    fix = "measure an all-reduce over whole nodes and give cluster.scale_out_bandwidth"
    return [Finding("P5", "info", "parallelism", message, fix, ("cluster.scale_out_bandwidth",))]


def failure_domains(estimate: Estimate) -> list[Finding]:
    """P7: the loss of one failure domain takes the only copy of sharded states."""
    s, plan = estimate.situation, estimate.plan
    data, per = estimate.mesh.data, plan.cluster.nodes_per_failure_domain
    if per is None or not isinstance(data, Figure) or s.word("parallelism.sharding") in (None, "none"):
        return []
    if s.word("parallelism.sharding") == "hsdp":
        return []
    message = (
        f"states are kept once over {data * s['parallelism.context']:,.0f} ranks; the loss of one failure domain of "
        f"{per:,.0f} nodes takes their only copy, and the run restarts from a checkpoint"
    )
    fix = "hsdp keeps a copy in every shard group"
    return [Finding("P7", "info", "parallelism", message, fix, ("parallelism.sharding",))]


def shard_group(estimate: Estimate) -> list[Finding]:
    """P9: an hsdp shard group that is not the scale-up domain."""
    s, domain = estimate.situation, estimate.situation["cluster.scale_up_domain"]
    size = estimate.plan.parallelism.shard_size
    if s.word("parallelism.sharding") != "hsdp" or size is None or not isinstance(domain, Figure):
        return []
    data = estimate.mesh.data
    ranks = data * s["parallelism.context"] if isinstance(data, Figure) else domain
    right = min(domain / s["parallelism.tensor"], ranks)
    if size == right or domain <= 1 or right < 1:
        return []
    message = f"a shard group of {size:,.0f} ranks is not the scale-up domain of {domain:,.0f}"
    return [
        Finding("P9", "warning", "parallelism", message, f"shard_size = {right:.0f}", ("parallelism.shard_size",), 20)
    ]


def gathered_each_microbatch(estimate: Estimate) -> list[Finding]:
    """P10: accumulation with zero-3 gathers and scatters everything in each microbatch."""
    s, count = estimate.situation, estimate.tokens.microbatches
    if s.word("parallelism.sharding") not in ("zero-3", "hsdp") or not isinstance(count, Figure) or count <= 1:
        return []
    if (
        not gathers_again(s)
        or not isinstance(estimate.communication.data, Figure)
        or estimate.communication.data == 0.0
    ):
        return []
    sent = float(estimate.communication.data)
    message = f"each of {count:,.0f} microbatches gathers the weights again: {sent / 1e9:,.1f} GB sent a step"
    fix = 'a larger micro batch, or sharding = "zero-2"'
    return [
        Finding("P10", "info", "parallelism", message, fix, ("batch.micro_batch_sequences", "parallelism.sharding"))
    ]


def misaligned_heads(estimate: Estimate) -> list[Finding]:
    """P11: a head size that is not a multiple of 8; published rows of such heads ran about a third slower.

    TransformerEngine, attention/dot_product_attention/utils.py, disables FlashAttention for them; flash-attention issue 1141.
    """
    shape, training = estimate.model.shape, estimate.plan.training
    for size in (shape.query_size, shape.value_size):
        if isinstance(size, Figure) and size % 8 != 0:
            then = OLD if training.attention == "eager" else "; measured runs of such heads took a third longer"
            then = LEFT if leaves_fused(estimate.situation) else then
            near = f"{size // 8 * 8 + 8:,.0f}" if size < 8 else f"{size // 8 * 8:,.0f} or {size // 8 * 8 + 8:,.0f}"
            paths = ("model.head_dim", "model.num_attention_heads")
            message = f"a head size of {size:,.6g} is not a multiple of 8{then}"
            return [Finding("P11", "warning", "model", message, near, paths, 45)]
    return []


LEFT: Final = (
    ": TransformerEngine leaves FlashAttention and keeps every score, in memory and time; "
    "a 70B run fell from 370 to 219 TFLOP/s"
)
OLD: Final = (
    "; eager products of them ran 12 times slower in stacks of 2020 to 2022, as counted here, "
    "and at full rate in one of 2024"
)


COMMUNICATION_CHECKS: Final = (
    exposed_transfers,
    unmeasured_fabric,
    failure_domains,
    shard_group,
    gathered_each_microbatch,
    misaligned_heads,
)
