"""The contamination report: it parses, says its method, and agrees with the plan; every fault made."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan

REPORT: dict[str, Any] = {
    "method": "13-gram overlap",
    "n": 13,
    "date": "2026-11-20",
    "harness_revision": "0123abc",
    "tasks": {"mmlu": {"contaminated": 12, "version": "1.0"}, "gsm8k": {"contaminated": 0, "version": "3.0"}},
}


def found(
    folder: Path, report: Any, revision: str = "0123abc", built: dt.date | None = None, now: dt.datetime | None = None
) -> tuple[str, str]:
    (folder / "report.json").write_text(report if isinstance(report, str) else json.dumps(report))
    whole = {
        "format": 1,
        "data": {"sources": [{"name": "web", "built": built}]},
        "evaluation": {"harness_revision": revision, "tasks": [{"task": "mmlu"}, {"task": "gsm8k"}]},
        "readiness": [{"item": "contamination", "evidence": [{"path": "report.json"}]}],
    }
    looked = automatic_checks(folder, Plan.model_validate(whole), 5.0, now=now)
    (one,) = [one for one in looked if one.check == "report report.json"]
    return one.verdict, one.found


def test_a_report_that_agrees_passes(tmp_path: Path) -> None:
    assert found(tmp_path, REPORT) == ("passed", "13-gram overlap, n = 13, 2 tasks, 2026-11-20")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"method": ""}, "does not say method"),
        ({"tasks": {"mmlu": {"contaminated": 1}}}, "not in the report: gsm8k"),
        ({"tasks": {**REPORT["tasks"], "arc": {"contaminated": 1}}}, "not in the plan: arc"),
        ({"tasks": {"mmlu": {"contaminated": 1}, "gsm8k": {}}}, "gsm8k has no count"),
        ({"tasks": ["mmlu"]}, "no table by task"),
        ({"harness_revision": "fff0000"}, "harness fff0000 in the report, 0123abc in the plan"),
        ({"date": "yesterday"}, "the report's date is yesterday"),
    ],
)
def test_what_does_not_agree_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    verdict, sentence = found(tmp_path, REPORT | change)
    assert verdict == "failed"
    assert told in sentence


def test_a_report_of_a_day_to_come_fails(tmp_path: Path) -> None:
    now = dt.datetime(2026, 11, 19, tzinfo=dt.UTC)
    assert found(tmp_path, REPORT, now=now) == ("failed", "the report is dated 2026-11-20, which is in the future")
    assert found(tmp_path, REPORT, now=now + dt.timedelta(days=1))[0] == "passed"


def test_a_report_older_than_a_source_and_a_broken_one_fail(tmp_path: Path) -> None:
    assert found(tmp_path, REPORT, built=dt.date(2026, 11, 19))[0] == "passed"
    assert "web was built on 2026-11-21" in found(tmp_path, REPORT, built=dt.date(2026, 11, 21))[1]
    for broken in ("{", "[]", "[" * 20_000):
        assert found(tmp_path, broken)[0] in ("failed", "unknown")
