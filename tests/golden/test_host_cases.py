"""What an offload moves and what a host holds of it, against public reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_layout_cases import GIB, found, made, model, one

from trainplan.alternatives.changes import single_changes
from trainplan.alternatives.offload import step_in, step_of, updated_on_host
from trainplan.alternatives.reverse import changed
from trainplan.budgets.host import host_optimizer
from trainplan.checks.host import HOST_CHECKS
from trainplan.checks.unheard import UNHEARD_CHECKS
from trainplan.estimation import estimate
from trainplan.plan.read import open_plan

LLAMA_3_8B = model(intermediate_size=14336, vocab_size=128256, num_key_value_heads=8)
STARCODER = model(
    num_hidden_layers=40,
    hidden_size=6144,
    intermediate_size=24576,
    num_attention_heads=48,
    num_key_value_heads=1,
    vocab_size=49152,
    gated_mlp=False,
    tie_word_embeddings=True,
)


def sharded(framework: str, **changes: Any) -> Any:
    """Eight accelerators of one node, states sharded over all."""
    return made(
        training__framework=framework,
        cluster__nodes=1,
        cluster__accelerators_per_node=8,
        parallelism__sharding="zero-3",
        storage__async_checkpoint=False,
        **changes,
    )


def offloaded(framework: str, **changes: Any) -> Any:
    return sharded(framework, training__optimizer_offload=True, **changes)


def test_deepspeed_s_own_estimate_of_host_memory_is_said() -> None:
    """DeepSpeed issue 4867: 15.5 B on 8 x 24 GB, its estimator asks 346 GB of a host of 256 GB, and the run was killed."""
    plan = offloaded("deepspeed", model=STARCODER, cluster__host_memory_per_node=256e9)
    finding = one(plan, "M10")
    assert finding.severity == "warning"
    assert float(finding.fix.split()[0]) == pytest.approx(346, rel=0.01)
    assert not found(offloaded("deepspeed", model=STARCODER, cluster__host_memory_per_node=400e9), "M10")


def test_offloaded_states_are_sixteen_bytes_a_parameter() -> None:
    """DeepSpeed pull request 1536: 63.74 GiB for 2851 M parameters of stage 3 with weights on the device, 1.5 x 16 bytes."""
    plan = offloaded("deepspeed", cluster__host_memory_per_node=1e9)
    finding = one(plan, "M10")
    assert finding.severity == "error"
    held = float(finding.message.split("holds ")[1].split()[0])
    assert held == pytest.approx(16.0 * float(plan.model.parameters) / GIB, rel=0.01)
    assert pytest.approx(63.74, rel=1e-3) == 1.5 * 16.0 * 2851e6 / GIB


@pytest.mark.parametrize(("framework", "saves"), [("deepspeed", True), ("deepspeed", False), ("fsdp", True)])
def test_the_memory_that_is_asked_for_is_enough(framework: str, saves: bool) -> None:
    """From an error or from a warning, the number as it is printed leaves no M10, and async_checkpoint = false brings none."""

    def on(host: float) -> Any:
        own = {"storage__async_checkpoint": saves, "cluster__host_memory_per_node": host}
        base = {"cluster__nodes": 2, "cluster__accelerators_per_node": 8, "parallelism__sharding": "zero-3"}
        return made(model=LLAMA_33B, training__framework=framework, training__optimizer_offload=True, **base, **own)

    for host in (1e9, 200e9, 260e9, 300e9, 350e9, 400e9):
        for finding in found(on(host), "M10"):
            asked = float(finding.fix.split(", or ")[-1].split(" GiB")[0].replace(",", ""))
            assert not found(on(asked * GIB), "M10")
            if "async_checkpoint" in finding.fix:
                saved = changed(on(host).plan, {"storage.async_checkpoint": False})
                assert not found(estimate(saved), "M10")


def test_a_host_whose_memory_is_not_given_is_asked_for() -> None:
    said = one(offloaded("deepspeed", model=STARCODER), "M15")
    assert (said.severity, said.fix) == ("info", "give cluster.host_memory_per_node")
    assert not found(sharded("deepspeed", model=STARCODER), "M15")


@pytest.mark.parametrize("framework", ["torchtitan", "fsdp"])
def test_fsdp_offloads_weights_and_gradients_with_the_moments(framework: str) -> None:
    """PyTorch CPUOffloadPolicy: parameters, gradients and optimizer states are on the host; asked for in torchtitan issue 620."""
    rank = offloaded(framework, model=LLAMA_3_8B).memory
    assert float(rank.weights) == float(rank.gradients) == float(rank.optimizer_states) == 0.0


@pytest.mark.parametrize(("framework", "sharding"), [("maxtext", "zero-3"), ("deepspeed", "zero-3"), ("fsdp", "none")])
def test_others_keep_weights_on_the_device(framework: str, sharding: str) -> None:
    plan = offloaded(framework, model=LLAMA_3_8B)
    if sharding == "none":
        plan = made(training__framework=framework, training__optimizer_offload=True, parallelism__sharding="none")
    assert float(plan.memory.weights) > 0.0
    assert float(plan.memory.gradients) > 0.0


def test_fsdp_copies_its_shards_in_every_microbatch() -> None:
    """Shards of 4 bytes go in before forward and before backward, and a reduced gradient of 4 bytes comes out, each time."""
    step = step_of(offloaded("fsdp", batch__global_batch_sequences=32, training__gradient_dtype="fp32").plan)
    once = host_optimizer(step.s, updated_on_host(step), step.tokens.microbatches)["copies"]
    other = step_of(offloaded("deepspeed", batch__global_batch_sequences=32, training__gradient_dtype="fp32").plan)
    twice = host_optimizer(other.s, updated_on_host(other), other.tokens.microbatches)["copies"]
    assert float(once) / float(twice) == pytest.approx(4 * (4 + 2 * 4) / (4 + 2), rel=0.01)


def test_the_cost_of_an_offload_that_is_offered_is_that_of_the_offload() -> None:
    plan = sharded("fsdp", model=LLAMA_3_8B, cluster__memory_per_accelerator=24e9).plan
    offered = next(one for one in single_changes(plan) if one.path == "training.optimizer_offload")
    assert offered.total < 24e9


def test_gradients_that_wait_whole_are_not_offloaded() -> None:
    """Without reduction in each microbatch there is nothing sharded to copy out; tnt pull request 1057."""
    plan = offloaded("fsdp", model=LLAMA_3_8B, training__gradient_accumulation="full", training__gradient_dtype="bf16")
    assert float(plan.memory.gradients) >= 2.0 * float(plan.model.parameters)


def test_states_of_deepspeed_are_bound_to_their_replicas() -> None:
    """DeepSpeed issues 2898 and 3810: a checkpoint of 4 replicas is refused on 6, one of 32 on 128."""
    finding = one(sharded("deepspeed"), "S15")
    assert (finding.severity, finding.message) == (
        "warning",
        "DeepSpeed reads the states of zero-3 on 8 replicas again, and refuses another number; "
        "no node is spare, and 1 would cover 99 % of repairs",
    )
    assert finding.fix.startswith("1 spare node, or a universal checkpoint")
    assert not found(sharded("deepspeed", reliability__spare_nodes=1), "S15")
    assert not found(sharded("torchtitan"), "S15")
    assert not found(made(training__framework="deepspeed", parallelism__sharding="none"), "S15")


def test_spare_nodes_that_are_fewer_than_repairs_take_are_told() -> None:
    """Four spares of BLOOM's plan cover its repairs; where nodes fail fifty times as often they do not."""
    often = {"reliability__spare_nodes": 1, "reliability__failures_per_node_day": 0.5}
    finding = one(sharded("deepspeed", **often), "S15")
    assert finding.severity == "warning"
    assert "; 1 spare node, and " in finding.message
    bloom = open_plan(Path(__file__).resolve().parents[2] / "plans/bloom-176b.toml").plan
    assert not found(estimate(bloom), "S15")


