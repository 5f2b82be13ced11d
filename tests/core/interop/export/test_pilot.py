"""Rungs as runs: few devices, steps and layers, the same work on each accelerator; every text of every rung says so."""

from __future__ import annotations

import ast
import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.deepspeed import deepspeed_json
from trainplan.interop.export.megatron import megatron_arguments, megatron_text
from trainplan.interop.export.pilot import STEPS, run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.slurm import slurm_text
from trainplan.interop.export.titan import titan_module, titan_toml
from trainplan.plan.canonical import plan_hash
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.quantity.unit import Quantity
from trainplan.review.ladder import RUNGS

PLANS = Path(__file__).resolve().parents[4] / "plans"
SMALL = RUNGS[:5]


def estimated(name: str, *edits: str) -> Estimate:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, list(edits), "plan.toml").plan if edits else plan)


def number(found: Estimate, key: str) -> int:
    return int(found.quantities[key] if key in found.quantities else found.situation[key])  # type: ignore[call-overload]


LLAMA = estimated("llama-3.1-8b")
WIDE = estimated("gpt3-175b")


@pytest.mark.parametrize(
    ("rung", "world"), [("unit", 1), ("one-batch", 1), ("one-device", 1), ("one-node", 8), ("few-nodes", 16)]
)
def test_a_rung_has_its_devices_and_steps(rung: str, world: int) -> None:
    run = run_of(LLAMA, rung)
    assert number(run.estimate, "parallelism.world_size") == world
    assert number(run.estimate, "tokens.steps") == STEPS[rung]
    assert run.estimate.plan.data.sequence_length == LLAMA.plan.data.sequence_length
    assert run.plan is LLAMA.plan
    assert f"{world} of 1,024 accelerators" in run.changes[0]


@pytest.mark.parametrize("rung", ["one-device", "one-node", "few-nodes"])
@pytest.mark.parametrize("name", ["llama-3.1-8b", "smollm2-135m", "smollm3-3b"])
def test_an_accelerator_does_the_work_of_the_full_run(rung: str, name: str) -> None:
    whole = estimated(name)
    small = run_of(whole, rung).estimate
    assert number(small, "tokens.microbatches") == number(whole, "tokens.microbatches")
    assert small.plan.batch.micro_batch_sequences == whole.plan.batch.micro_batch_sequences


@pytest.mark.parametrize("name", ["llama-3.1-8b", "smollm2-135m", "gpt3-175b"])
@pytest.mark.parametrize("rung", SMALL)
def test_a_rung_fits_its_devices_and_no_more_layers_would(name: str, rung: str) -> None:
    whole = estimated(name)
    if name == "gpt3-175b" and rung in SMALL[:3]:
        with pytest.raises(ExportError, match="not fit on 1 accelerator;"):
            run_of(whole, rung)
        return
    small = run_of(whole, rung).estimate
    assert fits(small)
    layers, p = number(small, "model.num_hidden_layers"), small.plan.parallelism
    if rung != "unit" and layers < number(whole, "model.num_hidden_layers"):
        more = Quantity(float(layers + int(p.pipeline * p.virtual_pipeline)), "")
        model = small.plan.model.model_copy(update={"num_hidden_layers": more})
        assert not fits(estimate(small.plan.model_copy(update={"model": model})))


def fits(found: Estimate) -> bool:
    return float(found.quantities["memory.total"]) <= float(found.quantities["memory.usable"])  # type: ignore[arg-type]


def test_the_unit_rung_has_two_layers_and_one_step() -> None:
    run = run_of(LLAMA, "unit")
    assert number(run.estimate, "model.num_hidden_layers") == 2
    assert "2 of 32 layers" in run.changes
    with pytest.raises(ExportError, match="4 layers do not fit on 1 accelerator;"):
        run_of(estimated("deepseek-v3"), "unit")  # three dense layers and one with experts at least


def test_degrees_are_kept_where_devices_allow_and_said_where_not() -> None:
    node = run_of(WIDE, "one-node").estimate.plan.parallelism
    assert node.tensor == WIDE.plan.parallelism.tensor == 8
    assert node.pipeline == 1
    told = " ".join(run_of(WIDE, "one-node").changes)
    assert "pipeline 1 for" in told
    few = run_of(estimated("llama-3.1-8b", "parallelism.tensor=2", "parallelism.pipeline=4"), "few-nodes").estimate
    assert (few.plan.parallelism.tensor, few.plan.parallelism.pipeline) == (2, 4)
    assert number(few, "parallelism.data") == 2, "every degree above one is exercised, replicas too"


