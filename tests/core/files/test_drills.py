"""The resume drill by its logs: a gap, a start anew, falling samples and other batches are found; and the dashboards' names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from trainplan.files.automatic import automatic_checks
from trainplan.plan.plan import Plan

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def log(steps: range, *, batch: int = 8, seed: int = 0, hashes: bool = True, less: int = 0) -> str:
    lines: list[str] = []
    for step in steps:
        lines.append(f" iteration {step:8d}/    1000 | consumed samples: {step * batch - less:12d} | grad norm: 1.0 |")
        lines += [f"batch hash: {step + seed:08x}"] if hashes else []
    return "\n".join(lines) + "\n"


def resumed(folder: Path, before: str, after: str) -> tuple[str, str]:
    (folder / "a.log").write_text(before)
    (folder / "b.log").write_text(after)
    evidence = [{"path": "notes.md"}, {"path": "a.log"}, {"path": "b.log"}]
    plan = Plan.model_validate({"format": 1, "readiness": [{"item": "resume", "evidence": evidence}]})
    (one,) = automatic_checks(folder, plan, 5.0)
    assert (one.item, one.check) == ("resume", "a.log goes on in b.log")
    return one.verdict, one.found


def test_a_resume_with_equal_batches_passes(tmp_path: Path) -> None:
    assert resumed(tmp_path, log(range(1, 31)), log(range(21, 41))) == ("passed", "step 21 after 30, 10 batches equal")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (log(range(1, 31)), log(range(33, 50)), "steps 31 to 32 are in neither log"),
        (log(range(1, 31)), log(range(1, 20)), "the second log begins at step 1: it did not resume"),
        (log(range(1, 31)), log(range(21, 41), seed=1), "10 of 10 batches differ, the first at step 21"),
        (log(range(1, 31)), log(range(21, 30)) + log(range(22, 30)), "steps fall after 29"),
        (log(range(1, 31)), log(range(21, 41), less=160), "consumed samples begin again at 8"),
    ],
)
def test_what_did_not_go_on_is_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    assert resumed(tmp_path, before, after) == ("failed", told)


def test_without_hashes_or_steps_it_is_unknown(tmp_path: Path) -> None:
    verdict, told = resumed(tmp_path, log(range(1, 31), hashes=False), log(range(31, 41), hashes=False))
    assert verdict == "unknown"
    assert "no batch hash is in both" in told
    assert resumed(tmp_path, "nothing\n", log(range(1, 3))) == ("unknown", "no line of a step in a.log")


@pytest.mark.parametrize(("day", "verdict"), [(30, "passed"), (31, "failed"), (-1, "failed")])
def test_a_restore_drill_has_an_age(tmp_path: Path, day: int, verdict: str) -> None:
    drill = NOW.date() - dt.timedelta(days=day)
    plan = Plan.model_validate({"format": 1, "storage": {"last_restore_drill": drill}})
    (one,) = automatic_checks(tmp_path, plan, 5.0, now=NOW)
    assert one.verdict == verdict
    assert not automatic_checks(tmp_path, plan, 5.0), "without a clock nothing is old"


@pytest.mark.parametrize(
    ("precision", "text", "verdict"),
    [
        ("bf16-mixed", "step: 1 grad norm: 1", "passed"),
        ("bf16-mixed", "step: 1 loss: 1", "failed"),
        ("fp16-mixed", "step: 1 grad_norm: 1", "failed"),
        ("fp16-mixed", "step: 1 grad_norm: 1 loss scale: 2", "passed"),
        ("bf16-mixed", "all is well", "unknown"),
    ],
)
def test_the_names_that_alarms_need_are_in_the_log(tmp_path: Path, precision: str, text: str, verdict: str) -> None:
    (tmp_path / "run.log").write_text(text)
    readiness = [{"item": "dashboards", "evidence": [{"path": "run.log"}]}]
    plan = Plan.model_validate({"format": 1, "training": {"precision": precision}, "readiness": readiness})
    (one,) = automatic_checks(tmp_path, plan, 5.0)
    assert one.verdict == verdict
