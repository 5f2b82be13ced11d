"""What each dimension of the layout sends in a step, on which link, how long that takes, and what of it stays in sight.

Bytes are sent by one accelerator, one way, the mean over accelerators. Links are the scale-up link inside a domain and the
fabric between domains; a leaf switch, a rack row and other users of the fabric are not known to a plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from trainplan.budgets.kernels import Conditions
from trainplan.budgets.layer_time import Cut, fullest
from trainplan.budgets.memory.loss import head_ranks
from trainplan.budgets.memory.recipe import element_bytes
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget
from trainplan.formulas import communication as f
from trainplan.formulas import layer_time as lt
from trainplan.formulas import pipeline as p
from trainplan.formulas import steptime as t
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of
from trainplan.quantity.formula import named_sum

SCATTERS: Final = ("megatron", "deepspeed")
"""Frameworks that split what goes to the next stage over the tensor ranks, with sequence parallel or without.

Narayanan et al. 2021, arXiv 2104.04473, section 4.1; DeepSpeed runtime/pipe/engine.py, is_pipe_partitioned, read again.
"""

DIMENSIONS: Final = ("data", "tensor", "context", "pipeline", "expert")

NEIGHBOURS: Final = given("neighbours", 1.0, "1", "tensor ranks are next to each other", kind="default")
ONE_RANK: Final = given("one rank", 1.0, "1", "definition", kind="default")
NO_START: Final = given("no second start", 0.0, "s", "one start for both links", kind="default")
NOTHING: Final = given("nothing crosses", 0.0, "bytes", "counted beside it", kind="default")
NO_LIMIT: Final = given("node limit", 1e9, "1", "no limit known: the plan format has none", kind="default")
ONE_MESSAGE: Final = given("one message", 1.0, "1", "definition", kind="default")

FIXED: Final = named_sum("s", "transfers", "fixed")
STARTED: Final = named_sum("s", "transfers", "starts")


@record
class Operation:
    """One kind of transfer of a step: bytes sent, the link, its time and what of that is not hidden, in s."""

    dimension: str
    name: str
    bytes: Figure
    link: str
    time: Figure
    exposed: Figure


@record
class CommunicationBudget:
    """Bytes of a step by dimension, the exposed time of all, and every operation."""

    data: Figure
    tensor: Figure
    context: Figure
    pipeline: Figure
    expert: Figure
    exposed_time: Figure
    exposed_share: Figure
    exposed: Mapping[str, Figure]
    table: tuple[Operation, ...]


@record
class Traffic:
    """What the transfers inside a microbatch need to know: the cut, sizes, and how often a layer's transfer runs."""

    here: Cut
    hidden: Figure
    element: Figure
    layers: Figure
    microbatches: Figure
    pipeline: Figure
    world: Figure
    domain: Figure
    side_by_side: Figure


def traffic(s: Situation, model: ModelBudget, mesh: MeshBudget, here: Cut, microbatches: Figure) -> Traffic:
    """The plan's."""
    return Traffic(
        here,
        s["model.hidden_size"],
        element_bytes(s),
        model.shape.layers,
        microbatches,
        s["parallelism.pipeline"],
        mesh.world_size,
        s["cluster.scale_up_domain"],
        s.switch("model.parallel_block", "1 where attention and MLP run side by side, else 0"),
    )


def link_of(group: Figure, span: Figure, domain: Figure) -> str:
    """Which link a group needs that spans so many ranks: none, scale-up, or fabric; empty for a column of layouts."""
    if not (isinstance(group, Figure) and isinstance(span, Figure) and isinstance(domain, Figure)):
        return ""
    return "none" if group <= 1 else "scale-up" if span <= domain else "fabric"


def tensor_operation(k: Conditions, w: Traffic) -> Operation:
    """Collectives of tensor parallelism in every layer; those of a vocabulary that stays split are not counted."""
    tensor, count = w.here.tensor, f.tensor_reductions(k.linear_recomputed, w.side_by_side)
    inside = f.group_inside(w.domain, NEIGHBOURS, tensor)
    sent = f.tensor_bytes(w.layers, w.here.tokens, w.hidden, w.element, tensor, count, w.microbatches, w.pipeline)
    each = f.tensor_time(w.here.tokens, w.hidden, w.element, tensor, inside, k.domain, k.fabric, count)
    fixed = f.tensor_latency(tensor, inside, k.numbers["tensor_latency"], count)
    time = _step(w, w.layers, FIXED(transfers=each, fixed=fixed))
    exposed = _step(w, w.layers, f.shown_time(each, k.tensor_exposed, fixed))
    return Operation("tensor", "layer activations", sent, link_of(tensor, tensor, w.domain), time, exposed)


