"""What a log says of a rung, and what it may set in the plan: never more than the rung's own scale."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.interop.calibration import calibration, measurement_for
from trainplan.interop.logs.reading import read_log
from trainplan.interop.rungs import as_rung, rung_values
from trainplan.plan.read import open_plan

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def measured(tmp_path: Path):
    figures = estimate(open_plan(ROOT / "plans" / "llama-3.1-8b.toml").plan)
    lines = [
        f" iteration {i:8d}/ 100000 | elapsed time per iteration (ms): {1000 + i % 5:.1f} | global batch size: 1024 |"
        for i in range(1, 121)
    ]
    (tmp_path / "run.log").write_text("\n".join(lines), encoding="utf-8")
    measurement = measurement_for(figures)
    read_log(tmp_path / "run.log", measurement)
    found = measurement.result()
    assert found is not None
    return figures, calibration(figures, found, "run.log", dt.date(2026, 11, 29))


@pytest.mark.parametrize(
    ("rung", "evidence"),
    [
        ("", "measured-here"),
        ("unit", None),
        ("one-batch", None),
        ("one-device", "measured-node"),
        ("one-node", "measured-node"),
        ("few-nodes", "measured-scaled"),
        ("short-scaled", "measured-scaled"),
    ],
)
def test_evidence_is_of_the_rungs_scale(rung: str, evidence: str | None, measured) -> None:
    found = as_rung(*measured, rung)
    assert found.edits.get("utilization.evidence") == evidence
    assert ("utilization.value" in found.edits) == (evidence is not None)
    assert any("how many devices" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rung", "world", "odd"),
    [("one-node", 512, True), ("one-node", 8, False), ("one-device", 8, True), ("few-nodes", 512, False)],
)
def test_a_log_of_more_devices_than_its_rung_has_is_odd(rung: str, world: float, odd: bool, measured) -> None:
    figures, found = measured
    told = as_rung(figures, replace(found, measured=replace(found.measured, world=world)), rung).notes
    assert any(note.startswith(f"the log is of {world:,.0f} devices and rung {rung} has ") for note in told) == odd


def test_values_are_those_that_the_rung_asks_for(measured) -> None:
    figures, found = measured
    assert set(rung_values(figures, found, "one-device")) == {"utilization_variation"}
    ratio = found.measured.rate / float(figures.speed.tokens_per_second_per_accelerator)
    assert rung_values(figures, found, "short-scaled") == {"tokens_per_second_ratio": pytest.approx(ratio, rel=1e-3)}
    assert rung_values(figures, found, "one-node") == {}
