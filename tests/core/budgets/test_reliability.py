"""Failures, intervals and slowdown: the printed digits of the research notes through the formulas, and the plan's wiring."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trainplan.formulas import reliability as f
from trainplan.quantity.figure import Figure

MINUTE, HOUR = 60.0, 3600.0


def number(found: Any, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


@pytest.mark.parametrize(
    ("hours", "daly", "young"), [(24.0, 116.69, 120.0), (6.0, 56.71, 60.0), (15 / 60, 9.14, 12.25)]
)
def test_daly_and_young_in_minutes(hours: float, daly: float, young: float) -> None:
    """A stall of 5 minutes; domain notes, section 13, printed with two digits after the point."""
    stall, between = 5 * MINUTE, hours * HOUR
    assert round(f.daly_interval(stall, between) / MINUTE, 2) == daly
    assert round(f.young_interval(stall, between) / MINUTE, 2) == young


@pytest.mark.parametrize(
    ("minutes", "hours", "digits", "ratio"),
    [(117.0, 24.0, 4, 1.0958), (57.0, 6.0, 4, 1.2204), (9.1, 15 / 60, 3, 5.008)],
)
def test_slowdown_ratios(minutes: float, hours: float, digits: int, ratio: float) -> None:
    """A stall of 5 and a recovery of 10 minutes; domain notes, section 13."""
    found = f.slowdown(minutes * MINUTE, 5 * MINUTE, 10 * MINUTE, hours * HOUR)
    assert round(found, digits) == ratio


@pytest.mark.parametrize(("rate", "hours"), [(6.5e-3, 1.803), (3.79e-3, 3.092), (2.34e-3, 5.008)])
def test_time_between_failures_of_2048_nodes(rate: float, hours: float) -> None:
    """Domain notes, section 13; Kokolis et al. 2025 for the rates."""
    assert round(f.time_between_failures(rate, 2048.0, 0.0) / HOUR, 3) == hours


@pytest.mark.parametrize(
    ("between", "stall", "young", "daly"),
    [
        (51923.07692307692, 5.0, 720.5766921228922, 717.247213726595),
        (6490.384615384615, 5.0, 254.76233268253404, 251.43990275767766),
        (6490.384615384615, 300.0, 1973.3805434408157, 1778.4479897745896),
        (24038.46153846154, 5.0, 490.29033784546004, 486.962670089364),
        (24038.46153846154, 300.0, 3797.77262656375, 3600.4057489181673),
    ],
)
def test_intervals_computed_elsewhere(between: float, stall: float, young: float, daly: float) -> None:
    """The series written out another way: sqrt(2CM)(1 + sqrt(C/2M)/3 + C/18M) - C."""
    assert f.young_interval(stall, between) == pytest.approx(young, rel=1e-12)
    assert f.daly_interval(stall, between) == pytest.approx(daly, rel=1e-12)


def test_daly_is_near_the_least_slowdown() -> None:
    """Both neighbours are worse, in a regime where failures are rare against stalls."""
    stall, recovery, between = 60.0, 600.0, 24 * HOUR
    best = f.daly_interval(stall, between)
    around = [f.slowdown(best * factor, stall, recovery, between) for factor in (0.8, 1.0, 1.25)]
    assert around[1] < min(around[0], around[2])


def test_daly_past_its_range_is_the_time_between_failures() -> None:
    assert f.daly_interval(7200.0, 3600.0) == 3600.0


def test_plan_counts_nodes_and_the_fixed_rate(varied: Any) -> None:
    found = varied("cluster.nodes=128")
    assert number(found, "reliability.mtbf") == pytest.approx(86_400 / (128 * 0.0065 + 1), rel=1e-15)
    assert round(number(found, "reliability.mtbf") / HOUR, 2) == 13.10


def test_recovery_is_detection_and_restart(varied: Any) -> None:
    assert number(varied(), "reliability.recovery_time") == 1200.0


def test_interval_in_use_is_whole_steps(varied: Any) -> None:
    found = varied("data.train_tokens=1000T")
    step, used = number(found, "compute.step_time"), number(found, "reliability.interval")
    assert used / step == pytest.approx(round(used / step), abs=1e-6)
    assert abs(used - number(found, "reliability.daly_interval")) <= step / 2 + 1e-9


def test_interval_is_at_least_a_write_and_an_upload(varied: Any) -> None:
    slow = varied("storage.upload_bandwidth=1kB/s")
    upload = number(slow, "storage.upload_time")
    assert number(slow, "reliability.shortest_interval") == upload
    assert number(slow, "reliability.interval") >= upload


def test_job_time_limit_caps_the_interval_and_costs_waits(varied: Any) -> None:
    """Of a job a start and the grace, here of a minute, are left out; between two lie the wait and the next one's start."""
    long = ("data.train_tokens=100000T", "schedule.queue_gap=1h", "reliability.restart_time=2min")
    found = varied(*long, "reliability.job_time_limit=10min")
    busy = number(found, "compute.compute_time") * number(found, "reliability.slowdown")
    step, stall = number(found, "compute.step_time"), number(found, "storage.checkpoint_stall")
    assert number(found, "reliability.interval") <= 600 + step
    assert 2 * (step + stall) < 60
    jobs = math.ceil(busy / (600 - 60 - 120))
    assert number(found, "compute.queue_time") == (jobs - 1) * (3600.0 + 120.0)
    assert number(varied(), "compute.queue_time") == 0
    assert number(varied("reliability.job_time_limit=1d"), "compute.queue_time") == 0


