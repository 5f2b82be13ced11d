"""The ladder: verdicts from measured values, order, thresholds, and what a claim alone is worth."""

from __future__ import annotations

import pytest

from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.review.ladder import RUNGS, ladder, rung_verdicts, threshold
from trainplan.review.quantities import pilot_passed


def plan_of(*rungs: dict[str, object]) -> Plan:
    return Plan.model_validate({"format": 1, "pilot": list(rungs)})


def passed(rung: str, measured: float = 0.05) -> dict[str, object]:
    return {"rung": rung, "checks": [{"metric": "error", "pass_if": "<= 0.10", "measured": measured}]}


@pytest.mark.parametrize(
    ("text", "measured", "met"),
    [
        ("<= 0.10", 0.10, True),
        ("< 0.10", 0.10, False),
        (">= 95 %", 0.95, True),
        (">= 95 %", 0.94, False),
        ("= 0", 0.0, True),
        ("== 0", 1.0, False),
        ("> 7,301", 7302.0, True),
        ("<= 1e-3", 0.002, False),
    ],
)
def test_a_threshold_says_what_passes(text: str, measured: float, met: bool) -> None:
    limit = threshold(text)
    assert limit is not None
    assert limit.met(measured) is met


@pytest.mark.parametrize("text", ["", None, "0.1", "<= plan", "<= 1 2"])
def test_a_threshold_without_a_number_judges_nothing(text: str | None) -> None:
    assert threshold(text) is None


def test_every_rung_has_sourced_defaults_and_is_open() -> None:
    rungs = ladder(Plan.model_validate({"format": 1}))
    assert [rung.name for rung in rungs] == list(RUNGS)
    assert [rung.number for rung in rungs] == [1, 2, 3, 4, 5, 6, 7]
    assert {rung.verdict for rung in rungs} == {"open"}
    for rung in rungs:
        assert rung.question.endswith("?")
        for check in rung.checks:
            assert threshold(check.pass_if), check
            assert check.origin
            assert check.meaning


def test_a_rung_passes_on_all_its_checks_and_fails_on_one() -> None:
    assert ladder(plan_of(passed("unit")))[0].verdict == "passed"
    assert ladder(plan_of(passed("unit", 0.11)))[0].verdict == "failed"
    open_too = {"rung": "unit", "checks": [{"metric": "a", "pass_if": "= 0", "measured": 0.0}, {"metric": "b"}]}
    assert ladder(plan_of(open_too))[0].verdict == "open"


def test_a_rung_waits_for_the_one_before() -> None:
    rungs = ladder(plan_of(passed("one-batch")))
    assert rungs[1].verdict == "waiting"
    assert rungs[1].waits_for == "unit"
    waived = {"rung": "unit", "status": "waived", "reason": "the same code ran last month"}
    assert ladder(plan_of(waived, passed("one-batch")))[1].verdict == "passed"


def test_a_claim_and_a_waiver_without_a_reason_prove_nothing() -> None:
    assert ladder(plan_of({"rung": "unit", "status": "passed"}))[0].verdict == "open"
    assert ladder(plan_of({"rung": "unit", "status": "waived"}))[0].verdict == "open"


@pytest.mark.parametrize(
    ("own", "loosened"), [("<= 0.2", True), ("<= 0.10", False), ("< 0.1", False), ("<= 0.05", False)]
)
def test_a_loosened_threshold_is_said(own: str, loosened: bool) -> None:
    check = {"metric": "peak_memory_error", "pass_if": own}
    assert ladder(plan_of({"rung": "one-device", "checks": [check]}))[2].checks[0].loosened is loosened


def test_pilot_passed_counts_in_order() -> None:
    assert pilot_passed(plan_of()) == 0
    assert pilot_passed(plan_of(passed("unit"), passed("one-batch"))) == 2
    assert pilot_passed(plan_of(passed("unit"), passed("one-device"))) == 1


@pytest.mark.parametrize(("measured", "verdict"), [(0.06, "passed"), (0.3, "failed")])
def test_a_check_without_a_threshold_takes_the_default_of_its_metric(measured: float, verdict: str) -> None:
    """plan-format.toml: `pass_if` of a metric that the rung knows; the field's default is the rung's own."""
    text = f"""format = 1
[[pilot]]
rung = "one-device"
[[pilot.checks]]
metric = "peak_memory_error"
measured = {measured}
[[pilot.checks]]
metric = "a_metric_of_ours"
measured = 1
"""
    plan = plan_of_text(text, "plan.toml")
    found = next(one for one in ladder(plan) if one.name == "one-device")
    known, own = found.checks
    assert (known.pass_if, known.passes_at, known.verdict) == ("<= 0.10", "<= 0.10 (default)", verdict)
    assert known.taken
    assert not known.loosened
    assert (own.pass_if, own.passes_at, own.verdict, own.taken) == ("", "", "open", False)
    assert found.verdict == ("failed" if verdict == "failed" else "open")
    alone = plan_of_text(text[: text.rindex("[[pilot.checks]]")], "plan.toml")
    assert rung_verdicts(alone)["one-device"] == ("failed" if verdict == "failed" else "waiting")
