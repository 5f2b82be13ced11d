"""Every printed arithmetic of a run done again through the product's formulas, within what the print leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.formulas import compute as f

DAY = 86400.0


def days(row: dict[str, Any]) -> float:
    """Compute time by the formulas that a plan goes through: FLOP of a token, speed, time of all tokens."""
    speed = row.get("tokens_per_second_each") or row.get("tokens_per_second", 0) / row["devices"]
    if "params" in row:
        speed = f.tokens_per_second(1.0, float(row["achieved_flops"]), float(row["flop_multiplier"] * row["params"]))
    return f.step_time(float(row["tokens"]), float(row["devices"]), speed) / DAY


@pytest.mark.golden("runs")
def test_printed_days_follow_from_their_own_inputs(row: dict[str, Any]) -> None:
    given = row.get("achieved_flops") or row.get("tokens_per_second") or row["tokens_per_second_each"]
    open_by_print = row["step"] / 2 + row["days"] * row["input_step"] / 2 / given
    assert days(row) == pytest.approx(row["days"], abs=open_by_print)


def test_one_speed_has_four_utilizations() -> None:
    """TinyLlama: 24,000 tokens/s of 1.1B parameters on an A100 reads 0.508 by 6n, 0.55 causal, 0.593 full; printed 56 %."""
    linear, scores = 6.0 * 1.1e9, 12.0 * 22 * 2048 * 2048
    read = [24000.0 * flops / 312e12 for flops in (linear, linear + scores / 2, linear + scores)]
    assert [round(value, 3) for value in read] == [0.508, 0.55, 0.593]
    for value, flops in zip(read, (linear, linear + scores / 2, linear + scores), strict=True):
        assert f.tokens_per_second(value, 312e12, flops) == pytest.approx(24000.0, rel=1e-12)
