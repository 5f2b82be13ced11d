"""`sources PLAN MANIFEST...`: counts beside the plan, one edit with --write, and refusals that leave the file alone."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from trainplan_tui.cli import main

PLAN = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
[[data.sources]]
name = "web"   # kept
unique_tokens = "13.5T"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def index(path: Path, code: int) -> Path:
    """One document of 500 tokens."""
    data = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, 1, 2) + struct.pack("<iqqq", 500, 0, 0, 1)
    path.write_bytes(data)
    return path


def test_counts_beside_the_plan(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(plan), str(index(plan.parent / "web.idx", 4))]) == 0
    out = capsys.readouterr().out
    assert "13,500,000,000,000" in out
    assert "500" in out
    assert plan.read_text() == PLAN


def test_write_is_one_edit(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = index(plan.parent / "web.idx", 4)
    assert main(["sources", str(plan), str(manifest), "--write"]) == 0
    text = plan.read_text()
    assert "unique_tokens = 500\n" in text
    assert 'name = "web"   # kept' in text
    assert 'manifest = "web.idx"' in text  # told from the plan's folder
    assert main(["sources", str(plan), str(manifest), "--write"]) == 0
    assert "nothing differs" in capsys.readouterr().out
    assert plan.read_text() == text


def test_json_is_one_object(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(plan), str(index(plan.parent / "web.idx", 4)), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["sources"]
    assert found[0]["plan"]["unique_tokens"] == 13.5e12
    assert found[0]["manifest"]["unique_tokens"] == 500
    assert "unique_tokens" in found[0]["changes"]


def test_vocabulary_that_does_not_fit_is_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(plan), str(index(plan.parent / "web.idx", 8)), "--write"]) == 2
    assert "128,256 ids do not fit 2 bytes" in capsys.readouterr().err
    assert plan.read_text() == PLAN


def test_two_manifests_of_one_source_are_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "b").mkdir()
    manifests = [str(index(plan.parent / "web.idx", 4)), str(index(plan.parent / "b" / "web.idx", 4))]
    assert main(["sources", str(plan), *manifests, "--write"]) == 2
    assert "web is in 2 manifests" in capsys.readouterr().err
    assert plan.read_text() == PLAN


def test_set_and_write_are_refused_together(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = str(index(plan.parent / "web.idx", 4))
    assert main(["sources", str(plan), manifest, "--write", "--set", "data.train_tokens=1T"]) == 2
    assert "--set is for one call" in capsys.readouterr().err
    assert plan.read_text() == PLAN
