"""Time of one layer and of the output head for one microbatch on one accelerator, by part.

Products by their shapes, the attention core, memory-bound work, and what the host's floor adds. Communication is apart.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.flops import FlopsBudget
from trainplan.budgets.kernels import Conditions
from trainplan.budgets.layer import norms_per_block
from trainplan.budgets.memory.loss import head_ranks
from trainplan.budgets.model import ModelBudget
from trainplan.budgets.shape import keeps_scores
from trainplan.budgets.situation import Situation
from trainplan.formulas import layer_time as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given, total_of
from trainplan.quantity.formula import named_sum

UNSPLIT: Final = given("no sequence parallel", 1.0, "1", "plan file")
NO_ROUTING: Final = given("no routing", 0.0, "s", "a dense layer")
NO_NORMS: Final = given("no norms", 0.0, "1", "model.norm")
FUSED_WIDTH: Final = given(
    "width of routed experts that is passed over apart from products",
    0.0,
    "1",
    "TransformerEngine d0067d0, pytorch/ops/fused/grouped_mlp.py: one kernel multiplies, gates, weighs and quantizes",
    kind="file",
)
NO_SHARED: Final = given("no shared expert", 0.0, "1", "num_shared_experts")
ONE_PROJECTION: Final = given("one projection", 1.0, "1", "definition")
ONE_RANK: Final = given("one rank", 1.0, "1", "definition")
OUT_OF_MLP: Final = given("projection out of the MLP", 1.0, "1", "definition")
HEAD_IN_16: Final = given("16-bit products", 1.0, "1", "low precision touches block linears only")
ROUTER_IN_16: Final = given("16-bit products", 1.0, "1", "the router stays in 16 bits")
FUSED_LOGIT: Final = given(
    "bytes of a logit that a fused loss moves", 12.0, "bytes", "step-time study, section 2.5", kind="default"
)
FUSED_BACKWARD: Final = given(
    "backward of a fused core", 2.5, "1", "FlashAttention-2, arXiv 2307.08691: five products to two"
)
MATERIALISED_BACKWARD: Final = given(
    "backward of a materialised core", 2.0, "1", "two products for each of forward", kind="default"
)

DEVICE: Final = named_sum("s", "products", "attention", "elementwise")
ELEMENTWISE: Final = named_sum("s", "fused", "one_by_one")
KEYS_AND_VALUES: Final = named_sum("1", "keys", "values")
LATENT: Final = named_sum("1", "rank", "rope")
STREAMS: Final = named_sum("1", "into", "out")


@record
class LayerTime:
    """Seconds of one layer and microbatch, forward, backward and what is computed again."""

    products: Figure
    attention: Figure
    elementwise: Figure
    host: Figure


@record
class Cut:
    """What one rank has of a microbatch: tokens, and the ranks that split heads and widths."""

    tokens: Figure
    sequence: Figure
    tensor: Figure
    split: Figure
    keys: Figure


def cut(s: Situation, flops: FlopsBudget) -> Cut:
    """The plan's microbatch on one rank; `split` is the ranks that share norms and residuals."""
    tensor = s["parallelism.tensor"]
    tokens = f.rank_tokens(s["batch.micro_batch_sequences"], s["data.sequence_length"], s["parallelism.context"])
    split = tensor if s.plan.parallelism.sequence_parallel else UNSPLIT
    return Cut(tokens, s["data.sequence_length"], tensor, split, flops.causal_keys)


def layer_time(s: Situation, model: ModelBudget, k: Conditions, here: Cut, *, sparse: bool) -> LayerTime:
    """One layer, with experts or without."""
    block = _experts(s, k, here) if sparse else _mlp(s, k, here)
    forward = total_of({**_attention_products(s, model, k, here), **block})
    products = f.passes_time(forward, k.linear_recomputed)
    if k.last_skipped is not None and not sparse:
        products = f.early_stopped_time(products, block["mlp_down"], k.last_skipped)
    attention = _core(s, model, k, here)
    elementwise = _elementwise(s, model, k, here, sparse=sparse)
    device = DEVICE(products=products, attention=attention, elementwise=elementwise)
    routing = k.expert_floor if sparse else NO_ROUTING
    host = f.above_device_time(device, f.host_time(k.host_floor, k.linear_recomputed, routing))
    return LayerTime(products, attention, elementwise, host)


