"""Relations of memory, layouts and FLOPs that hold whatever the numbers: 1 to 20 and 38 of the robustness notes, part D."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from trainplan.budgets.memory.budget import CATEGORIES
from trainplan.estimation import Estimate, estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure

LAW = settings(max_examples=25)
HEADS = 16
SHAPES = st.fixed_dictionaries(
    {
        "num_hidden_layers": st.sampled_from([4, 8, 16]),
        "hidden_size": st.sampled_from([512, 1024, 2048]),
        "intermediate_size": st.sampled_from([1024, 4096, 5632]),
        "num_attention_heads": st.just(HEADS),
        "num_key_value_heads": st.sampled_from([1, 2, 8, 16]),
        "vocab_size": st.sampled_from([1000, 32000, 50257]),
        "tie_word_embeddings": st.booleans(),
        "gated_mlp": st.booleans(),
    }
)
DEGREES = st.sampled_from([1, 2, 4, 8])
FRAMEWORKS = st.sampled_from(["megatron", "deepspeed", "torchtitan", "fsdp", "maxtext"])
RECOMPUTE = ("none", "selective", "full")


def of(shape: dict[str, Any], **changes: Any) -> Estimate:
    """The estimate of a plan with that model, on 64 accelerators, and fields changed by `table__field`."""
    data: dict[str, Any] = {
        "format": 1,
        "model": dict(shape),
        "data": {
            "train_tokens": 2**40,
            "sequence_length": 2048,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "10T"}],
        },
        "batch": {"global_batch_sequences": 1024},
        "cluster": {"accelerator": "h100-sxm", "nodes": 8, "price_per_accelerator_hour": 2.0},
        "utilization": {"value": 0.4},
        "parallelism": {},
        "training": {},
    }
    for path, value in changes.items():
        table, name = path.split("__")
        data.setdefault(table, {})[name] = value
    return estimate(Plan.model_validate(data))


def part(made: Estimate, *names: str, rank: int = 0) -> float:
    """Bytes of some categories on one rank at its worst instant."""
    parts = made.memory.table[rank].worst.parts
    return sum(float(parts[name]) for name in names)


def states(made: Estimate, rank: int = 0) -> float:
    return part(made, "weights", "gradients", "optimizer_states", rank=rank)


def kept(made: Estimate) -> float:
    """Activations of the first rank in the forward pass: what is kept, without what is computed again."""
    loss = next(one for one in made.memory.table[0].instants if one.name == "loss")
    return float(loss.parts["activations"])


def sparse(shape: dict[str, Any], experts: int = 8, chosen: int = 2) -> dict[str, Any]:
    moe = {"num_experts": experts, "num_experts_per_tok": chosen, "moe_intermediate_size": shape["intermediate_size"]}
    return {**shape, "gated_mlp": True, "moe": moe}


@LAW
@given(SHAPES, DEGREES, st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]))
def test_1_parameters_do_not_depend_on_the_layout(shape: dict[str, Any], t: int, p: int, c: int) -> None:
    laid = of(shape, parallelism__tensor=t, parallelism__pipeline=p, parallelism__context=c)
    assert laid.model.parameters == of(shape).model.parameters
    assert laid.model.padded_vocabulary >= laid.model.shape.vocabulary


@LAW
@given(SHAPES, FRAMEWORKS)
def test_2_weights_never_rise_with_tensor(shape: dict[str, Any], framework: str) -> None:
    """Padding may add rows: 127 for each rank at most."""
    found = [part(of(shape, training__framework=framework, parallelism__tensor=t), "weights") for t in (1, 2, 4, 8)]
    padding = 4.0 * 2 * 128 * shape["hidden_size"]
    assert all(after <= before + padding for before, after in pairwise(found))


@LAW
@given(SHAPES, DEGREES, st.sampled_from([1, 2, 4]))
def test_3_weights_of_all_ranks_are_at_least_the_model(shape: dict[str, Any], t: int, p: int) -> None:
    laid = of(shape, parallelism__tensor=t, parallelism__pipeline=p, parallelism__sharding="none")
    held = t * sum(part(laid, "weights", rank=rank) for rank in range(p))
    assert held >= 2.0 * laid.model.parameters
    if t == p == 1:
        padded = (laid.model.padded_vocabulary - laid.model.shape.vocabulary) * shape["hidden_size"]
        tables = 1 if shape["tie_word_embeddings"] else 2
        assert held == 2.0 * (laid.model.parameters + padded * tables)


@LAW
@given(SHAPES, FRAMEWORKS, st.sampled_from(["fp32", "bf16-mixed", "fp16-mixed", "bf16-pure"]), st.sampled_from([1, 8]))
def test_4_steady_states_fall_with_sharding(shape: dict[str, Any], framework: str, precision: str, nodes: int) -> None:
    """Of what stays from step to step; gathered 16-bit copies of zero-2 in FSDP are its own recipe."""
    assume(framework in ("megatron", "deepspeed"))
    found = [
        states(
            of(
                shape,
                training__framework=framework,
                training__precision=precision,
                cluster__nodes=nodes,
                parallelism__sharding=kind,
            )
        )
        for kind in ("none", "zero-1", "zero-2", "zero-3")
    ]
    assert all(after <= before for before, after in pairwise(found))
    alone = [
        states(
            of(
                shape,
                training__framework="megatron",
                training__precision=precision,
                cluster__nodes=1,
                cluster__accelerators_per_node=1,
                parallelism__sharding=kind,
            )
        )
        for kind in ("none", "zero-1", "zero-2", "zero-3")
    ]
    assert len(set(alone)) == 1


@LAW
@given(SHAPES)
def test_5_states_tend_to_what_is_not_sharded(shape: dict[str, Any]) -> None:
    many = {"cluster__nodes": 2**20, "batch__global_batch_sequences": 2**24}
    padded = of(shape, parallelism__sharding="none")
    held = part(padded, "weights") / 2.0
    assert states(of(shape, parallelism__sharding="zero-3", **many)) <= 1e-5 * 18.0 * held
    assert states(of(shape, parallelism__sharding="zero-1", **many)) == pytest.approx(6.0 * held, rel=1e-5)


@LAW
@given(SHAPES, FRAMEWORKS, st.sampled_from(RECOMPUTE), st.sampled_from(["flash", "eager"]))
def test_6_activations_are_linear_in_the_microbatch(
    shape: dict[str, Any], framework: str, recompute: str, attention: str
) -> None:
    changes = {
        "training__framework": framework,
        "parallelism__recompute": recompute,
        "training__attention": attention,
    }
    one, two, four = (kept(of(shape, batch__micro_batch_sequences=b, **changes)) for b in (1, 2, 4))
    assert (two, four) == pytest.approx((2 * one, 4 * one), rel=1e-12)


@LAW
@given(SHAPES, FRAMEWORKS)
def test_7_activations_in_the_length(shape: dict[str, Any], framework: str) -> None:
    """Linear with flash attention; with eager attention the rest is quadratic."""
    flash, eager = (
        [
            kept(of(shape, training__framework=framework, training__attention=kind, data__sequence_length=s))
            for s in (1024, 2048, 4096)
        ]
        for kind in ("flash", "eager")
    )
    assert flash[2] == pytest.approx(4 * flash[0], rel=1e-12)
    assert eager[2] - 2 * eager[1] == pytest.approx(4 * (eager[1] - 2 * eager[0]), rel=1e-9)
    assert eager[2] > 2 * eager[1]


@LAW
@given(SHAPES, FRAMEWORKS, st.sampled_from(["flash", "eager"]), DEGREES)
def test_8_recompute_never_keeps_more(shape: dict[str, Any], framework: str, attention: str, t: int) -> None:
    none, selective, full = (
        kept(
            of(
                shape,
                training__framework=framework,
                training__attention=attention,
                parallelism__recompute=kind,
                parallelism__tensor=t,
            )
        )
        for kind in RECOMPUTE
    )
    assert full <= selective <= none


@LAW
@given(SHAPES)
def test_9_full_recompute_adds_a_forward_and_leaves_model_flops(shape: dict[str, Any]) -> None:
    none, full = of(shape), of(shape, parallelism__recompute="full")
    assert full.speed.flops.flops_per_token_causal == none.speed.flops.flops_per_token_causal
    head = 2.0 * shape["hidden_size"] * shape["vocab_size"]
    forward = float(none.speed.flops.flops_per_token_causal) / 3.0
    added = float(full.speed.flops.flops_per_token_hardware - none.speed.flops.flops_per_token_hardware)
    assert forward - head <= added * (1 + 1e-12)
    assert added <= forward * (1 + 1e-12)


@LAW
@given(SHAPES, st.sampled_from([1, 2, 4]))
def test_10_the_first_stage_keeps_all_layers(shape: dict[str, Any], p: int) -> None:
    """Under 1F1B with enough microbatches: p of them in L/p layers."""
    alone, laid = of(shape), of(shape, parallelism__pipeline=p)
    final = 4.0 * shape["hidden_size"] * 2048  # the last rank's final norm, which is on the first where p = 1
    assert kept(laid) == pytest.approx(kept(alone) - (final if p > 1 else 0.0), rel=1e-12)


@LAW
@given(SHAPES, st.sampled_from([1, 2, 4]), st.sampled_from([256, 512, 1024]))
def test_11_the_bubble_falls_with_microbatches(shape: dict[str, Any], p: int, batch: int) -> None:
    made = of(shape, parallelism__pipeline=p, batch__global_batch_sequences=batch)
    more = of(shape, parallelism__pipeline=p, batch__global_batch_sequences=2 * batch)
    m = float(made.tokens.microbatches)
    bubble = float(made.bubble)
    assert bubble / (1.0 + bubble) == pytest.approx((p - 1) / (m + p - 1), rel=1e-12)
    assert more.bubble < made.bubble if p > 1 else more.bubble == made.bubble == 0.0


@LAW
@given(SHAPES, st.sampled_from([2, 4, 8]), st.booleans())
def test_12_tensor_divides_activations_with_sequence_parallel(shape: dict[str, Any], t: int, flag: bool) -> None:
    one = kept(of(shape))
    laid = kept(of(shape, parallelism__tensor=t, parallelism__sequence_parallel=flag))
    assert laid == pytest.approx(one / t, rel=1e-12) if flag else one / t < laid < one


@LAW
@given(SHAPES, st.sampled_from([2, 4, 8]))
def test_13_context_divides_activations_and_not_weights(shape: dict[str, Any], c: int) -> None:
    one, laid = of(shape), of(shape, parallelism__context=c)
    assert kept(laid) == pytest.approx(kept(one) / c, rel=1e-12)
    assert part(laid, "weights") == part(one, "weights")
    assert part(laid, "optimizer_states") == part(one, "optimizer_states")


@LAW
@given(SHAPES, st.sampled_from([2, 4, 8]), st.sampled_from([1, 2]))
def test_14_expert_ranks_divide_routed_experts_only(shape: dict[str, Any], e: int, etp: int) -> None:
    model = sparse(shape)
    one = of(model, parallelism__tensor=2, parallelism__expert_tensor=1)
    laid = of(model, parallelism__tensor=2, parallelism__expert=e, parallelism__expert_tensor=etp)
    routed = 2.0 * shape["num_hidden_layers"] * 8 * 3 * shape["hidden_size"] * shape["intermediate_size"]
    assert part(one, "weights") - part(laid, "weights") == pytest.approx(routed * (1 - 1 / (e * etp)), rel=1e-12)


@LAW
@given(
    SHAPES,
    st.sampled_from([1, 2, 4]),
    st.sampled_from([(1, 1.2), (2, 1.0), (2, 1.2)]),
    st.sampled_from(["megatron", "maxtext"]),
)
def test_14_routed_tokens_grow_with_expert_tensor_ranks(
    shape: dict[str, Any], etp: int, experts: tuple[int, float], framework: str
) -> None:
    """A rank reads the routed tokens of all its expert tensor ranks: one copy more of each, kept and in backward.

    However uneven routing is, a rank that holds every expert has its own tokens, no more.
    """
    expert, uneven = experts
    imbalance = uneven if expert > 1 else 1.0
    words = {"training__framework": framework, "training__moe_imbalance": uneven, "parallelism__expert": expert}
    model = sparse(shape)
    one, laid = (of(model, parallelism__tensor=4, parallelism__expert_tensor=ranks, **words) for ranks in (1, etp))
    copies = 2.0 * (2048 / 4) * 2 * imbalance * shape["hidden_size"] * (etp - 1)
    assert kept(laid) - kept(one) == pytest.approx(shape["num_hidden_layers"] * copies, rel=1e-9, abs=1.0)
    first = [
        next(each for each in made.memory.table[0].instants if each.name == "first layer of backward")
        for made in (one, laid)
    ]
    grown = [float(each.parts["attention_temporaries"]) for each in first]
    assert grown[1] - grown[0] == pytest.approx(copies, rel=1e-9, abs=1.0)
    if etp == 1:
        assert kept(laid) == kept(one)
        assert grown[0] == 2.0 * 2048 * (
            2.0 * shape["hidden_size"] / 4 + 2 * imbalance * shape["intermediate_size"] / 4
        )


@LAW
@given(SHAPES, DEGREES, st.sampled_from([1, 2]), st.sampled_from(["zero-1", "zero-2", "zero-3"]))
def test_15_flops_do_not_depend_on_the_layout(shape: dict[str, Any], t: int, b: int, kind: str) -> None:
    laid = of(
        shape,
        parallelism__tensor=t,
        parallelism__sharding=kind,
        batch__micro_batch_sequences=b,
        cluster__nodes=16,
    )
    assert laid.speed.flops.flops_per_token_causal == of(shape).speed.flops.flops_per_token_causal


@LAW
@given(SHAPES)
def test_16_flops_do_not_depend_on_a_tied_head(shape: dict[str, Any]) -> None:
    tied, own = (of({**shape, "tie_word_embeddings": flag}) for flag in (True, False))
    assert tied.speed.flops.flops_per_token_causal == own.speed.flops.flops_per_token_causal


@LAW
@given(SHAPES, st.sampled_from([4, 8]), st.sampled_from([16, 64]))
def test_17_flops_depend_on_the_chosen_experts(shape: dict[str, Any], few: int, many: int) -> None:
    """But for the router: 6 x hidden for each expert, layer and token."""
    a, b = (of(sparse(shape, count)).speed.flops.flops_per_token_causal for count in (few, many))
    router = 6.0 * shape["num_hidden_layers"] * shape["hidden_size"] * (many - few)
    assert b - a == pytest.approx(router, rel=1e-9)


@LAW
@given(SHAPES)
def test_18_one_expert_is_dense_with_a_router(shape: dict[str, Any]) -> None:
    dense, moe = of({**shape, "gated_mlp": True}), of(sparse(shape, 1, 1))
    router = shape["num_hidden_layers"] * shape["hidden_size"]
    assert moe.model.parameters == dense.model.parameters + router


@LAW
@given(SHAPES, st.sampled_from([1, 2, 8]))
def test_19_grouped_keys_change_the_projections_alone(shape: dict[str, Any], keys: int) -> None:
    full, grouped = (of({**shape, "num_key_value_heads": count}) for count in (HEADS, keys))
    without = {name: value for name, value in shape.items() if name != "num_key_value_heads"}
    assert full.model.parameters == of(without).model.parameters
    saved = 6.0 * shape["num_hidden_layers"] * 2 * shape["hidden_size"] ** 2 * (1 - keys / HEADS)
    fewer = full.speed.flops.flops_per_token_causal - grouped.speed.flops.flops_per_token_causal
    assert fewer == pytest.approx(saved, rel=1e-9)


@LAW
@given(SHAPES, st.sampled_from([256, 1024, 2048, 4096]))
def test_20_a_window_as_long_as_the_sequence_is_full_attention(shape: dict[str, Any], window: int) -> None:
    types = ("sliding_attention",) * shape["num_hidden_layers"]
    slid = of({**shape, "sliding_window": window, "layer_types": types}).speed.flops.flops_per_token_causal
    whole = of(shape).speed.flops.flops_per_token_causal
    wider = of({**shape, "sliding_window": 2 * window, "layer_types": types}).speed.flops.flops_per_token_causal
    assert slid <= wider
    assert slid == whole if window >= 2048 else slid <= whole


@LAW
@given(SHAPES, st.floats(1e9, 2e11), st.floats(1.0, 4.0), DEGREES)
def test_38_a_bigger_device_never_stops_fitting(shape: dict[str, Any], size: float, more: float, t: int) -> None:
    small, large = (
        of(shape, parallelism__tensor=t, cluster__memory_per_accelerator=amount).memory
        for amount in (size, size * more)
    )
    assert isinstance(small.total, Figure)
    assert large.total == small.total
    assert small.total > small.usable or large.total <= large.usable


@LAW
@given(SHAPES, FRAMEWORKS, st.sampled_from([1, 2, 4]), st.sampled_from(RECOMPUTE))
def test_categories_sum_to_the_total(shape: dict[str, Any], framework: str, p: int, recompute: str) -> None:
    found = of(
        shape, training__framework=framework, parallelism__pipeline=p, parallelism__recompute=recompute
    ).quantities
    names = (*CATEGORIES, "fragmentation_runtime")
    assert sum(found[f"memory.{name}"] for name in names) == pytest.approx(found["memory.total"], rel=1e-12)
    assert found["memory.total"] == max(found[f"memory.ranks.{rank}.total"] for rank in range(p))
    assert found["memory.headroom"] == found["memory.usable"] - found["memory.total"]
