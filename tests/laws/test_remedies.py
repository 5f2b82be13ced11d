"""A fix that is offered was tried: on no plan, and under no disturbance of one field, does it bring what was not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainplan.alternatives.reverse import changed
from trainplan.checks import findings, findings_at_once
from trainplan.checks.remedies import APART, NEAREST, WRITTEN, path_of, tried_fix, ways
from trainplan.estimation import estimate
from trainplan.finding import ORDER, Finding
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import Unusable, open_plan
from trainplan.quantity.figure import Blocked

PLANS = Path(__file__).resolve().parents[2] / "plans"
JUDGED = ("memory.total", "parallelism.predicted_step_time", "compute.wall_time", "storage.peak", "reliability.goodput")
DISTURBANCES = (
    "",
    "batch.micro_batch_sequences=4",
    "batch.global_batch_sequences=96",
    "cluster.memory_per_accelerator=40GiB",
    "cluster.nodes=64",
    "cluster.scale_out_bandwidth=5GB/s",
    "data.held_out=random",
    "data.sequence_length=32768",
    "model.vocab_size=50257",
    "parallelism.context=4",
    "parallelism.expert=2",
    "parallelism.pipeline=7",
    "parallelism.recompute=full",
    "parallelism.schedule=dualpipe",
    "parallelism.sharding=zero-1",
    "parallelism.sharding=zero-2",
    "parallelism.sharding=zero-3",
    "parallelism.tensor=1",
    "parallelism.tensor=16",
    "parallelism.virtual_pipeline=7",
    "training.framework=torchtitan",
    "training.loss=plain",
    "training.moe_imbalance=1",
    "training.precision=fp16-mixed",
    "training.precision=fp8-mixed",
)


def disturbed(name: str, edit: str) -> Plan | None:
    """The plan with one field changed; None where the plan has no such field or it may not be so."""
    opened = open_plan(PLANS / f"{name}.toml")
    try:
        return set_all(opened.source.text, opened.plan, (edit,)).plan if edit else opened.plan
    except Unusable:
        return None


def worst(found: tuple[Finding, ...]) -> dict[str, int]:
    return {one.code: ORDER[one.severity] for one in reversed(found)}


@pytest.mark.parametrize("name", sorted(file.stem for file in PLANS.glob("*.toml")))
def test_an_offered_fix_brings_nothing_that_was_not_there(name: str) -> None:
    tried = 0
    for edit in DISTURBANCES:
        plan = disturbed(name, edit)
        if plan is None:
            continue
        here = estimate(plan)
        could_be_judged = not any(isinstance(here.quantities[key], Blocked) for key in JUDGED)
        for finding in findings(here):
            assert not finding.untried
            if finding.fix.startswith(NEAREST):
                continue
            for text, fields in (way for part in APART.split(finding.fix) for way in ways(part, finding.paths)):
                tried += 1
                found = findings_at_once(estimate(changed(plan, fields)))
                same = [one for one in found if (one.code, one.paths) == (finding.code, finding.paths)]
                assert all(one.weight < finding.weight or one.severity != finding.severity for one in same), (
                    edit,
                    text,
                )
                known = worst(findings_at_once(here))
                new = {code for code, rank in worst(found).items() if rank < min(known.get(code, 2), 2)}
                if could_be_judged:
                    assert not {code for code in new if worst(found)[code] == ORDER["error"]}, (edit, finding, text)
                    assert all(code in finding.fix for code in new), (edit, finding, text, new)
    assert tried, name


def test_a_fix_that_does_not_fit_is_not_offered() -> None:
    """M5 of the 405B names zero-1, which holds 90 of 79.1 GiB; P2 of DeepSeek-V3 names expert = 8, which holds 94."""
    for name, code, change in (("llama-3.1-405b", "M5", 'sharding = "zero-1"'), ("deepseek-v3", "P2", "expert = 8")):
        plan = disturbed(name, "")
        assert plan is not None
        (finding,) = [one for one in findings(estimate(plan)) if one.code == code]
        assert finding.fix.startswith(f"{NEAREST}{change}, but then M1: rank 1 "), finding.fix


def test_what_a_change_brings_is_said() -> None:
    """Full recompute fits the 405B; its planned utilization is then above what the step model reaches."""
    plan = disturbed("llama-3.1-405b", "")
    assert plan is not None
    (finding,) = [one for one in findings(estimate(plan)) if one.code == "M1"]
    told = re.fullmatch(
        r'fits with recompute = "full" \(15.1 GiB, \+(\d+) % accelerator time\), which brings C16', finding.fix
    )
    assert told is not None, finding.fix
    assert 20 <= int(told[1]) <= 33, "a third forward more, but for what transfers and the bubble take"


def test_what_comes_at_once_has_no_untried_fix_in_its_sentence() -> None:
    plan = disturbed("llama-3.1-405b", "parallelism.virtual_pipeline=7")
    assert plan is not None
    at_once, tried = findings_at_once(estimate(plan)), findings(estimate(plan))
    assert [one.code for one in at_once] == [one.code for one in tried]
    assert any(one.untried for one in at_once)
    assert not any(WRITTEN.search(one.fix) for one in at_once)


def test_a_field_is_found_by_its_last_word() -> None:
    assert path_of("shard_size") == "parallelism.shard_size"
    assert path_of("sequence_length", ("data.sequence_length",)) == "data.sequence_length"
    assert path_of("data.held_out") == "data.held_out"
    with pytest.raises(LookupError):
        path_of("nothing")


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("9 or 12 nodes", [{"cluster.nodes": 9}, {"cluster.nodes": 12}]),
        ("992 or 1,008 sequences", [{"batch.global_batch_sequences": n} for n in (992, 1008)]),
        ("37 spare nodes", [{"reliability.spare_nodes": 37}]),
        ("3.525T train tokens", [{"data.train_tokens": 3525 * 10**9}]),
        ("a block of 10,000 sequences", []),
        ('loss = "fused" or "chunked"', [{"training.loss": "fused"}, {"training.loss": "chunked"}]),
        ("pipeline = 1 and context = 2", [{"parallelism.pipeline": 1, "parallelism.context": 2}]),
        ("reshard_after_forward = false", [{"parallelism.reshard_after_forward": False}]),
        ("moe_imbalance = 1.2", [{"training.moe_imbalance": 1.2}]),
        ("faster repair", []),
    ],
)
def test_what_a_fix_prints_is_what_is_tried(part: str, fields: list[dict[str, object]]) -> None:
    assert [found for _, found in ways(part, ())] == fields


def test_a_number_of_tokens_that_breaks_the_deadline_is_not_offered() -> None:
    """D17 of BLOOM names 20 tokens a parameter, which no calendar of that plan holds."""
    plan = disturbed("bloom-176b", "")
    assert plan is not None
    (finding,) = [one for one in findings(estimate(plan)) if one.code == "D17"]
    assert finding.fix.startswith(f"{NEAREST}3.5"), finding.fix
    assert ", but then C8: " in finding.fix


@pytest.mark.parametrize(
    "part",
    [
        'global_batch_sequences = "many"',
        "tensor = many",
        "tensor = 1.5",
        "tensor = 0",
        'precision = "bf8"',
        "precision = 8",
        "num_experts_per_tok = 4",
        "no_such_field = 4",
        "tensor = 2 and precision = 8",
    ],
)
def test_a_fix_with_a_value_that_its_field_does_not_take_is_kept_as_words(part: str) -> None:
    assert not list(ways(part, ("model.moe.num_experts_per_tok",)))
    here = estimate(open_plan(PLANS / "llama-3.1-8b.toml").plan)
    finding = Finding("X1", "warning", "compute", "so", "", ("parallelism.tensor",), untried=part)
    assert tried_fix(finding, here, (), findings_at_once).fix == part


def test_a_quantity_in_quotes_is_tried_as_its_number() -> None:
    assert [fields for _, fields in ways('train_tokens = "15T"', ())] == [{"data.train_tokens": 15e12}]