def test_a_reduced_mesh_has_no_error_that_the_plan_has_not() -> None:
    from trainplan.checks import findings

    for name in ("llama-3.1-8b", "smollm2-135m", "smollm3-3b"):
        whole = estimated(name)
        before = {one.code for one in findings(whole) if one.severity == "error"}
        for rung in SMALL:
            found = {one.code for one in findings(run_of(whole, rung).estimate) if one.severity == "error"}
            assert found <= before, f"{name}, {rung}: {found}"


def test_short_scaled_keeps_the_real_step_count_and_stops() -> None:
    run = run_of(LLAMA, "short-scaled")
    assert number(run.estimate, "tokens.steps") == number(LLAMA, "tokens.steps")
    assert number(run.estimate, "parallelism.world_size") == 1024
    step = float(LLAMA.speed.step_time)
    assert run.stop_after >= 1000
    assert run.stop_after * step >= 7200
    told = dict(megatron_arguments(run.estimate, run.stop_after))
    assert told["--train-iters"] == f"{number(LLAMA, 'tokens.steps')}"
    assert told["--exit-interval"] == f"{run.stop_after}"
    limit = run.estimate.plan.reliability.job_time_limit
    assert limit is not None
    assert float(limit) > run.stop_after * step


@pytest.mark.parametrize("rung", ["", "full"])
def test_the_full_run_is_the_plan(rung: str) -> None:
    run = run_of(LLAMA, rung)
    assert run.estimate is LLAMA
    assert (run.changes, run.stop_after) == ((), 0)


def test_a_rung_of_ones_own_has_no_run() -> None:
    with pytest.raises(ExportError, match="storage-soak is no rung"):
        run_of(LLAMA, "storage-soak")


def texts(rung: str) -> dict[str, str]:
    titan = estimated("llama-3.1-8b", "training.framework=torchtitan", "parallelism.sharding=zero-3")
    deep = estimated("smollm2-135m", "training.framework=deepspeed")
    found = {
        "slurm": slurm_text(run_of(LLAMA, rung)),
        "megatron": megatron_text(run_of(LLAMA, rung)),
        "torchtitan": titan_module(run_of(titan, rung)),
        "deepspeed": deepspeed_json(run_of(deep, rung)),
    }
    if rung not in ("unit", "one-batch", "one-device"):
        found["torchtitan-toml"] = titan_toml(run_of(titan, rung))
    return found


HASHES = {plan_hash(estimated("smollm2-135m", "training.framework=deepspeed").plan), plan_hash(LLAMA.plan)}
HASHES.add(plan_hash(estimated("llama-3.1-8b", "training.framework=torchtitan", "parallelism.sharding=zero-3").plan))


@pytest.mark.parametrize("rung", ["", *RUNGS])
def test_every_kind_says_every_rung_and_the_hash_of_the_whole_plan(rung: str) -> None:
    for kind, text in texts(rung).items():
        assert any(f"plan hash {one}" in text for one in HASHES), kind
        assert (f"rung {rung} of the pilot" in text) is (rung not in ("", "full")), kind


def test_every_text_is_what_its_reader_reads() -> None:
    for rung in ("", "one-node", "short-scaled"):
        found = texts(rung)
        assert (
            subprocess.run(["bash", "-n"], input=found["slurm"], text=True, capture_output=True, check=False).stderr
            == ""
        )
        ast.parse(found["torchtitan"])
        tomllib.loads(found["torchtitan-toml"])
        json.loads(found["deepspeed"])


def test_text_of_a_plan_stays_text_in_every_kind() -> None:
    evil = 'a"\n]\nimport os\n[job]\nx = "$(touch evil)'

    def named(found: Estimate) -> Estimate:
        paths = found.plan.paths.model_copy(update={"checkpoints": evil})
        plan: Plan = found.plan.model_copy(update={"name": evil, "paths": paths})
        return estimate(plan)

    titan = named(estimated("llama-3.1-8b", "training.framework=torchtitan", "parallelism.sharding=zero-3"))
    module = ast.parse(titan_module(run_of(titan)))
    assert not [node for node in ast.walk(module) if isinstance(node, ast.Import)]
    told = tomllib.loads(titan_toml(run_of(titan)))
    assert told["checkpoint"]["folder"] == evil
    assert told["job"] == {"description": evil}
    deep = json.loads(deepspeed_json(run_of(named(estimated("smollm2-135m", "training.framework=deepspeed")))))
    assert deep["trainplan"][0] == f"plan {json.dumps(evil)}"
    for line in megatron_text(run_of(named(LLAMA))).splitlines():
        assert line.startswith(("#", "--", "]", "import os", "[job]", 'x = "')), line
