"""A run whose length or batch changes: what is told of all of it is the sum of its stretches, not the last of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.alternatives.reverse import changed
from trainplan.checks.evidence import against_step_model
from trainplan.checks.legality import bubble, filled_pipeline, legal_layout
from trainplan.estimation import Estimate, estimate
from trainplan.plan.plan import Plan
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.quantity.figure import Figure
from trainplan.search.listing import in_stages, listed, predicted, table
from trainplan.search.searching import searched
from trainplan.search.sizes import size_of
from trainplan.search.space import own_fields

PLANS = Path(__file__).resolve().parents[2] / "plans"
STAGES = """
[[data.stages]]
name = "warm"
until_tokens = "1T"
global_batch_sequences = {warm}

[[data.stages]]
name = "main"
until_tokens = "14T"

[[data.stages]]
name = "long"
sequence_length = 32_768
global_batch_sequences = {long}
"""


def in_three_stages(warm: int = 2048, long: int = 1024, **fields: object) -> Plan:
    """Llama 3.1 8B: 1T tokens in batches twice as large, 13T as the plan says, 1.6T at four times the length."""
    text = (PLANS / "llama-3.1-8b.toml").read_text(encoding="utf-8")
    head, _, rest = text.partition("[[data.stages]]")
    while "[[data.stages]]" in rest:
        rest = rest.partition("[[data.stages]]")[2]
    after = rest[rest.index("\n[") :]
    plan = plan_of_text(head + STAGES.format(warm=warm, long=long) + after, "stages.toml")
    return changed(plan, {path.replace("__", "."): value for path, value in fields.items()})


def number(value: object) -> float:
    assert isinstance(value, Figure), value
    return float(value)


def alone(plan: Plan, place: int) -> Estimate:
    """The plan as if the whole run had the length and the batch of one stretch."""
    one = estimate(plan).tokens.stretches[place]
    data = plan.data.model_copy(update={"stages": (), "sequence_length": int(number(one.sequence_length))})
    batch = {"schedule": (), "global_batch_sequences": int(number(one.global_batch_sequences))}
    return estimate(plan.model_copy(update={"data": data, "batch": plan.batch.model_copy(update=batch)}))


def staged() -> list[Plan]:
    return [in_three_stages(), *(open_plan(PLANS / f"{name}.toml").plan for name in ("deepseek-v3", "bloom-176b"))]


@pytest.mark.parametrize("plan", staged(), ids=["stages", "deepseek-v3", "bloom-176b"])
def test_the_predicted_run_is_the_sum_of_its_stretches(plan: Plan) -> None:
    found = estimate(plan)
    parts = [alone(plan, place) for place in range(len(found.tokens.stretches))]
    steps = [number(one.steps) for one in found.tokens.stretches]
    times = [count * number(part.step.predicted_step_time) for count, part in zip(steps, parts, strict=True)]
    assert len({number(part.step.predicted_step_time) for part in parts}) > 1
    assert number(found.step.predicted_compute_time) == pytest.approx(sum(times), rel=1e-12)
    assert number(found.step.predicted_mean_step_time) == pytest.approx(sum(times) / sum(steps), rel=1e-12)
    assert number(found.step.predicted_step_time) == number(parts[-1].step.predicted_step_time)


@pytest.mark.parametrize("plan", staged(), ids=["stages", "deepseek-v3", "bloom-176b"])
def test_a_run_at_the_predicted_utilization_takes_the_predicted_time(plan: Plan) -> None:
    """The last stage's, taken for the run, told one of 16.7 days as of 9.8."""
    found = estimate(plan)
    assert number(predicted(plan).speed.compute_time) == pytest.approx(
        number(found.step.predicted_compute_time), rel=1e-9
    )
    high, low = found.step.predicted_utilization_high, found.step.predicted_utilization_low
    assert number(low) < number(found.step.predicted_utilization) < number(high)


def test_one_length_and_one_batch_are_one_step() -> None:
    found = estimate(in_three_stages(warm=1024, long=1024))
    assert found.step.predicted_mean_step_time is not found.step.predicted_step_time
    plain = estimate(changed(open_plan(PLANS / "gpt3-175b.toml").plan, {}))
    assert plain.step.predicted_mean_step_time is plain.step.predicted_step_time
    steps, step = number(plain.tokens.steps), number(plain.step.predicted_step_time)
    assert number(plain.step.predicted_compute_time) == pytest.approx(steps * step, rel=1e-12)


