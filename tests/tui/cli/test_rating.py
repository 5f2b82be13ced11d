"""`calibrate` with sacct output: one's own failure rate beside the plan's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainplan.plan.read import open_plan
from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]
SACCT = """JobID|State|Start|End|NNodes
1|COMPLETED|2026-01-01T00:00:00|2026-01-11T00:00:00|100
1.batch|COMPLETED|2026-01-01T00:00:00|2026-01-11T00:00:00|100
2|NODE_FAIL|2026-01-11T00:00:00|2026-01-16T00:00:00|100
3|CANCELLED by 1000|2026-01-16T00:00:00|2026-01-21T00:00:00|100
4|NODE_FAIL|2026-01-21T00:00:00|2026-01-21T12:00:00|1000
5|PENDING|Unknown|Unknown|100
"""
"""2 failures in 1,000 + 500 + 500 + 500 node-days: 8.0e-4."""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_bytes((ROOT / "plans" / "llama-3.1-8b.toml").read_bytes())
    (tmp_path / "jobs.txt").write_text(SACCT, encoding="utf-8")
    return path


def test_the_rate_stands_beside_the_plans(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measured"]["node_days"] == 2500
    assert found["measured"]["failures_per_node_day"] == pytest.approx(8e-4)
    assert found["measured"]["skipped"] == 1
    assert found["plan"]["failures_per_node_day"] == 0.0065


def test_write_changes_that_field_and_nothing_else(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = plan.read_text(encoding="utf-8").splitlines()
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt"), "--write"]) == 0
    after = plan.read_text(encoding="utf-8").splitlines()
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    assert open_plan(plan).plan.reliability.failures_per_node_day == pytest.approx(8e-4)
    assert "95 % range" in capsys.readouterr().out


def test_no_failure_is_no_rate(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "jobs.txt").write_text("\n".join(SACCT.splitlines()[:2]), encoding="utf-8")
    before = plan.read_bytes()
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt"), "--write"]) == 2
    assert plan.read_bytes() == before
    assert "no failure in 1,000.0 node-days" in capsys.readouterr().err


def test_output_without_nodes_says_which_columns_are_needed(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "jobs.txt").write_text("JobID|State\n1|FAILED\n", encoding="utf-8")
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt")]) == 2
    assert "NNodes" in capsys.readouterr().err


def test_a_pipe_that_nobody_writes_is_refused_and_never_waited_for(plan: Path) -> None:
    """Its first bytes were asked for before anybody looked at what it is, and the call hung."""
    pipe = plan.parent / "train.log"
    os.mkfifo(pipe)
    code = "import sys; from trainplan_tui.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "calibrate", str(plan), str(pipe)]
    environment = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'tui'}"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"{pipe}: this is not a regular file\n"
