"""Checks of a login node: a clean checkout passes, a dirty one, a destructive script and what hangs are named."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan


def checked(folder: Path, **paths: str) -> dict[str, tuple[str, str]]:
    plan = Plan.model_validate({"format": 1, "paths": paths})
    return {one.check: (one.verdict, one.found) for one in automatic_checks(folder, plan, 5.0)}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "train.py").write_text("loss = 1\n")
    who = ("-c", "user.name=kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "start")):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return folder


def test_what_is_not_named_is_not_checked(tmp_path: Path) -> None:
    assert checked(tmp_path) == {}


def test_a_clean_checkout_passes_and_a_dirty_one_is_named(tmp_path: Path, code: Path) -> None:
    found = checked(tmp_path, code="code")
    assert {verdict for verdict, _ in found.values()} == {"passed"}
    assert len(found["revision"][1]) == 40
    (code / "train.py").write_text("loss = 2\n")
    verdict, told = checked(tmp_path, code="code")["clean tree"]
    assert verdict == "failed"
    assert "train.py" in told


def test_checking_writes_nothing(tmp_path: Path, code: Path) -> None:
    def state() -> list[tuple[str, int]]:
        return sorted((str(path), path.stat().st_mtime_ns) for path in code.rglob("*"))

    os.utime(code / "train.py", (1, 1))
    before = state()
    checked(tmp_path, code="code")
    assert state() == before


def test_a_folder_without_git_fails(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    assert checked(tmp_path, code="code")["revision"][0] == "failed"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("rm -rf $OUT", "failed"),
        ("rm -f -r old", "failed"),
        ("find . -name x -delete", "failed"),
        ("rm \\\n  -rf $OUT", "failed"),
        ("rm --recursive old", "failed"),
        ("find . -name x -exec rm {} +", "failed"),
        ("rsync -a --delete a b", "failed"),
        ("git clean -fdx", "failed"),
        ("git -C code reset --hard", "failed"),
        ("dd if=/dev/zero of=/dev/sda", "failed"),
        ("aws s3 rm --recursive s3://bucket", "failed"),
        ("git clean -n", "passed"),
        ("# rm -rf $OUT", "passed"),
        ("rm -f lock", "passed"),
        ("srun torchrun", "passed"),
    ],
)
def test_a_destructive_line_is_named(tmp_path: Path, line: str, verdict: str) -> None:
    (tmp_path / "run.sh").write_text(f"#!/bin/bash\n{line}\n")
    found = checked(tmp_path, launch_script="run.sh")["launch script removes nothing"]
    assert found[0] == verdict
    assert verdict == "passed" or found[1].startswith("line 2")


def test_a_fifo_and_a_missing_script_are_told_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.sh")
    started = time.monotonic()
    assert checked(tmp_path, launch_script="run.sh")["launch script removes nothing"][0] == "failed"
    assert checked(tmp_path, launch_script="gone.sh")["launch script removes nothing"][0] == "failed"
    assert time.monotonic() - started < 5


def test_a_container_is_named_by_digest(tmp_path: Path) -> None:
    assert checked(tmp_path, container=f"train@sha256:{'a' * 64}")["container digest"][0] == "passed"
    assert checked(tmp_path, container="train:latest")["container digest"][0] == "failed"


def test_space_is_told(tmp_path: Path) -> None:
    verdict, told = checked(tmp_path, checkpoints=".")["space for checkpoints"]
    assert verdict == "passed"
    assert "TB free" in told
