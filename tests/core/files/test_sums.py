"""Configs against the list of hashes that stands in their evidence."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.read import plan_of_text
from trainplan.review.record import Act, EvidenceHash, Record

PLAN = plan_of_text("format = 1\n", "plan.toml")
NOW = dt.datetime(2026, 11, 29, tzinfo=dt.UTC)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Two configs and their list, attached to item configs."""
    lines = list[str]()
    for name in ("model.yaml", "train.yaml"):
        (tmp_path / name).write_text(name, encoding="utf-8")
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}")
    (tmp_path / "configs.sha256").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Record((Act("attach", "configs", "kim", NOW, evidence=(EvidenceHash("configs.sha256", "ab"),)),))


def _verdict(folder: Path, record: Record) -> tuple[str, str]:
    found = automatic_checks(folder, PLAN, record=record)
    return next((one.verdict, one.found) for one in found if one.check == "hashes of configs.sha256")


def test_each_config_has_its_hash(tmp_path: Path, record: Record) -> None:
    assert _verdict(tmp_path, record) == ("passed", "2 of 2 files have their sha256")


def test_a_changed_config_is_named(tmp_path: Path, record: Record) -> None:
    (tmp_path / "train.yaml").write_text("lr = 1", encoding="utf-8")
    verdict, found = _verdict(tmp_path, record)
    assert verdict == "failed"
    assert found.startswith("train.yaml: sha256 ")


def test_a_missing_config_fails_and_a_path_out_of_the_folder_is_not_read(tmp_path: Path, record: Record) -> None:
    (tmp_path / "model.yaml").unlink()
    assert _verdict(tmp_path, record)[0] == "failed"
    (tmp_path / "configs.sha256").write_text(f"{'0' * 64}  ../secret\n", encoding="utf-8")
    verdict, found = _verdict(tmp_path, record)
    assert verdict == "unknown"
    assert "leads out" in found
