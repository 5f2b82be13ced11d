"""Logs of rungs: read beside the plan, and what they ran; L6 is found on another step count, mock data and a part of the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.estimation import estimate
from trainplan.files.automatic import automatic_checks
from trainplan.files.pilotlogs import pilot_runs, settings_of
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.review.pilotruns import PilotRun, unlike_full_run

EXAMPLE = (Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")


def plan_with(rung: str = "short-scaled", check: str = 'evidence = "run.log"') -> Plan:
    return plan_of_text(
        f'{EXAMPLE}\n[[pilot]]\nrung = "{rung}"\n[[pilot.checks]]\nmetric = "x"\n{check}\n', "plan.toml"
    )


PLAN = plan_with()
QUANTITIES = estimate(PLAN).quantities
STEPS = int(QUANTITIES["tokens.steps"])  # type: ignore[call-overload]


def megatron(
    total: int, seconds: float, *, mock: bool = False, paths: str = "['0.8', 'web', '0.1', 'code', '0.1', 'books']"
) -> str:
    head = f"  data_path ................... {paths}\n  mock_data ................... {mock}\n"
    batch = int(PLAN.batch.global_batch_sequences or 0)
    line = " [2026-11-29 10:00:00] iteration {:8d}/{:8d} | consumed samples: 1 | "
    line += "elapsed time per iteration (ms): {:.1f} | global batch size: {} |\n"
    return head + "".join(line.format(step, total, 1000 * seconds, batch) for step in range(1, 101))


def told(folder: Path, plan: Plan = PLAN) -> tuple[str, str]:
    looked = automatic_checks(folder, plan, 5.0, quantities=QUANTITIES)
    (one,) = [one for one in looked if one.item == "measured"]
    return one.verdict, one.found


def test_a_rate_beside_the_plan(tmp_path: Path) -> None:
    planned = float(QUANTITIES["compute.step_time"])  # type: ignore[arg-type]
    (tmp_path / "run.log").write_text(megatron(STEPS, planned * 1.02))
    verdict, sentence = told(tmp_path)
    assert verdict == "passed"
    assert "0.980 of the plan's rate" in sentence
    (tmp_path / "run.log").write_text(megatron(STEPS, planned * 1.1))
    assert told(tmp_path)[0] == "failed"
    assert told(tmp_path, plan_with("one-device"))[0] == "passed", "another scale is told and not judged"


def test_no_log_an_empty_one_and_other_text(tmp_path: Path) -> None:
    assert told(tmp_path) == ("failed", "run.log is missing")
    (tmp_path / "run.log").write_text("")
    assert told(tmp_path) == ("failed", "run.log is empty")
    (tmp_path / "run.log").write_text("all went well\n")
    assert told(tmp_path)[0] == "unknown"


def test_settings_are_read_from_each_frameworks_lines() -> None:
    found = settings_of("full", "a.log", megatron(1000, 1.0, mock=True))
    assert found == PilotRun("full", "a.log", 1000, True, ("web", "code", "books"))
    titan = "[rank0]:[titan] Preparing c4_test dataset from tests/assets/c4_test\n"
    titan += "Training starts at step 1 total steps 500 (warmup 2)\n"
    assert settings_of("full", "a.log", titan) == PilotRun("full", "a.log", 500, True)
    assert settings_of("full", "a.log", titan.replace("c4_test", "c4")).mock is False
    assert settings_of("full", "a.log", "2026 [step=10/2000,epoch=1]\n").steps == 2000
    assert settings_of("full", "a.log", "nothing") == PilotRun("full", "a.log")


def l6(folder: Path, plan: Plan = PLAN) -> list[str]:
    found = unlike_full_run(plan, QUANTITIES, pilot_runs(folder, plan))
    assert {one.code for one in found} <= {"L6"}
    return [one.message for one in found]


def test_l6_another_step_count_mock_data_and_a_part_of_the_data(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(megatron(STEPS, 1.0))
    assert l6(tmp_path) == []
    log.write_text(megatron(1000, 1.0))
    assert l6(tmp_path) == [f"run.log: 1,000 steps in the configuration of short-scaled, {STEPS:,} in the plan"]
    log.write_text(megatron(STEPS, 1.0, mock=True))
    assert l6(tmp_path) == ["run.log: short-scaled ran on mock data"]
    log.write_text(megatron(STEPS, 1.0, paths="['web']"))
    assert l6(tmp_path) == [f"run.log: short-scaled ran on 1 of {len(PLAN.data.sources)} sources"]


def test_l6_is_not_asked_of_a_small_rung_or_an_unread_log(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(megatron(1000, 1.0, mock=True))
    assert l6(tmp_path, plan_with("one-device")) == []
    (tmp_path / "run.log").unlink()
    assert l6(tmp_path) == []


@pytest.mark.parametrize(("measured", "found"), [("0", 0), ("-120", 1)])
def test_l6_from_the_measured_check(measured: str, found: int) -> None:
    check = f'pass_if = "= 0"\nmeasured = {measured}\n'
    plan = plan_with("short-scaled", check.replace("pass_if", "pass_if"))
    rung = plan.pilot[0].checks[0].model_copy(update={"metric": "step_count_difference"})
    plan = plan.model_copy(update={"pilot": (plan.pilot[0].model_copy(update={"checks": (rung,)}),)})
    assert len(unlike_full_run(plan, QUANTITIES)) == found