def head_time(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> Figure:
    """Output head and loss of one microbatch, in 16 bits."""
    rate = f.matmul_rate(k.peak, k.efficiency, HEAD_IN_16)
    columns = f.split_width(model.padded_vocabulary, ONE_PROJECTION, here.tensor)
    product = f.product_time(here.tokens, columns, s["model.hidden_size"], rate, k.stream_16)
    return f.head_time(product, here.tokens, model.padded_vocabulary, head_ranks(s), _logit_bytes(s), k.memory)


def _logit_bytes(s: Situation) -> Figure:
    """Bytes of a logit that the loss moves: with operators one by one a cast, log-softmax, its gradient, and a cast back."""
    loss = str(s.word("training.loss"))
    if loss == "plain":
        source = "PyTorch cross_entropy(logits.float()): 6 + 8 bytes forward, 4 + 12 + 6 backward"
        return given(
            "bytes of a logit that a plain loss moves", 36.0, "bytes", source, kind=s.origin("training.loss")[0]
        )
    return FUSED_LOGIT


def _rate(k: Conditions) -> Figure:
    return f.matmul_rate(k.peak, k.efficiency, k.speedup)


def _attention_products(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> dict[str, Figure]:
    shape, hidden, rate = model.shape, s["model.hidden_size"], _rate(k)
    if shape.latent:
        return _latent_products(s, model, k, here)
    joint = f.query_key_value_columns(shape.heads, shape.key_value_heads, shape.query_size, here.tensor)
    width = f.head_columns(shape.heads, shape.value_size, here.tensor)
    return {
        "query_key_value": f.product_time(here.tokens, joint, hidden, rate, k.stream),
        "output": f.product_time(here.tokens, hidden, width, rate, k.stream),
    }


def _latent_products(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> dict[str, Figure]:
    shape, hidden, rate = model.shape, s["model.hidden_size"], _rate(k)
    rank, rope = s["model.mla.kv_lora_rank"], s["model.mla.qk_rope_head_dim"]
    query = f.head_columns(shape.heads, shape.query_size, here.tensor)
    value = f.head_columns(shape.heads, shape.value_size, here.tensor)
    up = KEYS_AND_VALUES(keys=s["model.mla.qk_nope_head_dim"], values=shape.value_size)
    both = f.head_columns(shape.heads, up, here.tensor)
    found = {
        "key_value_down": f.product_time(here.tokens, LATENT(rank=rank, rope=rope), hidden, rate, k.stream),
        "key_value_up": f.product_time(here.tokens, both, rank, rate, k.stream),
        "output": f.product_time(here.tokens, hidden, value, rate, k.stream),
    }
    if s.value("model.mla.q_lora_rank") is None:
        return {"query": f.product_time(here.tokens, query, hidden, rate, k.stream), **found}
    low = s["model.mla.q_lora_rank"]
    return {
        "query_down": f.product_time(here.tokens, low, hidden, rate, k.stream),
        "query_up": f.product_time(here.tokens, query, low, rate, k.stream),
        **found,
    }


def _ways(s: Situation) -> Figure:
    return _into_mlp(2.0 if s.flag("model.gated_mlp") else 1.0, s.origin("model.gated_mlp")[0])


@cache
def _into_mlp(count: float, kind: str) -> Figure:
    return given("projections into the MLP", count, "1", "model.gated_mlp", kind=kind)


def _mlp(s: Situation, k: Conditions, here: Cut, width: Figure | None = None) -> dict[str, Figure]:
    full, hidden, rate = s["model.intermediate_size"] if width is None else width, s["model.hidden_size"], _rate(k)
    up, down = f.split_width(full, _ways(s), here.tensor), f.split_width(full, ONE_PROJECTION, here.tensor)
    return {
        "mlp_up": f.product_time(here.tokens, up, hidden, rate, k.stream),
        "mlp_down": f.product_time(here.tokens, hidden, down, rate, k.stream),
    }


def _experts(s: Situation, k: Conditions, here: Cut) -> dict[str, Figure]:
    chosen, experts = s["model.moe.num_experts_per_tok"], s["model.moe.num_experts"]
    hidden, width = s["model.hidden_size"], s["model.moe.moe_intermediate_size"]
    share = fullest(s)
    split = s["parallelism.expert_tensor"]
    each = f.expert_rows(here.tokens, chosen, s["parallelism.expert"], experts, here.tensor, split)
    each = f.fullest_tokens(each, share)
    rows = f.fullest_tokens(f.gathered_tokens(f.routed_tokens(here.tokens, chosen, here.tensor), split), share)
    rate = f.grouped_rate(
        k.peak, k.efficiency, k.expert_speedup, k.numbers["grouped_most"], k.numbers["grouped_half"], each
    )
    up, down = f.split_width(width, _ways(s), split), f.split_width(width, ONE_RANK, split)
    router = f.matmul_rate(k.peak, k.efficiency, ROUTER_IN_16)
    own = f.routed_tokens(here.tokens, ONE_RANK, here.tensor)
    found = {
        "experts_up": f.grouped_time(rows, each, up, hidden, rate, k.stream),
        "experts_down": f.grouped_time(rows, each, hidden, down, rate, k.stream),
        "router": f.product_time(own, experts, hidden, router, k.stream_16),
    }
    shared = shared_width(s)
    return found if shared is None else {**found, **_mlp(s, k, here, shared)}


def fullest(s: Situation) -> Figure:
    """What the fullest expert rank has of tokens, over the mean."""
    return f.fullest_share(s["training.moe_imbalance"], s["parallelism.expert"])


def shared_width(s: Situation) -> Figure | None:
    """Width of all shared experts of a layer together; None where there are none."""
    if not s.value("model.moe.num_shared_experts"):
        return None
    own = s.value("model.moe.shared_expert_intermediate_size") is not None
    width = s["model.moe.shared_expert_intermediate_size" if own else "model.moe.moe_intermediate_size"]
    return f.split_width(width, s["model.moe.num_shared_experts"], ONE_RANK)


def _elementwise(s: Situation, model: ModelBudget, k: Conditions, here: Cut, *, sparse: bool) -> Figure:
    """Passes over memory between products, by fused kernels or by operators one by one."""
    norms = NO_NORMS if s.word("model.norm") == "none" else norms_per_block(s)
    inner = _expert_widths(s) if sparse else {"width": s["model.intermediate_size"]}
    fused = f.passes_time(f.over_rate(_fused_bytes(s, model, k, here, norms, inner), k.memory), k.linear_recomputed)
    if not k.loose:
        return fused
    from trainplan.budgets.loose import Sizes, loose_time  # few plans ask for it, and the first figures do not wait

    sizes = Sizes(here.tokens, here.tensor, here.split, norms, total_of(inner))
    return ELEMENTWISE(fused=fused, one_by_one=loose_time(s, model, k, sizes, sparse=sparse))


def _fused_bytes(
    s: Situation, model: ModelBudget, k: Conditions, here: Cut, norms: Figure, inner: dict[str, Figure]
) -> Figure:
    shape, share, hidden = model.shape, k.numbers["elementwise"], s["model.hidden_size"]
    heads = f.attention_elements(shape.heads, shape.query_size, shape.key_value_heads, shape.value_size)
    if "width" in inner:
        streams = STREAMS(into=_ways(s), out=OUT_OF_MLP)
        return f.dense_elementwise_bytes(
            here.tokens, share, hidden, here.split, norms, streams, inner["width"], heads, here.tensor
        )
    chosen = s["model.moe.num_experts_per_tok"]
    routed = FUSED_WIDTH if k.fused_experts else inner["routed"]
    return f.expert_elementwise_bytes(
        here.tokens, share, hidden, here.split, norms, inner["shared"], routed, heads, here.tensor, chosen
    )


def _expert_widths(s: Situation) -> dict[str, Figure]:
    """Widths of the experts of a token together: those chosen for it, and those that all share."""
    chosen = s["model.moe.num_experts_per_tok"]
    routed = f.head_columns(chosen, s["model.moe.moe_intermediate_size"], ONE_RANK)
    return {"routed": routed, "shared": shared_width(s) or NO_SHARED}


def _core(s: Situation, model: ModelBudget, k: Conditions, here: Cut) -> Figure:
    shape = model.shape
    if not keeps_scores(s):
        query, value = _kernel_sizes(s, model)
        forward = f.fused_attention_time(
            here.tokens,
            here.keys,
            shape.heads,
            query,
            value,
            here.tensor,
            k.attention,
            k.numbers["attention_start"],
            here.sequence,
        )
        return f.attention_passes_time(forward, FUSED_BACKWARD, k.attention_recomputed)
    forward = f.eager_attention_time(
        here.tokens,
        here.sequence,
        shape.heads,
        shape.query_size,
        here.tensor,
        f.misaligned(shape.query_size, k.numbers["misaligned"] if k.eager else _PADDED),
        f.matmul_rate(k.peak, k.efficiency, k.speedup),
        k.stream,
        k.numbers["elementwise"],
        k.memory,
    )
    return f.attention_passes_time(forward, MATERIALISED_BACKWARD, k.attention_recomputed)


_PADDED: Final = given("padded products", 1.0, "1", "libraries of 2024 pad odd sizes: flash-attention issue 1141")
"""What odd heads cost in products of what TransformerEngine runs; the fitted penalty is of stacks of 2020 to 2022."""


def _kernel_sizes(s: Situation, model: ModelBudget) -> tuple[Figure, Figure]:
    """Head sizes of the kernel: a GPU's are built for some; latent attention has kernels of its own."""
    shape = model.shape
    if shape.latent or s.plan.training.framework == "maxtext":
        return shape.query_size, shape.value_size
    return f.kernel_head(shape.query_size), f.kernel_head(shape.value_size)
