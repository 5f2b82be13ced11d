"""Evidence on the disk: what is the same, missing, changed; what would hang or take for ever is unknown, in time."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest

from trainplan.files.evidence import answered, checked_evidence
from trainplan.review.record import EvidenceHash


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check(folder: Path, path: str, sha256: str = "0" * 64, **limits: float):
    (found,) = checked_evidence(folder, [EvidenceHash(path, sha256)], **limits)  # type: ignore[arg-type]
    return found


def test_the_same_bytes_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("steps")
    assert check(tmp_path, "a.log", hashed("steps")).verdict == "same"
    assert check(tmp_path, "a.log", hashed("steps").upper()).verdict == "same"


def test_missing_and_changed_files_are_broken_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("other steps")
    changed = check(tmp_path, "a.log", hashed("steps"))
    assert changed.verdict == "broken"
    assert hashed("steps")[:8] in changed.message
    assert hashed("other steps")[:8] in changed.message
    missing = check(tmp_path, "b.log")
    assert missing.verdict == "broken"
    assert "missing" in missing.message


def test_without_a_recorded_hash_it_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("steps")
    assert check(tmp_path, "a.log", "").verdict == "unknown"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_said_at_once(tmp_path: Path, make) -> None:
    make(tmp_path / "a.log")
    started = time.monotonic()
    assert check(tmp_path, "a.log").verdict in ("broken", "unknown")
    assert time.monotonic() - started < 5


def test_a_sparse_giant_is_unknown_and_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "a.log", "wb") as file:
        file.truncate(100 * 10**9)
    found = check(tmp_path, "a.log")
    assert found.verdict == "unknown"
    assert "100,000,000,000 bytes" in found.message


def test_a_slow_file_is_unknown_after_its_time(tmp_path: Path) -> None:
    with open(tmp_path / "a.log", "wb") as file:
        file.truncate(7 * 10**9)
    started = time.monotonic()
    found = check(tmp_path, "a.log", limit=0.05)
    assert found.verdict == "unknown"
    assert "0.05 s" in found.message
    assert time.monotonic() - started < 5


def test_work_that_never_answers_is_left_behind() -> None:
    assert answered(lambda: threading.Event().wait(30), 0.05) is None
    assert answered(lambda: 7, 5.0) == 7


def test_a_link_out_of_the_folder_is_followed_and_told(tmp_path: Path) -> None:
    folder, other = tmp_path / "plan", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "a.log").write_text("steps")
    (folder / "a.log").symlink_to(other / "a.log")
    found = check(folder, "a.log", hashed("steps"))
    assert found.verdict == "same"
    assert found.leads_out == str((other / "a.log").resolve())
    assert check(folder, "../other/a.log", hashed("steps")).leads_out == ""


def test_checking_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("steps")
    before = (tmp_path / "a.log").stat().st_mtime_ns, sorted(tmp_path.iterdir())
    check(tmp_path, "a.log")
    check(tmp_path, "b.log")
    assert ((tmp_path / "a.log").stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
