"""Relations that hold between plans whatever the numbers: those of the robustness notes, part D, by number."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from trainplan.estimation import Estimate, estimate
from trainplan.files.save import save
from trainplan.plan.plan import Plan
from trainplan.plan.read import Opened, open_plan, plan_of_text
from trainplan.quantity.figure import Blocked, Figure
from trainplan_tui.state import session
from trainplan_tui.state.session import Session

PLANS = sorted((Path(__file__).resolve().parents[2] / "plans").glob("*.toml"))
TODAY = dt.date(2026, 12, 1)

WHOLE = settings(max_examples=40)


def small(**changes: Any) -> dict[str, Any]:
    """A whole plan as parsed TOML, with fields changed by `table__field`."""
    data: dict[str, Any] = {
        "format": 1,
        "model": {
            "num_hidden_layers": 4,
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_attention_heads": 8,
            "vocab_size": 1024,
        },
        "data": {
            "train_tokens": 2**30,
            "sequence_length": 512,
            "sampler": "megatron-blended",
            "sources": [{"name": "web", "unique_tokens": "1T", "weight": 1.0}],
        },
        "batch": {"global_batch_sequences": 512},
        "cluster": {"accelerator": "h100-sxm", "nodes": 4, "price_per_accelerator_hour": 2.0},
        "utilization": {"value": 0.4},
        "storage": {"write_bandwidth": "10GB/s", "read_bandwidth": "10GB/s"},
    }
    for path, value in changes.items():
        table, field = path.split("__")
        data.setdefault(table, {})[field] = value
    return data


def of(data: dict[str, Any]) -> Estimate:
    return estimate(Plan.model_validate(data), TODAY)


def number(found: Estimate, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


sizes = st.sampled_from([1, 2, 4, 8])
shapes = st.fixed_dictionaries(
    {
        "model__num_hidden_layers": st.sampled_from([1, 3, 4, 24]),
        "model__hidden_size": st.sampled_from([256, 768, 1024]),
        "model__num_attention_heads": st.sampled_from([4, 8, 16]),
        "model__intermediate_size": st.integers(1, 5000),
        "model__vocab_size": st.integers(1, 60_000),
        "data__sequence_length": st.sampled_from([1, 128, 512, 4096]),
        "utilization__convention": st.sampled_from(["6n", "causal", "full", "hardware"]),
        "utilization__value": st.floats(0.01, 1.0),
    }
)
layouts = st.fixed_dictionaries(
    {
        "cluster__nodes": st.sampled_from([8, 16, 64]),
        "parallelism__tensor": sizes,
        "parallelism__pipeline": sizes,
        "parallelism__context": sizes,
        "parallelism__sharding": st.sampled_from(["none", "zero-1", "zero-2", "zero-3"]),
        "batch__micro_batch_sequences": sizes,
    }
)


@WHOLE
@given(shape=shapes, layout=layouts)
def test_15_flops_of_a_token_do_not_depend_on_the_layout(shape: dict[str, Any], layout: dict[str, Any]) -> None:
    one, other = of(small(**shape)), of(small(**shape, **layout))
    for key in ("6n", "causal", "full", "masked"):
        assert number(one, f"compute.flops_per_token_{key}") == number(other, f"compute.flops_per_token_{key}")
    assert number(one, "model.parameters") == number(other, "model.parameters")


@WHOLE
@given(shape=shapes)
def test_16_flops_are_the_same_for_a_tied_and_an_own_head(shape: dict[str, Any]) -> None:
    tied, own = of(small(**shape, model__tie_word_embeddings=True)), of(small(**shape))
    assert number(tied, "compute.training_flops") == number(own, "compute.training_flops")
    table = shape["model__vocab_size"] * shape["model__hidden_size"]
    assert number(own, "model.parameters") - number(tied, "model.parameters") == table


@WHOLE
@given(shape=shapes, experts=st.integers(2, 64), more=st.integers(1, 64), chosen=st.integers(1, 2))
def test_17_flops_follow_the_experts_chosen_and_the_router(
    shape: dict[str, Any], experts: int, more: int, chosen: int
) -> None:
    def flops(count: int) -> float:
        moe = {"num_experts": count, "num_experts_per_tok": chosen, "moe_intermediate_size": 64}
        return number(of(small(**shape, model__moe=moe)), "compute.flops_per_token_6n")

    router = 6 * shape["model__hidden_size"] * shape["model__num_hidden_layers"]
    assert flops(experts + more) - flops(experts) == router * more


@WHOLE
@given(shape=shapes)
def test_18_one_expert_is_a_dense_layer_and_a_router(shape: dict[str, Any]) -> None:
    moe = {"num_experts": 1, "num_experts_per_tok": 1, "moe_intermediate_size": shape["model__intermediate_size"]}
    dense, one = of(small(**shape)), of(small(**shape, model__moe=moe))
    router = shape["model__hidden_size"] * shape["model__num_hidden_layers"]
    assert number(one, "model.parameters") - number(dense, "model.parameters") == router


@WHOLE
@given(shape=shapes, groups=st.sampled_from([1, 2, 4]))
def test_19_grouped_queries_change_projections_and_no_scores(shape: dict[str, Any], groups: int) -> None:
    heads = shape["model__num_attention_heads"]
    whole = of(small(**shape))
    same = of(small(**shape, model__num_key_value_heads=heads))
    fewer = of(small(**shape, model__num_key_value_heads=groups))
    assert number(same, "model.parameters") == number(whole, "model.parameters")
    assert number(fewer, "compute.causal_scores") == number(whole, "compute.causal_scores")
    head = shape["model__hidden_size"] // heads
    saved = 2 * shape["model__hidden_size"] * head * (heads - groups) * shape["model__num_hidden_layers"]
    assert number(whole, "model.parameters") - number(fewer, "model.parameters") == saved


@WHOLE
@given(shape=shapes, window=st.integers(1, 5000), wider=st.integers(0, 5000))
def test_20_a_window_past_the_sequence_is_none_and_a_wider_one_never_costs_less(
    shape: dict[str, Any], window: int, wider: int
) -> None:
    words = ["sliding_attention"] * shape["model__num_hidden_layers"]

    def scores(keys: int) -> float:
        return number(of(small(**shape, model__layer_types=words, model__sliding_window=keys)), "compute.causal_scores")

    whole = number(of(small(**shape)), "compute.causal_scores")
    assert scores(window) <= scores(window + wider) or scores(window + wider) == whole
    if window >= shape["data__sequence_length"]:
        assert scores(window) == whole


@WHOLE
@given(shape=shapes)
def test_21_causal_scores_are_half_of_the_full_ones(shape: dict[str, Any]) -> None:
    found = of(small(**shape))
    assert number(found, "compute.causal_scores") * 2 == number(found, "compute.full_scores")


@WHOLE
@given(shape=shapes, times=st.integers(2, 50))
def test_22_time_is_linear_in_tokens(shape: dict[str, Any], times: int) -> None:
    batch = shape["data__sequence_length"] * 512
    one, more = (
        of(small(**shape, data__train_tokens=batch * 10)),
        of(small(**shape, data__train_tokens=batch * 10 * times)),
    )
    assert number(more, "compute.compute_time") == pytest.approx(times * number(one, "compute.compute_time"), rel=1e-12)


@WHOLE
@given(shape=shapes, nodes=st.integers(1, 5000))
def test_23_twice_the_accelerators_halve_the_time_and_leave_the_steps(shape: dict[str, Any], nodes: int) -> None:
    one, two = of(small(**shape, cluster__nodes=nodes)), of(small(**shape, cluster__nodes=2 * nodes))
    assert number(two, "compute.compute_time") == pytest.approx(number(one, "compute.compute_time") / 2, rel=1e-12)
    assert number(two, "tokens.steps") == number(one, "tokens.steps")


@WHOLE
@given(shape=shapes, recompute=st.sampled_from(["none", "selective", "full"]))
def test_24_hardware_utilization_is_never_below(shape: dict[str, Any], recompute: str) -> None:
    shape = shape | {"utilization__convention": "causal"}
    found = of(small(**shape, parallelism__recompute=recompute))
    use, hardware = number(found, "compute.utilization"), number(found, "compute.hardware_utilization")
    assert hardware == pytest.approx(use, rel=1e-15) if recompute == "none" else hardware > use


@pytest.mark.parametrize("value", [0, -0.1, 1.0000001, 40, "40%"])
def test_24_utilization_outside_0_to_1_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        of(small(utilization__value=value))


@WHOLE
@given(shape=shapes, layout=layouts, batch=st.integers(1, 64))
def test_25_batches_steps_and_meshes_multiply_out(shape: dict[str, Any], layout: dict[str, Any], batch: int) -> None:
    parallel = {key: layout[f"parallelism__{key}"] for key in ("tensor", "pipeline", "context")}
    found = of(small(**shape, **layout, parallelism__expert=4))
    world = number(found, "parallelism.world_size")
    if isinstance(found.figure("parallelism.data"), Blocked):
        assert world % math.prod(parallel.values()) != 0
        return
    data = number(found, "parallelism.data")
    assert data * math.prod(parallel.values()) == world
    whole = of(
        small(
            **shape, **layout, batch__global_batch_sequences=int(data * layout["batch__micro_batch_sequences"] * batch)
        )
    )
    assert number(whole, "tokens.microbatches") == batch
    consumed = number(whole, "tokens.train_tokens") + number(whole, "tokens.overshoot")
    assert number(whole, "tokens.steps") * number(whole, "tokens.global_batch_tokens") == consumed


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_39_load_and_save_with_no_edit_gives_the_same_bytes(path: Path, ends: str, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    written = path.read_text(encoding="utf-8").replace("\n", ends).encode()
    copy.write_bytes(written)
    opened = open_plan(copy)
    save(copy, opened.source.text, expected_sha256=opened.source.sha256, had_bom=opened.source.had_bom)
    assert copy.read_bytes() == written
    assert open_plan(copy).plan == opened.plan


@pytest.mark.parametrize("typed", ["14.8T", "1T", "nothing"])
def test_one_edit_is_one_estimate(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Opened = open_plan(next(path for path in PLANS if path.stem == "llama-3.1-8b"))
    state = Session(opened, TODAY)
    made: list[Plan] = []

    def counted(plan: Plan, today: dt.date | None = None) -> Estimate:
        made.append(plan)
        return estimate(plan, today)

    monkeypatch.setattr(session, "estimate", counted)
    if typed == "nothing":
        state.undo()
        assert made == []
        return
    state.commit(state.attempt("reliability.spare_nodes", str(len(typed))), "an edit")
    assert len(made) == 1
    state.undo()
    assert len(made) == 2


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_same_text_gives_the_same_numbers(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    one, other = (estimate(plan_of_text(text, "plan.toml"), TODAY).quantities for _ in range(2))
    assert {key: str(value) for key, value in one.items()} == {key: str(value) for key, value in other.items()}
