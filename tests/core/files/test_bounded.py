"""Looking never hangs, writes or follows: a FIFO, a dead mount, a sparse giant, a folder too large, programs that do not answer."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from trainplan.files import bounded
from trainplan.files.automatic import automatic_checks
from trainplan.files.bounded import Unread, answered, content, listing, printed
from trainplan.plan.plan import Plan

PATHS = ("code", "data", "checkpoints", "tokenizer", "launch_script", "manifests")
EVIDENCE = {"sample-batches": "dump.jsonl", "contamination": "report.json", "tokenizer": "vectors.jsonl"}


def plan_over(**more: Any) -> Plan:
    """A plan that names something for every check."""
    data = {"sources": [{"name": "web", "unique_tokens": 100, "manifest": "web.csv"}], "bytes_per_token": 2}
    readiness = [{"item": item, "evidence": [{"path": path}]} for item, path in EVIDENCE.items()]
    checks = [{"metric": "x", "evidence": "run.log"}]
    pilot = [{"rung": "full", "checks": checks}]
    paths = {name: f"{name}.json" if name == "tokenizer" else name for name in PATHS} | {"container": "image.sif"}
    whole = {"format": 1, "paths": paths, "data": data, "readiness": readiness, "pilot": pilot}
    return Plan.model_validate(whole | more)


NAMED = (
    "code",
    "data",
    "checkpoints",
    "tokenizer.json",
    "launch_script",
    "manifests",
    "image.sif",
    "web.csv",
    "run.log",
)
EVERY = (*NAMED, *EVIDENCE.values())


def state(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*"))


def verdicts(folder: Path, limit: float = 5.0) -> dict[str, str]:
    return {one.check: one.verdict for one in automatic_checks(folder, plan_over(), limit)}


def test_a_fifo_in_every_place_is_told_at_once(tmp_path: Path) -> None:
    for name in EVERY:
        os.mkfifo(tmp_path / name)
    started = time.monotonic()
    found = verdicts(tmp_path)
    assert time.monotonic() - started < 5
    assert len(found) >= 14
    passed = {name for name, verdict in found.items() if verdict == "passed"}
    assert passed <= {"space for checkpoints", "quota"}


def test_a_sparse_giant_in_every_place_is_not_read(tmp_path: Path) -> None:
    for name in EVERY:
        with open(tmp_path / name, "wb") as file:
            file.truncate(100 * 10**9)
    started = time.monotonic()
    found = verdicts(tmp_path)
    assert time.monotonic() - started < 5
    passed = {name for name, verdict in found.items() if verdict == "passed"}
    assert passed <= {"space for checkpoints", "quota", "age of dump.jsonl"}


def test_nothing_there_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    found = verdicts(tmp_path)
    assert "passed" not in found.values()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", ["open", "stat", "lstat", "scandir", "statvfs"])
def test_a_dead_mount_costs_the_time_of_one_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """A dead mount does not answer the system call; here the call waits on an event, for paths of the plan's folder."""
    (tmp_path / "code").mkdir()
    (tmp_path / "checkpoints").mkdir()
    for name in ("tokenizer.json", "dump.jsonl", "report.json", "vectors.jsonl", "run.log", "web.csv", "launch_script"):
        (tmp_path / name).write_text("{}")
    real, dead = getattr(os, call), threading.Event()

    def stuck(path: Any, *words: Any, **more: Any) -> Any:
        if str(path).startswith(str(tmp_path)):
            dead.wait(30)
        return real(path, *words, **more)

    monkeypatch.setattr(os, call, stuck)
    started = time.monotonic()
    found = automatic_checks(tmp_path, plan_over(), 0.2)
    passed = time.monotonic() - started
    monkeypatch.undo()
    dead.set()
    assert passed < 3, "all checks together take the time of one"
    assert any("no answer within 0.4 s" in one.found for one in found)
    assert all(one.verdict == "unknown" for one in found if "no answer" in one.found)


