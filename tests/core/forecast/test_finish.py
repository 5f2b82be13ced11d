"""The forecast: its simulation against Daly's expectation, its quantiles, and what it says where it cannot follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from trainplan.chances.ranges import WIDTHS, ranges_of
from trainplan.estimation import Estimate
from trainplan.forecast import histories as module
from trainplan.forecast.finish import Forecast, forecast
from trainplan.forecast.histories import Work, histories
from trainplan.formulas.reliability import slowdown
from trainplan.quantity.figure import Blocked, Figure

DAY = 86400.0
MTBF = 10_000.0
LONG = ("data.train_tokens=10000T", "cluster.nodes=64", "reliability.spare_nodes=4")


def value(found: Forecast, key: str) -> float:
    number = found.quantities[f"forecast.{key}"]
    assert isinstance(number, Figure), f"{key} is {number!r}"
    return float(number)


def point(found: Estimate, key: str) -> float:
    number = found.figure(key)
    assert isinstance(number, Figure)
    return float(number)


def work(ratio: float, pieces: float, **changes: Any) -> Work:
    interval = ratio * MTBF
    return Work(
        compute=pieces * interval,
        mtbf=MTBF,
        interval=interval,
        stall=0.05 * interval,
        detection=0.02 * MTBF,
        restart=0.08 * MTBF,
        restart_varies=False,
        **changes,
    )


@pytest.mark.parametrize("pieces", [0.5, 20.0, 600.0, 3000.0])
@pytest.mark.parametrize("ratio", [0.01, 0.03, 0.1, 0.3, 1.0])
def test_histories_agree_with_daly(ratio: float, pieces: float) -> None:
    """The mean of 10,000 lies within three standard errors of the expected wall time, drawn one by one or in the mean."""
    task = work(ratio, pieces)
    busy = histories(task, 10_000, np.random.default_rng(11)).busy
    expected = task.compute * slowdown(task.interval, task.stall, 0.1 * MTBF, MTBF)
    error = busy.std(ddof=1) / math.sqrt(len(busy))
    assert abs(busy.mean() - expected) < 3 * error


def test_histories_have_no_bias_against_daly() -> None:
    """Standard scores over the grid and five seeds have a mean near 0 and a spread near 1."""
    scores: list[float] = []
    for ratio in (0.01, 0.03, 0.1, 0.3, 1.0):
        task = work(ratio, 100.0)
        expected = task.compute * slowdown(task.interval, task.stall, 0.1 * MTBF, MTBF)
        for seed in range(5):
            busy = histories(task, 4000, np.random.default_rng((seed, int(1000 * ratio)))).busy
            scores.append((busy.mean() - expected) / (busy.std(ddof=1) / math.sqrt(len(busy))))
    assert abs(np.mean(scores)) < 3 / math.sqrt(len(scores))
    assert 0.6 < np.std(scores) < 1.4


def test_drawing_one_by_one_and_in_the_mean_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    task = work(0.09, 3000.0, node_share=0.9, spares=3, repair=3 * MTBF, idle_share=0.1)
    found = {}
    for most in (1e9, 1.0):
        monkeypatch.setattr(module, "MOST_EVENTS", most)
        found[most] = histories(task, 5000, np.random.default_rng(5))
    one, mean = found[1e9], found[1.0]
    assert mean.busy.mean() == pytest.approx(one.busy.mean(), rel=1e-3)
    assert mean.busy.std() == pytest.approx(one.busy.std(), rel=0.05)
    assert mean.short.mean() == pytest.approx(one.short.mean(), rel=0.05)


def test_restarts_that_vary_fail_less_than_fixed_ones_of_the_same_mean() -> None:
    """A restart ends before the next failure with a chance of 1/(1 + R/M) where it varies, of exp(-R/M) where not."""
    fixed = Work(
        compute=1e6, mtbf=1000.0, interval=500.0, stall=0.0, detection=0.0, restart=1000.0, restart_varies=False
    )
    varied = Work(compute=1e6, mtbf=1000.0, interval=500.0, stall=0.0, detection=0.0, restart=1000.0)
    means = [histories(task, 2000, np.random.default_rng(2)).busy.mean() for task in (varied, fixed)]
    lost = 1e6 / 500 * math.expm1(0.5)
    assert means[1] - means[0] == pytest.approx(lost * 1000 * (math.expm1(1.0) - 1.0), rel=0.03)


def test_more_spares_never_lose_more() -> None:
    short = [
        histories(
            work(0.1, 100.0, node_share=1.0, spares=spares, repair=2 * MTBF, idle_share=0.5),
            3000,
            np.random.default_rng(1),
        ).short.mean()
        for spares in range(7)
    ]
    assert short == sorted(short, reverse=True)
    assert short[0] > 100 * short[-1] > 0


def test_quantiles_stand_around_the_point_estimate(varied: Any) -> None:
    estimate = varied(*LONG)
    found = forecast(estimate)
    p10, p50, p90 = (value(found, f"finish.p{share}") for share in (10, 50, 90))
    assert p10 < p50 < p90
    assert p10 < point(estimate, "compute.wall_time") < p90
    assert value(found, "cost.p10") < value(found, "cost.p50") < value(found, "cost.p90")
    ratio = point(estimate, "compute.cost") / point(estimate, "compute.wall_time")
    assert value(found, "cost.p50") == pytest.approx(p50 * ratio, rel=1e-9)
    assert found.point_rank is not None
    assert 0.1 < found.point_rank < 0.9


def test_same_seed_gives_the_same_numbers_and_another_seed_others(varied: Any) -> None:
    estimate = varied(*LONG)
    one, same, other = forecast(estimate, 2000), forecast(estimate, 2000), forecast(estimate, 2000, seed=2)
    assert {key: float(item) for key, item in one.quantities.items() if isinstance(item, Figure)} == {
        key: float(item) for key, item in same.quantities.items() if isinstance(item, Figure)
    }
    assert value(one, "finish.p50") != value(other, "finish.p50")
    assert value(one, "finish.p50") == pytest.approx(value(other, "finish.p50"), rel=0.02)


def test_a_range_of_the_plan_is_drawn_and_said(varied: Any) -> None:
    narrow = forecast(varied(*LONG, "utilization.low=0.39", "utilization.high=0.41"))
    wide = forecast(varied(*LONG, "utilization.low=0.2", "utilization.high=0.6"))
    width = [value(found, "finish.p90") - value(found, "finish.p10") for found in (narrow, wide)]
    assert width[0] < width[1]
    assert "the plan's range" in narrow.assumptions[0]


def test_without_a_range_the_width_follows_the_evidence_and_is_said(varied: Any) -> None:
    estimate = varied()
    found = ranges_of(estimate)
    assert (found.low, found.high) == (0.4 * WIDTHS["published"][0], 0.4 * WIDTHS["published"][1])
    assert "a default width for evidence published" in forecast(estimate, 100).assumptions[0]


def test_chances_follow_deadline_and_budget(varied: Any) -> None:
    early = forecast(varied(*LONG, "schedule.deadline=2026-12-08", "schedule.budget=1"), 500)
    late = forecast(varied(*LONG, "schedule.deadline=2999-12-08", "schedule.budget=1P"), 500)
    assert (value(early, "chance_deadline"), value(early, "chance_budget")) == (0.0, 0.0)
    assert (value(late, "chance_deadline"), value(late, "chance_budget")) == (1.0, 1.0)
    for key in ("chance_deadline", "chance_budget"):
        nothing = forecast(varied(*LONG), 500).quantities[f"forecast.{key}"]
        assert isinstance(nothing, Blocked)
        assert nothing.code == "none"


def test_histogram_is_of_half_days_and_holds_nearly_all(varied: Any) -> None:
    found = forecast(varied(*LONG))
    assert all(one.begin % 43_200 == 0 for one in found.histogram)
    assert sum(one.share for one in found.histogram) > 0.99


def test_drivers_are_in_the_order_of_their_reach(varied: Any) -> None:
    found = forecast(varied(*LONG), 100)
    reaches = [driver.reach for driver in found.drivers]
    assert reaches == sorted(reaches, reverse=True)
    assert {driver.path for driver in found.drivers} == {
        "utilization.value",
        "reliability.failures_per_node_day",
        "reliability.restart_time",
    }
    assert all(driver.low_finish < driver.high_finish for driver in found.drivers)


def test_a_longer_start_leaves_a_job_less_time(varied: Any) -> None:
    """Twice the detection and the start are the plan that says so; the job was taken to train as long as before."""
    limits = ("reliability.job_time_limit=2h", "schedule.queue_gap=6h")
    found = forecast(varied(*LONG, *limits, "reliability.checkpoint_interval=30min"), 100)
    (start,) = (one for one in found.drivers if one.path == "reliability.restart_time")
    twice = ("reliability.restart_time=30min", "reliability.detection_time=10min")
    there = varied(*LONG, *limits, "reliability.checkpoint_interval=30min", *twice)
    assert start.high_finish == pytest.approx(point(there, "compute.wall_time"), rel=1e-9)
    short = forecast(varied(*LONG, "reliability.job_time_limit=25min"), 100)
    assert [one.high_finish for one in short.drivers if one.path == "reliability.restart_time"] == [math.inf]


def test_a_time_limit_adds_waits_to_every_history(varied: Any) -> None:
    free = value(forecast(varied(*LONG), 500), "finish.p50")
    waits = value(forecast(varied(*LONG, "reliability.job_time_limit=1d", "schedule.queue_gap=6h"), 500), "finish.p50")
    between, useful = 6 * 3600 + 15 * 60, DAY - 15 * 60
    assert waits - free == pytest.approx(between * math.floor(free / useful), abs=1.5 * between)


def test_what_blocks_the_wall_time_blocks_the_forecast(varied: Any) -> None:
    found = forecast(varied(left_out=("utilization.value",)))
    assert all(isinstance(item, Blocked) for item in found.quantities.values())
    assert found.quantities["forecast.finish.p50"].code == "missing:utilization.value"  # type: ignore[union-attr]
    assert found.histogram == ()


def test_no_price_blocks_only_the_cost(varied: Any) -> None:
    found = forecast(varied(*LONG, left_out=("cluster.price_per_accelerator_hour",)), 500)
    assert isinstance(found.quantities["forecast.cost.p50"], Blocked)
    assert value(found, "finish.p50") > 0


def test_a_job_that_never_ends_has_no_finish(varied: Any) -> None:
    found = forecast(varied("reliability.failures_per_node_day=20000", "reliability.checkpoint_interval=10min"))
    stop = found.quantities["forecast.finish.p50"]
    assert isinstance(stop, Blocked)
    assert stop.code in ("R1", "undefined:slowdown")
