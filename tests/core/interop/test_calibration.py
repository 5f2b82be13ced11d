"""A measurement beside a plan, and the one edit that writes it there."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from trainplan.interop.calibration import calibration, measurement_for, written
from trainplan.interop.logs.measured import Measured
from trainplan.interop.rungs import rung_values
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text

TODAY = dt.date(2026, 12, 1)
RUN = Measured(
    framework="Megatron-LM",
    rate=200_000_000.0,
    rate_low=190_000_000.0,
    rate_high=210_000_000.0,
    variation=0.02,
    steps_used=300,
    steps_seen=340,
    dropped={"warm-up": 40},
    world=16.0,
    sequence=1024.0,
    batch=1024.0,
    peak=None,
    peak_reserved=True,
    stall=None,
    saves=0,
    date="2026-11-20",
)


def test_measurement_takes_batch_length_and_world_of_the_plan(varied: Any) -> None:
    assert measurement_for(varied()).settings == {"batch": 1024.0, "sequence": 1024.0, "world": 16.0}


def test_utilization_by_the_plans_convention_and_peak(varied: Any) -> None:
    """A token costs 1,966,080 FLOP causal and 1,179,648 by 6n, against a peak of 1e15."""
    causal = calibration(varied(), RUN, "a.log", TODAY)
    assert causal.utilization == pytest.approx(2e8 * 1_966_080 / 1e15)
    plain = calibration(varied("utilization.convention=6n"), RUN, "a.log", TODAY)
    assert plain.utilization == pytest.approx(2e8 * 1_179_648 / 1e15)
    assert causal.edits["utilization.value"] == pytest.approx(causal.utilization, rel=1e-3)
    assert causal.edits["utilization.date"] == dt.date(2026, 11, 20)


def test_a_utilization_above_1_is_said_and_not_written(varied: Any) -> None:
    found = calibration(varied(), replace(RUN, rate=6e8), "a.log", TODAY)
    assert not [path for path in found.edits if path.startswith("utilization")]
    assert "cannot be" in found.notes[0]


@pytest.mark.parametrize(
    ("world", "rung"),
    [(None, "measured-here"), (16.0, "measured-here"), (8.0, "measured-scaled"), (1.0, "measured-node")],
)
def test_rung_of_the_evidence_by_scale(varied: Any, world: float | None, rung: str) -> None:
    assert calibration(varied(), replace(RUN, world=world), "a.log", TODAY).evidence == rung


def test_memory_of_the_same_layout_calibrates(varied: Any) -> None:
    plan = varied()
    peak = 1.1 * float(plan.memory.reserved)
    found = calibration(plan, replace(RUN, peak=peak), "a.log", TODAY)
    assert found.edits["memory.calibration"] == pytest.approx(1.1)
    elsewhere = calibration(plan, replace(RUN, peak=peak, world=8.0), "a.log", TODAY)
    assert "memory.calibration" not in elsewhere.edits
    assert any("left alone" in note for note in elsewhere.notes)


def test_m8_retries_of_the_allocator(varied: Any) -> None:
    found = calibration(varied(), replace(RUN, retries=7), "a.log", TODAY)
    assert any(note.startswith("M8: 7 retries") and "expandable_segments" in note for note in found.notes)
    assert not any(note.startswith("M8") for note in calibration(varied(), RUN, "a.log", TODAY).notes)


def test_stall_of_asynchronous_saves_is_the_floor(varied: Any) -> None:
    run = replace(RUN, stall=12.0, saves=3)
    assert calibration(varied(), run, "a.log", TODAY).edits["storage.checkpoint_floor"] == "12s"
    plain = calibration(varied("storage.async_checkpoint=false"), run, "a.log", TODAY)
    assert "storage.checkpoint_floor" not in plain.edits


def test_doubts(varied: Any) -> None:
    few = calibration(varied(), replace(RUN, steps_used=7, variation=0.2), "a.log", TODAY)
    assert [note[:2] for note in few.notes if note.startswith("C")] == ["C7", "C7"]
    single = calibration(varied(), replace(RUN, steps_used=1, variation=None), "a.log", TODAY)
    assert "C7: 1 step; 20 at least carry a date" in single.notes
    jump = calibration(varied("utilization.evidence=measured-here", "utilization.value=0.6"), RUN, "a.log", TODAY)
    assert any(note.startswith("C9") for note in jump.notes)


def test_range_of_the_plan_goes_on_holding_the_value(varied: Any) -> None:
    found = calibration(varied("utilization.low=0.1", "utilization.high=0.2"), RUN, "a.log", TODAY)
    edits = found.edits
    assert edits["utilization.low"] <= edits["utilization.value"] <= edits["utilization.high"]


def test_factor_for_neighbours_moves_half_way(varied: Any) -> None:
    found = calibration(varied(), RUN, "a.log", TODAY)
    assert found.predicted_ratio is not None
    assert found.factor == pytest.approx(found.predicted_ratio**0.5)


def test_one_edit_keeps_the_rest_of_the_text(varied: Any, example: str) -> None:
    found = calibration(varied(), replace(RUN, stall=12.0, saves=3), "logs/a.log", TODAY)
    plan = plan_of_text(example, "plan.toml")
    text = written(example, plan, found)
    after = plan_of_text(text, "plan.toml")
    assert after.utilization.evidence == "measured-here"
    assert "logs/a.log" in (after.utilization.source or "")
    assert after.storage.checkpoint_floor == 12.0
    kept = [
        line
        for line in example.splitlines()
        if "=" in line and "utilization" not in line and not line.startswith(("value", "evidence", "source", "date"))
    ]
    assert all(line in text for line in kept)
    assert set_all(text, after, ["name=same"]).plan.name == "same"


def test_another_length_costs_other_flop(varied: Any) -> None:
    """The plan has 1,024 tokens a sequence. A token at 4,096 costs what it costs in a plan of that length."""
    run = replace(RUN, sequence=4096.0, peak=1e9)
    found = calibration(varied(), run, "a.log", TODAY)
    there = varied("data.sequence_length=4096")
    assert found.utilization == pytest.approx(2e8 * float(there.speed.flops_per_token) / 1e15)
    assert found.utilization > 1.1 * 2e8 * float(varied().speed.flops_per_token) / 1e15
    plain = calibration(varied(), RUN, "a.log", TODAY)
    assert found.step_time is not None
    assert plain.step_time is not None
    assert found.step_time < plain.step_time / 1.1
    assert "memory.calibration" not in found.edits
    assert any("sequences of 4,096 tokens, the plan has 1,024" in note for note in found.notes)


def test_what_the_plan_lent_is_said(varied: Any) -> None:
    found = calibration(varied(), replace(RUN, assumed=("batch", "sequence")), "a.log", TODAY)
    assert any("does not say its global batch and sequence length" in note for note in found.notes)


def test_means_are_judged_as_means(varied: Any) -> None:
    """A mean of ten varies less than a step: too much of it is too much, and little of it fills no check of steps."""
    loud = calibration(varied(), replace(RUN, variation=0.2, steps_a_line=10.0), "a.log", TODAY)
    assert any(note.startswith("C7: means of 10 steps vary by 20.0 %") for note in loud.notes)
    quiet = calibration(varied(), replace(RUN, variation=0.01, steps_a_line=10.0), "a.log", TODAY)
    assert not any(note.startswith("C7") for note in quiet.notes)
    assert "utilization_variation" not in rung_values(varied(), quiet, "one-device")
    single = calibration(varied(), replace(RUN, variation=0.01), "a.log", TODAY)
    assert rung_values(varied(), single, "one-device").get("utilization_variation") == 0.01


def test_another_batch_on_as_many_devices_is_said(varied: Any) -> None:
    small = calibration(varied(), replace(RUN, batch=64.0), "a.log", TODAY)
    assert any("64 sequences a step, the plan has 1,024" in note for note in small.notes)
    fewer = calibration(varied(), replace(RUN, batch=64.0, world=8.0), "a.log", TODAY)
    assert not any(
        "sequences a step" in note for note in (*fewer.notes, *calibration(varied(), RUN, "a.log", TODAY).notes)
    )
