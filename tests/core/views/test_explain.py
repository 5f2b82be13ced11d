"""Formulas with numbers put in: readable numbers, one style, device memory in GiB."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Card, Figure
from trainplan.rows.table import cells, short_row
from trainplan.views import asjson
from trainplan.views.explain import put_in, tree

PLANS = sorted((Path(__file__).resolve().parents[3] / "plans").glob("*.toml"))


@pytest.fixture(scope="module")
def here() -> Estimate:
    return estimate(open_plan(next(path for path in PLANS if path.stem == "llama-3.1-8b")).plan)


def filled(key: str, now: Estimate) -> str:
    value = now.all_quantities[key]
    assert isinstance(value, Figure)
    assert isinstance(value.origin, Card)
    return put_in(value.origin, value, now)


def test_numbers_in_formulas_have_commas_prefixes_and_units(here: Estimate) -> None:
    assert filled("compute.compute_time", here) == "1,778,810 + 203,293"
    assert filled("compute.accelerator_hours", here) == "2,063,093 x 1,024 / 3600"
    assert filled("memory.total", here) == "60.95 GiB"
    assert filled("memory.headroom", here) == "79.10 GiB - 60.95 GiB"
    assert filled("storage.write_time", here) == "112.4 GB / 100 GB/s"
    assert filled("tokens.unique", here) == "13.5T + 1.6T + 0.18T"
    assert tree(here, "memory.total").children[0].put_in.startswith("(58.45 GiB")


def test_numbers_that_differ_never_look_the_same(here: Estimate) -> None:
    assert filled("tokens.overshoot", here) == "15,600,009,084,928 - 15,600,000,000,000"


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_no_formula_is_in_scientific_notation(path: Path) -> None:
    now = estimate(open_plan(path).plan)
    for key, value in now.all_quantities.items():
        if isinstance(value, Figure) and isinstance(value.origin, Card):
            text = put_in(value.origin, value, now)
            assert not re.search(r"\de\+?\d|\de-0[1-4]\b", text), (key, text)


def test_a_trees_mark_is_that_of_everything_under_it(here: Estimate) -> None:
    for key in ("compute.cost", "memory.total", "tokens.steps", "model.parameters"):
        told = asjson.node(tree(here, key), here)
        assert told["verified"] == asjson.quantity(key, here.quantities[key], here)["verified"], key
    assert asjson.node(tree(here, "compute.cost"), here)["unit"] == "USD"


def test_a_narrow_row_of_memory_is_in_gib_and_short(here: Estimate) -> None:
    assert cells(short_row("memory.total", here), here).unit == "GiB"
    assert cells(short_row("tokens.sequences", here), here).value == "1.904B"
    assert all(len(cells(short_row(key, here), here).value) <= 17 for key in here.quantities)
