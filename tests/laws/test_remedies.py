"""A fix that is offered was tried: on no plan, and under no disturbance of one field, does it bring what was not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.checks import findings, findings_at_once
from trainplan.checks.remedies import NEAREST, WRITTEN, path_of, ways
from trainplan.estimation import estimate
from trainplan.figure import Blocked
from trainplan.finding import ORDER, Finding
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import Unusable, open_plan
from trainplan.reverse import changed

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
            for text, fields in (way for part in finding.fix.split(" or ") for way in ways(part, finding.paths)):
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
    assert finding.fix == 'fits with recompute = "full" (15.1 GiB, +25 % accelerator time), which brings C16'


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
