"""Steps, batches, stages and schedules: hand-computed, with the codes that block them."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.quantity.figure import Blocked, Figure

STAGES = """
[[data.stages]]
name = "first"
until_tokens = 500_000_000

[[data.stages]]
name = "second"
global_batch_sequences = 512
"""
SCHEDULE = """
[[batch.schedule]]
from_tokens = 0
global_batch_sequences = 512

[[batch.schedule]]
from_tokens = "524_288_000"
global_batch_sequences = 1024
"""


def number(found: Any, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


def code(found: Any, key: str) -> str:
    value = found.figure(key)
    assert isinstance(value, Blocked), f"{key} is {value!r}"
    return value.code


def test_small_plan_by_hand(varied: Any) -> None:
    found = varied()
    assert number(found, "tokens.global_batch_tokens") == 1_048_576
    assert number(found, "tokens.steps") == 1000
    assert number(found, "tokens.microbatches") == 64
    assert number(found, "tokens.overshoot") == 0
    assert number(found, "tokens.sequences") == 1_024_000
    assert number(found, "parallelism.world_size") == 16
    assert number(found, "parallelism.data") == 16
    assert number(found, "tokens.tokens_per_parameter") == pytest.approx(1_048_576_000 / 262_464, rel=1e-15)


def test_last_step_is_full(varied: Any) -> None:
    found = varied("data.train_tokens=1_048_576_001")
    assert number(found, "tokens.steps") == 1001
    assert number(found, "tokens.overshoot") == 1_048_575
    assert number(found, "tokens.sequences") == 1_024_001


def test_expert_parallelism_is_no_factor_of_the_replicas(varied: Any) -> None:
    found = varied("parallelism.tensor=2", "parallelism.pipeline=2", "parallelism.context=2", "parallelism.expert=4")
    assert number(found, "parallelism.data") == 2


def test_batch_is_divided_by_replicas_and_not_by_accelerators(varied: Any) -> None:
    """DeepSpeed pull request 8395: 16 accelerators, model parallel 2, batch 64: 8 replicas of 8."""
    found = varied("parallelism.tensor=2", "batch.global_batch_sequences=64", "batch.micro_batch_sequences=8")
    assert number(found, "parallelism.data") == 8
    assert number(found, "tokens.microbatches") == 1


def test_mesh_that_does_not_divide_blocks(varied: Any) -> None:
    found = varied("parallelism.tensor=3")
    assert code(found, "parallelism.data") == "G1"
    assert code(found, "tokens.microbatches") == "G1"
    assert number(found, "tokens.steps") == 1000


def test_batch_that_does_not_divide_blocks_the_microbatches(varied: Any) -> None:
    found = varied("batch.global_batch_sequences=1000", "batch.micro_batch_sequences=3")
    assert code(found, "tokens.microbatches") == "G2"
    assert number(found, "compute.step_time") > 0


def test_stages_sum_their_steps_each_with_its_last_step_full(varied: Any) -> None:
    """500,000,000 are 476.8 batches of 1,048,576; the other 548,576,000 are 1,046.3 of 524,288."""
    found = varied(more=STAGES)
    assert number(found, "tokens.steps") == 477 + 1047
    assert number(found, "tokens.global_batch_tokens") == 524_288
    assert number(found, "tokens.microbatches") == 32
    assert number(found, "tokens.overshoot") == 477 * 1_048_576 + 1047 * 524_288 - 1_048_576_000


def test_schedule_sums_its_steps(varied: Any) -> None:
    found = varied(more=SCHEDULE)
    assert number(found, "tokens.steps") == 1000 + 500
    assert number(found, "tokens.overshoot") == 0
    assert number(found, "tokens.microbatches") == 64


def test_stages_and_a_schedule_together_block(varied: Any) -> None:
    assert code(varied(more=STAGES + SCHEDULE), "tokens.steps") == "D22"


@pytest.mark.parametrize(
    "change",
    ["data.stages.first.until_tokens=2B", "data.stages.first.until_tokens=1_048_576_000"],
)
def test_stages_out_of_order_block(varied: Any, change: str) -> None:
    assert code(varied(change, more=STAGES), "tokens.steps") == "D22"


def test_stage_without_an_end_says_what_is_missing(varied: Any) -> None:
    found = varied(more=STAGES, left_out=("data.stages.first.until_tokens",))
    assert code(found, "tokens.steps") == "missing:data.stages.first.until_tokens"


def test_schedule_that_begins_late_blocks(varied: Any) -> None:
    assert code(varied("batch.schedule.0.from_tokens=1", more=SCHEDULE), "tokens.steps") == "D22"
