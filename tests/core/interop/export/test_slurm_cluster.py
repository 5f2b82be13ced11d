"""Exported scripts before a real Slurm: each passes `sbatch --test-only`, and a rung runs with a stand-in and is calibrated back.

The gate starts a cluster of one machine (`.ci/slurm start DIR`) and names its slurm.conf in TRAINPLAN_SLURM_CONF; without it these
tests are skipped with the reason. The partition `wide` has nodes that exist in the configuration alone, for `--test-only`.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.slurm import slurm_text
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text
from trainplan.review.ladder import RUNGS
from trainplan_tui.cli import main

PLANS = Path(__file__).resolve().parents[4] / "plans"
CONF = os.environ.get("TRAINPLAN_SLURM_CONF", "")
WHY = os.environ.get("TRAINPLAN_SLURM_WHY") or "none was started; bash .ci/slurm start DIR starts one"

pytestmark = pytest.mark.skipif(not CONF, reason=f"no Slurm here: {WHY}")

NAMES = sorted(path.stem for path in PLANS.glob("*.toml"))


def sbatch(script: Path, *words: str, partition: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SLURM_CONF": CONF, "SBATCH_PARTITION": partition}
    words = ("sbatch", *words, str(script))
    return subprocess.run(
        words, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


def estimated(name: str, *edits: str) -> Estimate:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, list(edits), "plan.toml").plan if edits else plan)


def text_of(name: str, rung: str) -> str:
    """The script; a small rung whose devices hold no layer is refused with that reason, the whole plan never."""
    found = estimated(name, *EDITS.get(name, []))
    if rung in ("", "short-scaled", "full"):
        return slurm_text(run_of(found, rung))
    try:
        return slurm_text(run_of(found, rung))
    except ExportError as error:
        pytest.skip(f"refused with its reason: {error}")


EDITS = {"deepseek-v3": ["parallelism.schedule=1f1b"]}


@pytest.mark.parametrize("rung", ["", *RUNGS])
@pytest.mark.parametrize("name", NAMES)
def test_slurm_takes_every_script(tmp_path: Path, name: str, rung: str) -> None:
    script = tmp_path / "run.sh"
    script.write_text(text_of(name, rung))
    told = sbatch(script, "--test-only", partition="wide")
    assert told.returncode == 0, told.stderr
    assert "to start at" in told.stderr


@pytest.mark.parametrize("limit", ["2d", "30min"])
def test_slurm_takes_a_chain_of_jobs(tmp_path: Path, limit: str) -> None:
    script = tmp_path / "run.sh"
    days = "1B" if limit == "30min" else "1T"
    found = estimated("smollm2-135m", f"reliability.job_time_limit={limit}", f"data.train_tokens={days}")
    script.write_text(slurm_text(run_of(found)))
    assert sbatch(script, "--test-only", partition="wide").returncode == 0


def test_slurm_refuses_what_it_has_not(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(slurm_text(run_of(estimated("llama-3.1-8b", "cluster.nodes=9000"))))
    told = sbatch(script, "--test-only", partition="wide")
    assert told.returncode != 0
    assert "not available" in told.stderr


TORCHRUN = """#!{python}
'''A stand-in for torchrun: prints what Megatron prints for its arguments, a step every {seconds} s of its clock.'''
import sys
words = sys.argv[1:]
told = dict(zip(words, words[1:]))
nodes, each = (int(word.partition("=")[2]) for word in words[:2])
print(f"using world size: {{nodes * each}}, data-parallel size: {{nodes * each}}")
print(f"  seq_length ...................................... {{told['--seq-length']}}")
total, batch = int(told["--train-iters"]), int(told["--global-batch-size"])
for step in range(1, 101):
    spent = 1000 * {seconds}
    print(f" [2026-11-29 10:00:00] iteration {{step:8d}}/{{total:8d}} | consumed samples: {{step * batch:12d}} | "
          f"elapsed time per iteration (ms): {{spent:.1f}} | global batch size: {{batch:5d}} |")
"""


def test_a_rung_runs_and_its_log_is_calibrated_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 4.0
    tool = tmp_path / "bin" / "torchrun"
    tool.parent.mkdir()
    tool.write_text(TORCHRUN.format(python=sys.executable, seconds=seconds))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TRAIN_PROGRAM", "pretrain_gpt.py")
    plan = tmp_path / "plan.toml"
    plan.write_text((PLANS / "llama-3.1-8b.toml").read_text(encoding="utf-8"))
    found = run_of(estimated("llama-3.1-8b"), "one-node")
    script = tmp_path / "run.sh"
    script.write_text(slurm_text(found))

    told = sbatch(script, "--wait", partition="here", timeout=120.0)
    (log,) = tmp_path.glob("*.out")
    assert told.returncode == 0, told.stderr + log.read_text()
    assert "using world size: 8" in log.read_text()
    assert main(["calibrate", str(plan), str(log), "--write"]) == 0
    claim = tomllib.loads(plan.read_text())["utilization"]
    rate = 8 * 8192 / (seconds * 8)
    flops = float(found.estimate.speed.flops_per_token)  # type: ignore[arg-type]
    peak = float(found.estimate.speed.peak_flops)  # type: ignore[arg-type]
    assert claim["value"] == pytest.approx(rate * flops / peak, rel=1e-3)
    assert claim["evidence"] == "measured-node", "8 of 1,024 accelerators"
    assert log.name in claim["source"]


def test_a_script_without_its_program_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAIN_PROGRAM", raising=False)
    script = tmp_path / "run.sh"
    script.write_text(slurm_text(run_of(estimated("llama-3.1-8b"), "one-node")))
    told = sbatch(script, "--wait", partition="here", timeout=120.0)
    (log,) = tmp_path.glob("*.out")
    assert told.returncode != 0
    assert "TRAIN_PROGRAM: set it to the training program" in log.read_text()
