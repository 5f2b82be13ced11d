"""Published mixtures: passes follow from the printed inputs within their rounding, or the row says where they do not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trainplan.budgets.mixture import MixtureBudget, mixture_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import token_budget
from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.formulas import mixture as f
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import blocked


def _plan(row: dict[str, Any], scale: float) -> Plan:
    """The row as a plan; GiB count as tokens by a fixed number of them, which passes do not depend on."""
    sources = [
        {
            "name": one["name"].replace(".", "-"),
            "unique_tokens": round(one.get("amount", row["total"]) * scale),
            "weight": one["weight"],
        }
        for one in row["components"]
    ]
    data = {
        "train_tokens": round(row["total"] * scale),
        "sequence_length": 2048,
        "sampler": "mosaic-streaming",
        "sources": sources,
    }
    return Plan.model_validate({"format": 1, "data": data, "batch": {"global_batch_sequences": 1024}})


def _mixture(plan: Plan) -> MixtureBudget:
    s = Situation(plan)
    return mixture_budget(s, token_budget(s, blocked("none"), blocked("none")))


def _step(printed: float) -> float:
    """Unit of the last printed digit: at least one decimal is printed."""
    return 10.0 ** -max(1, len(repr(printed).partition(".")[2]))


@pytest.mark.golden("mixture")
def test_printed_passes_follow_from_the_printed_inputs(row: dict[str, Any]) -> None:
    """Within half a unit of the printed passes, and what the rounding of weight and size allows."""
    for one in row["components"]:
        if not {"weight", "amount", "passes"} <= one.keys():
            continue
        exact = f.passes(f.drawn_tokens(one["weight"], row["total"]), one["amount"])
        most = (one["weight"] + row["weight_step"] / 2) * row["total"] / (one["amount"] - row["amount_step"] / 2)
        least = (one["weight"] - row["weight_step"] / 2) * row["total"] / (one["amount"] + row["amount_step"] / 2)
        half = _step(one["passes"]) / 2
        fits = least - half <= one["passes"] <= most + half
        wrong = row.get("off", {}).get(one["name"])
        if wrong is None:
            assert fits, f"{row['id']} {one['name']}: printed {one['passes']}, the inputs give {exact:.4g}"
        else:
            assert not fits, f"{row['id']} {one['name']} is said to be inconsistent, and is not"
            assert exact == pytest.approx(wrong, abs=5e-4)


@pytest.mark.golden("mixture")
def test_worked_passes(row: dict[str, Any]) -> None:
    """What was worked from the row by hand, to the three decimals that were kept."""
    for one in row["components"]:
        if "worked" in one and "weight" in one:
            exact = f.passes(f.drawn_tokens(one["weight"], row["total"]), one["amount"])
            assert exact == pytest.approx(one["worked"], abs=5.0001e-4)


@pytest.mark.golden("mixture")
def test_tokens_drawn_and_sums(row: dict[str, Any]) -> None:
    """Printed tokens of a source are its share of the run; sources without weights sum to the printed total."""
    parts = row["components"]
    if all("weight" in one for one in parts) and row["unit"] == "tokens" and not row["id"].endswith("olmo3_dolma3"):
        for one in parts:
            if "drawn" in one:
                assert f.drawn_tokens(one["weight"], row["total"]) == pytest.approx(one["drawn"], rel=1e-12)
    if all("weight" not in one for one in parts):
        assert math.fsum(one["amount"] for one in parts) == pytest.approx(row["total"], rel=1e-3)


@pytest.mark.golden("mixture")
def test_the_budget_agrees_and_finds_what_is_wrong_with_the_sum(row: dict[str, Any]) -> None:
    """A plan of the row has the row's passes where its weights sum to 1; else D3 says the sum."""
    parts = row["components"]
    if not all("weight" in one for one in parts) or row["id"].endswith("olmo3_dolma3"):
        return
    plan = _plan(row, 1e9 if row["unit"] == "GiB" else 1.0)
    codes = {finding.code for finding in findings(estimate(plan))}
    whole = math.fsum(one["weight"] for one in parts)
    assert ("D3" in codes) == (abs(whole - 1) > 1e-6)
    for one, source in zip(_mixture(plan).rows, parts, strict=True):
        exact = source["weight"] / (whole if "D3" in codes else 1.0) * row["total"] / source.get("amount", row["total"])
        assert one.passes == pytest.approx(exact, rel=1e-8)


def test_dolma_3_pool_and_mix() -> None:
    """4.51T of Common Crawl are 76.1 % of 5.93T; the pool of 8.14T is passed over 0.554 times on average."""
    assert f.drawn_share(4.51e12, 5.93e12) == pytest.approx(0.761, abs=5e-4)
    assert f.passes(4.51e12, 8.14e12) == pytest.approx(0.554, abs=5e-4)
