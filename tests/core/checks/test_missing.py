"""What is missing: one finding for each field, with how many figures wait for it; gaps of the catalogue are said apart."""

from __future__ import annotations

import re
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.finding import Finding
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked


def missing(found: Any) -> dict[str, Finding]:
    return {item.code: item for item in findings(found) if item.code.startswith("missing:")}


@pytest.mark.parametrize(
    ("path", "severity", "budget"),
    [
        ("data.train_tokens", "error", "tokens"),
        ("data.sequence_length", "error", "tokens"),
        ("data.sampler", "error", "tokens"),
        ("batch.global_batch_sequences", "error", "tokens"),
        ("model.hidden_size", "error", "model"),
        ("cluster.accelerator", "error", "compute"),
        ("cluster.nodes", "error", "compute"),
        ("utilization.value", "error", "compute"),
        ("cluster.price_per_accelerator_hour", "warning", "compute"),
        ("storage.write_bandwidth", "warning", "storage"),
        ("storage.read_bandwidth", "warning", "storage"),
    ],
)
def test_one_finding_for_a_missing_field(varied: Any, path: str, severity: str, budget: str) -> None:
    finding = missing(varied(left_out=(path,)))[f"missing:{path}"]
    assert (finding.severity, finding.budget) == (severity, budget)
    assert (finding.fix, finding.paths) == (f"give {path}", (path,))
    assert re.search(r" (is|are) missing", finding.message)
    assert f"missing:{path}" not in missing(varied())


def test_finding_counts_the_figures_that_wait(varied: Any) -> None:
    found = varied(left_out=("utilization.value",))
    waiting = [
        key
        for key, value in found.quantities.items()
        if isinstance(value, Blocked) and value.code == "missing:utilization.value"
    ]
    finding = missing(found)["missing:utilization.value"]
    assert f"{len(waiting)} figures wait for it, {waiting[0]} first" in finding.message


def test_no_source_at_all_is_missing(varied: Any) -> None:
    found = varied(left_out=("data.sources.web",))
    assert missing(found)["missing:data.sources"].paths == ("data.sources",)


@pytest.mark.parametrize("name", ["code", "news"])
def test_what_is_missing_in_a_list_names_its_entry(varied: Any, name: str) -> None:
    found = varied(more=f'\n[[data.sources]]\nname = "{name}"\nunique_tokens = "1B"\n')
    finding = missing(found)[f"missing:data.sources.{name}.weight"]
    assert finding.message.startswith(f"weight of {name} is missing; ")
    assert finding.fix == f"give data.sources.{name}.weight"


def test_start_is_missing_only_for_a_deadline(varied: Any) -> None:
    assert not missing(varied(left_out=("schedule.start",)))
    asked = missing(varied("schedule.deadline=2026-12-20", left_out=("schedule.start",)))
    assert asked["missing:schedule.start"].severity == "warning"


def test_gap_of_the_catalogue_is_information(varied: Any) -> None:
    (finding,) = missing(varied("cluster.accelerator=h800-sxm")).values()
    assert finding.severity == "info"
    assert finding.message.startswith("the catalogue has no measured matmul bf16 of h800-sxm")
    assert (finding.fix, finding.paths) == ("", ("cluster.accelerator",))


def test_gap_that_a_field_can_fill_is_an_error(varied: Any) -> None:
    found = missing(
        varied(
            "cluster.accelerator=trn3",
            "training.precision=fp32",
            "cluster.accelerators_per_node=8",
            left_out=("cluster.peak_flops",),
        )
    )
    finding = found["missing:catalogue.accelerators.trn3.peak_flops_fp32"]
    assert (finding.severity, finding.fix) == ("error", "give cluster.peak_flops")


def test_every_waiting_figure_has_a_finding(varied: Any) -> None:
    """An empty plan: whatever is blocked says why."""
    found = varied(left_out=("model.hidden_size", "data.train_tokens", "cluster.accelerator", "utilization.value"))
    codes = {value.code for value in found.quantities.values() if isinstance(value, Blocked)} - {"none"}
    assert codes <= {finding.code for finding in findings(found)}


def test_a_plan_without_a_model_is_offered_a_preset_first() -> None:
    """One line says all sizes; where a size is written, the others are asked for."""
    fixes = [
        item.fix for item in findings(estimate(Plan.model_validate({"format": 1}))) if "missing:model" in item.code
    ]
    assert fixes
    assert all(fix.startswith("give model.preset, or model.") for fix in fixes)
    sized = Plan.model_validate({"format": 1, "model": {"hidden_size": 4096}})
    assert not [item for item in findings(estimate(sized)) if "preset" in item.fix]
