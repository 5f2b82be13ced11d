"""What may be signed or waived: every refusal by its own cause, and acts that cover what the plan says."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.plan.read import open_plan
from trainplan.review import signing
from trainplan.review.items import BY_NAME, ITEMS
from trainplan.review.record import EvidenceHash, Record, line_of, read_record
from trainplan.review.signing import Answers
from trainplan.review.state import review, told_status

ROOT = Path(__file__).resolve().parents[3]
NOW = dt.datetime(2026, 11, 29, 10, 0, tzinfo=dt.UTC)
FILE = EvidenceHash("drill.log", "ab" * 32)


@pytest.fixture(scope="module")
def figures():
    return estimate(open_plan(ROOT / "plans" / "llama-3.1-8b.toml").plan, NOW.date())


def _full(item) -> Answers:
    return Answers("kim", author="lee", note="approval 12", ticked=item.attested)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_with_everything_answered_an_item_can_be_signed_and_counts(item, figures) -> None:
    answers = _full(item)
    assert signing.sign_refusals(item, answers, Record(), (), (), saved=True) == ()
    act = signing.sign_act(item, answers, figures.plan, figures.quantities, Record(), NOW)
    record = read_record(line_of(act, b""))
    found = next(one for one in review(figures.plan, figures.quantities, record, NOW.date()).items if one.item is item)
    assert found.state == "signed"
    assert record.acts[0].attested == item.attested


@pytest.mark.parametrize(
    ("change", "failed", "broken", "saved", "says"),
    [
        ({}, (), (), False, "unsaved edits"),
        ({}, ("clean tree", "revision"), (), True, "2 checks of the program failed: clean tree, revision"),
        ({"ticked": ()}, (), (), True, "not attested: other nodes"),
        ({}, (), (FILE,), True, "drill.log. Attach it again"),
        ({"signer": "  "}, (), (), True, "no signer"),
    ],
)
def test_each_cause_refuses_by_its_own_sentence(change, failed, broken, saved, says, figures) -> None:
    item = BY_NAME["resume"]
    attached = signing.attach_act("resume", [FILE], Answers("lee"), figures.plan, NOW)
    record = Record((attached,))
    refused = signing.sign_refusals(item, replace(_full(item), **change), record, failed, broken, saved=saved)
    assert len(refused) == 1
    assert says in refused[0]


def test_without_evidence_a_note_has_to_say_where_it_is(figures) -> None:
    item = BY_NAME["cost"]
    refused = signing.sign_refusals(item, replace(_full(item), note=""), Record(), (), (), saved=True)
    assert refused == (f"no evidence: attach {item.evidence}, or say in the note where it is",)


@pytest.mark.parametrize(
    ("name", "until", "says"),
    [
        ("contamination", "2026-12-13", ""),
        ("contamination", "2026-12-14", "14 days at most: 2026-12-13"),
        ("dashboards", "2026-12-07", "7 days at most: 2026-12-06"),
        ("contamination", "2026-11-28", "which is past"),
        ("contamination", "soon", 'the end is "soon"'),
        ("configs", "2026-12-01", "configs is blocking"),
    ],
)
def test_waivers_end_within_the_days_of_their_item(name, until, says) -> None:
    answers = Answers("kim", reason="gsm8k missing", approver="park", until=until)
    refused = signing.waive_refusals(BY_NAME[name], answers, NOW, saved=True)
    assert bool(refused) == bool(says)
    assert says in " ".join(refused)


@pytest.mark.parametrize("missing", ["signer", "reason", "approver"])
def test_a_waiver_names_who_why_and_who_agreed(missing) -> None:
    answers = replace(Answers("kim", reason="r", approver="park", until="2026-12-01"), **{missing: ""})
    assert signing.waive_refusals(BY_NAME["contamination"], answers, NOW, saved=True) == (f"no {missing}",)


def test_a_sign_off_by_its_author_alone_leaves_a_blocking_item_open_until_another_signs(figures) -> None:
    item, record = BY_NAME["ownership"], b""
    for signer in ("lee", "kim"):
        act = signing.sign_act(
            item, replace(_full(item), signer=signer), figures.plan, figures.quantities, Record(), NOW
        )
        record += line_of(act, record)
        found = review(figures.plan, figures.quantities, read_record(record), NOW.date())
        one = next(one for one in found.items if one.item is item)
        assert one.state == ("open" if signer == "lee" else "signed")
        assert told_status(found.record, one) == one.state


def test_evidence_is_what_was_attached_last_under_each_path(figures) -> None:
    other = EvidenceHash("rota.md", "cd" * 32)
    newer = EvidenceHash("drill.log", "ef" * 32)
    acts = [
        signing.attach_act("resume", [FILE, other], Answers("lee"), figures.plan, NOW),
        signing.attach_act("cost", [FILE], Answers("lee"), figures.plan, NOW),
        signing.attach_act("resume", [newer], Answers("roth", author="diaz"), figures.plan, NOW),
    ]
    record = Record(tuple(acts))
    assert signing.evidence_now(record, "resume") == (newer, other)
    assert signing.author_now(record, "resume") == "diaz"
