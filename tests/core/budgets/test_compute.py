"""FLOP of a run, speed, time, hours, cost and energy: hand-computed on the small plan, and what a deadline asks for."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Blocked, Figure

TOKENS = 1_048_576_000
CAUSAL, SIX_N = 1_966_080.0, 1_179_648.0
STEP = 1_048_576 * CAUSAL / (16 * 0.4e15)


def number(found: Estimate, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


def code(found: Estimate, key: str) -> str:
    value = found.figure(key)
    assert isinstance(value, Blocked), f"{key} is {value!r}"
    return value.code


def test_small_plan_by_hand(varied: Any) -> None:
    found = varied()
    assert number(found, "model.matmul_parameters") == 196_608
    assert number(found, "compute.flops_per_token") == CAUSAL
    assert number(found, "compute.training_flops") == TOKENS * CAUSAL
    assert number(found, "compute.training_flops_6pn") == 6.0 * 131_392 * TOKENS
    assert number(found, "compute.tokens_per_second_per_accelerator") == pytest.approx(0.4e15 / CAUSAL, rel=1e-15)
    assert number(found, "compute.step_time") == pytest.approx(STEP, rel=1e-15)
    assert number(found, "compute.compute_time") == pytest.approx(1000 * STEP, rel=1e-15)
    assert number(found, "compute.achieved_flops") == 0.4e15


def test_nonembedding_parameters_of_the_small_plan(varied: Any) -> None:
    """Two blocks of 65,536 weights and two norms of 64, and the last norm."""
    assert number(varied(), "model.nonembedding_parameters") == 2 * (65_536 + 2 * 64) + 64


@pytest.mark.parametrize(
    ("convention", "flops"),
    [("6n", SIX_N), ("causal", CAUSAL), ("full", SIX_N + 2 * 786_432.0), ("hardware", CAUSAL)],
)
def test_convention_decides_which_flops_count(varied: Any, convention: str, flops: float) -> None:
    found = varied(f"utilization.convention={convention}")
    assert number(found, "compute.flops_per_token") == flops
    assert number(found, "compute.tokens_per_second_per_accelerator") == pytest.approx(0.4e15 / flops, rel=1e-15)


def test_hardware_utilization_counts_the_recomputed_forward(varied: Any) -> None:
    assert number(varied(), "compute.hardware_utilization") == 0.4
    full = varied("parallelism.recompute=full")
    assert number(full, "compute.hardware_utilization") == pytest.approx(0.4 * 4 / 3, rel=1e-15)
    assert number(full, "compute.step_time") == number(varied(), "compute.step_time")
    told = varied("parallelism.recompute=full", "utilization.convention=hardware")
    assert number(told, "compute.hardware_utilization") == 0.4
    assert number(told, "compute.step_time") == pytest.approx(STEP * 4 / 3, rel=1e-15)


def test_wall_time_is_compute_time_with_failures_and_what_is_planned(varied: Any) -> None:
    found = varied("schedule.planned_downtime=2d")
    slow, compute = number(found, "reliability.slowdown"), number(found, "compute.compute_time")
    assert number(found, "compute.wall_time") == pytest.approx(compute * slow + 172_800, rel=1e-15)


def test_hours_cost_and_energy(varied: Any) -> None:
    found = varied("reliability.spare_nodes=1")
    wall = number(found, "compute.wall_time")
    assert number(found, "compute.accelerator_hours") == pytest.approx(wall * 16 / 3600, rel=1e-15)
    assert number(found, "compute.spare_hours") == pytest.approx(wall * 8 / 3600, rel=1e-15)
    assert number(found, "compute.cost") == pytest.approx(wall * 24 / 3600 * 2.0, rel=1e-14)
    assert number(found, "compute.energy") == pytest.approx(wall * 16 * 700 * 1.2, rel=1e-14)


def test_peak_is_the_plans_own_then_the_catalogues(varied: Any) -> None:
    assert number(varied(), "compute.peak_flops") == 1e15
    assert number(varied(left_out=("cluster.peak_flops",)), "compute.peak_flops") == 989e12
    single = varied("training.precision=fp32", left_out=("cluster.peak_flops",))
    assert number(single, "compute.peak_flops") == 67e12
    assert (
        number(varied("training.precision=fp8-mixed", left_out=("cluster.peak_flops",)), "compute.peak_flops") == 989e12
    )


def test_deadline_is_inverted_exactly(varied: Any) -> None:
    """At the required utilization, and on the required accelerators, the run ends at its deadline."""
    found = varied("schedule.deadline=2026-12-08", "data.train_tokens=300T")
    need = number(found, "compute.required_utilization")
    there = varied("schedule.deadline=2026-12-08", "data.train_tokens=300T", f"utilization.value={need!r}")
    slow = number(found, "reliability.slowdown")
    assert number(found, "compute.available_time") == 86_400
    assert number(there, "compute.training_flops") / (16 * need * 1e15) * slow == pytest.approx(86_400, rel=1e-12)


def test_required_accelerators_are_whole_nodes_and_replicas(varied: Any) -> None:
    late = ("schedule.deadline=2026-12-08", "data.train_tokens=3000T", "parallelism.tensor=3")
    found = varied(*late)
    accelerators = number(found, "compute.required_accelerators")
    there = varied(*late, f"cluster.nodes={int(accelerators / 8)}")
    less = varied(*late, f"cluster.nodes={int(accelerators / 8) - 3}")
    assert accelerators % 24 == 0
    assert number(there, "compute.required_accelerators") == accelerators
    assert number(there, "compute.wall_time") <= 86_400 < number(less, "compute.wall_time")


def test_required_accelerators_hold_at_their_own_size(varied: Any) -> None:
    """A larger run fails more often and takes fewer jobs: today's losses said 3 nodes too few, or many too many."""
    late = ("schedule.deadline=2026-12-14", "data.train_tokens=100000T", "reliability.failures_per_node_day=0.02")
    waits = ("reliability.job_time_limit=12h", "schedule.queue_gap=1h", "storage.write_bandwidth=1PB/s")
    found = varied(*late, *waits, "cluster.nodes=64")
    nodes = int(number(found, "compute.required_accelerators") / 8)
    assert number(varied(*late, *waits, f"cluster.nodes={nodes}"), "compute.wall_time") <= 7 * 86_400
    assert number(varied(*late, *waits, f"cluster.nodes={nodes - 1}"), "compute.wall_time") > 7 * 86_400


