"""The example plans: they open without an error, print what the papers print, and say their own ratio to the published run."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Blocked, Figure

PLANS = Path(__file__).resolve().parents[2] / "plans"
NAMES = sorted(path.stem for path in PLANS.glob("*.toml"))
TODAY = dt.date(2026, 12, 1)
UNTIMED = {
    "olmo-2-7b": "no hours of the run were published",
    "smollm2-135m": "the published run was another size, and its time was not published",
}
"""Plans without a published time, and why."""
OPEN = {"none", "C8"}
"""Codes of quantities that are open because nothing asks for them, such as a required utilization without a deadline."""


@cache
def estimated(name: str) -> Estimate:
    return estimate(open_plan(PLANS / f"{name}.toml").plan, TODAY)


def figure(row: dict[str, Any]) -> float:
    found = estimated(row["plan"]).figure(row["key"])
    assert isinstance(found, Figure), f"{row['plan']}: {row['key']} is {found!r}"
    return found


def test_there_are_nine_or_more() -> None:
    assert len(NAMES) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_plan_opens_without_an_error(name: str) -> None:
    errors = [finding.message for finding in findings(estimated(name)) if finding.severity == "error"]
    assert errors == []


@pytest.mark.parametrize("name", NAMES)
def test_plan_states_what_an_example_owes(name: str) -> None:
    plan = estimated(name).plan
    assert plan.schedule.start is not None
    assert plan.cluster.price_per_accelerator_hour is not None
    assert plan.data.sampler is not None
    assert plan.data.sources
    assert plan.utilization.source is not None
    assert plan.storage.write_bandwidth is not None
    assert plan.storage.read_bandwidth is not None


@pytest.mark.parametrize("name", NAMES)
def test_nothing_waits_for_a_field(name: str) -> None:
    """Only the catalogue's gaps and what nothing asks for are open."""
    waiting = {
        key: value.code
        for key, value in estimated(name).quantities.items()
        if isinstance(value, Blocked) and value.code not in OPEN and not value.code.startswith("missing:catalogue.")
    }
    assert waiting == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_the_file_says_where_it_is_from(name: str) -> None:
    """Each table of sizes, speeds and rates is commented, or stands under a comment."""
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    for table in ("storage", "cluster", "utilization", "parallelism"):
        body = re.split(r"(?m)^\[", text.split(f"\n[{table}]", 1)[1])[0]
        assert "#" in body, f"{name}: [{table}] does not say where its numbers are from"


@pytest.mark.golden("published")
def test_published_value(row: dict[str, Any]) -> None:
    if row["kind"] == "agrees":
        assert figure(row) == pytest.approx(float(row["value"]), rel=row["tolerance"], abs=0.0), row["why"]
    else:
        assert row["low"] <= row["value"] / figure(row) <= row["high"], row["why"]


def rows(kind: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "published.toml").read_text(encoding="utf-8")
    return [row for row in tomllib.loads(text)["row"] if row["kind"] == kind]


def test_every_plan_stands_beside_its_published_run() -> None:
    timed = {row["plan"] for row in rows("ratio")}
    assert timed | set(UNTIMED) == set(NAMES)
    assert not timed & set(UNTIMED)


def test_bands_are_narrow_and_hold_the_ratio_off_their_edges() -> None:
    """A band says what is so: it is not wide enough to hide a change of a seventh."""
    for row in rows("ratio"):
        assert row["high"] / row["low"] <= 1.3, f"{row['id']}: the band is too wide to hold anything"


@pytest.mark.parametrize("row", rows("ratio"), ids=lambda row: row["plan"])
def test_head_of_the_plan_says_the_ratio(row: dict[str, Any]) -> None:
    head = (PLANS / f"{row['plan']}.toml").read_text(encoding="utf-8").split("\nformat = 1")[0]
    sentence = " ".join(line.removeprefix("#").strip() for line in head.splitlines())
    said = re.search(r"(?:are|comes? to) (?:[\w.]+ hours, )?(\d+\.\d+)\s+times the estimate", sentence)
    assert said is not None, f"{row['plan']}: the head does not say published over estimated"
    digits = len(said[1].split(".")[1])
    assert round(row["value"] / figure(row), digits) == float(said[1])
