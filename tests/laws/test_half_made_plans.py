"""A plan that is not finished yet is shown, explained and refused in words: each field left out, and few tables alone."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export import kinds
from trainplan.ledgers import TABLES
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.table import FieldRow, FigureRow, cells

PLANS = Path(__file__).resolve().parents[2] / "plans"
FRAMEWORKS = ("megatron", "torchtitan", "deepspeed")


def paths(table: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every table and field of a plan."""
    for name, value in table.items():
        yield (*before, name)
        if isinstance(value, dict):
            yield from paths(value, (*before, name))


def without(table: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The plan without one field or table."""
    left = copy.deepcopy(table)
    inner = left
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return left


def halves(plan: str, framework: str) -> Iterator[Estimate]:
    """Estimates of the plan with each field left out, and of one or two of its tables alone; what cannot be read is passed over."""
    whole = tomllib.loads((PLANS / f"{plan}.toml").read_text(encoding="utf-8"))
    whole["training"]["framework"] = framework
    tables = [name for name, value in whole.items() if isinstance(value, dict)]
    few = [keep for size in (0, 1, 2) for keep in combinations(tables, size)]
    made = [without(whole, path) for path in paths(whole)]
    made += [{"format": 1, **{name: whole[name] for name in keep}} for keep in few]
    read = 0
    for table in made:
        try:
            given = plan_of_text(tomli_w.dumps(table), "plan.toml")
        except Unusable:
            continue
        read += 1
        yield estimate(given)
    assert read > len(few)


@pytest.mark.parametrize("plan", ["llama-3.1-8b", "deepseek-v3"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_row_is_drawn_and_every_text_written_or_refused(plan: str, framework: str) -> None:
    rows = [row for table in TABLES.values() for row in table.rows if isinstance(row, FieldRow | FigureRow)]
    refused: list[str] = []
    for half in halves(plan, framework):
        assert all(cells(row, half).label for row in rows)
        for kind in kinds.KINDS:
            try:
                assert kinds.exported(kind, half)
            except kinds.ExportError as error:
                refused.append(str(error))
    assert refused
    assert not [text for text in refused if "Blocked" in text]
