"""The review: which edits make which item stale, waivers, who may sign, and that ready is the worst item."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.plan.edit import set_all
from trainplan.plan.leaves import leaves
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.review.covers import changes, plan_values, within
from trainplan.review.findings import review_findings
from trainplan.review.items import BY_NAME, ITEMS, item_covers
from trainplan.review.quantities import readiness_signed
from trainplan.review.record import Act, Record
from trainplan.review.state import Review, review

EXAMPLE = (Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")
PLAN = plan_of_text(EXAMPLE, "plan.toml")
QUANTITIES = estimate(PLAN).quantities
NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
TODAY = NOW.date()


def signed(name: str, signer: str = "osei", at: dt.datetime = NOW, author: str = "kim") -> Act:
    return Act("sign", name, signer, at, author, covers=item_covers(BY_NAME[name], PLAN, QUANTITIES))


ALL = tuple(signed(item.name) for item in ITEMS)


def reviewed(*acts: Act, plan: Plan = PLAN, today: dt.date = TODAY) -> Review:
    return review(plan, estimate(plan).quantities if plan is not PLAN else QUANTITIES, Record(acts), today)


def edited(*assignments: str) -> Plan:
    return set_all(EXAMPLE, PLAN, list(assignments), "plan.toml").plan


def states(found: Review) -> dict[str, str]:
    return {one.item.name: one.state for one in found.items}


def stale(found: Review) -> set[str]:
    return {name for name, state in states(found).items() if state == "stale"}


def test_ten_signatures_make_it_ready_and_nine_do_not() -> None:
    assert reviewed(*ALL).ready
    assert reviewed(*ALL).overall == "signed"
    nine = reviewed(*ALL[:-1])
    assert not nine.ready
    assert nine.overall == "open"
    assert reviewed().count("open") == 10


EDITS = {
    "description=other words": set(),
    "data.train_tokens=17T": {"configs", "cost"},
    "data.sources.web.unique_tokens=14T": {"configs", "data-manifests"},
    "data.sampler=olmo-core": {"configs", "sample-batches", "resume"},
    "data.sequence_length=4096": {"configs", "sample-batches", "measured"},
    "parallelism.tensor=4": {"configs", "measured", "resume", "tokenizer"},
    "parallelism.sharding=zero-1": {"configs", "measured", "resume"},
    "cluster.price_per_accelerator_hour=2.51": {"configs", "cost"},
    "cluster.nodes=64": {"configs", "measured", "resume", "cost"},
    "evaluation.harness_revision=abc": {"configs", "contamination"},
    "schedule.deadline=2027-03-01": {"configs", "ownership", "cost"},
    "paths.tokenizer=tok.json": {"configs", "tokenizer", "sample-batches"},
    "paths.code=code": {"configs", "measured", "dashboards", "resume"},
    "storage.write_bandwidth=99GB/s": {"configs"},
    "training.precision=bf16-pure": {"configs", "measured", "dashboards", "resume"},
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_makes_exactly_these_items_stale(edit: str) -> None:
    assert stale(reviewed(*ALL, plan=edited(edit))) == EDITS[edit]


@pytest.mark.parametrize("path", [path for path, _ in leaves(PLAN, "")])
def test_every_field_of_the_plan_makes_stale_the_items_that_list_it(path: str) -> None:
    """A cover that says another value than the plan stands for an edit; names and the pilot are in no item but by rule."""
    for item in ITEMS:
        covers = dict(item_covers(item, PLAN, QUANTITIES))
        assert (path in covers) == within(path, item.fields), f"{item.name}: {path}"
        if path in covers:
            moved = changes({**covers, path: "something else"}, PLAN, QUANTITIES, item.figures)
            assert [change.path for change in moved] == [path]
    outside = path.split(".", maxsplit=1)[0] in ("format", "name", "description")
    assert within(path, BY_NAME["configs"].fields) is not outside


def test_a_stale_item_names_the_field_with_old_and_new_value() -> None:
    (one,) = [item for item in reviewed(*ALL, plan=edited("cluster.nodes=64")).items if item.item.name == "resume"]
    assert [str(change) for change in one.changed] == ["cluster.nodes 128 to 64"]
    assert one.why == "signed before cluster.nodes 128 to 64"


def test_cost_may_rise_by_five_percent_and_fall() -> None:
    cost, wall = float(QUANTITIES["compute.cost"]), float(QUANTITIES["compute.wall_time"])  # type: ignore[arg-type]
    limits = BY_NAME["cost"].figures
    for covers, moved in (
        ({"compute.cost": cost / 1.049}, False),
        ({"compute.cost": cost / 1.051}, True),
        ({"compute.cost": cost * 2}, False),
        ({"compute.wall_time": wall - 2.9 * 86400}, False),
        ({"compute.wall_time": wall - 3.1 * 86400}, True),
    ):
        assert bool(changes(covers, PLAN, QUANTITIES, limits)) is moved, covers


def test_the_same_number_in_other_words_is_no_change() -> None:
    before = plan_values(PLAN)["data.train_tokens"]
    plan = edited("data.train_tokens=15600B")
    assert not changes({"data.train_tokens": before}, plan, QUANTITIES)
    assert not changes({"data.train_tokens": 15_600_000_000_000}, plan, QUANTITIES)


def test_writing_a_default_down_breaks_nothing() -> None:
    assert not stale(reviewed(*ALL, plan=edited("storage.restore_drill_days=30")))


def test_a_new_source_is_a_change() -> None:
    text = EXAMPLE.replace(
        "[[data.sources]]", '[[data.sources]]\nname = "books"\nunique_tokens = "1T"\nweight = 0\n[[data.sources]]', 1
    )
    found = stale(reviewed(*ALL, plan=plan_of_text(text, "plan.toml")))
    assert {"data-manifests", "sample-batches", "contamination", "configs"} <= found


def test_a_sign_off_lapses_after_thirty_days() -> None:
    assert reviewed(*ALL, today=TODAY + dt.timedelta(days=30)).ready
    late = reviewed(*ALL, today=TODAY + dt.timedelta(days=31))
    assert late.count("stale") == 10
    assert {finding.code for finding in review_findings(PLAN, late)} >= {"V4"}


def test_the_author_of_the_evidence_is_not_the_only_signer() -> None:
    own = signed("resume", "Kim ", author="kim")
    found = reviewed(own)
    assert states(found)["resume"] == "open"
    assert "V1" in {finding.code for finding in review_findings(PLAN, found)}
    assert states(reviewed(own, signed("resume", "diaz", author="kim")))["resume"] == "signed"
    mode = Act("mode", "one-person", "kim", NOW)
    alone = reviewed(mode, own)
    assert states(alone)["resume"] == "signed"
    assert alone.record.one_person
    assert states(reviewed(mode, replace(mode, verdict="off"), own))["resume"] == "open"


def waiver(name: str = "contamination", days: int = 14, **more: object) -> Act:
    until = TODAY + dt.timedelta(days=days)
    act = replace(signed(name), kind="waive", reason="gsm8k not checked", approver="lee", until=until)
    return replace(act, **more)  # type: ignore[arg-type]


def test_a_waiver_holds_until_its_day_and_not_across_a_change() -> None:
    assert states(reviewed(waiver()))["contamination"] == "waived"
    assert reviewed(*ALL, waiver()).ready
    late = reviewed(waiver(), today=TODAY + dt.timedelta(days=15))
    assert states(late)["contamination"] == "open"
    assert "V3" in {finding.code for finding in review_findings(PLAN, late)}
    assert stale(reviewed(waiver(), plan=edited("evaluation.harness_revision=abc"))) == {"contamination"}


@pytest.mark.parametrize(
    "act", [waiver(days=15), waiver("cost"), waiver(reason=""), waiver(approver=""), waiver(until=None)]
)
def test_a_waiver_that_does_not_hold_leaves_the_item_open(act: Act) -> None:
    found = reviewed(act)
    assert states(found)[act.subject] == "open"
    assert "V9" in {finding.code for finding in review_findings(PLAN, found)}


def test_a_failed_and_a_reopened_item_need_a_new_signature() -> None:
    fail, again = Act("fail", "cost", "roth", NOW, reason="too dear"), Act("reopen", "cost", "roth", NOW)
    assert reviewed(*ALL, fail).overall == "failed"
    assert states(reviewed(*ALL, again))["cost"] == "open"
    assert reviewed(*ALL, fail, signed("cost")).ready


def test_a_harmed_record_is_not_ready() -> None:
    from trainplan.review.record import Harm

    found = review(
        PLAN, QUANTITIES, Record(ALL, (Harm(2, "line 1, which it follows, was altered or removed since"),)), TODAY
    )
    assert found.overall == "signed"
    assert not found.ready
    assert "V8" in {finding.code for finding in review_findings(PLAN, found)}


def test_a_rung_is_stale_when_what_it_was_measured_on_moved() -> None:
    rung = '\n[[pilot]]\nrung = "unit"\n[[pilot.checks]]\nmetric = "x"\npass_if = "= 0"\nmeasured = 0.0\n'
    plan = plan_of_text(EXAMPLE + rung, "plan.toml")
    act = Act("attach", "unit", "kim", NOW, covers={"parallelism.sharding": "none"})
    found = reviewed(act, plan=plan)
    assert found.rungs[0].state == "stale"
    assert {"L1", "L3"} <= {finding.code for finding in review_findings(plan, found)}
    assert reviewed(plan=plan).rungs[0].state == "passed"


def test_measured_rests_on_rungs() -> None:
    codes = {finding.code for finding in review_findings(PLAN, reviewed(*ALL))}
    assert "V5" in codes


def test_readiness_signed_counts_mirrors_that_are_not_stale() -> None:
    def counted(covers: str, on: str = "2026-11-28T10:00:00Z") -> float:
        mirror = f'\n[[readiness]]\nitem = "cost"\nstatus = "signed"\nsigned_at = {on}\ncovers = {{ {covers} }}\n'
        return float(readiness_signed(plan_of_text(EXAMPLE + mirror, "plan.toml"), QUANTITIES, TODAY))

    cost = float(QUANTITIES["compute.cost"])  # type: ignore[arg-type]
    assert counted("") == 1
    assert counted(f'"compute.cost" = {cost / 1.04:.0f}') == 1
    assert counted(f'"compute.cost" = {cost / 1.06:.0f}') == 0
    assert counted('"data.train_tokens" = "14.8T"') == 0
    assert counted("", "2026-10-01T10:00:00Z") == 0
    assert readiness_signed(PLAN, QUANTITIES, TODAY) == 0
