"""What is exported, held to the frameworks' own parsers where they are installed; each test says why it is skipped elsewhere.

Held once by hand, on 2026-11-29, every test of this file passed against megatron-core 0.19.2 (`megatron.training.arguments`),
torchtitan 0.3.0 and 0.2.2 and DeepSpeed 0.19.8, all from PyPI without their dependencies beside torch 2.13 for CPUs.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import typing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from trainplan.budgets.situation import Situation
from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.megatron import megatron_arguments
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError, Run
from trainplan.interop.export.titan import titan_module, titan_toml
from trainplan.interop.export.titan_models import MODELS
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.review.ladder import RUNGS

PLANS = Path(__file__).resolve().parents[4] / "plans"
MEGATRON = {
    "llama-3.1-8b": [],
    "gpt3-175b": [],
    "smollm2-135m": [],
    "smollm3-3b": [],
    "llama-3.1-405b": [],
    "deepseek-v3": ["parallelism.schedule=1f1b"],
    "bloom-176b": ["training.framework=megatron", "model.position_embedding=rope", "model.embedding_norm=false"],
}
TITAN = ["training.framework=torchtitan", "parallelism.sharding=zero-3"]


def estimated(name: str, *edits: str) -> Estimate:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, list(edits), "plan.toml").plan if edits else plan)


def installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def module_or_skip(name: str) -> Any:
    """The module, or a skip with the reason; a framework that is there and cannot be imported skips too."""
    try:
        return importlib.import_module(name)
    except (ImportError, OSError, RuntimeError) as error:
        pytest.skip(f"{name} is not installed here: {error}")


@pytest.fixture(scope="module")
def megatron() -> argparse.ArgumentParser:
    arguments = module_or_skip("megatron.training.arguments")
    parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    arguments.add_megatron_arguments(parser)
    return parser


@pytest.mark.parametrize("rung", ["", *RUNGS])
@pytest.mark.parametrize("name", MEGATRON)
def test_megatron_reads_every_argument(megatron: argparse.ArgumentParser, name: str, rung: str) -> None:
    run = run_or_skip(estimated(name, *MEGATRON[name]), rung)
    words = [word for pair in megatron_arguments(run.estimate, run.stop_after) for word in pair if word]
    told = vars(megatron.parse_args(words))
    assert told["num_layers"] == run.estimate.situation["model.num_hidden_layers"]
    assert told["attention_dropout"] == run.estimate.plan.training.dropout
    assert told["exit_interval"] == (run.stop_after or None)


def run_or_skip(found: Estimate, rung: str) -> Run:
    try:
        return run_of(found, rung)
    except ExportError as error:
        pytest.skip(f"refused with its reason: {error}")


@pytest.mark.parametrize(
    "edit", ["training.moment_dtype=bf16", "training.kernels=torch-eager", "parallelism.bucket_elements=40M"]
)
def test_megatron_reads_what_a_field_adds(megatron: argparse.ArgumentParser, edit: str) -> None:
    arguments = megatron_arguments(estimated("llama-3.1-8b", edit))
    assert arguments != megatron_arguments(estimated("llama-3.1-8b"))
    megatron.parse_args([word for pair in arguments for word in pair if word])


def test_megatron_steps_through_the_batches_of_the_plan() -> None:
    """The schedule that `--step-batch-size-schedule` takes, read by megatron-core's own calculator."""
    calculators = module_or_skip("megatron.core.num_microbatches_calculator")
    if not hasattr(calculators, "StepBatchsizeNumMicroBatchesCalculator"):
        pytest.skip("this megatron-core has no batch schedule by steps; 0.19.2 has")
    found = estimated("bloom-176b", *MEGATRON["bloom-176b"])
    told = dict(megatron_arguments(found))
    made = calculators.StepBatchsizeNumMicroBatchesCalculator(
        int(told["--micro-batch-size"]),
        int(found.quantities["parallelism.data"]),  # type: ignore[call-overload]
        False,
        0,
        told["--step-batch-size-schedule"],
        int(told["--seq-length"]),
    )
    for one in found.tokens.stretches:
        samples = float(one.begin) / float(one.sequence_length)
        made.update(int(samples) + 1, False)
        assert made.get_current_global_batch_size() == one.global_batch_sequences


