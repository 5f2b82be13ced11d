"""What a plan is exported as reads back as the same options, and a second time as the same text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.core.interop.launchers.conftest import made_of

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.megatron import megatron_arguments, megatron_text
from trainplan.interop.export.run import Run, whole_run
from trainplan.interop.export.slurm import slurm_text
from trainplan.interop.export.titan import titan_toml
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text

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
EDITS = [
    [],
    ["parallelism.sharding=none"],
    ["parallelism.sharding=zero-2"],
    ["parallelism.sharding=zero-3"],
    ["parallelism.recompute=full"],
    ["parallelism.recompute=selective"],
    ["parallelism.bucket_elements=40M"],
    ["parallelism.context=2", "parallelism.context_type=all-to-all"],
    ["parallelism.tensor=4", "parallelism.sequence_parallel=false"],
    ["parallelism.pipeline=2", "parallelism.virtual_pipeline=2", "parallelism.schedule=interleaved"],
    ["training.precision=fp16-mixed"],
    ["training.precision=fp8-mixed", "training.gradient_dtype=fp32"],
    ["training.precision=bf16-mixed", "training.gradient_dtype=bf16"],
    ["training.moment_dtype=bf16"],
    ["training.optimizer=sgd-momentum"],
    ["training.optimizer_offload=true"],
    ["training.kernels=torch-eager"],
    ["training.attention=eager"],
    ["training.expert_kernels=fused", "training.precision=fp8-mixed", "training.gradient_dtype=bf16"],
    ["training.expert_kernels=fused", "training.cuda_graphs=full-iteration"],
    ["training.loss=plain"],
    ["training.loss=fused"],
    ["training.dropout=0.05"],
    ["model.head_dim=96"],
    ["model.attention_bias=true", "model.attention_output_bias=true", "model.mlp_bias=true"],
    ["storage.async_checkpoint=false"],
    ["paths.checkpoints=ckpt"],
    ["model.qk_norm=true"],
    ["model.attention_sinks=true"],
    ["model.attention_gate=element"],
]
APART = {"--save-interval", "--moe-router-num-groups", "--moe-router-group-topk"}
"""A time in a plan, and facts that only an entry of the catalogue has."""


def edited(name: str, edits: list[str]) -> Plan:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    return set_all(text, plan_of_text(text, "plan.toml"), edits, "plan.toml").plan


def read_back(text: str, plan: Plan, *more: str) -> Estimate:
    """The plan of an exported text on the accelerators of the plan that it came from, which no such text says."""
    made = made_of(text)
    assert made.unknown == ()
    c = plan.cluster
    words = [f"cluster.accelerator={c.accelerator}", f"cluster.nodes={int(c.nodes or 0)}", *more]
    words += [f"cluster.accelerators_per_node={int(c.accelerators_per_node)}"] if c.accelerators_per_node else []
    return estimate(set_all(made.text, plan_of_text(made.text, "plan.toml"), words, "plan.toml").plan)


OWN: Final = (["model.head_dim=96"], ["model.qk_norm=true"])
"""Edits that DeepSeek-V3 does not take: latent attention has head sizes and norms of its own."""
PAIRS: Final = [(name, edits) for name in MEGATRON for edits in EDITS if name != "deepseek-v3" or edits not in OWN]


@pytest.mark.parametrize(("name", "edits"), PAIRS, ids=lambda part: part if isinstance(part, str) else ",".join(part))
def test_megatron(name: str, edits: list[str]) -> None:
    more = ["model.moe.expert_bias=true"] if name == "deepseek-v3" and "model.mlp_bias=true" in edits else []
    plan = edited(name, [*MEGATRON[name], *edits, *more])
    before = estimate(plan)
    after = read_back(megatron_text(whole_run(before)), plan)
    one, two = dict(megatron_arguments(before)), dict(megatron_arguments(after))
    samples = {found.pop("--train-samples", "0") for found in (one, two)}
    assert {name: value for name, value in one.items() if name not in APART} == two
    # samples are those of whole steps of every batch; read back, the last batch takes what the ones before it took too many
    assert abs(int(max(samples, key=int)) - int(min(samples, key=int))) in (
        0,
        int(plan.batch.schedule[-1].global_batch_sequences or 0) if plan.batch.schedule else 0,
    )


@pytest.mark.parametrize(
    "edits",
    [
        [],
        ["parallelism.sharding=zero-3"],
        ["parallelism.sharding=none", "training.precision=fp32"],
        ["parallelism.sharding=zero-2", "training.optimizer_offload=true"],
        ["parallelism.bucket_elements=40M"],
        ["training.precision=bf16-pure"],
        ["training.precision=bf16-pure", "training.moment_dtype=bf16"],
        ["training.precision=fp16-mixed"],
        ["training.gradient_dtype=bf16"],
    ],
    ids=",".join,
)
def test_deepspeed(edits: list[str]) -> None:
    plan = edited("llama-3.1-8b", ["training.framework=deepspeed", *edits])
    text = deepspeed_json(whole_run(estimate(plan)))
    p = plan.parallelism
    more = [f"parallelism.{name}={int(getattr(p, name))}" for name in ("tensor", "pipeline", "context")]
    more += [
        f"data.sequence_length={plan.data.sequence_length}",
        f"data.train_tokens={int(plan.data.train_tokens or 0)}",
    ]
    same(text, deepspeed_json(whole_run(read_back(text, plan, *more))), json.loads)


@pytest.mark.parametrize(
    "edits",
    [
        [],
        ["parallelism.pipeline=2", "parallelism.tensor=2"],
        ["parallelism.pipeline=2", "parallelism.virtual_pipeline=2", "parallelism.schedule=interleaved"],
        ["parallelism.pipeline=2", "parallelism.schedule=zb-v"],
        ["parallelism.recompute=full"],
        ["parallelism.recompute=selective"],
        ["parallelism.sharding=none"],
        ["parallelism.sharding=hsdp", "parallelism.shard_size=8"],
        ["parallelism.sharding=hsdp", "parallelism.shard_size=16", "parallelism.context=2"],
        ["parallelism.reshard_after_forward=false"],
        ["parallelism.context=2"],
        ["training.kernels=torch-eager"],
        ["training.precision=bf16-pure"],
        ["training.precision=fp32"],
        ["storage.async_checkpoint=false"],
        ["model.preset=qwen3-30b-a3b", "parallelism.expert=8"],
        ["paths.checkpoints=ckpt"],
    ],
    ids=",".join,
)
def test_torchtitan(edits: list[str]) -> None:
    framework = ["training.framework=torchtitan", "parallelism.sharding=zero-3", "training.gradient_dtype=fp32"]
    plan = edited("llama-3.1-8b", [*framework, *edits])
    text = titan_toml(whole_run(estimate(plan)))
    same(text, titan_toml(whole_run(read_back(text, plan))), tomllib.loads)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt3-175b", "smollm3-3b"])
def test_a_batch_script(name: str) -> None:
    """The script says the nodes and the accelerators of each too, so that its plan needs a name of the part alone."""
    plan = edited(name, [])
    before = estimate(plan)
    made = made_of(slurm_text(whole_run(before)))
    after = set_all(
        made.text, plan_of_text(made.text, "plan.toml"), [f"cluster.accelerator={plan.cluster.accelerator}"], "x"
    )
    assert after.plan.cluster.nodes == plan.cluster.nodes
    one, two = dict(megatron_arguments(before)), dict(megatron_arguments(estimate(after.plan)))
    assert {name: value for name, value in one.items() if name not in APART} == two


def same(one: str, two: str, read: Callable[[str], dict[str, Any]]) -> None:
    """Both texts say the same settings; names, hashes and what a utilization decides are apart."""
    told = [read(text) for text in (one, two)]
    for found in told:
        found.pop("trainplan", None)
        found.pop("job", None)
        found.get("checkpoint", {}).pop("interval", None)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("preset", "edits"),
    [
        ("gpt-oss-20b", ["model.moe.router_bias=false", "model.mlp_bias=true"]),  # what Megatron has no argument for
        ("qwen3-30b-a3b", []),
        ("mixtral-8x7b", []),
        ("deepseek-v2-lite", []),
        ("mistral-7b-v0.1", []),
    ],
)
def test_shapes_of_the_catalogue(preset: str, edits: list[str]) -> None:
    """Windows, sinks, experts and latent attention there and back."""
    plan = edited("llama-3.1-8b", [f"model.preset={preset}", *edits])
    before = estimate(plan)
    after = read_back(megatron_text(whole_run(before)), plan)
    one, two = dict(megatron_arguments(before)), dict(megatron_arguments(after))
    assert {name: value for name, value in one.items() if name not in APART} == two
    assert float(after.quantities["model.parameters"]) == float(before.quantities["model.parameters"])  # type: ignore[arg-type]


def test_a_whole_run_and_its_plan_have_one_model() -> None:
    """Parameters of every plan survive the way there and back."""
    for name, edits in MEGATRON.items():
        plan = edited(name, edits)
        before = estimate(plan)
        after = read_back(megatron_text(Run(before, plan)), plan)
        assert float(after.quantities["model.parameters"]) == float(before.quantities["model.parameters"])  # type: ignore[arg-type]
