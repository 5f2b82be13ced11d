"""The chance that is summed up against the one that is simulated: published plans, few failures and many."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainplan.chances.moments import failure_cost, shortage
from trainplan.chances.money import amount_by, amount_time
from trainplan.chances.odds import Odds, odds
from trainplan.estimation import Estimate, estimate
from trainplan.forecast.finish import forecast
from trainplan.forecast.histories import Work, histories
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Figure

PLANS = Path(__file__).parents[3] / "plans"
LONG = ("data.train_tokens=10000T", "cluster.nodes=64")
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


def told(found: Estimate) -> Odds:
    summed = odds(found)
    assert summed is not None
    return summed


def quantile(found: Estimate, share: float) -> float:
    """The time (s) by which a share of 20,000 simulated histories has ended, from its P10, P50 or P90."""
    value = forecast(found, 20_000, 3).quantities[f"forecast.finish.p{round(100 * share)}"]
    assert isinstance(value, Figure)
    return float(value)


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.toml")))
def test_the_sum_agrees_with_the_simulation_on_published_plans(name: str) -> None:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    found = estimate(plan_of_text(text, name), dt.date(2026, 12, 1))
    for share in (0.1, 0.5, 0.9):
        simulated = quantile(found, share)
        assert told(found).within(simulated) == pytest.approx(share, abs=0.02)
        assert told(found).by(share) == pytest.approx(simulated, rel=0.0125)


@pytest.mark.parametrize(
    "changes",
    [
        ("reliability.spare_nodes=4",),
        ("reliability.failures_per_node_day=0.1", "reliability.spare_nodes=2"),
        ("utilization.low=0.4", "utilization.high=0.4"),
        ("utilization.low=0.39", "utilization.high=0.41", "reliability.failures_per_node_day=0.03"),
        ("reliability.job_time_limit=1d", "schedule.queue_gap=2h"),
        ("reliability.failures_per_node_day=0", "reliability.fixed_failures_per_day=0"),
    ],
)
def test_the_sum_agrees_with_the_simulation_of_a_long_run(varied: Any, changes: tuple[str, ...]) -> None:
    found = varied(*LONG, *changes)
    for share in (0.1, 0.5, 0.9):
        assert told(found).by(share) == pytest.approx(quantile(found, share), rel=0.01)


def test_chances_rise_with_time_and_the_quantile_is_their_inverse(varied: Any) -> None:
    found = told(varied(*LONG, "reliability.job_time_limit=1d", "schedule.queue_gap=2h"))
    times = np.linspace(0.5, 3.0, 101) * found.wall
    chances = [found.within(float(time)) for time in times]
    assert all(after >= before - 1e-9 for before, after in pairwise(chances))
    assert (chances[0], chances[-1]) == (0.0, pytest.approx(1.0))
    for share in SHARES:
        assert found.within(found.by(share)) >= share


def test_what_a_failure_costs_has_the_mean_and_variance_of_the_simulation() -> None:
    """Sums of many failures over draws of one task, whose pieces are gamma: their mean and variance in closed form."""
    task = Work(compute=1e6, mtbf=40_000.0, interval=5_000.0, stall=250.0, detection=300.0, restart=2_000.0)
    busy = histories(task, 40_000, np.random.default_rng(7)).busy
    cost, a_piece = failure_cost(5_250.0, 300.0, 2_000.0, 40_000.0), np.expm1(5_250.0 / 40_000.0)
    pieces = 1e6 / 5_000.0
    assert busy.mean() == pytest.approx(pieces * (5_250.0 + a_piece * cost.mean), rel=1e-3)
    variance = pieces * a_piece * (cost.variance + (1.0 + a_piece) * cost.mean**2)
    assert busy.var() == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize(("mean", "spares"), [(0.3, 0), (3.0, 2), (40.0, 45), (500.0, 510)])
def test_the_shortage_of_nodes_is_that_of_a_poisson_number(mean: float, spares: int) -> None:
    over = np.maximum(np.random.default_rng(5).poisson(mean, 1_000_000) - spares, 0)
    found = shortage(mean, spares)
    assert found.mean == pytest.approx(over.mean(), rel=0.02)
    assert found.variance == pytest.approx(over.var(), rel=0.03)
    assert found.bare == pytest.approx(
        (over > 0).mean() + (np.random.default_rng(5).poisson(mean, 1_000_000) == spares).mean(), abs=0.03
    )


def test_money_follows_the_finish_as_the_simulation_counts_it(varied: Any) -> None:
    found = varied(*LONG)
    quantities = forecast(found, 20_000, 3).quantities
    for share in (10, 50, 90):
        cost, finish = (quantities[f"forecast.{name}.p{share}"] for name in ("cost", "finish"))
        assert isinstance(cost, Figure)
        assert isinstance(finish, Figure)
        assert amount_by(found, float(finish)) == pytest.approx(float(cost), rel=1e-6)
        assert amount_time(found, float(cost)) == pytest.approx(float(finish), rel=1e-6)


def test_no_finish_no_odds(varied: Any) -> None:
    assert odds(varied(left_out=("utilization.value",))) is None
    assert odds(varied("reliability.failures_per_node_day=2000")) is None
