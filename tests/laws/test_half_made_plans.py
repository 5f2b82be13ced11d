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

from trainplan.alternatives.walk import walk
from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.interop.export import kinds
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FieldRow, FigureRow, cells
from trainplan.views.listings import listings_of

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


def laid_over(table: dict[str, Any], over: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The plan with other fields in some of its tables."""
    return {**table, **{name: {**table.get(name, {}), **fields} for name, fields in over.items()}}


def halves(plan: str, framework: str, over: dict[str, dict[str, Any]] | None = None) -> Iterator[Estimate]:
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
            given = plan_of_text(tomli_w.dumps(laid_over(table, over or {})), "plan.toml")
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


OFFLOADS: dict[str, dict[str, Any]] = {
    "cluster": {"accelerators_per_node": 8},
    "training": {"optimizer_offload": True, "activation_offload": True},
    "parallelism": {"pipeline": 4, "first_stage_layers": 3},
}
"""Laid over a half: states and activations on the host, ends of a pipeline, and a node that needs no part of the catalogue."""


@pytest.mark.parametrize(
    ("plan", "framework", "over"),
    [
        ("llama-3.1-8b", "megatron", {}),
        ("llama-3.1-8b", "fsdp", {"training": OFFLOADS["training"]}),
        ("deepseek-v3", "deepspeed", OFFLOADS),
    ],
    ids=["as it is", "offloads laid over", "all laid over"],
)
def test_every_half_is_checked(plan: str, framework: str, over: dict[str, dict[str, Any]]) -> None:
    for half in halves(plan, framework, over):
        assert all(finding.code for finding in findings(half))


@pytest.mark.parametrize(
    "over", [{}, {"cluster": {"accelerators_per_node": 8}}], ids=["as it is", "a node without a part"]
)
@pytest.mark.parametrize("framework", ["megatron", "torchtitan"])
def test_every_half_has_its_listings_and_its_walk(framework: str, over: dict[str, dict[str, Any]]) -> None:
    """A total that is known beside a device that is not ended `show`, the report and the app: a launch file names no part."""
    for half in halves("llama-3.1-8b", framework, over):
        assert all(one.rows for budget in TABLES for one in listings_of(budget, half))
        found = walk(half.plan)
        assert found is None or found.questions is not None


TWO_NODES = 'format = 1\n[cluster]\naccelerator = "h100-sxm"\nnodes = 2\n[training]\noptimizer_offload = true\n'
ON_MI250X = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
sequence_length = 4100
[batch]
global_batch_sequences = 96
[cluster]
accelerator = "mi250x"
nodes = 4
[training]
activation_offload = true
[parallelism]
pipeline = 4
recompute = "full"
"""
DEADLINE_ALONE = """format = 1
[schedule]
start = 2026-12-07
deadline = 2027-02-01
[model]
preset = "opt-175b"
[data]
train_tokens = "300B"
sequence_length = 2048
[cluster]
accelerator = "a100-sxm-80"
nodes = 124
[reliability]
checkpoint_interval = "2h"
"""
TOKENS_ALONE = """format = 1
[data]
sampler = "megatron-blended"
sources = [{ unique_tokens = "13.5T", weight = 0.8 }, { name = "math", weight = 0.03 }]
stages = [{ until_tokens = "14T" }, { weights = { math = 0.25 } }]
"""
LONG_FIRST_STAGE = """format = 1
[model]
preset = "bloom-176b"
[data]
sequence_length = 2048
[batch]
global_batch_sequences = 2048
[cluster]
accelerator = "a100-sxm-80"
nodes = 48
[parallelism]
pipeline = 12
first_stage_layers = 700
"""
NO_PART = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
sequence_length = 4096
[cluster]
nodes = 4
accelerators_per_node = 8
"""


@pytest.mark.parametrize(
    "text",
    [
        TWO_NODES,
        TWO_NODES + "[parallelism]\npipeline = 4\nfirst_stage_layers = 3\n",
        TWO_NODES
        + '[model]\npreset = "llama-3.1-8b"\n[parallelism]\npipeline = 1_000_000_000\nfirst_stage_layers = 3\n',
        ON_MI250X,
        NO_PART,
        DEADLINE_ALONE,
        TOKENS_ALONE,
        LONG_FIRST_STAGE,
    ],
    ids=[
        "offload without a model",
        "ends without layers",
        "more stages than ranks",
        "ranks that hold the same",
        "no accelerator",
        "a deadline without utilization",
        "a share that a later stage leaves open",
        "a first stage with more layers than there are",
    ],
)
def test_a_plan_that_stopped_a_check_once_is_checked(text: str) -> None:
    assert findings(estimate(plan_of_text(text, "plan.toml")))
