"""Chances of a deadline and a budget in the findings: a plan that meets both at its rate, and seldom keeps them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.finding import Finding
from trainplan.forecast.finish import forecast
from trainplan.quantity.figure import Figure

RUN = ("data.train_tokens=3000T",)
DAY = 86_400.0


def one(found: Any, code: str) -> Finding:
    (finding,) = [item for item in findings(found) if item.code == code]
    return finding


def codes(found: Any) -> set[str]:
    return {item.code for item in findings(found)}


def chance(found: Any, of: str) -> float:
    value = forecast(found).quantities[f"forecast.chance_{of}"]
    assert isinstance(value, Figure)
    return float(value)


def day_after(found: Any) -> str:
    """The deadline that the plan meets at its rate, and not by a day more."""
    import datetime as dt

    return str(dt.date(2026, 12, 7) + dt.timedelta(days=math.ceil(float(found.figure("compute.wall_time")) / DAY)))


def test_a_deadline_that_is_met_at_this_rate_and_seldom_kept_is_said(varied: Any) -> None:
    late = (*RUN, f"schedule.deadline={day_after(varied(*RUN))}")
    share = chance(varied(*late), "deadline")
    assert 0.2 < share < 0.6
    finding = one(varied(*late), "C8")
    assert (finding.severity, finding.budget) == ("warning", "compute")
    assert finding.paths == ("schedule.deadline", "cluster.nodes")
    told = re.search(r"a chance of about (\d+) %; nine of ten histories end by", finding.message)
    assert told, finding.message
    assert int(told[1]) / 100 == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("deadline", ["2026-12-08", "met"])
def test_the_day_that_is_offered_is_kept_by_nine_of_ten_histories(varied: Any, deadline: str) -> None:
    day = day_after(varied(*RUN)) if deadline == "met" else deadline
    offered = re.search(r"deadline = ([\d-]+)", one(varied(*RUN, f"schedule.deadline={day}"), "C8").fix)
    assert offered
    then = varied(*RUN, f"schedule.deadline={offered[1]}")
    assert chance(then, "deadline") >= 0.89
    assert "C8" not in codes(then)


def test_a_deadline_with_room_is_kept(varied: Any) -> None:
    assert "C8" not in codes(varied(*RUN, "schedule.deadline=2029-12-07"))


def test_a_budget_that_holds_at_this_rate_and_is_seldom_kept_is_said(varied: Any) -> None:
    cost = float(varied(*RUN).figure("compute.cost"))
    tight = (*RUN, f"schedule.budget={cost * 1.001}")
    finding = one(varied(*tight), "C14")
    assert finding.severity == "warning"
    told = re.search(r"a chance of about (\d+) %; nine of ten histories cost up to ([\d,]+) USD", finding.message)
    assert told, finding.message
    assert int(told[1]) / 100 == pytest.approx(chance(varied(*tight), "budget"), abs=0.03)
    amount = told[2].replace(",", "")
    assert finding.fix.startswith(f"a budget of {told[2]} USD at least")
    then = varied(*RUN, f"schedule.budget={amount}")
    assert chance(then, "budget") >= 0.89
    assert "C14" not in codes(then)
    over = one(varied(*RUN, "schedule.budget=100"), "C14")
    assert over.fix == finding.fix


def test_a_chance_that_cannot_be_told_is_none(varied: Any) -> None:
    assert "C14" not in codes(varied(*RUN, "schedule.budget=1", left_out=("utilization.value",)))
    assert "C8" not in codes(varied(*RUN, "schedule.deadline=2027-01-01", left_out=("utilization.value",)))