def head_operation(s: Situation, model: ModelBudget, k: Conditions, w: Traffic, heads: Figure) -> Operation:
    """Logits gathered over the tensor ranks before the loss, of so many heads on the last stage; nothing hides it."""
    tensor = w.here.tensor
    each = lt.gathered_logits_bytes(w.here.tokens, model.padded_vocabulary, w.element, tensor, head_ranks(s))
    time = _step(w, heads, lt.over_rate(each, f.group_rate(tensor, w.domain, k.domain, k.fabric)))
    sent = f.over_step(each, heads, w.microbatches, w.pipeline)
    return Operation("tensor", "gathered logits", sent, link_of(tensor, tensor, w.domain), time, time)


def _step(w: Traffic, layers: Figure, each: Figure) -> Figure:
    return f.time_over_step(each, layers, w.microbatches, w.pipeline)


def context_operation(s: Situation, model: ModelBudget, k: Conditions, w: Traffic) -> Operation:
    """Exchange of context parallelism in every attention layer."""
    context, tensor, shape = s["parallelism.context"], w.here.tensor, model.shape
    again, ring = k.attention_recomputed, s.plan.parallelism.context_type == "ring"
    width = lt.key_value_width(shape.key_value_heads, shape.query_size, shape.value_size)
    if ring:
        each = f.ring_bytes(w.here.tokens, width, w.element, context, tensor, again)
        count = f.ring_messages(context, again)
    else:
        heads = lt.head_columns(shape.heads, shape.value_size, ONE_RANK)
        each = f.all_to_all_bytes(w.here.tokens, heads, width, w.element, context, tensor, again)
        count = f.exchange_messages(context, again)
    members, span = f.group_inside(w.domain, tensor, context), lt.head_columns(tensor, context, ONE_RANK)
    rate = f.context_rate(tensor, context, members, w.domain, k.domain, k.fabric)
    starts = f.message_starts(count, f.leaves_domain(span, w.domain))
    time = _step(w, w.layers, STARTED(transfers=lt.over_rate(each, rate), starts=starts))
    exposed = f.time_times(time, k.numbers["context_exposed"])
    name = "keys, values by ring" if ring else "heads to all ranks"
    link = link_of(context, span, w.domain)
    return Operation("context", name, f.over_step(each, w.layers, w.microbatches, w.pipeline), link, time, exposed)


def expert_operations(s: Situation, k: Conditions, w: Traffic, expert_layers: Figure) -> tuple[Operation, ...]:
    """Dispatch and combine of experts: what stays inside a domain and what crosses the fabric."""
    expert, chosen, tensor = s["parallelism.expert"], s["model.moe.num_experts_per_tok"], w.here.tensor
    again = k.linear_recomputed
    each = f.expert_bytes(w.here.tokens, chosen, w.hidden, w.element, expert, tensor, again)
    domains = f.domains_of(expert, w.domain)
    copies = f.remote_copies(chosen, _node_limit(s, domains), domains)
    far = f.remote_expert_bytes(w.here.tokens, copies, w.hidden, w.element, domains, tensor, again)
    near = f.remaining(each, far)
    start, share = k.numbers["expert_start"], fullest(s)
    inside = f.expert_time(f.times_share(each, share), NOTHING, k.domain, k.fabric, expert, start)
    outside = f.expert_time(NOTHING, f.times_share(far, share), k.domain, k.fabric, expert, NO_START)
    found = tuple(
        Operation(
            "expert",
            name,
            f.over_step(sent, expert_layers, w.microbatches, w.pipeline),
            link,
            _step(w, expert_layers, time),
            f.time_times(_step(w, expert_layers, time), k.expert_exposed),
        )
        for name, sent, link, time in (
            ("all-to-all, near", near, link_of(expert, ONE_RANK, w.domain), inside),
            ("all-to-all, far", far, link_of(domains, expert, w.domain), outside),
        )
    )
    split = s["parallelism.expert_tensor"]
    return found if isinstance(split, Figure) and split == 1 else (*found, _split_experts(s, k, w, expert_layers))


