"""`calibrate` with sacct output: one's own failure rate beside the plan's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Figure
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


def test_write_changes_the_rate_and_has_no_failure_beside_it(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every failure is in the rate; a fixed one a day beside it was counted twice."""
    before = plan.read_text(encoding="utf-8").splitlines()
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt"), "--write"]) == 0
    after = plan.read_text(encoding="utf-8").splitlines()
    own = ("failures_per_node_day", "fixed_failures_per_day")
    kept = [[line for line in text if not line.startswith(own)] for text in (before, after)]
    assert kept[0] == kept[1]
    found = open_plan(plan).plan
    assert found.reliability.failures_per_node_day == pytest.approx(8e-4)
    assert found.reliability.fixed_failures_per_day == 0.0
    nodes = estimate(found).situation["cluster.nodes"]
    assert isinstance(nodes, Figure)
    assert float(estimate(found).faults.mtbf) == pytest.approx(86400.0 / (8e-4 * float(nodes)))
    out = capsys.readouterr().out
    assert "95 % range" in out
    assert "fixed_failures_per_day = 0: the rate has every failure in it" in out
    assert "FAILED" not in out, "no job is"


def test_failed_jobs_are_said_where_there_are_some(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "jobs.txt").write_text(SACCT.replace("4|NODE_FAIL", "4|FAILED"), encoding="utf-8")
    assert main(["calibrate", str(plan), str(plan.parent / "jobs.txt")]) == 0
    assert "FAILED counts as a failure" in capsys.readouterr().out


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
