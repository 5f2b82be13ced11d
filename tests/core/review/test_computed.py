"""What the program checks of the plan itself: each check passed, failed and unknown by its own cause."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.finding import Finding
from trainplan.plan.edit import edited, without
from trainplan.plan.read import open_plan
from trainplan.review import signing
from trainplan.review.computed import Checked, computed_checks, is_ready
from trainplan.review.items import BY_NAME, ITEMS
from trainplan.review.record import Record, line_of, read_record
from trainplan.review.signing import Answers
from trainplan.review.state import review

ROOT = Path(__file__).resolve().parents[3]
NOW = dt.datetime(2026, 11, 29, 10, 0, tzinfo=dt.UTC)


def _checked(edits: dict[str, str], record: Record | None = None) -> dict[str, tuple[str, str]]:
    opened = open_plan(ROOT / "plans" / "llama-3.1-8b.toml")
    text, plan = opened.source.text, opened.plan
    for path, typed in edits.items():
        after = edited(text, plan, path, typed) if typed else without(text, plan, path)
        text, plan = after.text, after.plan
    quantities = estimate(plan, NOW.date()).quantities
    found = review(plan, quantities, record or Record(), NOW.date())
    return {one.check: (one.verdict, one.found) for one in computed_checks(plan, quantities, found, NOW.date())}


@pytest.mark.parametrize(
    ("check", "edits", "verdict"),
    [
        ("vocabulary fits the padded one", {}, "passed"),
        ("vocabulary fits the padded one", {"model.preset": ""}, "unknown"),
        ("ids fit their type", {}, "passed"),
        ("ids fit their type", {"data.bytes_per_token": "2"}, "failed"),
        ("ids fit their type", {"data.bytes_per_token": ""}, "unknown"),
        ("revision of the harness", {}, "unknown"),
        ("revision of the harness", {"evaluation.harness_revision": "0123abc"}, "passed"),
        ("revision of the harness", {"evaluation.harness_revision": "v0.4.3"}, "failed"),
        ("revision of the harness", {"evaluation.harness_revision": "012"}, "failed"),
        ("rungs one-device to short-scaled", {}, "failed"),
        ("restore drill", {}, "unknown"),
        ("restore drill", {"storage.last_restore_drill": "2026-11-01"}, "passed"),
        ("restore drill", {"storage.last_restore_drill": "2026-10-29"}, "failed"),
        ("restore drill", {"storage.last_restore_drill": "2026-11-30"}, "failed"),
        ("accelerator-hours recomputed", {}, "passed"),
        ("accelerator-hours recomputed", {"utilization.value": ""}, "unknown"),
        ("contingency of 15 %", {"schedule.budget": "1.75M"}, "passed"),
        ("contingency of 15 %", {"schedule.budget": "1.73M"}, "failed"),
        ("contingency of 15 %", {"schedule.budget": ""}, "unknown"),
    ],
)
def test_a_check_by_its_own_cause(check: str, edits: dict[str, str], verdict: str) -> None:
    assert _checked(edits)[check][0] == verdict


@pytest.mark.parametrize(
    ("tokens", "verdict"), [("15.6T", "passed"), ("16.3T", "passed"), ("16.5T", "failed"), ("15T", "passed")]
)
def test_cost_may_rise_by_five_hundredths_of_what_was_approved(tokens: str, verdict: str) -> None:
    plan = open_plan(ROOT / "plans" / "llama-3.1-8b.toml").plan
    quantities = estimate(plan, NOW.date()).quantities
    act = signing.sign_act(BY_NAME["cost"], Answers("roth"), plan, quantities, Record(), NOW)
    found = _checked({"data.train_tokens": tokens}, read_record(line_of(act, b"")))
    assert found["cost since the approval"][0] == verdict


def test_ready_needs_every_item_no_failed_check_and_no_error() -> None:
    plan = open_plan(ROOT / "plans" / "llama-3.1-8b.toml").plan
    quantities, record = estimate(plan, NOW.date()).quantities, b""
    for item in ITEMS:
        answers = Answers("kim", author="lee", note="n", ticked=item.attested)
        record += line_of(signing.sign_act(item, answers, plan, quantities, Record(), NOW), record)
    found = review(plan, quantities, read_record(record), NOW.date())
    told = [Checked("cost", "a", "passed", ""), Checked("cost", "b", "unknown", "")]
    warning = Finding("L1", "warning", "pilot", "m", "", ())
    assert is_ready(found, told, [warning])
    assert not is_ready(found, [*told, Checked("cost", "c", "failed", "")], [])
    assert not is_ready(found, told, [Finding("V1", "error", "readiness", "m", "", ())])
    assert not is_ready(review(plan, quantities, Record(), NOW.date()), told, [])
