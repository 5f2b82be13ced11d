"""The one loader of golden values, and one small plan with round numbers that tests vary by edits.

`@pytest.mark.golden("params")` runs a test for each row of golden/params.toml.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from trainplan.estimation import Estimate, estimate
from trainplan.plan.edit import set_all, without
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text

settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")  # a busy machine is no fault of the code

GOLDEN = Path(__file__).parent / "golden"
TODAY = dt.date(2026, 12, 1)

EXAMPLE = """\
format = 1
name = "small, with round numbers"

[schedule]
start = 2026-12-07

[model]
num_hidden_layers = 2
hidden_size = 64
intermediate_size = 256
num_attention_heads = 4
vocab_size = 1024

[data]
train_tokens = 1_048_576_000
sequence_length = 1024
sampler = "megatron-blended"

[[data.sources]]
name = "web"
unique_tokens = "2B"
weight = 1.0

[batch]
global_batch_sequences = 1024

[cluster]
accelerator = "h100-sxm"
nodes = 2
price_per_accelerator_hour = 2.0
peak_flops = "1P"

[utilization]
value = 0.40
evidence = "published"
source = "a run on H100"
date = 2026-11-01

[storage]
capacity = "1PB"
write_bandwidth = "10GB/s"
read_bandwidth = "20GB/s"
"""
"""1,000 steps of 1,048,576 tokens on 16 accelerators. 196,608 weights multiply, so a token costs 1,179,648 FLOP by 6n and
786,432 more for scores under a causal mask of 1,024 tokens."""

Varied: TypeAlias = Callable[..., Estimate]


@pytest.fixture(scope="session")
def example() -> str:
    """The text of the small plan."""
    return EXAMPLE


@pytest.fixture(scope="session")
def planned() -> Callable[..., Plan]:
    """The small plan with fields set by `PATH=VALUE`, and with fields left out."""
    return varied_plan


@pytest.fixture(scope="session")
def varied() -> Varied:
    """The estimate of that plan on 2026-12-01."""

    def make(*assignments: str, left_out: tuple[str, ...] = (), more: str = "", today: dt.date = TODAY) -> Estimate:
        return estimate(varied_plan(*assignments, left_out=left_out, more=more), today)

    return make


def varied_plan(*assignments: str, left_out: tuple[str, ...] = (), more: str = "") -> Plan:
    """`more` is TOML added to the end, for entries of lists."""
    text = EXAMPLE + more
    plan = plan_of_text(text, "plan.toml")
    if assignments:
        edited = set_all(text, plan, assignments)
        text, plan = edited.text, edited.plan
    for path in left_out:
        edited = without(text, plan, path)
        text, plan = edited.text, edited.plan
    return plan


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "golden(name): run once for each `row` of golden/name.toml")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("golden")
    if marker is None:
        return
    found = rows(str(marker.args[0]))
    metafunc.parametrize("row", found, ids=[_label(row) for row in found])


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one file; `null_keys` are put back into `config` as None, which TOML cannot say."""
    found = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))["row"]
    for row in found:
        row.get("config", {}).update(dict.fromkeys(row.pop("null_keys", [])))
    return found


def _label(row: dict[str, Any]) -> str:
    return str(row.get("model") or row.get("id") or row["config"]["model_type"])
