"""The plan's mirror of the record: what it says, what it keeps, and that it goes stale when the record does."""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.plan.edit import edited
from trainplan.plan.leaves import leaves
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.review import signing
from trainplan.review.covers import within
from trainplan.review.items import ITEMS
from trainplan.review.mirror import mirrored
from trainplan.review.quantities import mirror_state
from trainplan.review.record import Record, line_of, read_record
from trainplan.review.signing import Answers
from trainplan.review.state import review

ROOT = Path(__file__).resolve().parents[3]
NOW = dt.datetime(2026, 11, 29, 10, 0, tzinfo=dt.UTC)

EDITS = {
    "data.train_tokens": "15.7T",
    "cluster.nodes": "64",
    "cluster.price_per_accelerator_hour": "2.6",
    "parallelism.sharding": "zero-1",
    "data.sources.math.unique_tokens": "190B",
    "data.sources.math.weight": "0.04",
    "evaluation.tasks.mmlu.shots": "4",
    "training.precision": "fp8-mixed",
    "schedule.deadline": "2027-01-16",
    "paths.code": "code",
    "model.preset": "llama-3.1-70b",
    "reliability.restart_time": "20min",
    "memory.fragmentation": "0.07",
    "name": "another name",
    "data.sampler": "levanter",
}
"""One edit of each part of the plan."""


@pytest.fixture(scope="module")
def signed():
    """A plan signed in all ten items: its text, plan and record."""
    opened = open_plan(ROOT / "plans" / "llama-3.1-8b.toml")
    text, plan, record = opened.source.text, opened.plan, b""
    quantities = estimate(plan, NOW.date()).quantities
    for item in ITEMS:
        answers = Answers("kim", author="lee", note="n", ticked=item.attested)
        act = signing.sign_act(item, answers, plan, quantities, Record(), NOW)
        record += line_of(act, record)
        after = mirrored(text, plan, act, quantities, "plan.toml")
        text, plan = after.text, after.plan
    return text, plan, read_record(record)


def test_only_lines_are_added_and_the_rest_of_the_file_stays(signed) -> None:
    text, plan, _ = signed
    before = (ROOT / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")
    assert text.startswith(before.rstrip("\n"))
    assert len(plan.readiness) == 10
    assert estimate(plan, NOW.date()).quantities["readiness.signed"] == 10


@pytest.mark.parametrize("path", EDITS)
def test_the_mirror_goes_stale_exactly_where_the_record_does(path, signed) -> None:
    text, plan, record = signed
    after = edited(text, plan, path, EDITS[path])
    figures = estimate(after.plan, NOW.date())
    found = review(after.plan, figures.quantities, record, NOW.date())
    by_record = {one.item.name for one in found.items if one.state == "stale"}
    by_mirror = {
        entry.item
        for entry in after.plan.readiness
        if mirror_state(entry, after.plan, figures.quantities, NOW.date()).startswith("stale")
    }
    assert by_mirror == by_record
    asks = {item.name for item in ITEMS if within(path, item.fields)}
    assert asks <= by_record
    assert bool(by_record) == (path != "name")


def test_another_spelling_of_the_same_number_breaks_nothing(signed) -> None:
    text, plan, _ = signed
    for path, same in (("data.train_tokens", "15600000000000"), ("data.sources.math.unique_tokens", "0.18T")):
        after = edited(text, plan, path, same)
        assert estimate(after.plan, NOW.date()).quantities["readiness.signed"] == 10


def test_signing_again_replaces_the_entry_and_keeps_owner_and_comment(signed) -> None:
    text, plan, _ = signed
    text = text.replace('item = "cost"\n', 'item = "cost"\nowner = "roth"  # on leave in May\n')
    plan = plan_of_text(text, "plan.toml")
    quantities = estimate(plan, NOW.date()).quantities
    item = next(item for item in ITEMS if item.name == "cost")
    act = signing.sign_act(item, Answers("diaz", note="again"), plan, quantities, Record(), NOW)
    after = mirrored(text, plan, act, quantities, "plan.toml")
    entry = next(entry for entry in after.plan.readiness if entry.item == "cost")
    assert (entry.owner, entry.signed_by, entry.author, entry.note) == ("roth", "diaz", None, "again")
    assert "# on leave in May" in after.text
    assert len(after.plan.readiness) == 10
    tomllib.loads(after.text)


def test_a_waiver_says_reason_and_end_and_opening_again_takes_them_out(signed) -> None:
    text, plan, _ = signed
    quantities = estimate(plan, NOW.date()).quantities
    item = next(item for item in ITEMS if item.name == "contamination")
    answers = Answers("kim", reason="gsm8k missing", approver="park", until="2026-12-10")
    act = signing.waive_act(item, answers, plan, quantities, Record(), NOW)
    after = mirrored(text, plan, act, quantities, "plan.toml")
    entry = next(entry for entry in after.plan.readiness if entry.item == "contamination")
    assert (entry.status, entry.waiver_reason, entry.waiver_until) == ("waived", "gsm8k missing", dt.date(2026, 12, 10))
    opened = signing.said_act("reopen", "contamination", Answers("kim", note="report came"), after.plan, NOW)
    last = mirrored(after.text, after.plan, opened, quantities, "plan.toml")
    told = dict(leaves(next(entry for entry in last.plan.readiness if entry.item == "contamination"), ""))
    assert told == {"item": "contamination", "status": "open", "note": "report came"}
