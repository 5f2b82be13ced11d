"""Rungs beside their record: expiry, order, evidence, waivers that end, loosened thresholds, checks and rungs of a team's own."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import estimate
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.review.findings import review_findings
from trainplan.review.ladder import RUNGS, ladder, rung_names
from trainplan.review.plain import as_data, lines
from trainplan.review.quantities import pilot_passed
from trainplan.review.record import Act, EvidenceHash, Record, line_of, read_record
from trainplan.review.rungs import RungReview, loosening, measurement, rung_covers
from trainplan.review.state import Review, review

EXAMPLE = (Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")
NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
TODAY = NOW.date()
CHECK = '[[pilot.checks]]\nmetric = "{metric}"\npass_if = "{pass_if}"\nmeasured = {measured}\nevidence = "a.log"\n'


def rung_text(name: str, metric: str = "error", pass_if: str = "<= 0.1", measured: float = 0.05, more: str = "") -> str:
    return f'\n[[pilot]]\nrung = "{name}"\n{more}' + CHECK.format(metric=metric, pass_if=pass_if, measured=measured)


def plan_with(*rungs: str) -> Plan:
    return plan_of_text(EXAMPLE + "".join(rungs), "plan.toml")


ALL = plan_with(*(rung_text(name) for name in RUNGS))
QUANTITIES = estimate(ALL).quantities


def reviewed(plan: Plan, *acts: Act, today: dt.date = TODAY, broken: dict[EvidenceHash, str] | None = None) -> Review:
    return review(plan, QUANTITIES, Record(acts), today, broken)


def one_of(found: Review, name: str) -> RungReview:
    return next(one for one in found.rungs if one.rung.name == name)


def told(plan: Plan, found: Review, code: str) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in review_findings(plan, found) if one.code == code]


def measured(name: str, plan: Plan = ALL, at: dt.datetime = NOW, evidence: tuple[EvidenceHash, ...] = ()) -> Act:
    rung = next(one for one in ladder(plan) if one.name == name)
    return measurement(rung, plan, QUANTITIES, "kim", at, evidence)


MOVED = {
    "unit": ["model.num_hidden_layers=16", "paths.tokenizer=t.json", "paths.code=code"],
    "one-batch": ["data.sampler=olmo-core", "data.packing=best-fit", "data.shuffle=none", "training.loss=chunked"],
    "one-device": [
        "training.precision=bf16-pure",
        "training.kernels=torch-eager",
        "paths.container=x",
        "batch.micro_batch_sequences=2",
    ],
    "one-node": ["parallelism.tensor=4", "training.kernels=torch-eager", "paths.container=x"],
    "few-nodes": [
        "data.sampler=olmo-core",
        "parallelism.pipeline=2",
        "storage.async_checkpoint=false",
        "paths.checkpoints=c",
    ],
    "short-scaled": ["cluster.nodes=64", "data.train_tokens=1T", "paths.data=d", "storage.write_bandwidth=1GB/s"],
    "full": ["schedule.deadline=2028-01-01", "cluster.nodes=64", "batch.global_batch_sequences=2048"],
}
KEPT = {
    "unit": "cluster.nodes=64",
    "one-batch": "cluster.nodes=64",
    "one-device": "cluster.nodes=64",
    "one-node": "cluster.nodes=64",
    "few-nodes": "schedule.deadline=2028-01-01",
    "short-scaled": "schedule.deadline=2028-01-01",
    "full": "paths.code=code",
}


@pytest.mark.parametrize(("rung", "edit"), [(rung, edit) for rung, edits in MOVED.items() for edit in edits])
def test_an_edit_of_what_a_rung_stood_on_makes_it_stale(rung: str, edit: str) -> None:
    text = EXAMPLE + "".join(rung_text(name) for name in RUNGS)
    plan = set_all(text, ALL, [edit], "plan.toml").plan
    found = reviewed(plan, measured(rung))
    assert one_of(found, rung).state == "stale"
    ((severity, message),) = told(plan, found, "L3")
    assert severity == "warning"
    assert edit.split("=", maxsplit=1)[0] in message


@pytest.mark.parametrize("rung", RUNGS)
def test_another_edit_leaves_a_rung_as_it_is(rung: str) -> None:
    text = EXAMPLE + "".join(rung_text(name) for name in RUNGS)
    plan = set_all(text, ALL, [KEPT[rung]], "plan.toml").plan
    found = reviewed(plan, measured(rung))
    assert one_of(found, rung).state == "passed"
    assert not told(plan, found, "L3")


def test_a_measurement_reads_back_and_names_the_plan() -> None:
    act = measured("unit", evidence=(EvidenceHash("a.log", "0" * 64),))
    assert read_record(line_of(act, b"")).acts == (act,)
    assert act.covers["pilot.unit.error"] == "<= 0.1"
    assert act.covers["model.preset"] == "llama-3.1-8b"
    assert len(act.plan) == 64


def test_evidence_of_a_rung_that_changed_makes_it_stale() -> None:
    file = EvidenceHash("a.log", "0" * 64)
    found = reviewed(ALL, measured("unit", evidence=(file,)), broken={file: "a.log: the file is missing"})
    assert one_of(found, "unit").state == "stale"
    assert ("warning", "evidence of unit: a.log: the file is missing") in told(ALL, found, "L1")


def test_a_rung_measured_again_after_the_next_one_is_said() -> None:
    early, late = measured("one-batch", at=NOW - dt.timedelta(days=1)), measured("unit")
    ((severity, message),) = told(ALL, reviewed(ALL, early, late), "L2")
    assert severity == "info"
    assert message.startswith("unit was measured on 2026-11-29, after one-batch")
    assert not told(ALL, reviewed(ALL, measured("unit"), measured("one-batch")), "L2")


def test_a_rung_that_passed_over_an_open_one_waits_and_is_l2() -> None:
    plan = plan_with(rung_text("unit"), rung_text("one-device"))
    found = reviewed(plan)
    assert one_of(found, "one-device").state == "waiting"
    assert told(plan, found, "L2") == [
        ("warning", "rung 3 one-device meets its thresholds before one-batch has passed")
    ]


def test_a_waiver_of_a_rung_ends() -> None:
    waived = '\n[[pilot]]\nrung = "unit"\nstatus = "waived"\nreason = "ran last month"\n'
    plan = plan_with(waived)
    act = Act("waive", "unit", "kim", NOW, reason="ran last month", until=NOW.date())
    assert one_of(reviewed(plan, act), "unit").state == "waived"
    late = reviewed(plan, act, today=NOW.date() + dt.timedelta(days=1))
    assert one_of(late, "unit").state == "open"
    ((severity, message),) = told(plan, late, "L5")
    assert severity == "warning"
    assert "until 2026-11-29, which has passed" in message
    assert told(plan, reviewed(plan, act), "L5")[0][0] == "info"
    ((severity, message),) = told(plan, reviewed(plan), "L5")
    assert severity == "warning", "the plan alone has no end and no name"
    assert "by whom and until when" in message


def loosened(pass_if: str = "<= 0.2", metric: str = "peak_memory_error") -> Plan:
    return plan_with(rung_text("one-device", metric, pass_if, 0.15))


def test_a_loosened_default_needs_a_record_of_who_when_and_why() -> None:
    plan = loosened()
    severity, message = told(plan, reviewed(plan), "L4")[0]
    assert severity == "warning"
    assert "loosened from <= 0.10 (design notes" in message
    before = next(one for one in ladder(loosened("<= 0.10")) if one.name == "one-device")
    act = loosening(before, "peak_memory_error", "<= 0.2", "osei", NOW, "the ledger knows no fused kernel")
    assert read_record(line_of(act, b"")).acts == (act,)
    found = reviewed(plan, act)
    told_now = told(plan, found, "L4")
    assert told_now[0][0] == "info"
    assert told_now[0][1].endswith("by osei on 2026-11-29: the ledger knows no fused kernel")
    (shown,) = as_data(found)["pilot"][2]["loosened"]
    assert (shown["old"], shown["new"], shown["by"]) == ("<= 0.10", "<= 0.2", "osei")


def test_a_record_of_another_threshold_does_not_count() -> None:
    before = next(one for one in ladder(loosened("<= 0.10")) if one.name == "one-device")
    act = loosening(before, "peak_memory_error", "<= 0.15", "osei", NOW, "why")
    assert told(loosened(), reviewed(loosened(), act), "L4")[0][0] == "warning"


def test_a_threshold_of_ones_own_loosened_after_measuring_is_found() -> None:
    act = measured("one-device", loosened("<= 0.12", "mine"))
    plan = loosened("<= 0.2", "mine")
    found = reviewed(plan, act)
    assert one_of(found, "one-device").changed == (), "a threshold is no field that a rung was measured on"
    message = told(plan, found, "L4")[0][1]
    assert "mine passes at <= 0.2, loosened after it was measured from <= 0.12" in message
    assert not [one for one in told(plan, reviewed(plan), "L4") if "loosened" in one[1]]
    tighter = loosened("<= 0.11", "mine")
    assert not [one for one in told(tighter, reviewed(tighter, act), "L4") if "loosened" in one[1]]


def test_loosening_needs_a_check_and_a_reason() -> None:
    rung = ladder(loosened())[2]
    with pytest.raises(ValueError, match="no check loss"):
        loosening(rung, "loss", "<= 1", "kim", NOW, "why")
    with pytest.raises(ValueError, match="needs a reason"):
        loosening(rung, "peak_memory_error", "<= 1", "kim", NOW, "")


def test_a_check_of_ones_own_counts_and_the_left_out_defaults_are_said() -> None:
    plan = plan_with(rung_text("unit", "mine", "<= 0.1", 0.2))
    assert ladder(plan)[0].verdict == "failed"
    plan = plan_with(rung_text("unit", "mine"))
    assert ladder(plan)[0].verdict == "passed"
    assert "mask_leak" in ladder(plan)[0].left_out
    assert any(
        "7 default checks are left out, the first is tokenizer_round_trip" in one[1]
        for one in told(plan, reviewed(plan), "L4")
    )


OWN = rung_text("storage-soak", more='after = "few-nodes"\nquestion = "Does the file system hold for a day?"\n')


def test_a_rung_of_ones_own_stands_after_the_one_it_names_and_holds_up_the_next() -> None:
    plan = plan_with(*(rung_text(name) for name in RUNGS), OWN)
    assert rung_names(plan)[4:7] == ("few-nodes", "storage-soak", "short-scaled")
    own = ladder(plan)[5]
    assert (own.verdict, own.own, own.question) == ("passed", True, "Does the file system hold for a day?")
    assert pilot_passed(plan) == 7
    slow = plan_with(*(rung_text(name) for name in RUNGS), OWN.replace("measured = 0.05", "measured = 0.5"))
    states = {one.name: one.verdict for one in ladder(slow)}
    assert (states["few-nodes"], states["storage-soak"], states["short-scaled"]) == ("passed", "failed", "waiting")
    assert ladder(slow)[6].waits_for == "storage-soak"
    assert pilot_passed(slow) == 5
    found = reviewed(plan)
    assert "passed 7 of 7, in order" in lines(found, ready=False)
    assert any(line.startswith(" + storage-soak") for line in lines(found, ready=False))


def test_a_rung_of_ones_own_goes_stale_with_the_one_it_follows() -> None:
    plan = plan_with(*(rung_text(name) for name in RUNGS), OWN)
    act = measured("storage-soak", plan)
    text = EXAMPLE + "".join(rung_text(name) for name in RUNGS) + OWN
    moved = set_all(text, plan, ["paths.checkpoints=c"], "plan.toml").plan
    assert one_of(reviewed(moved, act), "storage-soak").state == "stale"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('rung = "one-devise"\n', "nearest: one-device"),
        ('rung = "soak"\n', "or a name without dot or quote where after is given"),
        ('rung = "so.ak"\nafter = "unit"\n', "or a name without dot or quote"),
        ('rung = "soak"\nafter = "units"\n', "after is"),
    ],
)
def test_a_wrong_name_of_a_rung_is_said_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(Unusable) as caught:
        plan_of_text(f"format = 1\n[[pilot]]\n{text}", "plan.toml")
    assert message in _words(caught.value)


def _words(error: Any) -> str:
    return " ".join(str(one.message) for one in getattr(error, "errors", ())) or str(error)


def test_the_covers_of_a_rung_are_those_of_the_catalogue() -> None:
    for rung in ladder(ALL):
        assert rung_covers(rung, ALL, QUANTITIES), rung.name
