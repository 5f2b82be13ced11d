"""Days after today: what a plan says was done on them is not done, in findings, figures and the review."""

from __future__ import annotations

import datetime as dt
import typing
from typing import Any

import pytest
from pydantic import BaseModel

from trainplan.checks import findings
from trainplan.checks.dates import DATED
from trainplan.finding import Finding
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Blocked

TO_COME = {"start", "deadline", "waiver_until"}
"""Days on which something will be."""

OF_THE_RECORD = {"signed_at"}
"""Held against the clock where the record is read."""

AHEAD = {
    "utilization.date": ("C4", "the evidence of utilization is dated 2027-01-05, after today: not done yet"),
    "data.preprocessing_changed": (
        "D19",
        "the last change of the preprocessing is dated 2027-01-05, after today: not done yet",
    ),
    "data.sources.web.built": ("D19", "shards of web are dated 2027-01-05, after today: not done yet"),
    "storage.last_restore_drill": ("S10", "the restore drill is dated 2027-01-05, after today: not done yet"),
}


def of(found: Any, path: str) -> list[Finding]:
    return [one for one in findings(found) if path in one.paths and "after today" in one.message]


@pytest.mark.parametrize("path", AHEAD)
def test_a_day_after_today_is_no_day_on_which_it_was_done(varied: Any, path: str) -> None:
    code, message = AHEAD[path]
    (finding,) = of(varied(f"{path}=2027-01-05"), path)
    assert (finding.code, finding.severity, finding.message) == (code, "warning", message)
    assert finding.fix == "the day on which it was done"
    assert not of(varied(f"{path}=2026-12-01"), path), "today is a day on which it was done"
    assert not of(varied(f"{path}=2027-01-05", today=None), path), "nothing is after no day"


def test_a_drill_to_come_has_no_age_and_measured_no_restart(varied: Any) -> None:
    ahead = varied("storage.last_restore_drill=2027-01-05")
    age = ahead.quantities["storage.restore_drill_age"]
    assert isinstance(age, Blocked)
    assert age.code == "S10"
    assert "R3" not in {one.code for one in findings(ahead)}
    assert "R3" in {one.code for one in findings(varied("storage.last_restore_drill=2026-11-30"))}


def test_a_change_to_come_makes_no_shards_old(varied: Any) -> None:
    found = findings(varied("data.preprocessing_changed=2027-01-05", "data.sources.web.built=2026-11-01"))
    assert [one.paths for one in found if one.code == "D19"] == [("data.preprocessing_changed",)]


def test_every_date_of_the_plan_is_told_apart(planned: Any) -> None:
    fields = {name for table in _tables(type(planned())) for name, field in table.model_fields.items() if _dated(field)}
    every = plan_of_text(
        "format = 1\n[utilization]\ndate = 2026-01-01\n[data]\npreprocessing_changed = 2026-01-01\n"
        '[[data.sources]]\nname = "web"\nbuilt = 2026-01-01\n[storage]\nlast_restore_drill = 2026-01-01\n',
        "plan.toml",
    )
    told = {path.rsplit(".", 1)[1] for row in DATED for path, day in row[-1](every) if day is not None}
    assert fields - TO_COME - OF_THE_RECORD == told


def _dated(field: Any) -> bool:
    return bool({dt.date, dt.datetime} & set(typing.get_args(field.annotation)))


def _tables(table: Any, seen: set[Any] | None = None) -> set[Any]:
    seen = set() if seen is None else seen
    if isinstance(table, type) and issubclass(table, BaseModel):
        if table not in seen:
            seen.add(table)
            for field in table.model_fields.values():
                _tables(field.annotation, seen)
        return seen
    for part in typing.get_args(table):
        _tables(part, seen)
    return seen