def test_a_search_ranks_by_the_whole_run() -> None:
    plan = in_three_stages()
    found = searched(plan)
    rows = listed(plan, found.best("time", 12), own_fields(plan))
    means = [number(row.estimate.step.predicted_mean_step_time) for row in rows]
    assert [row.found.step for row in rows] == means == sorted(means)
    assert all(map(in_stages, rows))
    assert "mean s" in table(rows)[0]
    last = [number(row.estimate.step.predicted_step_time) for row in rows]
    assert last != sorted(last)


def test_a_cluster_size_takes_the_whole_runs_time() -> None:
    plan = in_three_stages()
    size = size_of(plan, 128)
    assert size.best is not None
    there = estimate(changed(plan, dict(size.best.fields)))
    assert number(size.wall_time) > number(there.step.predicted_compute_time)
    assert number(size.wall_time) < 1.2 * number(there.step.predicted_compute_time)


def test_c16_holds_the_planned_run_against_the_predicted_one() -> None:
    found = estimate(in_three_stages(utilization__value=0.85))
    (told,) = against_step_model(found)
    assert "of compute planned" in told.message
    assert told.fix.endswith(f"{number(found.step.predicted_utilization):.3f}")


def test_a_rule_that_one_stage_breaks_names_it() -> None:
    """On 16 stages with 64 replicas a batch of 512 is 8 microbatches; GPipe and 1f1b of PyTorch refuse fewer than stages."""
    layout = {"training__framework": "torchtitan", "parallelism__pipeline": 16, "parallelism__sharding": "none"}
    warm = estimate(in_three_stages(warm=512, long=1024, **layout))
    told = [one for one in legal_layout(warm) if one.code == "G13"]
    assert [(one.severity, one.message.partition(":")[0]) for one in told] == [("error", "stage warm")]
    every = estimate(in_three_stages(warm=1024, long=1024, **layout))
    assert not [one for one in legal_layout(every) if one.code == "G13"]
    both = estimate(in_three_stages(warm=512, long=512, **layout))
    (told_of_both,) = (one for one in legal_layout(both) if one.code == "G13")
    assert told_of_both.message.startswith("stage long, stage warm: ")


def test_what_the_small_batches_of_a_ramp_break_is_a_warning() -> None:
    """The 405B run had other clusters while its batch was small, and a plan has one layout."""
    found = estimate(open_plan(PLANS / "llama-3.1-405b.toml").plan)
    (told,) = (one for one in legal_layout(found) if one.code == "G5")
    assert told.severity == "warning"
    assert told.message.startswith("batches of 512, batches of 1,024: 4 microbatches are no multiple of 16 stages")
    assert told.fix.endswith("or another layout until then")


def test_p3_is_the_idle_time_of_the_whole_run_and_names_the_worst() -> None:
    """8 stages: 15.2 % where 64 replicas share 1,024 sequences and 2 fill a microbatch, twice that in the first 1T tokens."""
    layout = {"parallelism__pipeline": 8, "parallelism__sharding": "none"}
    plan = in_three_stages(warm=256, long=256, **layout)
    found, parts = estimate(plan), [alone(plan, place) for place in range(3)]
    worked = [number(one) for one in found.speed.worked]
    idle = sum(number(part.bubble) * work for part, work in zip(parts, worked, strict=True)) / sum(worked)
    (told,) = bubble(found)
    assert f"{100 * idle:.1f} % of the ideal run" in told.message
    assert "350.0 % in stage long" in told.message or "350.0 % in stage warm" in told.message


def test_p4_names_the_stage_that_never_fills_the_pipeline() -> None:
    layout = {"parallelism__pipeline": 8, "parallelism__sharding": "none", "parallelism__schedule": "gpipe"}
    told = filled_pipeline(estimate(in_three_stages(warm=512, long=1024, **layout)))
    assert [one.message.partition(":")[0] for one in told] == ["stage warm"]
