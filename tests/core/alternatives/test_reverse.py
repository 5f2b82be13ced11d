"""Answers in reverse agree with the ledger: what they say fits, and one more does not; the walk ends in a layout that fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trainplan.alternatives.changes import ladders, single_changes
from trainplan.alternatives.reverse import (
    changed,
    fewest_nodes,
    largest_micro_batch,
    longest_sequence,
    longest_stretch,
    tried,
)
from trainplan.alternatives.walk import needed_tokens, walk
from trainplan.budgets.situation import Situation
from trainplan.estimation import estimate
from trainplan.evidence.dryrun import dry_runs
from trainplan.plan.plan import Plan
from trainplan.plan.read import open_plan

Planned = Callable[..., Plan]
MODEL = (
    "model.num_hidden_layers=32",
    "model.hidden_size=4096",
    "model.intermediate_size=16384",
    "model.num_attention_heads=32",
    "model.vocab_size=128256",
    "data.sequence_length=8192",
)


def total(plan: Plan, **fields: int) -> float:
    return tried(changed(plan, {path.replace("__", "."): value for path, value in fields.items()})).total or 0.0


def usable(plan: Plan) -> float:
    return float(tried(plan).memory.usable)


def test_the_largest_microbatch_fits_and_the_next_that_divides_does_not(planned: Planned) -> None:
    """A replica takes 256 of 1,024 sequences."""
    plan = planned(*MODEL, "parallelism.tensor=4")
    best = largest_micro_batch(plan)
    assert best is not None
    assert 256 % best == 0
    assert total(plan, batch__micro_batch_sequences=best) <= usable(plan)
    assert total(plan, batch__micro_batch_sequences=2 * best) > usable(plan)


def test_a_smaller_share_never_gives_a_larger_microbatch(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.tensor=8")
    most, target = largest_micro_batch(plan), largest_micro_batch(plan, share=0.85)
    assert most is not None
    assert target is not None
    assert target <= most


def test_the_longest_sequence_fits_and_a_step_more_does_not(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.tensor=4")
    best = longest_sequence(plan)
    assert best is not None
    assert best % 1024 == 0
    assert total(plan, data__sequence_length=best) <= usable(plan)
    assert total(plan, data__sequence_length=best + 1024) > usable(plan)


def test_nothing_fits_where_states_alone_do_not(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.sharding=none", "cluster.memory_per_accelerator=40GiB")
    assert largest_micro_batch(plan) is None
    assert longest_sequence(plan) is None
    assert fewest_nodes(plan) is None


def test_the_fewest_nodes_that_fit(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.sharding=zero-3", "parallelism.recompute=full", "cluster.nodes=16")
    best = fewest_nodes(plan)
    assert best is not None
    assert total(plan, cluster__nodes=best) <= usable(plan)
    if best > 1:
        assert total(plan, cluster__nodes=best // 2) > usable(plan)


def test_single_changes_fit_are_legal_and_ranked_by_time(planned: Planned) -> None:
    plan = planned(*MODEL)
    assert not tried(plan).fits()
    found = single_changes(plan)
    assert found
    assert [change.cost for change in found] == sorted(change.cost for change in found)
    for change in found:
        trial = tried(plan, {change.path: change.value})
        assert trial.legal
        assert trial.total == change.total
        assert change.total <= usable(plan)
    assert {"tensor = 2", 'recompute = "full"'} <= {change.text for change in found}


def test_a_change_is_not_blamed_for_what_was_wrong_before(planned: Planned) -> None:
    """12 layers do not divide into 8 chunks, and full recompute still fits."""
    broken = planned(*MODEL, "parallelism.virtual_pipeline=2")
    assert tried(broken).broken == {"G5"}
    assert any(change.path == "parallelism.recompute" for change in single_changes(broken))


def test_changed_is_the_plan_that_an_edit_makes(planned: Planned) -> None:
    edited = planned("parallelism.tensor=2", "batch.micro_batch_sequences=4")
    made = changed(planned(), {"parallelism.tensor": 2, "batch.micro_batch_sequences": 4})
    one, other = estimate(made).quantities, estimate(edited).quantities
    keys = [key for key in one if key.startswith("memory.")]
    assert len(keys) > 15
    assert all(one[key] == other[key] for key in keys)


def test_the_walk_ends_in_a_layout_that_fits(planned: Planned) -> None:
    plan = planned(*MODEL)
    found = walk(plan)
    assert found is not None
    assert found.trial is not None
    assert found.trial.fits(0.85)
    proposed = tried(changed(plan, found.proposal))
    assert proposed.total == found.trial.total
    decided = [question for question in found.questions if question.answer == "YES"]
    assert len(decided) == 1
    assert [question.number for question in found.questions] == sorted(question.number for question in found.questions)
    assert found.differs(plan) == {"parallelism.sharding": "zero-3"}


def test_a_small_model_needs_no_sharding(planned: Planned) -> None:
    found = walk(planned())
    assert found is not None
    assert found.questions[0].answer == "YES"
    assert found.proposal["parallelism.sharding"] == "none"


def test_a_large_model_gets_a_pipeline(planned: Planned) -> None:
    large = planned(
        "model.num_hidden_layers=96",
        "model.hidden_size=12288",
        "model.intermediate_size=49152",
        "model.num_attention_heads=96",
        "data.sequence_length=2048",
        "cluster.nodes=96",
        "batch.global_batch_sequences=1536",
    )
    found = walk(large)
    assert found is not None
    assert found.trial is not None
    assert found.proposal["parallelism.tensor"] == 8
    assert found.proposal["parallelism.pipeline"] > 1
    assert found.trial.legal


def test_experts_go_first(planned: Planned) -> None:
    moe = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 128\n"
    found = walk(planned(more=moe))
    assert found is not None
    assert found.proposal["parallelism.expert"] == 8
    assert found.questions[0].answer == "yes"


def test_no_walk_without_a_ledger(planned: Planned) -> None:
    assert walk(planned(left_out=("model.hidden_size",))) is None


def test_tokens_at_which_gathers_hide(planned: Planned) -> None:
    """Utilization 0.4 x 1e15 FLOP/s / (50e9 bytes/s x 8 links of a node): 1,000 tokens."""
    from trainplan.budgets.situation import Situation

    assert needed_tokens(Situation(planned())) == pytest.approx(1000.0)


def test_dry_runs(planned: Planned) -> None:
    laid = planned("model.num_hidden_layers=8", "parallelism.pipeline=2", "parallelism.tensor=2", "cluster.nodes=2")
    first, last = dry_runs(estimate(laid))
    assert first.command.startswith("WORLD_SIZE=16 RANK=0 ")
    assert "RANK=8 " in last.command
    assert "--fake-process-group" in first.command
    assert "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2" in first.command
    titan = dry_runs(estimate(planned("training.framework=torchtitan")))
    assert any("--comm.mode=fake_backend" in run.command for run in titan)
    assert dry_runs(estimate(planned("training.framework=deepspeed"))) == []


def test_further_steps_are_tried_where_the_next_does_not_fit(planned: Planned) -> None:
    """Two sequences do not fit and one does; of each field the nearest step that fits is named."""
    plan = planned(*MODEL, "batch.micro_batch_sequences=4", "parallelism.tensor=2", "cluster.nodes=16")
    found = {change.path: change for change in single_changes(plan)}
    assert found["batch.micro_batch_sequences"].value == 1
    assert found["parallelism.context"].value == 4
    for path in ("batch.micro_batch_sequences", "parallelism.tensor", "parallelism.context"):
        value = found[path].value
        before = value * 2 if path.startswith("batch.") else value // 2
        assert not tried(plan, {path: before}).fits()
        assert tried(plan, {path: value}).fits()


def test_a_smaller_microbatch_divides_the_batch_of_the_present_one(planned: Planned) -> None:
    """A microbatch of 5 is halved to nothing that divides 80 sequences of 16 ranks; one does."""
    plan = planned(*MODEL, "batch.micro_batch_sequences=5", "batch.global_batch_sequences=80", "parallelism.tensor=2")
    assert [change.value for change in single_changes(plan) if change.path == "batch.micro_batch_sequences"] == [1]


@pytest.mark.parametrize(("domain", "tensors"), [(8, [2, 4, 8]), (4, [2, 4]), (1, [2])])
def test_further_steps_of_tensor_stay_in_the_scale_up_domain(planned: Planned, domain: int, tensors: list[int]) -> None:
    plan = planned(*MODEL, f"cluster.scale_up_domain={domain}")
    steps = next(ladder.steps for ladder in ladders(Situation(plan)) if ladder.path == "parallelism.tensor")
    assert [value for value, _ in steps] == tensors


def test_more_nodes_are_named_only_where_nothing_else_fits(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.recompute=full")
    doubled = tried(plan, {"cluster.nodes": 4})
    assert doubled.fits()
    assert (doubled.total or 0.0) < 0.99 * total(plan)
    assert "cluster.nodes" not in {change.path for change in single_changes(plan)}


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"])
@pytest.mark.parametrize("layers", [16, 14])
def test_a_trial_finds_the_same_worst_rank(planned: Planned, schedule: str, layers: int) -> None:
    plan = planned(
        f"model.num_hidden_layers={layers}",
        "parallelism.pipeline=4",
        "cluster.nodes=4",
        f"parallelism.schedule={schedule}",
    )
    memory = estimate(plan).memory
    assert tried(plan).total == memory.total
    assert tried(plan).memory.worst_rank == memory.worst_rank


def test_the_walk_interleaves_a_pipeline_where_the_framework_does() -> None:
    """The 405B needs a pipeline; in chunks it idles eight times less, and DeepSpeed has no chunks."""
    plan = open_plan(Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-405b.toml").plan
    told = walk(plan)
    assert told is not None
    assert told.proposal["parallelism.schedule"] == "interleaved"
    assert told.proposal["parallelism.virtual_pipeline"] == 8
    assert told.trial is not None
    assert told.trial.fits(0.85)
    other = walk(changed(plan, {"training.framework": "deepspeed"}))
    assert other is None or other.proposal.get("parallelism.schedule", "1f1b") == "1f1b"


def test_experts_are_asked_before_what_stands_on_their_degree(planned: Planned) -> None:
    moe = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 256\n"
    found, dense = walk(planned(more=moe)), walk(planned())
    assert found is not None
    assert dense is not None
    assert (found.questions[0].number, found.questions[0].text) == (1, "Experts first?")
    assert found.questions[0].path == "parallelism.expert"
    assert found.questions[1].text.startswith("Do states and activations fit one accelerator")
    assert [one.number for one in found.questions] == sorted(one.number for one in found.questions)
    assert {one.number for one in found.questions} <= set(range(1, 8))
    assert (dense.questions[-1].number, dense.questions[-1].text) == (7, "Experts?")


SHORT_THEN_LONG = (
    '\n[[data.stages]]\nname = "short"\nuntil_tokens = "500M"\n'
    '[[data.stages]]\nname = "long"\nsequence_length = 32768\nglobal_batch_sequences = 64\n'
)
LAID = ("cluster.nodes=8", "parallelism.tensor=4", "parallelism.pipeline=4", "batch.micro_batch_sequences=1")


def test_answers_hold_in_the_longest_stage(planned: Planned) -> None:
    """What fits 8,192 tokens does not fit the 32,768 that the run ends with."""
    plan = planned(*MODEL, *LAID, more=SHORT_THEN_LONG)
    micro, length = largest_micro_batch(plan), longest_sequence(plan)
    assert micro is not None
    assert length is not None
    assert longest_stretch(plan) == (32768.0, 64.0, "data.stages.long.sequence_length")
    assert total(plan, batch__micro_batch_sequences=micro) <= usable(plan)
    assert total(plan, batch__micro_batch_sequences=2 * micro) > usable(plan)
    for tokens, fits in ((length, True), (length + 1024, False)):
        stages = (plan.data.stages[0], plan.data.stages[1].model_copy(update={"sequence_length": tokens}))
        changed_plan = plan.model_copy(update={"data": plan.data.model_copy(update={"stages": stages})})
        assert ((tried(changed_plan).total or 0.0) <= usable(plan)) is fits


def test_the_fewest_nodes_hold_the_longest_stage(planned: Planned) -> None:
    plan = planned(*MODEL, *LAID, more=SHORT_THEN_LONG)
    least = fewest_nodes(plan)
    assert least is not None
    assert least >= (fewest_nodes(planned(*MODEL, *LAID, "data.sequence_length=32768")) or 0)


def test_a_short_batch_bounds_what_is_in_flight(planned: Planned) -> None:
    """Four sequences a replica are four microbatches of one or one of four: the largest is that of the batch as it is."""
    plan = planned(*MODEL, *LAID, "data.sequence_length=32768", "batch.global_batch_sequences=16")
    best = largest_micro_batch(plan)
    assert best is not None
    assert total(plan, batch__micro_batch_sequences=best) <= usable(plan)
    assert best in (1, 2, 4)
    assert all(total(plan, batch__micro_batch_sequences=more) > usable(plan) for more in (1, 2, 4) if more > best)


def test_the_largest_microbatch_divides_the_batch_of_every_stage(planned: Planned) -> None:
    """A replica takes 16 sequences of the one batch and 24 of the other; a small model would fit any."""
    batches = (
        '[{ from_tokens = 0, global_batch_sequences = 32 }, { from_tokens = "500M", global_batch_sequences = 48 }]'
    )
    plan = planned("parallelism.tensor=4", "parallelism.pipeline=2", f"batch.schedule={batches}")
    assert largest_micro_batch(plan) == 8
