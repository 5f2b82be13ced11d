"""A figure that cannot be told leads to the field that blocks it: each field of a sound plan is spoilt alone."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from trainplan.checks import findings_at_once
from trainplan.estimation import Estimate, estimate
from trainplan.plan.edit import resolve
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Blocked

PLANS = Path(__file__).resolve().parents[2] / "plans"


def spoilt(name: str, path: str, value: Any) -> Estimate:
    """The plan with one field set to a value, or left out where there is none."""
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    table: Any = tomllib.loads(text)
    *way, last = resolve(path, plan_of_text(text, "plan.toml"))
    inner = table
    for key in way:
        inner = inner[key] if isinstance(key, int) else inner.setdefault(key, {})
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return estimate(plan_of_text(tomli_w.dumps(table), "plan.toml"))


def blocked(found: Estimate) -> set[str]:
    return {value.code for value in found.quantities.values() if isinstance(value, Blocked)} - {"none"}


def led_to(found: Estimate, code: str) -> str:
    """The first field of the finding that stands first under a code."""
    return next(one for one in findings_at_once(found) if one.code == code).paths[0]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("storage.write_bandwidth", 5e-324),
        ("storage.write_bandwidth", 1),
        ("storage.read_bandwidth", 5e-324),
        ("storage.upload_bandwidth", 1),
        ("storage.capacity", 5e-324),
        ("storage.checkpoint_floor", 1e9),
        ("cluster.peak_flops", 5e-324),
        ("cluster.scale_out_bandwidth", 5e-324),
        ("cluster.scale_up_bandwidth", 5e-324),
        ("utilization.value", 5e-324),
        ("reliability.failures_per_node_day", 4097),
        ("reliability.failures_per_node_day", 7),
        ("reliability.fixed_failures_per_day", 1e6),
        ("reliability.detection_time", 1e9),
        ("reliability.restart_time", 1e9),
        ("reliability.checkpoint_interval", 5e-324),
        ("reliability.checkpoint_interval", 1e-300),
        ("reliability.job_time_limit", 5e-324),
        ("evaluation.utilization", 5e-324),
        ("data.sources.math.mean_document_tokens", 5e-324),
        ("data.sequence_length", 1e9),
        ("model.hidden_size", 1e9),
        ("model.num_hidden_layers", 1e6),
        ("model.num_attention_heads", 7),
        ("batch.micro_batch_sequences", 7),
        ("parallelism.context", 7),
        ("parallelism.pipeline", 7),
        ("parallelism.tensor", 7),
        ("schedule.planned_downtime", 1e9),
        ("data.train_tokens", 1),
        ("cluster.accelerator", None),
        ("model.preset", None),
        ("data.sampler", None),
    ],
)
def test_a_blocked_figure_leads_to_the_field_that_was_spoilt(path: str, value: Any) -> None:
    found = spoilt("llama-3.1-8b", path, int(value) if value and value >= 1 else value)
    codes = blocked(found) - blocked(spoilt("llama-3.1-8b", "name", "as it is"))
    assert codes
    assert {code: led_to(found, code) for code in codes} == dict.fromkeys(codes, path)


def test_no_number_of_virtual_stages_is_laid_out_chunk_by_chunk() -> None:
    """A rank holds no more chunks than layers; a billion of them took all memory of the machine."""
    memory = [float(spoilt("gpt3-175b", "parallelism.virtual_pipeline", count).memory.total) for count in (13, 10**9)]
    assert memory[0] == pytest.approx(memory[1], rel=0.01)


def test_a_file_system_of_which_next_to_nothing_is_usable_is_refused_in_words() -> None:
    found = spoilt("llama-3.1-8b", "storage.usable_fraction", 5e-324)
    (full,) = [one for one in findings_at_once(found) if one.code == "S1"]
    assert full.paths[0] == "storage.usable_fraction"
    assert "usable_fraction" in full.fix
