"""`calibrate PLAN LOG...`: both beside each other, one edit with --write, refusals that leave the file alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainplan_tui.cli import main

PLAN = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
train_tokens = "1T"
sequence_length = 8192
[batch]
global_batch_sequences = 1024
[cluster]
accelerator = "h100-sxm"
nodes = 16
[utilization]
value = 0.40   # a wish
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    lines = [
        f"[rank0]:[titan] 2026-11-02 10:00:00 - root - INFO - step: {i}  loss: 2.0  memory: 60.00GiB(75.80%)  tps: 7,000  mfu: 36%"
        for i in range(1, 200)
    ]
    path.write_text("\n".join(lines))
    return path


def test_logs_of_two_lengths_count_in_any_order(
    plan: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both begin in one minute with step 1: the second was taken for another rank's, and no step was found."""
    text = log.read_text()
    short = tmp_path / "short.log"
    for path, length, rate in ((log, 8192, "7,000"), (short, 4096, "7,500")):
        head = f"[titan] 2026-11-02 10:00:00 - root - INFO - global batch size 1024, sequence length {length}\n"
        path.write_text(head + text.replace("tps: 7,000", f"tps: {rate}"))
    for logs in ((log, short), (short, log)):
        assert main(["calibrate", str(plan), *map(str, logs)]) == 0
        out = capsys.readouterr().out
        assert "179 of 199 steps used" in out
        assert "8,192 tokens at " in out
        assert "4,096 tokens at " in out
        assert "utilization.value" not in out, "no stage of the plan has 4,096"


def test_both_beside_each_other(plan: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(plan), str(log)]) == 0
    out = capsys.readouterr().out
    assert "torchtitan, 179 of 199 steps used" in out
    assert "7,000" in out
    assert "utilization.value = 0.3643" in out
    assert plan.read_text() == PLAN


def test_write_is_one_edit(plan: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(plan), str(log), "--write"]) == 0
    text = plan.read_text()
    assert "value = 0.3643   # a wish" in text
    assert 'evidence = "measured-here"' in text
    assert "date = 2026-11-02" in text
    assert "saved plan.toml" in capsys.readouterr().out


def test_json(plan: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(plan), str(log), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measured"]["tokens_per_second_per_accelerator"] == 7000.0
    assert found["measured"]["steps_used"] == 179
    assert found["edits"]["utilization.date"] == "2026-11-02"
    assert found["written"] is False


def test_a_log_without_steps_is_refused(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.log"
    path.write_text("nothing\n")
    assert main(["calibrate", str(plan), str(path), "--write"]) == 2
    assert "no line of a step was found" in capsys.readouterr().err
    assert plan.read_text() == PLAN


def test_set_does_not_go_with_write(plan: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(plan), str(log), "--set", "cluster.nodes=8", "--write"]) == 2
    assert "--set is for one call" in capsys.readouterr().err
    assert plan.read_text() == PLAN


def test_a_rung_takes_what_the_log_says_of_its_checks(
    plan: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(plan), str(log), "--rung", "short-scaled", "--write", "--json"]) == 0
    rate = json.loads(capsys.readouterr().out)
    ratio = rate["rung"]["tokens_per_second_ratio"]
    assert ratio == pytest.approx(7000 / rate["plan"]["tokens_per_second_per_accelerator"], rel=1e-3)
    text = plan.read_text()
    assert text.count("[[pilot]]") == 1
    assert text.count("[[pilot.checks]]") == 7
    assert 'evidence = "run.log"' in text
    assert main(["calibrate", str(plan), str(log), "--rung", "short"]) == 2
    assert "One of unit, one-batch" in capsys.readouterr().err
