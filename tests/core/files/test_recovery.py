"""The journal of unsaved edits: what survives an end of any kind, who may read it, and what is not offered."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from trainplan.files.folders import recovery_folder, state_folder
from trainplan.files.recovery import Edits, Journal, Lost, Session, drop, find, lost_sessions, process_mark

HASH = "3f9c" + "0" * 60
EDITS: Edits = {("data", "train_tokens"): '"15.6T"', ("data", "sources", 0, "weight"): None}
ENDED = Session("login02", "pts/4", "2026-11-29T01:00:00Z", pid=2**22 + 5, process="17")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "recover"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return tmp_path / "llama31-8b.toml"


def lost(folder: Path, plan: Path, host: str = "login02") -> Lost:
    found = find(plan, folder, host)
    assert found is not None
    return found


def test_edits_of_a_killed_session_are_found(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    assert journal.record("0000", {("x",): "1"}, "2026-11-29T02:00:00Z")
    assert journal.record(HASH, EDITS, "2026-11-29T02:14:00Z")
    found = lost(folder, plan)
    assert found.edits == EDITS
    assert (found.path, found.text_hash, found.at) == (plan, HASH, "2026-11-29T02:14:00Z")
    assert (found.session, found.cause, found.elsewhere) == (ENDED, "", False)


def test_the_cause_and_time_of_an_end_are_kept(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    journal.record(HASH, EDITS, "02:00")
    journal.close(clean=False, cause="hangup", at="02:14")
    found = lost(folder, plan)
    assert (found.cause, found.at, found.edits) == ("hangup", "02:14", EDITS)


def test_only_this_user_can_read_it_and_its_name_says_what_it_is(folder: Path, plan: Path) -> None:
    before = os.umask(0)
    try:
        Journal(folder, plan, ENDED).record(HASH, EDITS, "")
        Journal(folder, plan, ENDED).record(HASH, EDITS, "")
    finally:
        os.umask(before)
    assert sorted(os.listdir(folder)) == ["llama31-8b-3f9c", "llama31-8b-3f9c-2"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_nothing_is_written_before_the_first_edit(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    assert journal.record(HASH, {}, "")
    journal.close(clean=False, cause="hangup")
    assert not folder.exists()


def test_a_clean_end_leaves_nothing(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    journal.record(HASH, EDITS, "")
    journal.synced()
    journal.close(clean=True)
    journal.close(clean=True)
    assert os.listdir(folder) == []


def test_saved_and_undone_edits_are_not_lost(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    journal.record(HASH, EDITS, "")
    journal.record("aaaa", {}, "")
    assert find(plan, folder, "login02") is None
    journal.record("aaaa", {("y",): "2"}, "")
    assert lost(folder, plan).edits == {("y",): "2"}
    assert lost(folder, plan).text_hash == "aaaa"


def test_a_torn_line_costs_only_itself(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    journal.record(HASH, EDITS, "")
    assert journal.file is not None
    whole = journal.file.read_bytes()
    journal.record(HASH, {("x",): "1"}, "")
    torn = journal.file.read_bytes()
    for length in range(len(whole), len(torn) - 1):
        journal.file.write_bytes(torn[:length])
        assert lost(folder, plan).edits == EDITS
    journal.file.write_bytes(torn)
    assert lost(folder, plan).edits == {("x",): "1"}


def test_the_whole_plan_is_never_written(folder: Path, plan: Path) -> None:
    journal = Journal(folder, plan, ENDED)
    plan.write_text("secret = 1\n")
    journal.record(HASH, EDITS, "t")
    assert journal.file is not None
    lines = [json.loads(line) for line in journal.file.read_text().splitlines()]
    assert [set(line) for line in lines[1:]] == [{"text", "at", "edits"}]
    assert "secret" not in journal.file.read_text()


def test_the_newest_is_found_and_a_dropped_one_is_gone(folder: Path, plan: Path) -> None:
    for at, literal in (("02", "2"), ("03", "3"), ("01", "1")):
        Journal(folder, plan, ENDED).record(HASH, {("x",): literal}, at)
    assert lost(folder, plan).edits == {("x",): "3"}
    assert drop(lost(folder, plan))
    assert lost(folder, plan).edits == {("x",): "2"}
    assert len(lost_sessions(folder, "login02")) == 2


def test_other_plans_are_not_mixed_up_and_links_are_the_plan(folder: Path, plan: Path) -> None:
    plan.touch()
    plan.with_name("link").symlink_to(plan)
    Journal(folder, plan.with_name("link"), ENDED).record(HASH, EDITS, "")
    assert find(plan.with_name("other.toml"), folder, "login02") is None
    assert lost(folder, plan.with_name("link")).path == plan


def test_a_session_that_runs_is_not_lost(folder: Path, plan: Path) -> None:
    running = Session("login02", "pts/4", "", os.getpid(), process_mark(os.getpid()))
    Journal(folder, plan, running).record(HASH, EDITS, "")
    assert find(plan, folder, "login02") is None
    assert lost(folder, plan, "login01").elsewhere
    later = Session("login02", "pts/4", "", os.getpid(), "1")  # the number of a process that ended, in use again
    Journal(folder, plan, later).record(HASH, {("x",): "1"}, "")
    assert lost(folder, plan).edits == {("x",): "1"}


def test_a_session_without_a_process_mark_is_known_by_its_number(folder: Path, plan: Path) -> None:
    Journal(folder, plan, Session("login02", "", "", os.getpid())).record(HASH, EDITS, "")
    assert find(plan, folder, "login02") is None
    Journal(folder, plan, Session("login02", "", "", 2**22 + 5)).record(HASH, EDITS, "")
    assert lost(folder, plan).edits == EDITS


def test_what_is_no_journal_is_passed_over(folder: Path, plan: Path) -> None:
    assert find(plan, folder, "login02") is None
    folder.mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "bytes").write_bytes(b"\xff\x00\n[1]\n" + b"[" * 100_000)
    (folder / "later").write_text('{"journal": 2, "path": "/x"}\n{"edits": [[["x"], "1"]]}\n')
    (folder / "wrong").write_text(f'{{"journal": 1, "path": "{plan}", "pid": "x"}}\n{{"edits": {{"x": 1}}}}\n')
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/dev/zero")
    os.mkfifo(folder / "fifo")
    assert lost_sessions(folder, "login02") == ()
    (folder / "partly").write_text(
        f'{{"journal": 1, "path": "{plan}"}}\n{{"edits": [[["x"], "1"], [[], "2"], [["y"], 3], 4, [[null], "5"]]}}\n'
    )
    assert lost(folder, plan).edits == {("x",): "1"}


def test_a_folder_that_cannot_be_written_is_said_and_stops_nothing(tmp_path: Path, plan: Path) -> None:
    (tmp_path / "file").touch()
    journal = Journal(tmp_path / "file" / "recover", plan, ENDED)
    assert not journal.record(HASH, EDITS, "")
    assert journal.failure.startswith("unsaved edits are not kept: Not a directory in ")
    journal.close(clean=False, cause="hangup")
    (tmp_path / "file").unlink()
    assert journal.record(HASH, EDITS, "")
    assert journal.failure == ""


def test_a_full_disk_leaves_no_headless_journal(folder: Path, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, write = Journal(folder, plan, ENDED), os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:9]))
    assert not journal.record(HASH, EDITS, "")
    assert journal.failure.startswith("unsaved edits are not kept: No space left on device in ")
    assert os.listdir(folder) == []
    monkeypatch.setattr(os, "write", write)
    assert journal.record(HASH, EDITS, "")
    assert lost(folder, plan).edits == EDITS


def test_edits_survive_a_kill_of_the_process(folder: Path, plan: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from trainplan.files.recovery import *\n"
        "me = os.getpid(); session = Session('h', 't', '', me, process_mark(me))\n"
        "journal = Journal(Path(sys.argv[1]), Path(sys.argv[2]), session)\n"
        "journal.record('3f9c', {('x',): '1'}, 'now'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    core = Path(__file__).resolve().parents[3] / "core"
    command = [sys.executable, "-c", code, os.fspath(folder), os.fspath(plan)]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": os.fspath(core)}, timeout=60, check=False)
    assert result.returncode == -signal.SIGKILL
    assert lost(folder, plan, "h").edits == {("x",): "1"}


def test_the_state_folder_is_where_the_user_keeps_state() -> None:
    assert state_folder({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/trainplan-tui")
    assert state_folder({"XDG_STATE_HOME": "s", "HOME": "/h"}) == Path("/h/.local/state/trainplan-tui")
    assert recovery_folder({"HOME": "/h"}) == Path("/h/.local/state/trainplan-tui/recover")
