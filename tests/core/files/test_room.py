"""Space, quota and reservation: programs of the cluster stood in by scripts on PATH, with the output that they print."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import given


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def tool(folder: Path, name: str, output: str, status: int = 0) -> None:
    (folder / f"{name}.out").write_text(output)
    (folder / name).write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/{name}.calls\ncat {folder}/{name}.out\nexit {status}\n'
    )
    (folder / name).chmod(0o755)


def found(folder: Path, check: str, checkpoint: float = 0.0, **tables: Any) -> tuple[str, str] | None:
    whole = {"format": 1, "paths": {"checkpoints": "ckpt", "launch_script": "run.sh"}, **tables}
    quantities = {
        "storage.checkpoint": given("storage.checkpoint", checkpoint, "bytes", "test"),
        "compute.wall_time": given("compute.wall_time", 10 * 86_400.0, "s", "test"),
    }
    (folder / "ckpt").mkdir(exist_ok=True)
    looked = automatic_checks(folder, Plan.model_validate(whole), 5.0, quantities=quantities)
    return next(((one.verdict, one.found) for one in looked if one.check == check), None)


def test_space_for_one_checkpoint(tmp_path: Path) -> None:
    told = found(tmp_path, "space for checkpoints", 1e3)
    assert told is not None
    assert told[0] == "passed"
    told = found(tmp_path, "space for checkpoints", 1e18)
    assert told is not None
    assert told[0] == "failed"
    assert "one checkpoint takes 1,000,000.000 TB" in told[1]


LUSTRE = "     /lustre/very/long/path\n                {used} {soft} {hard} {grace} 10 0 0 -\n"


@pytest.mark.parametrize(
    ("used", "soft", "hard", "verdict"),
    [
        ("1000", "0", "0", "passed"),
        ("1000", "0", "2000000", "passed"),
        ("2000000*", "0", "2000000", "failed"),
        ("1999999", "1500000", "2000000", "failed"),
    ],
)
def test_a_lustre_quota_is_read(tmp_path: Path, tools: Path, used: str, soft: str, hard: str, verdict: str) -> None:
    tool(tools, "lfs", LUSTRE.format(used=used, soft=soft, hard=hard, grace="-"))
    told = found(tmp_path, "quota", 1e6)
    assert told is not None
    assert told[0] == verdict, told
    assert (tools / "lfs.calls").read_text() == f"quota -q -u {os.getuid()} {tmp_path}/ckpt\n"


def test_a_quota_below_one_checkpoint_fails(tmp_path: Path, tools: Path) -> None:
    tool(tools, "lfs", LUSTRE.format(used=0, soft=0, hard=1000, grace="-"))
    assert found(tmp_path, "quota", 1e6) == ("passed", "0.000 TB of 0.000 TB used")
    told = found(tmp_path, "quota", 2e6)
    assert told is not None
    assert told[0] == "failed"


def test_a_local_quota_is_that_of_the_folders_file_system(tmp_path: Path, tools: Path) -> None:
    rows = "Disk quotas for user kim (uid 1000): \n"
    rows += "     Filesystem   space   quota   limit   grace   files   quota   limit   grace\n"
    tool(
        tools,
        "quota",
        f"{rows}  /  500 1000 2000 0 1 0 0 0\n  {tmp_path} 3000 1000 2000 0 1 0 0 0\n  {tmp_path}/other 1 2 3 0 1 0 0 0\n",
    )
    told = found(tmp_path, "quota")
    assert told is not None
    assert told[0] == "failed"
    assert "used up" in told[1]
    tool(tools, "quota", f"{rows}  /  500 1000 2000 0 1 0 0 0\n")
    assert found(tmp_path, "quota") == ("passed", "0.000 TB of 0.000 TB used")
    tool(tools, "quota", "", 1)
    assert found(tmp_path, "quota") == ("unknown", "no quota is told for this folder")


def test_a_quota_that_does_not_answer_is_unknown(tmp_path: Path, tools: Path) -> None:
    tool(tools, "lfs", "")
    (tools / "lfs").write_text("#!/bin/sh\nexec sleep 60\n")
    plan = Plan.model_validate({"format": 1, "paths": {"checkpoints": "."}})
    told = {one.check: (one.verdict, one.found) for one in automatic_checks(tmp_path, plan, 0.3)}
    assert told["quota"] == ("unknown", "lfs did not answer within 0.3 s")
    assert told["space for checkpoints"][0] == "passed"


HELD = (
    "ReservationName=train StartTime={start}T00:00:00 EndTime={end}T00:00:00 Duration=30-00:00:00 Nodes=n[1-64] "
    "NodeCnt={count} CoreCnt=512 Features=(null) PartitionName=gpu Flags= Users=kim State=INACTIVE\n"
)
RUN = {"cluster": {"nodes": 60}, "reliability": {"spare_nodes": 4}, "schedule": {"start": dt.date(2026, 12, 7)}}


@pytest.mark.parametrize(
    ("start", "end", "count", "verdict"),
    [
        ("2026-12-01", "2027-01-01", 64, "passed"),
        ("2026-12-01", "2027-01-01", 63, "failed"),
        ("2026-12-08", "2027-01-01", 64, "failed"),
        ("2026-12-01", "2026-12-10", 64, "failed"),
    ],
)
def test_a_reservation_covers_nodes_and_days(
    tmp_path: Path, tools: Path, start: str, end: str, count: int, verdict: str
) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/bash\n#SBATCH --reservation=train\nsrun x\n")
    tool(tools, "scontrol", HELD.format(start=start, end=end, count=count))
    told = found(tmp_path, "reservation", **RUN)
    assert told is not None
    assert told[0] == verdict, told
    assert (tools / "scontrol.calls").read_text() == "show reservation train --oneliner\n"


def test_an_unknown_reservation_fails_and_one_that_is_not_named_is_not_checked(tmp_path: Path, tools: Path) -> None:
    (tmp_path / "run.sh").write_text("#SBATCH --reservation=train\n")
    tool(tools, "scontrol", "Reservation train not found\n", 1)
    assert found(tmp_path, "reservation", **RUN) == ("failed", "Slurm tells no reservation train")
    tool(tools, "scontrol", "", 1)
    assert found(tmp_path, "reservation", **RUN) == ("unknown", "Slurm tells no reservation train")
    (tmp_path / "run.sh").write_text("srun x\n")
    assert found(tmp_path, "reservation", **RUN) is None


def test_without_scontrol_a_reservation_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "run.sh").write_text("#SBATCH --reservation train\n")
    assert found(tmp_path, "reservation", **RUN) == ("unknown", "train is not looked up: there is no scontrol here")
