"""Published failure, goodput and checkpoint values against the formulas, to the digits that were printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainplan.catalogue import entry
from trainplan.estimation import estimate
from trainplan.formulas import reliability as f
from trainplan.formulas.storage import checkpoint_bytes
from trainplan.plan.edit import set_all
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Figure

PLANS = Path(__file__).resolve().parents[2] / "plans"
HOUR, DAY = 3600.0, 86400.0


def _intervals(row: dict[str, Any]) -> None:
    stall, mtbf, restart = row["stall"], row["mtbf"], row["restart"]
    young = f.young_interval(stall, mtbf)
    assert young == pytest.approx(row["young"], rel=1e-12)
    assert f.daly_interval(stall, mtbf) == pytest.approx(row["daly"], rel=1e-12)
    assert f.availability_interval(stall, mtbf, restart) == pytest.approx(row["availability"], rel=1e-12)
    assert f.goodput_first_order(young, stall, restart, mtbf) == pytest.approx(row["goodput"], rel=1e-12)


def _ettr(row: dict[str, Any]) -> None:
    mtbf = f.time_between_failures(row["rate"], float(row["nodes"]), 0.0)
    found = f.effective_time_ratio(row["interval"], row["stall"], row["recovery"], mtbf)
    assert round(found, row["digits"]) == row["value"]


def _mtbf(row: dict[str, Any]) -> None:
    assert round(f.time_between_failures(row["rate"], float(row["nodes"]), 0.0) / HOUR, row["digits"]) == row["value"]


def _spares(row: dict[str, Any]) -> None:
    assert f.spares(6.5e-3, float(row["nodes"]), 3 * DAY) == row["value"]


def _checkpoint(row: dict[str, Any]) -> None:
    size = checkpoint_bytes(float(row["parameters"]), float(row["bytes_per_parameter"]))
    assert round(size / row["unit"], row["digits"]) == row["value"]


KINDS = {"intervals": _intervals, "ettr": _ettr, "mtbf": _mtbf, "spares": _spares, "checkpoint": _checkpoint}


@pytest.mark.golden("reliability")
def test_printed_value(row: dict[str, Any]) -> None:
    KINDS[row["kind"]](row)


@pytest.mark.parametrize(
    ("name", "parameters", "each"),
    [("bloom-176b", 176_247_271_424, 14), ("llama-3.1-8b", 8_030_261_248, 14), ("llama-3.1-405b", 405_853_388_800, 14)],
)
def test_plans_of_published_runs_save_what_was_saved(name: str, parameters: int, each: int) -> None:
    """Bytes as integers; a vocabulary that is padded for the layout adds its rows."""
    found = estimate(open_plan(PLANS / f"{name}.toml").plan).figure("storage.checkpoint")
    assert isinstance(found, Figure)
    assert 0 <= found / each - parameters <= 128 * 8 * 2 * 16_384


def test_llama_3_405b_is_interrupted_419_times_in_54_days_at_its_own_rate() -> None:
    """The plan keeps three digits of the rate; the catalogue keeps five."""
    run = entry("evidence", "failures-llama-3.1-405b")
    assert run is not None
    mtbf = f.time_between_failures(run["failures_per_node_day"].value, 2048.0, 0.0)
    assert round(f.expected_failures(54 * DAY, mtbf)) == 419


def test_llama_3_405b_is_productive_more_than_nine_tenths_with_a_recovery_of_ten_minutes() -> None:
    """The paper prints more than 90 %; the plan's assumed 20 minutes give 87 %."""
    opened = open_plan(PLANS / "llama-3.1-405b.toml")
    edited = set_all(
        opened.source.text, opened.plan, ["reliability.detection_time=2min", "reliability.restart_time=8min"]
    )
    found = estimate(edited.plan).figure("reliability.goodput")
    assert isinstance(found, Figure)
    assert 0.90 < found < 0.93


def test_bounds_far_out_agree_with_the_sum() -> None:
    """Past a mean of 500 an expansion takes over; at the border both give the same count."""
    from trainplan.quantity.numeric import poisson_bound

    assert poisson_bound(0.0) == 0.0
    assert abs(poisson_bound(500.1) - poisson_bound(499.9)) <= 1.0
    assert poisson_bound(1e6) == pytest.approx(1e6 + 2326.3, abs=3)


def test_money_for_time_that_is_not_productive_is_the_rest_of_the_cost() -> None:
    """8B on 1,024 H100 at 2.50 USD: goodput 0.9607 of 1.513 M USD leaves 59.4 thousand."""
    quantities = estimate(open_plan(PLANS / "llama-3.1-8b.toml").plan).quantities
    cost, productive = float(quantities["compute.cost"]), float(quantities["reliability.goodput"])
    assert float(quantities["reliability.overhead_cost"]) == pytest.approx(cost - cost * productive, rel=1e-12)
    assert float(quantities["reliability.overhead_cost"]) == pytest.approx(59_399, rel=1e-3)


@pytest.mark.parametrize(
    ("plan", "assignments", "size", "binary"),
    [
        ("bloom-176b", [], 2.467e12, 2.244 * 2**40),  # the run's page says 2.3 TB, and means binary units
        (
            "llama-3.1-8b",
            ["training.precision=fp32"],
            96.4e9,
            89.7 * 2**30,
        ),  # pytorch/torchtitan#1301: 12 B a parameter
        ("llama-3.1-8b", ["model.preset=llama-3.1-70b"], 987.8e9, 919.9 * 2**30),  # 70,553,706,496 parameters x 14 B
    ],
)
def test_checkpoints_in_both_kinds_of_unit(plan: str, assignments: list[str], size: float, binary: float) -> None:
    """GB and GiB are never taken for each other: 7 and 10 % lie between them."""
    opened = open_plan(PLANS / f"{plan}.toml")
    found = estimate(set_all(opened.source.text, opened.plan, assignments, "plan.toml").plan).figure(
        "storage.checkpoint"
    )
    assert isinstance(found, Figure)
    assert found == pytest.approx(size, rel=6e-4)
    assert found == pytest.approx(binary, rel=6e-4)