def test_smol_sizing() -> None:
    """6 x 3e9 x 11e12 FLOP in 28 days at 30 % of 720 TFLOP/s: 379 accelerators, 384 in whole nodes (Smol Playbook)."""
    from trainplan.formulas import compute as f

    flops = f.flops_6pn(3e9, 11e12)
    assert flops == pytest.approx(1.98e23, rel=1e-12)
    assert f.required_accelerators(flops, 0.30, 720e12, 28 * 86_400.0, 1.0) == 379
    assert f.required_accelerators(flops, 0.30, 720e12, 28 * 86_400.0, 8.0) == 384
    assert f.required_utilization(flops, 379.0, 720e12, 28 * 86_400.0) <= 0.30


def test_without_a_deadline_nothing_is_required(varied: Any) -> None:
    found = varied()
    for key in ("compute.available_time", "compute.required_utilization", "compute.required_accelerators"):
        assert code(found, key) == "none"


def test_deadline_without_a_start_says_what_is_missing(varied: Any) -> None:
    found = varied("schedule.deadline=2026-12-08", left_out=("schedule.start",))
    assert code(found, "compute.required_utilization") == "missing:schedule.start"


def test_deadline_that_leaves_no_time_blocks(varied: Any) -> None:
    found = varied("schedule.deadline=2026-12-08", "schedule.planned_downtime=1d")
    assert code(found, "compute.required_utilization") == "C8"
    assert code(found, "compute.required_accelerators") == "C8"


