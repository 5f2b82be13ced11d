"""Edits of the ladder: values, thresholds, evidence and waivers in the plan's text, and what a save of them records."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.plan.read import UnknownPath, Unusable, open_plan
from trainplan.review.ladder import ladder
from trainplan.review.measured import loosened_since, measured_since
from trainplan.review.measuring import edited_check, with_check, with_status, without_check

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def opened():
    return open_plan(ROOT / "plans" / "llama-3.1-8b.toml")


def _rung(plan, name):
    return next(one for one in ladder(plan) if one.name == name)


def _edit(after, path, typed):
    text, plan = (after.source.text, after.plan) if hasattr(after, "source") else (after.text, after.plan)
    return edited_check(text, plan, path, typed, "plan.toml")


def test_a_rung_that_the_plan_left_out_is_written_with_every_default_check(opened) -> None:
    before = _rung(opened.plan, "one-node")
    after = _edit(opened, "pilot.one-node.checks.tokens_per_second_ratio.measured", "97 %")
    rung = _rung(after.plan, "one-node")
    assert [(check.metric, check.pass_if) for check in rung.checks] == [
        (check.metric, check.pass_if) for check in before.checks
    ]
    assert {check.metric: check.measured for check in rung.checks if check.measured is not None} == {
        "tokens_per_second_ratio": 0.97
    }
    assert after.text.startswith(opened.source.text.rstrip("\n"))


def test_every_default_check_measured_at_its_threshold_passes_the_ladder_in_order(opened) -> None:
    after = opened
    for rung in ladder(opened.plan):
        for check in rung.checks:
            value = check.pass_if.lstrip("<>= ")
            after = _edit(after, f"pilot.{rung.name}.checks.{check.metric}.measured", value)
    assert [rung.verdict for rung in ladder(after.plan)] == ["passed"] * 7


@pytest.mark.parametrize(
    ("field", "typed", "says"),
    [
        ("measured", "fast", '"fast" is no measured value'),
        ("measured", "nan", "no measured value"),
        ("pass_if", "0.1", '"0.1" is no threshold'),
        ("pass_if", "<= much", "no threshold"),
    ],
)
def test_what_is_no_value_is_refused_with_what_would_be_one(field, typed, says, opened) -> None:
    with pytest.raises(Unusable) as error:
        _edit(opened, f"pilot.unit.checks.mask_leak.{field}", typed)
    assert says in error.value.errors[0].message


def test_a_check_or_rung_there_is_not_names_the_nearest(opened) -> None:
    with pytest.raises(UnknownPath, match="Nearest: mask_leak"):
        _edit(opened, "pilot.unit.checks.mask_leek.measured", "0")
    with pytest.raises(UnknownPath, match="no rung one-hode"):
        _edit(opened, "pilot.one-hode.checks.loss.measured", "0")


def test_an_empty_box_takes_the_value_out_and_brings_the_default_threshold_back(opened) -> None:
    path = "pilot.unit.checks.mask_leak"
    after = _edit(_edit(_edit(opened, f"{path}.measured", "0"), f"{path}.pass_if", "<= 2"), f"{path}.measured", "")
    check = next(check for check in _rung(after.plan, "unit").checks if check.metric == "mask_leak")
    assert (check.measured, check.pass_if, check.loosened) == (None, "<= 2", True)
    again = _edit(after, f"{path}.pass_if", "")
    check = next(check for check in _rung(again.plan, "unit").checks if check.metric == "mask_leak")
    assert (check.pass_if, check.loosened) == ("= 0", False)


def test_a_waived_rung_lets_the_next_one_pass_and_opens_again(opened) -> None:
    waived = with_status(opened.source.text, opened.plan, "unit", "waived", "proven on the last run", "plan.toml")
    assert _rung(waived.plan, "unit").verdict == "waived"
    assert _rung(waived.plan, "one-batch").waits_for == ""
    again = with_status(waived.text, waived.plan, "unit", "open", "", "plan.toml")
    assert _rung(again.plan, "unit").verdict == "open"
    assert _rung(again.plan, "unit").reason == ""


def test_a_check_of_the_plans_own_comes_and_goes_but_never_the_last(opened) -> None:
    more = with_check(opened.source.text, opened.plan, "one-batch", "gradient_spikes", "<= 1", "plan.toml")
    assert [check.metric for check in _rung(more.plan, "one-batch").checks][-1] == "gradient_spikes"
    text, plan = more.text, more.plan
    for metric in ("loss", "ids_above_vocabulary", "loss_mask_difference"):
        less = without_check(text, plan, "one-batch", metric, "plan.toml")
        text, plan = less.text, less.plan
    with pytest.raises(Unusable, match="only check"):
        without_check(text, plan, "one-batch", "gradient_spikes", "plan.toml")


def test_a_save_records_new_values_and_looser_thresholds_alone(opened) -> None:
    first = _edit(opened, "pilot.one-batch.checks.loss.measured", "0.06")
    second = _edit(first, "pilot.one-batch.checks.loss.pass_if", "<= 0.2")
    stricter = _edit(second, "pilot.one-batch.checks.loss_mask_difference.pass_if", "= 0")
    assert measured_since(opened.plan, first.plan) == ("one-batch",)
    assert measured_since(first.plan, stricter.plan) == ()
    assert [(one.rung, one.metric, one.old, one.new) for one in loosened_since(opened.plan, stricter.plan)] == [
        ("one-batch", "loss", "<= 0.1", "<= 0.2")
    ]
    assert list(loosened_since(stricter.plan, first.plan)) == []
