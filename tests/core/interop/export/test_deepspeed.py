"""DeepSpeed: the JSON says batch, precision and stage; what it has no key for is refused or named under `trainplan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text

PLANS = Path(__file__).resolve().parents[4] / "plans"


def estimated(*edits: str) -> Estimate:
    text = (PLANS / "smollm2-135m.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, ["training.framework=deepspeed", *edits], "plan.toml").plan)


def told(*edits: str, rung: str = "") -> dict[str, Any]:
    return json.loads(deepspeed_json(run_of(estimated(*edits), rung)))


def test_batch_is_micro_times_accumulation_times_replicas() -> None:
    found = estimated()
    data = int(found.quantities["parallelism.data"])  # type: ignore[call-overload]
    one = told()
    product = one["train_micro_batch_size_per_gpu"] * one["gradient_accumulation_steps"] * data
    assert one["train_batch_size"] == product == found.plan.batch.global_batch_sequences


@pytest.mark.parametrize(("word", "stage"), [("none", 0), ("zero-1", 1), ("zero-2", 2), ("zero-3", 3)])
def test_stage(word: str, stage: int) -> None:
    assert told(f"parallelism.sharding={word}")["zero_optimization"]["stage"] == stage


def test_precision_offload_and_buckets() -> None:
    assert told()["bf16"] == {"enabled": True}
    assert "bf16" not in told("training.precision=fp32")
    assert told("training.precision=fp16-mixed")["fp16"] == {"enabled": True}
    assert told("training.precision=bf16-pure")["bf16"]["bf16_master_weights_and_grads"] is True
    assert told("training.gradient_dtype=bf16")["data_types"] == {"grad_accum_dtype": "bf16"}
    assert told("training.precision=bf16-pure", "training.moment_dtype=bf16")["bf16"]["bf16_optimizer_states"] is True
    zero = told("training.optimizer_offload=true", "parallelism.sharding=zero-2", "parallelism.bucket_elements=500M")[
        "zero_optimization"
    ]
    assert zero["offload_optimizer"] == {"device": "cpu"}
    assert zero["reduce_bucket_size"] == 500_000_000


@pytest.mark.parametrize(
    ("edits", "names_it"),
    [
        (["training.framework=megatron"], "training.framework"),
        (["training.precision=fp8-mixed"], "training.precision"),
        (["training.moment_dtype=bf16"], "training.moment_dtype"),
        (["training.activation_offload=true"], "training.activation_offload"),
        (["parallelism.sharding=hsdp", "parallelism.shard_size=8"], "parallelism.sharding is hsdp"),
        (["parallelism.sharding=none", "training.optimizer_offload=true"], "training.optimizer_offload"),
    ],
)
def test_what_has_no_key_is_refused_by_name(edits: list[str], names_it: str) -> None:
    with pytest.raises(ExportError, match=names_it):
        told(*edits)


def test_a_batch_schedule_is_refused() -> None:
    text = (PLANS / "bloom-176b.toml").read_text(encoding="utf-8")
    with pytest.raises(ExportError, match="train_batch_size is one number"):
        deepspeed_json(run_of(estimate(plan_of_text(text, "plan.toml"))))


def test_what_the_program_has_to_be_told_is_named() -> None:
    lines = "\n".join(told("parallelism.tensor=2", "training.dropout=0.1")["trainplan"])
    assert "parallelism.tensor = 2" in lines
    assert "training.dropout = 0.1" in lines
    assert "steps of 2,048 tokens are an argument of the program" in lines


def test_numbers_that_are_not_said_are_written_as_in_a_plan() -> None:
    (line,) = [line for line in told("data.sequence_length=8192")["trainplan"] if "not said here" in line]
    assert "data.sequence_length = 8192" in line


def test_a_plan_for_another_framework_says_how_its_text_is_asked_for() -> None:
    with pytest.raises(ExportError, match=r"--set training\.framework=deepspeed asks for it"):
        deepspeed_json(run_of(estimated("training.framework=megatron")))
