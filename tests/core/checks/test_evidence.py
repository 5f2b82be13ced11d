"""Published runs as data, the nearest to a plan, conversions between conventions, and finding C12."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan.checks import findings
from trainplan.checks.evidence import above_published
from trainplan.estimation import Estimate, estimate
from trainplan.evidence.nearest import claim_of_prediction, claim_of_run, nearest_runs
from trainplan.evidence.published import converted_utilization, precision_class, published_runs
from trainplan.plan.read import plan_of_text

PLAN = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
train_tokens = "15T"
sequence_length = 8192
[batch]
global_batch_sequences = 1024
[cluster]
accelerator = "h100-sxm"
nodes = 16
[utilization]
value = {value}
evidence = "{evidence}"
source = "a run"
"""


def plan(value: float, evidence: str = "published") -> Estimate:
    return estimate(plan_of_text(PLAN.format(value=value, evidence=evidence), "plan.toml"))


def test_every_row_with_shapes_is_a_run() -> None:
    runs = published_runs()
    assert len(runs) == 601 + 35
    assert all(run.source and run.tokens_per_second > 0 and run.step_time > 0 for run in runs)


def test_a_run_keeps_its_step_and_its_rate_together() -> None:
    for run in published_runs():
        assert 0 < run.utilization("causal", 5e15) < 1


RACK = """format = 1
[model]
preset = "deepseek-v3"
[data]
train_tokens = "15T"
sequence_length = 4096
[batch]
global_batch_sequences = 4096
[training]
precision = "fp8-mixed"
expert_kernels = "{word}"
[cluster]
accelerator = "gb300-nvl72"
nodes = 64
"""


@pytest.mark.parametrize(("word", "other"), [("grouped", "fused experts"), ("fused", "grouped experts")])
def test_a_run_with_other_kernels_of_experts_says_so_and_comes_later(word: str, other: str) -> None:
    near = nearest_runs(estimate(plan_of_text(RACK.format(word=word), "plan.toml")), published_runs(), 12)
    assert near[0].run.model == "DeepSeekV3"
    assert near[0].run.fused is (word == "fused")
    assert all((other in one.differences) is (one.run.fused is not (word == "fused")) for one in near)
    assert any(other in one.differences for one in near)


def test_nearest_runs_are_of_the_same_kind_and_say_what_differs() -> None:
    near = nearest_runs(plan(0.4), published_runs())
    assert len(near) == 5
    assert [one.distance for one in near] == sorted(one.distance for one in near)
    first = near[0]
    assert first.run.model == "llama-3.1-8b"
    assert first.run.family == "hopper"
    assert "h100-96-hbm2e" in first.differences
    assert 0.25 < first.utilization < 0.4


def test_no_run_is_near_a_plan_without_a_model() -> None:
    empty = estimate(plan_of_text("format = 1\n", "plan.toml"))
    assert nearest_runs(empty, published_runs()) == ()
    assert above_published(empty, published_runs()) == []


def test_c12_above_the_nearest_runs() -> None:
    (finding,) = [item for item in findings(plan(0.45), published_runs()) if item.code == "C12"]
    assert finding.paths == ("utilization.value",)
    assert "llama-3.1-8b" in finding.message
    assert "d of compute" in finding.fix


@pytest.mark.parametrize(("value", "evidence"), [(0.30, "published"), (0.45, "measured-here")])
def test_c12_is_silent(value: float, evidence: str) -> None:
    assert above_published(plan(value, evidence), published_runs()) == []


def test_without_runs_nothing_is_compared() -> None:
    assert not [item for item in findings(plan(0.45)) if item.code == "C12"]


@given(use=st.floats(0.01, 0.9), ratio=st.floats(0.5, 2.0), peak=st.floats(0.5, 2.0))
def test_conversion_there_and_back(use: float, ratio: float, peak: float) -> None:
    there = converted_utilization(use, 1.0, ratio, 1.0, peak)
    assert converted_utilization(there, ratio, 1.0, peak, 1.0) == pytest.approx(use)


def test_conversion_of_a_published_trap() -> None:
    """SmolLM3's 30 % of 720 TFLOP/s is 21.8 % of the dense 989."""
    assert converted_utilization(0.30, 1.0, 1.0, 720e12, 989e12) == pytest.approx(0.218, abs=5e-4)


def test_precisions_by_what_they_mean_for_speed() -> None:
    words = ("bf16", "fp16-mixed", "mxfp8", "fp8-cs", "nvfp4", "fp32")
    assert [precision_class(word) for word in words] == ["16-bit", "16-bit", "fp8", "fp8", "fp4", "fp32"]


def test_a_run_and_the_prediction_as_claims() -> None:
    found = plan(0.4)
    near = nearest_runs(found, published_runs())[0]
    claim = claim_of_run(near)
    assert claim["utilization.value"] == pytest.approx(near.utilization, rel=1e-3)
    assert claim["utilization.evidence"] == "published"
    assert near.run.model in claim["utilization.source"]
    assert str(claim["utilization.date"]) == "2024-12-01"
    predicted = claim_of_prediction(found)
    assert predicted["utilization.low"] < predicted["utilization.value"] < predicted["utilization.high"]
    assert predicted["utilization.evidence"] == "assumed"
    assert claim_of_prediction(estimate(plan_of_text("format = 1\n", "plan.toml"))) == {}


def test_c16_a_utilization_that_this_layout_does_not_reach(varied: Any) -> None:
    fast = [item for item in findings(varied("utilization.value=0.9")) if item.code == "C16"]
    assert [item.severity for item in fast] == ["warning"]
    assert fast[0].paths[0] == "utilization.value"
    slow = [item for item in findings(varied("utilization.value=0.0001")) if item.code == "C16"]
    assert [item.severity for item in slow] == ["info"]
    here = varied("utilization.value=0.9", "utilization.evidence=measured-here", "utilization.date=2026-11-01")
    assert not [item for item in findings(here) if item.code == "C16"]