LLAMA_33B = model(num_hidden_layers=60, hidden_size=6656, intermediate_size=17920, num_attention_heads=52)


@pytest.mark.parametrize(
    ("framework", "host", "said"), [("deepspeed", 600e9, True), ("fsdp", 600e9, True), ("fsdp", 1.2e12, False)]
)
def test_each_process_builds_the_model(framework: str, host: float, said: bool) -> None:
    """DeepSpeed issue 3448: 33 B on 8 x 40 GB always ran out of 600 GB of host memory; 8 x 4 bytes of each are 1.04 TB."""
    plan = sharded(framework, model=LLAMA_33B, cluster__host_memory_per_node=host)
    finding = found(plan, "M18")
    assert bool(finding) is said
    assert all(each.severity == "info" for each in finding)
    assert not said or "969" in finding[0].message


def test_seventy_billion_in_each_of_eight_processes() -> None:
    """huggingface/blog pull request 1412: about 2 TB of host memory for 70 B."""
    shape = model(
        num_hidden_layers=80, hidden_size=8192, intermediate_size=28672, num_attention_heads=64, num_key_value_heads=8
    )
    finding = one(sharded("fsdp", model=shape, cluster__host_memory_per_node=1e12), "M18")
    said = float(finding.message.split("host holds ")[1].split(" GiB")[0].replace(",", ""))
    assert said * GIB == pytest.approx(70e9 * 4 * 8, rel=0.02)
    assert not found(sharded("torchtitan", model=shape, cluster__host_memory_per_node=1e12), "M18")


@pytest.mark.parametrize("field", ["optimizer_offload", "activation_offload"])
def test_checks_of_an_offload_make_no_step_of_their_own(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate has one, which is the same."""
    plan = sharded("fsdp", model=LLAMA_33B, **{f"training__{field}": True})
    assert step_in(plan).seconds == step_of(plan.plan).seconds
    assert float(updated_on_host(step_in(plan))) == float(updated_on_host(step_of(plan.plan)))
    made_again: list[object] = []
    monkeypatch.setattr("trainplan.alternatives.offload.step_budget", lambda *parts: made_again.append(parts))
    for check in (*HOST_CHECKS, *UNHEARD_CHECKS):
        check(plan)
    assert not made_again
