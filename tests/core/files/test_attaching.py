"""A file as evidence: its hash, size, time and job; what cannot be evidence says why and never hangs."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from trainplan.files.attaching import EvidenceError, evidence_of_file, job_of


def test_hash_size_time_and_job_are_the_files(tmp_path: Path) -> None:
    path = tmp_path / "one-node-48213.out"
    path.write_bytes(b"step 1\n")
    os.utime(path, (1_764_000_000, 1_764_000_000))
    found, out = evidence_of_file(tmp_path, path)
    assert (found.path, found.sha256) == ("one-node-48213.out", hashlib.sha256(b"step 1\n").hexdigest())
    assert (found.size, found.modified, found.job, out) == (7, "2025-11-24T16:00:00+00:00", "48213", "")


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("slurm-48213.out", "48213"),
        ("run-48213_7.err", "48213"),
        ("48213.log", "48213"),
        ("llama-8b.log", ""),
        ("run.log", ""),
        ("2026.toml", ""),
    ],
)
def test_the_job_is_read_from_names_as_slurm_writes_them(name: str, job: str) -> None:
    assert job_of(name) == job


def test_what_cannot_be_evidence_says_why(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 100 * 2**30)
    for name, says in (
        ("absent", "missing"),
        ("fifo", "not a regular file"),
        ("big", "are read at most"),
        (".", "regular"),
    ):
        with pytest.raises(EvidenceError, match=says):
            evidence_of_file(tmp_path, tmp_path / name, limit=5.0)


def test_a_link_out_of_the_plans_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "log").write_text("x", encoding="utf-8")
    (tmp_path / "plan" / "log").symlink_to(tmp_path / "log")
    assert evidence_of_file(tmp_path / "plan", tmp_path / "plan" / "log")[1] == str((tmp_path / "log").resolve())
