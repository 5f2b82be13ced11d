"""A run as DeepSpeed's JSON configuration says it, by the names of `docs/_pages/config-json.md` and DeepSpeed 0.19.8.

JSON has no comments: name, hash and what is not said stand under the key `trainplan`, which DeepSpeed does not read. Shape,
tensor, pipeline and context degrees are the program's arguments, not this file's, and are named there.
"""

from __future__ import annotations

import json
from typing import Any, Final

from trainplan.estimation import Estimate
from trainplan.interop.export.run import (
    ExportError,
    Run,
    changing,
    heading,
    kinds,
    not_said,
    other_framework,
    refuse,
    whole,
)

STAGES: Final = {"none": 0, "zero-1": 1, "zero-2": 2, "zero-3": 3}
SAID: Final = (
    "batch",
    *(
        f"training.{name}"
        for name in ("precision", "gradient_dtype", "moment_dtype", "optimizer_offload", "activation_offload")
    ),
    *(f"parallelism.{name}" for name in ("sharding", "shard_size", "bucket_elements")),
)


def deepspeed_json(run: Run) -> str:
    """The configuration. Raises ExportError where the plan is for another framework or asks for what has no key."""
    e = run.estimate
    if e.situation.word("training.framework") != "deepspeed":
        raise other_framework(e, "deepspeed")
    told = [*heading(run), *not_said(run, SAID, "an argument of the training program"), *_stopped(run)]
    told.append("not in a plan: learning rate, gradient clipping; the optimizer is built by the program")
    found = {"trainplan": told, **_batch(e), **_precision(e), **_zero(e)}
    return json.dumps(found, indent=2, ensure_ascii=True) + "\n"


def _stopped(run: Run) -> list[str]:
    e = run.estimate
    steps = f"{whole(e, 'tokens.steps'):,} steps of {_lengths(e)} tokens are an argument of the program"
    return [steps, *([f"stopped after {run.stop_after:,} of them"] if run.stop_after else [])]


def _lengths(e: Estimate) -> str:
    """The lengths of the run's sequences, which the configuration does not say."""
    return " and ".join(f"{length:,}" for length in sorted({length for length, _ in kinds(e)}))


def _batch(e: Estimate) -> dict[str, Any]:
    if len({batch for _, batch in kinds(e)}) > 1:
        raise changing(e, "the batch changes during the run; DeepSpeed's train_batch_size is one number")
    return {
        "train_batch_size": kinds(e).pop()[1],
        "train_micro_batch_size_per_gpu": whole(e, "batch.micro_batch_sequences"),
        "gradient_accumulation_steps": whole(e, "tokens.microbatches"),
    }


def _precision(e: Estimate) -> dict[str, Any]:
    t, gradient = e.plan.training, e.situation.word("training.gradient_dtype") or ""
    short = t.moment_dtype == "bf16"
    wrong = {
        "training.precision": t.precision == "fp8-mixed",
        "training.moment_dtype": short and t.precision != "bf16-pure",
    }
    refuse(wrong, "DeepSpeed")
    pure = {"enabled": True, "bf16_master_weights_and_grads": True, "bf16_optimizer_states": short}
    words: dict[str, dict[str, Any]] = {
        "fp32": {},
        "bf16-mixed": {"bf16": {"enabled": True}},
        "bf16-pure": {"bf16": pure},
        "fp16-mixed": {"fp16": {"enabled": True}},
    }
    return {**words[t.precision], "data_types": {"grad_accum_dtype": gradient}}


def _zero(e: Estimate) -> dict[str, Any]:
    p, t, sharding = e.plan.parallelism, e.plan.training, e.situation.word("parallelism.sharding") or ""
    refuse({"training.activation_offload": t.activation_offload}, "DeepSpeed")
    if sharding not in STAGES:
        raise ExportError(f"parallelism.sharding is {sharding}; DeepSpeed's JSON has stages 0 to 3")
    found: dict[str, Any] = {"stage": STAGES[sharding]}
    if p.bucket_elements:
        found |= {"reduce_bucket_size": int(p.bucket_elements), "allgather_bucket_size": int(p.bucket_elements)}
    if t.optimizer_offload:
        refuse({"training.optimizer_offload": sharding == "none"}, "DeepSpeed")
        found["offload_optimizer"] = {"device": "cpu"}
    return {"zero_optimization": found}
