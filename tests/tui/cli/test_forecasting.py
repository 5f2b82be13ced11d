"""`forecast PLAN`: sentences, JSON, seeds, refusals, and the forecast's keys in `show --json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainplan_tui.cli import main

ROOT = Path(__file__).resolve().parents[3]
PLAN = str(ROOT / "plans" / "llama-3.1-8b.toml")
KEYS = {f"forecast.{part}.p{share}" for part in ("finish", "cost") for share in (10, 50, 90)} | {
    "forecast.chance_deadline",
    "forecast.chance_budget",
}


def run(*words: str) -> int:
    return main(list(words))


def test_prints_quantiles_histogram_drivers_and_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("forecast", PLAN, "--ascii") == 0
    text = capsys.readouterr().out
    assert text.isascii()
    lines = text.splitlines()
    assert [line[:3] for line in lines[1:4]] == ["P10", "P50", "P90"]
    assert "USD" in lines[2]
    assert "2026-12-31" in lines[2]
    assert any(line.startswith("utilization ") for line in lines)
    assert any(line.startswith("- failure rate: lognormal") for line in lines)
    assert any("am" in line and "#" in line for line in lines)


def test_the_ends_of_an_input_stand_under_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("forecast", PLAN) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("one input at both ends of its range, and the finish there: early, late") + 1].startswith(
        "utilization"
    )


def test_json_holds_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("forecast", PLAN, "--json", "--draws", "500", "--seed", "7") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["format"], data["draws"], data["seed"]) == (1, 500, 7)
    assert set(data["quantities"]) == KEYS
    finish = data["quantities"]["forecast.finish.p50"]
    assert (finish["unit"], finish["source"]) == ("s", "simulation, 500 histories, seed 7")
    assert data["quantities"]["forecast.cost.p50"]["unit"] == "USD"
    assert 0 <= data["quantities"]["forecast.chance_deadline"]["value"] <= 1
    assert sum(one["share"] for one in data["histogram"]) > 0.99


def test_show_json_has_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run("show", PLAN, "--json")
    shown = json.loads(capsys.readouterr().out)["quantities"]
    run("forecast", PLAN, "--json")
    told = json.loads(capsys.readouterr().out)["quantities"]
    assert {key: shown[key]["value"] for key in KEYS} == {key: told[key]["value"] for key in KEYS}


def test_a_plan_without_a_speed_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("format = 1\n", encoding="utf-8")
    assert run("forecast", str(path)) == 0
    assert "missing" in capsys.readouterr().out
    assert run("forecast", str(path), "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["quantities"]["forecast.finish.p50"]["blocked_by"].startswith("missing:")
    assert data["quantities"]["forecast.chance_budget"]["blocked_by"] == "none"


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--draws", "10"), "--draws is 10. From 100"), (("--seed", "-1"), "--seed is -1. 0 or more is right")],
)
def test_draws_and_seeds_out_of_range_are_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("forecast", PLAN, *words) == 2
    assert said in capsys.readouterr().err
