"""`export PLAN --to KIND`: text on stdout, exit 2 with a sentence where the plan cannot say it; nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan_tui.cli import main

PLAN = Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml"


def test_both_kinds_print(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(PLAN), "--to", "slurm"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#!/bin/bash\n#SBATCH ")
    assert main(["export", str(PLAN), "--to", "megatron"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("# plan hash ")
    assert "--num-layers 32" in lines
    assert all(f"  {line} \\" in script for line in lines if not line.startswith("#"))


def test_a_field_for_this_call_moves_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(PLAN), "--to", "slurm", "--set", "cluster.nodes=64"]) == 0
    assert "#SBATCH --nodes=64" in capsys.readouterr().out


def test_what_cannot_be_said_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(PLAN), "--to", "megatron", "--set", "training.optimizer=lion"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "training.optimizer" in told.err


TITAN = ["--set", "training.framework=torchtitan", "--set", "parallelism.sharding=zero-3"]
DEEPSPEED = ["--set", "training.framework=deepspeed"]
KINDS = [("slurm", []), ("megatron", []), ("torchtitan", TITAN), ("torchtitan-toml", TITAN), ("deepspeed", DEEPSPEED)]


@pytest.mark.parametrize("rung", ["one-node", "few-nodes", "short-scaled", "full"])
@pytest.mark.parametrize(("kind", "more"), KINDS)
def test_every_kind_prints_a_rung(capsys: pytest.CaptureFixture[str], kind: str, more: list[str], rung: str) -> None:
    assert main(["export", str(PLAN), "--to", kind, "--rung", rung, *more]) == 0
    out = capsys.readouterr().out
    assert (f"rung {rung} of the pilot" in out) is (rung != "full")
    assert "plan hash " in out


def test_an_unknown_rung_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["export", str(PLAN), "--to", "slurm", "--rung", "one-devise"])
    assert caught.value.code == 2
    assert "one-device" in capsys.readouterr().err


def test_errors_of_the_plan_stand_beside_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The text is what the plan says, and stderr says that the plan does not fit; a rung has sizes of its own."""
    wrong = ["--set", "parallelism.sharding=none"]
    assert main(["export", str(PLAN), "--to", "megatron", *wrong]) == 0
    told = capsys.readouterr()
    assert "--num-layers" in told.out
    assert "error M1: rank 0" in told.err
    assert main(["export", str(PLAN), "--to", "megatron"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["export", str(PLAN), "--to", "megatron", "--rung", "one-device", *wrong]) == 0
    assert capsys.readouterr().err == ""