def test_a_program_that_never_answers_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/child\nsleep 60\n")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    (tmp_path / "code").mkdir()
    started = time.monotonic()
    plan = Plan.model_validate({"format": 1, "paths": {"code": "code"}})
    found = automatic_checks(tmp_path, plan, 0.5)
    assert time.monotonic() - started < 4
    assert [(one.verdict, one.found) for one in found] == [("unknown", "git did not answer within 0.5 s")] * 3
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline and Path(f"/proc/{child}/stat").exists():
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{child}").exists(), "the child of the program still runs"


def test_a_folder_with_too_many_files_is_left_after_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured once with 1,000,000 real files and the real limit; here the limit is 2,000."""
    monkeypatch.setattr(bounded, "ENTRIES", 2_000)
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2_050):
        os.close(os.open(folder / f"{number}.bin", os.O_CREAT | os.O_WRONLY))
    found = listing(folder)
    assert not found.whole
    assert len(found.files) == 2_000
    plan = Plan.model_validate({"format": 1, "paths": {"data": "data", "manifests": "data"}})
    for one in automatic_checks(tmp_path, plan, 5.0):
        assert one.verdict == "unknown", one
        assert "more than 2,000 files" in one.found


def test_links_in_a_folder_are_counted_and_not_followed(tmp_path: Path) -> None:
    folder, other = tmp_path / "data", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "b.bin").write_bytes(b"12345678")
    (folder / "a.bin").write_bytes(b"1234")
    (folder / "b.bin").symlink_to(other / "b.bin")
    (folder / "round").symlink_to(folder)
    found = listing(folder)
    assert [(path.name, size) for path, size in found.files] == [("a.bin", 4)]
    assert found.links == 2
    plan = Plan.model_validate({"format": 1, "paths": {"data": "data"}})
    (one,) = automatic_checks(tmp_path, plan, 5.0)
    assert "2 links not followed" in one.found


def test_a_named_link_out_of_the_folder_is_followed_and_said(tmp_path: Path) -> None:
    folder, other = tmp_path / "plan", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "run.sh").write_text("srun train\n")
    (folder / "run.sh").symlink_to(other / "run.sh")
    plan = Plan.model_validate({"format": 1, "paths": {"launch_script": "run.sh"}})
    (one,) = automatic_checks(folder, plan, 5.0)
    assert one.verdict == "passed"
    assert f"a link leads out of the plan's folder, to {(other / 'run.sh').resolve()}" in one.found


def test_checking_changes_nothing(tmp_path: Path) -> None:
    for name in ("code", "data", "checkpoints", "manifests"):
        (tmp_path / name).mkdir()
    (tmp_path / "manifests" / "web.csv").write_text("name,tokens\nweb,100\n")
    for name in ("tokenizer.json", "dump.jsonl", "report.json", "vectors.jsonl", "run.log", "web.csv", "launch_script"):
        (tmp_path / name).write_text("{}\n")
    before = state(tmp_path)
    verdicts(tmp_path)
    assert state(tmp_path) == before


def test_no_permission_is_unknown(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        with pytest.raises(Unread) as caught:
            content(Path("/proc/self/mem"), 100)
        assert caught.value.verdict == "unknown"
        return
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)
    with pytest.raises(Unread) as caught:
        content(tmp_path / "a", 100)
    assert caught.value.verdict == "unknown"


def test_reading_stops_at_the_limit_whatever_stat_says(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert content(path, 100) == b"x" * 100
    with pytest.raises(Unread, match="100 bytes"):
        content(path, 99)
    assert stat.S_ISREG(os.stat("/proc/self/status").st_mode)
    assert len(content(Path("/proc/self/status"), 10)) == 10, "a file of /proc says 0 bytes and holds more"


def test_programs_print_and_exit(tmp_path: Path) -> None:
    assert printed(["sh", "-c", "echo a; exit 3"], 5.0) == (3, "a")
    assert answered(lambda: 7, 5.0) == 7
