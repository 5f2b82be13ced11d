"""sbatch scripts: valid bash, the plan's nodes, limit, grace and hash; text of a plan never becomes a command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.slurm import grace, sbatch_script, segments
from trainplan.plan.canonical import plan_hash
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text

PLANS = Path(__file__).resolve().parents[4] / "plans"


def estimated(name: str, *edits: str) -> Estimate:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, list(edits), "plan.toml").plan if edits else plan)


def options(script: str) -> dict[str, str]:
    lines = [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH ")]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt3-175b", "bloom-176b", "olmo-2-7b", "opt-175b", "smollm2-135m"])
def test_a_script_is_bash_and_says_what_the_plan_says(name: str) -> None:
    found = estimated(name)
    script = sbatch_script(found)
    told = options(script)
    assert int(told["nodes"]) == float(found.situation["cluster.nodes"])
    assert int(told["gres"].removeprefix("gpu:")) == float(found.situation["cluster.accelerators_per_node"])
    assert told["ntasks-per-node"] == "1"
    assert "requeue" in told
    assert f"# plan hash {plan_hash(found.plan)}" in script
    assert f"--nnodes={told['nodes']} " in script
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash on this machine")
    assert subprocess.run([bash, "-n"], input=script, text=True, capture_output=True, check=False).stderr == ""


def test_fused_experts_are_asked_of_the_environment() -> None:
    """Megatron-LM d98e8a6, core/transformer/moe/experts.py: without it the run ends in an assertion."""
    edits = ["parallelism.schedule=interleaved", "training.expert_kernels=fused"]
    assert "export NVTE_CUTEDSL_FUSED_GROUPED_MLP=1" in sbatch_script(estimated("deepseek-v3", *edits)).splitlines()
    assert "NVTE_CUTEDSL" not in sbatch_script(estimated("deepseek-v3", edits[0]))


def test_the_grace_holds_two_steps_and_two_saves() -> None:
    found = estimated("llama-3.1-8b", "storage.async_checkpoint=false", "storage.write_bandwidth=1GB/s")
    stall = float(found.quantities["storage.checkpoint_stall"])  # type: ignore[arg-type]
    assert grace(found) >= 2 * (stall + float(found.speed.step_time)) > 60
    assert options(sbatch_script(found))["signal"] == f"TERM@{grace(found)}"
    assert options(sbatch_script(estimated("olmo-2-7b")))["signal"].startswith("USR1@")


def test_a_time_limit_makes_a_chain_of_jobs_one_at_a_time() -> None:
    found = estimated("llama-3.1-8b", "reliability.job_time_limit=2d")
    told = options(sbatch_script(found))
    assert told["time"] == "2-00:00:00"
    assert told["array"] == f"1-{segments(found)}%1"
    assert segments(found) * 2 * 86400 > float(found.quantities["compute.wall_time"])  # type: ignore[arg-type]
    assert "time" not in options(sbatch_script(estimated("llama-3.1-8b")))
    assert segments(estimated("llama-3.1-8b", "reliability.job_time_limit=2d", "schedule.queue_gap=1d")) == segments(
        found
    )


@pytest.mark.parametrize(
    "edits", [(), ("schedule.planned_downtime=30d",), ("evaluation.mode=in-loop", "evaluation.interval_tokens=10B")]
)
def test_a_script_has_the_jobs_that_the_finding_says(edits: tuple[str, ...]) -> None:
    """The signal comes a minute before the limit at the least; the estimate left out two steps and two saves alone."""
    found = estimated("llama-3.1-8b", "reliability.job_time_limit=1h", *edits)
    (told,) = (one.message for one in findings(found) if one.code == "R4")
    assert told == f"the run takes {segments(found):,} jobs of 1 h"
    assert options(sbatch_script(found))["array"] == f"1-{segments(found)}%1"


def test_a_limit_that_a_finding_calls_too_short_is_refused_and_no_other() -> None:
    short, enough = (estimated("llama-3.1-8b", f"reliability.job_time_limit={limit}") for limit in ("16min", "17min"))
    assert "error" in {one.severity for one in findings(short) if one.code == "R4"}
    with pytest.raises(ExportError, match="job_time_limit is shorter"):
        segments(short)
    assert "error" not in {one.severity for one in findings(enough) if one.code == "R4"}
    assert segments(enough) > 1


def test_a_limit_shorter_than_the_restart_is_refused() -> None:
    with pytest.raises(ExportError, match="job_time_limit"):
        sbatch_script(estimated("llama-3.1-8b", "reliability.job_time_limit=10min"))


def test_a_part_that_is_no_gpu_is_refused() -> None:
    with pytest.raises(ExportError, match="tpu-v5p"):
        sbatch_script(estimated("llama-3.1-8b", "cluster.accelerator=tpu-v5p"))


def test_text_of_a_plan_is_quoted() -> None:
    evil = "$(touch evil); `touch evil` \"x\" 'y'"
    text = (PLANS / "llama-3.1-8b.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    paths = plan.paths.model_copy(update={"checkpoints": evil})
    plan = plan.model_copy(update={"name": "a\n#SBATCH --nodes=9\nrm -rf /", "paths": paths})
    script = sbatch_script(estimate(plan))
    assert options(script)["nodes"] == "128"
    assert options(script)["job-name"] == "a-SBATCH-nodes-9-rm-rf"
    assert not [line for line in script.splitlines() if line.startswith("rm")]
    start = script.index("srun")
    shown = script[start:].replace("srun ", "printf '%s\\n' srun ", 1)
    told = subprocess.run(
        ["bash", "-c", f"head_node=n; SLURM_JOB_ID=1; TRAIN_PROGRAM=t; {shown}"],
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert told.splitlines()[told.splitlines().index("--save") + 1] == evil