def choices(config: Any) -> typing.Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Every field of a dataclass, and below, whose value is one of some words."""
    hints = typing.get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value, hint = getattr(config, field.name), hints[field.name]
        if get_origin(hint) is Literal:
            yield field.name, value, get_args(hint)
        elif dataclasses.is_dataclass(value):
            yield from choices(value)


@pytest.mark.parametrize("rung", ["", *RUNGS])
@pytest.mark.parametrize(
    "extra",
    [
        [],
        ["parallelism.pipeline=2", "parallelism.tensor=2"],
        ["parallelism.recompute=full"],
        ["parallelism.recompute=selective"],
    ],
)
def test_torchtitan_runs_the_module(rung: str, extra: list[str]) -> None:
    if not installed("torchtitan").startswith("0.3"):
        pytest.skip(f"torchtitan 0.3 is not installed here: {installed('torchtitan') or 'none'}")
    module_or_skip("torchtitan.trainer")
    run = run_of(estimated("llama-3.1-8b", *TITAN, *extra), rung)
    space: dict[str, Any] = {}
    exec(compile(titan_module(run), "trainplan_config.py", "exec"), space)
    config = space["trainplan"]()
    assert len(config.model_spec.model.layers) == run.estimate.situation["model.num_hidden_layers"]
    assert config.training.seq_len == 8192
    assert (config.activation_checkpoint is None) is (run.estimate.plan.parallelism.recompute == "none")
    for part in (config.training, config.parallelism, config.compile, config.checkpoint):
        for name, value, words in choices(part):
            assert value in words, name
    type(config).__post_init__(config)


@pytest.mark.parametrize("preset", MODELS)
def test_torchtitan_has_the_models_by_these_shapes(preset: str) -> None:
    if not installed("torchtitan").startswith("0.3"):
        pytest.skip(f"torchtitan 0.3 is not installed here: {installed('torchtitan') or 'none'}")
    name, _, function = MODELS[preset]
    registry = module_or_skip(f"torchtitan.models.{name}.config_registry")
    try:
        model = getattr(registry, function)().model_spec.model
    except ImportError as error:
        pytest.skip(f"torchtitan's own configuration needs more: {error}")
    s = Situation(Plan.model_validate({"format": 1, "model": {"preset": preset}}))
    first, last, attention = model.layers[0], model.layers[-1], model.layers[0].attention
    heads = s.value("model.num_attention_heads")
    told = {
        "num_hidden_layers": len(model.layers),
        "hidden_size": model.dim,
        "num_attention_heads": attention.n_heads,
        "vocab_size": model.vocab_size,
        "tie_word_embeddings": bool(getattr(model, "enable_weight_tying", False)),
        "qk_norm": bool(getattr(attention, "qk_norm", None)),
    }
    if first.feed_forward is not None:
        told["intermediate_size"] = first.feed_forward.w1.out_features
    if last.moe is not None:
        experts = last.moe.routed_experts
        told["moe.num_experts"], told["moe.num_experts_per_tok"] = last.moe.num_experts, experts.token_dispatcher.top_k
        told["moe.moe_intermediate_size"] = experts.inner_experts.hidden_dim
        told["moe.first_k_dense_replace"] = sum(layer.moe is None for layer in model.layers)
    for path, value in told.items():
        assert (s.value(f"model.{path}") or 0) == value, path
    assert (getattr(attention, "n_kv_heads", None) or attention.n_heads) == (
        s.value("model.num_key_value_heads") or heads
    )


@pytest.mark.parametrize("rung", ["", "one-node", "short-scaled", "full"])
def test_torchtitan_reads_the_toml(tmp_path: Path, rung: str) -> None:
    if not installed("torchtitan").startswith("0.2"):
        pytest.skip(
            f"torchtitan 0.2, the last that reads TOML, is not installed here: {installed('torchtitan') or 'none'}"
        )
    manager = module_or_skip("torchtitan.config.manager")
    run = run_or_skip(
        estimated("llama-3.1-8b", *TITAN, "parallelism.pipeline=2", "parallelism.recompute=selective"), rung
    )
    path = tmp_path / "run.toml"
    path.write_text(titan_toml(run))
    config = manager.ConfigManager().parse_args([f"--job.config_file={path}"])
    assert config.model.flavor == "8B"
    assert config.training.global_batch_size == run.estimate.situation["batch.global_batch_sequences"]
    assert config.parallelism.pipeline_parallel_degree == run.estimate.plan.parallelism.pipeline
    assert config.activation_checkpoint.mode == "selective"


@pytest.mark.parametrize("rung", ["", "one-device", "one-node"])
@pytest.mark.parametrize(
    "extra", [[], ["training.precision=fp16-mixed"], ["parallelism.sharding=zero-3", "training.optimizer_offload=true"]]
)
def test_deepspeed_reads_the_json(monkeypatch: pytest.MonkeyPatch, rung: str, extra: list[str]) -> None:
    configs = module_or_skip("deepspeed.runtime.config")
    monkeypatch.setattr(configs.dist, "get_rank", lambda: 0)
    found = estimated("smollm2-135m", "training.framework=deepspeed", "parallelism.sharding=zero-2", *extra)
    told = json.loads(deepspeed_json(run_of(found, rung)))

    class Group:
        """What DeepSpeed asks of a model-parallel unit: the data-parallel degree."""

        def get_data_parallel_world_size(self) -> int:
            return told["train_batch_size"] // (
                told["train_micro_batch_size_per_gpu"] * told["gradient_accumulation_steps"]
            )

        def get_data_parallel_rank(self) -> int:
            return 0

    read = configs.DeepSpeedConfig(told, mpu=Group())
    assert read.train_batch_size == told["train_batch_size"]
    assert read.zero_config.stage == told["zero_optimization"]["stage"]