def _node_limit(s: Situation, domains: Figure) -> Figure:
    """Domains that one token may go to: as the preset routes, all of them where it has no groups or there is no preset."""
    groups, chosen = (s.preset_fact(f"routing.{name}") for name in ("groups", "groups_per_token"))
    if groups is None or chosen is None:
        return NO_LIMIT
    return f.node_limit(groups, chosen, domains)


def _split_experts(s: Situation, k: Conditions, w: Traffic, expert_layers: Figure) -> Operation:
    """Routed tokens gathered before split experts, and their outputs scattered after them."""
    split, chosen, again = s["parallelism.expert_tensor"], s["model.moe.num_experts_per_tok"], k.linear_recomputed
    each = f.expert_tensor_bytes(w.here.tokens, chosen, w.hidden, w.element, split, w.here.tensor, again)
    sent = f.over_step(each, expert_layers, w.microbatches, w.pipeline)
    time = lt.over_rate(f.times_share(sent, fullest(s)), f.group_rate(split, w.domain, k.domain, k.fabric))
    shown = f.time_times(time, k.expert_exposed)
    return Operation("expert", "rows of split experts", sent, link_of(split, split, w.domain), time, shown)


def pipeline_operation(s: Situation, k: Conditions, w: Traffic) -> Operation:
    """Activations and gradients between stages; sent both ways, and the time is what one microbatch waits for one way.

    The link is the fabric unless one domain holds the whole job: stages are the outermost dimension of the mesh.
    """
    virtual, schedule = s["parallelism.virtual_pipeline"], s.plan.parallelism.schedule
    borders = p.turned_borders(w.pipeline) if schedule == "zb-v" else p.chain_borders(w.pipeline, virtual)
    parts = w.here.tensor if s.plan.training.framework in SCATTERS else w.here.split
    sent = p.pipeline_bytes(w.here.tokens, w.hidden, w.element, parts, borders, w.microbatches, w.pipeline)
    rate = f.group_rate(w.world, w.domain, k.domain, k.fabric)
    transfer = p.message_time(w.here.tokens, w.hidden, w.element, parts, rate)
    each = STARTED(transfers=transfer, starts=f.message_starts(ONE_MESSAGE, f.leaves_domain(w.world, w.domain)))
    waited = f.time_times(each, p.waited_messages(w.microbatches, virtual, w.pipeline))
    shown = waited
    if k.hides_stages:
        shown = f.time_times(each, p.shown_messages(w.microbatches, virtual, w.pipeline))
    return Operation("pipeline", "stages, both ways", sent, link_of(w.pipeline, w.world, w.domain), waited, shown)


def communication_budget(operations: tuple[Operation, ...], step: Figure) -> CommunicationBudget:
    """Bytes and exposed time by dimension; dimensions that the model does not have are 0."""
    sent = bytes_sent(operations)
    exposed = {name: _sum(operations, name, "exposed") for name in DIMENSIONS}
    shown = total_of(exposed)
    return CommunicationBudget(
        **sent,
        exposed_time=shown,
        exposed_share=t.share_of(shown, step),
        exposed=exposed,
        table=operations,
    )


def bytes_sent(operations: tuple[Operation, ...]) -> dict[str, Figure]:
    """Bytes of a step by dimension."""
    return {name: _sum(operations, name, "bytes") for name in DIMENSIONS}


def _sum(operations: tuple[Operation, ...], dimension: str, field: str) -> Figure:
    found: dict[str, Figure] = {}
    for one in operations:
        if one.dimension == dimension:
            found[one.name] = getattr(one, field)
    if not found:
        return _none(dimension, "bytes" if field == "bytes" else "s")
    return next(iter(found.values())) if len(found) == 1 else total_of(found)


@cache
def _none(dimension: str, unit: str) -> Figure:
    return given(f"no {dimension} parallelism", 0.0, unit, "the model or layout has none", kind="file")
