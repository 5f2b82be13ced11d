"""What a proposed layout costs in time, in a sentence."""

from __future__ import annotations

from pathlib import Path

from trainplan.alternatives.offload import step_of
from trainplan.alternatives.pace import pace
from trainplan.alternatives.reverse import changed
from trainplan.plan.read import open_plan

PLANS = Path(__file__).resolve().parents[3] / "plans"


def test_a_slower_proposal_says_that_the_plan_fits_and_what_grows() -> None:
    """The 405B without its virtual stages: 15 idle slots to 16 microbatches."""
    plan = open_plan(PLANS / "llama-3.1-405b.toml").plan
    fields = {"parallelism.virtual_pipeline": 1, "parallelism.schedule": "1f1b"}
    told = pace(plan, fields)
    before, after = (step_of(one).seconds for one in (plan, changed(plan, fields)))
    assert before is not None
    assert after is not None
    assert told.startswith("slower than the plan, which fits: predicted step ")
    assert f", {100 * (float(after) / float(before) - 1):+.0f} %: pipeline bubble +" in told


def test_a_faster_proposal_says_by_how_much() -> None:
    plan = open_plan(PLANS / "llama-3.1-8b.toml").plan
    slow = changed(plan, {"parallelism.recompute": "full"})
    told = pace(slow, {"parallelism.recompute": "none"})
    assert told.startswith("predicted step ")
    assert told.endswith(" %")
    assert "-" in told


def test_without_a_step_there_is_no_pace() -> None:
    plan = open_plan(PLANS / "llama-3.1-8b.toml").plan
    assert pace(changed(plan, {"cluster.accelerator": None}), {"parallelism.tensor": 2}) == ""
