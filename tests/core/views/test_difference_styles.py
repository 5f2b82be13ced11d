"""A figure that moved is written as its pane writes it: one figure has one text."""

from __future__ import annotations

from pathlib import Path

from trainplan.estimation import estimate
from trainplan.plan.read import plan_of_text
from trainplan.rows.fields import figure_styles
from trainplan.views.compare import differences

TEXT = (Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")


def test_shares_are_percent_and_passes_have_two_digits_as_in_the_panes() -> None:
    before = estimate(plan_of_text(TEXT, "a"))
    after = estimate(plan_of_text(TEXT.replace('"15.6T"', '"16T"'), "b"))
    told = {move.key: (move.label, move.before, move.after) for move in differences(before, after).moves}
    # 820B of 180B are 4.5556 passes, 920B are 5.1111; shares by hand 820/15600 and 920/16000
    assert told["tokens.sources.math.passes"] == ("math passes", "4.56", "5.11")
    assert told["tokens.sources.math.share"] == ("math share, %", "5.3", "5.8")
    assert told["tokens.exhaustion_headroom"] == ("tokens to spare, %", "-2.6", "-5.0")


def test_every_style_of_a_ledger_is_that_of_a_quantity() -> None:
    keys = estimate(plan_of_text(TEXT, "a")).quantities
    assert set(figure_styles()) & set(keys)
    assert figure_styles()["reliability.goodput"](0.961).text(0.961) == "96.1"
