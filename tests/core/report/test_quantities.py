"""The CSV says what `show --json` says, exactly, and no cell of it is run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.forecast.finish import forecast
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.report.quantities import COLUMNS, as_csv, guarded
from trainplan.views import asjson
from trainplan_tui.text.printable import printable

PLANS = sorted((Path(__file__).resolve().parents[3] / "plans").glob("*.toml"))


def rows_of(here: Estimate) -> dict[str, dict[str, str]]:
    text = as_csv(here, forecast(here), printable)
    return {row["key"]: row for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)}


def back(row: dict[str, str]) -> dict[str, Any]:
    """A row as `show --json` has it."""
    told = {name: text.removeprefix("'") for name, text in row.items()}
    value = told.pop("value")
    found: dict[str, Any] = {**told, "inputs": json.loads(told["inputs"]), "verified": told["verified"] == "true"}
    del found["key"]
    if told["blocked_by"]:
        assert value == ""
        return {**found, "value": None}
    del found["blocked_by"]
    return {**found, "value": value if told["unit"] == "text" else json.loads(value)}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_read_back_it_is_what_show_says_of_every_quantity(path: Path) -> None:
    here = estimate(open_plan(path).plan)
    told = {
        key: asjson.quantity(key, value, here)
        for key, value in {**here.all_quantities, **forecast(here).quantities}.items()
    }
    assert {key: back(row) for key, row in rows_of(here).items()} == told


def test_of_a_plan_that_says_nothing_every_blocked_value_is_an_empty_cell_with_its_reason() -> None:
    rows = rows_of(estimate(plan_of_text("format = 1\n", "plan.toml")))
    assert rows["compute.cost"]["value"] == ""
    assert rows["compute.cost"]["blocked_by"] == "missing:data.train_tokens"
    assert rows["forecast.finish.p50"]["blocked_by"] == "missing:cluster.nodes"
    assert all((row["value"] == "") == (row["blocked_by"] != "") for row in rows.values())


def test_rows_end_as_the_standard_says_and_numbers_are_whole_or_exact(varied) -> None:
    text = as_csv(varied(), forecast(varied()), printable)
    assert text.startswith(",".join(COLUMNS) + "\r\n")
    assert text.count("\r\n") == len(text.splitlines())
    rows = rows_of(varied())
    assert rows["tokens.steps"]["value"] == "1000"
    assert rows["compute.step_time"]["value"] == repr(float(varied().figure("compute.step_time")))


@pytest.mark.parametrize("begin", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", " =1", "'=1", "-"])
def test_a_text_that_a_spreadsheet_would_run_is_a_text(begin: str) -> None:
    assert guarded(begin) == f"'{begin}"


@pytest.mark.parametrize("text", ["", "web", "a=b", "1 - x", "(a)"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text


def test_a_source_that_is_named_like_a_formula_is_no_formula_and_a_negative_number_stays_one(varied) -> None:
    name = "=HYPERLINK(1)"
    here = varied(more=f'[[data.sources]]\nname = "{name}"\nunique_tokens = "1B"\nweight = 0.0\n')
    rows = rows_of(here)
    assert rows[f"tokens.sources.{name}.passes"]["label"] == f"'{name} passes"
    full = varied("cluster.memory_per_accelerator=1GiB")
    value = rows_of(full)["memory.headroom"]["value"]
    assert value.startswith("-")
    assert float(value) == float(full.figure("memory.headroom"))
    begins = {text[:1] for row in rows.values() for name, text in row.items() if name not in ("value", "key")}
    assert not begins & set("=+-@")


def test_nothing_in_a_name_reaches_a_terminal_as_an_escape(varied) -> None:
    here = varied(more='[[data.stages]]\nname = "a\\u001b[31m\\nb"\nuntil_tokens = "1B"\n[[data.stages]]\n')
    text = as_csv(here, forecast(here), printable)
    assert "\x1b" not in text
    assert "a^[[31m^Jb" in text