@pytest.mark.parametrize(
    ("left_out", "key"),
    [
        ("utilization.value", "compute.step_time"),
        ("data.train_tokens", "compute.training_flops"),
        ("cluster.nodes", "compute.step_time"),
        ("cluster.price_per_accelerator_hour", "compute.cost"),
        ("batch.global_batch_sequences", "compute.step_time"),
        ("data.sequence_length", "compute.flops_per_token"),
        ("model.hidden_size", "compute.flops_per_token"),
    ],
)
def test_missing_field_blocks_what_needs_it(varied: Any, left_out: str, key: str) -> None:
    assert code(varied(left_out=(left_out,)), key) == f"missing:{left_out}"


def test_missing_price_leaves_the_hours(varied: Any) -> None:
    found = varied(left_out=("cluster.price_per_accelerator_hour",))
    assert number(found, "compute.accelerator_hours") > 0


def test_stages_have_their_own_length_and_pace(varied: Any) -> None:
    more = """
[[data.stages]]
name = "short"
until_tokens = 524_288_000

[[data.stages]]
name = "long"
sequence_length = 4096
global_batch_sequences = 256
"""
    found = varied(more=more)
    long = SIX_N + 4 * 786_432.0
    assert number(found, "compute.flops_per_token") == long
    assert number(found, "compute.training_flops") == 524_288_000 * CAUSAL + 524_288_000 * long
    assert number(found, "compute.compute_time") == pytest.approx(500 * STEP + 500 * STEP * long / CAUSAL, rel=1e-14)


def test_utilization_in_use_needs_the_same_accelerator_for_a_ceiling(varied: Any) -> None:
    found = varied()
    assert number(found, "compute.ceiling_utilization") == pytest.approx(0.7945, rel=1e-12)
    assert code(varied("cluster.accelerator=h800-sxm"), "compute.ceiling_utilization").startswith("missing:catalogue.")


def test_measured_speed_gives_its_utilization_back(varied: Any) -> None:
    """nanoGPT pull request 464: 104 % of 312 TFLOP/s on an H100 is 0.328 of its own peak."""
    rate = 1.04 * 312e12 / CAUSAL
    use = rate * CAUSAL / 989e12
    assert round(use, 3) == 0.328
    found = varied(f"utilization.value={use!r}", left_out=("cluster.peak_flops",))
    assert number(found, "compute.tokens_per_second_per_accelerator") == pytest.approx(rate, rel=1e-12)


def test_tokens_of_all_accelerators_are_divided_by_all_their_peaks() -> None:
    """huggingface/blog issue 1649: 16.384M tokens of a 70B model in 13.5 h on 16 A100 are 2.84 %, not 45.5 %."""
    from trainplan.formulas import compute as f

    flops = f.flops_6pn(70e9, 1.6384e7)
    assert round(f.mean_utilization(flops, 16.0, 312e12, 13.5 * 3600), 4) == 0.0284


def test_weights_and_scores_of_a_published_batch(varied: Any) -> None:
    """maxtext pull request 1988: Llama 7B, 4 sequences of 8,192: 1299.00 TFLOP of weights, 422.21 of scores, 211.11 causal."""
    shape = ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "vocab_size")
    found = varied(
        "model.preset=llama-2-7b", "data.sequence_length=8192", left_out=tuple(f"model.{field}" for field in shape)
    )
    tokens = 4 * 8192
    assert round(number(found, "compute.flops_per_token_6n") * tokens / 1e12, 2) == 1299.00
    assert round(number(found, "compute.full_scores") * tokens / 1e12, 2) == 422.21
    assert round(number(found, "compute.causal_scores") * tokens / 1e12, 2) == 211.11