def test_a_job_that_is_over_before_it_trains_gets_nowhere(varied: Any) -> None:
    """The default start takes 15 minutes, the grace one at the least."""
    assert number(varied("reliability.job_time_limit=17min"), "compute.queue_time") == 0
    found = varied("reliability.job_time_limit=16min")
    assert {found.quantities[key].code for key in ("compute.queue_time", "compute.wall_time")} == {"R4"}


def test_a_grace_is_two_steps_and_two_saves_and_a_minute_at_least() -> None:
    assert f.grace(1.0, 5.0) == 60.0
    assert f.grace(10.0, 25.0) == 70.0


def test_jobs_do_the_evaluation_that_stops_training(varied: Any) -> None:
    """It was in the wall time and the batch script, and not in the jobs that the waits are counted by."""
    task = '\n[[evaluation.tasks]]\ntask = "mmlu"\nitems = 1_000_000\n'
    limits = ("reliability.job_time_limit=30min", "schedule.queue_gap=1h", "evaluation.mode=in-loop")
    found = varied(*limits, "data.train_tokens=100000T", "evaluation.interval_tokens=1T", more=task)
    busy = number(found, "compute.compute_time") * number(found, "reliability.slowdown")
    stops, useful = number(found, "evaluation.blocking_time"), 1800 - 60 - 900
    assert math.ceil((busy + stops) / useful) > math.ceil(busy / useful)
    between = 3600 + 900
    assert number(found, "compute.queue_time") == (math.ceil((busy + stops) / useful) - 1) * between


def test_own_interval_is_taken_as_it_is(varied: Any) -> None:
    assert number(varied("reliability.checkpoint_interval=2h"), "reliability.interval") == 7200.0


def test_goodput_and_expected_failures(varied: Any) -> None:
    found = varied()
    assert number(found, "reliability.goodput") == pytest.approx(1 / number(found, "reliability.slowdown"), rel=1e-15)
    wall, between = number(found, "compute.wall_time"), number(found, "reliability.mtbf")
    assert number(found, "reliability.expected_failures") == pytest.approx(wall / between, rel=1e-15)


def test_no_failure_at_all_still_gives_a_time(varied: Any) -> None:
    """One in a thousand years is the least: the slowdown is what saving costs, and nothing is blocked."""
    found = varied("reliability.failures_per_node_day=0", "reliability.fixed_failures_per_day=0")
    assert number(found, "reliability.mtbf") == pytest.approx(1000 * 365.25 * 86_400, rel=1e-12)
    assert 1.0 <= number(found, "reliability.slowdown") < 1.001
    assert number(found, "compute.wall_time") > 0


def test_steps_are_rounded_to_the_side_that_holds() -> None:
    """An upload of 616.7 s takes 42 steps of 15 s; a job that can wait 100 s takes 3 of 30 s; a free interval the nearest."""
    assert f.whole_steps(568.0, 616.7, 1e12, 15.0) == 630.0
    assert f.whole_steps(1e6, 30.0, 100.0, 30.0) == 90.0
    assert f.whole_steps(104.0, 15.0, 1e12, 15.0) == 105.0
    assert f.whole_steps(1.0, 0.1, 1e12, 0.1) == 1.0


def test_a_checkpoint_waits_for_the_longest_step_of_any_stage(varied: Any) -> None:
    stages = '\n[[data.stages]]\nname = "long"\nuntil_tokens = "500M"\nsequence_length = 8192\n[[data.stages]]\nname = "end"\n'
    found = varied("storage.write_bandwidth=1PB/s", more=stages)
    longest = float(found.speed.steps[0])
    assert longest > 2 * number(found, "compute.step_time")
    assert number(found, "reliability.shortest_interval") == longest
