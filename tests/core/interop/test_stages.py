"""Logs of several stages: each is its own run whatever the order, and the run's utilization is over all of them or none."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from tests.core.interop.test_expected import PLAN, figures_of, log, token
from tests.core.interop.test_ran import TODAY

from trainplan.interop.calibration import Calibration, measurement_for
from trainplan.interop.logs.measured import Measured
from trainplan.interop.logs.reading import read_log
from trainplan.interop.rungs import rung_values
from trainplan.interop.stages import over_stages

STAGES = {"main": (4096, 1024, 0.25), "long": (32768, 128, 0.35)}
"""Length, sequences of a step and utilization."""


def stage(name: str, minute: int = 0, world: int = 128, peak: int = 0) -> str:
    """A Megatron-LM log of one stage, its steps printed from one minute on."""
    length, batch, use = STAGES[name]
    seconds = batch * length * token(length) / (world * float(figures_of(PLAN).speed.peak_flops) * use)
    printed = log(seconds, length=length, batch=batch, world=world).splitlines(keepends=True)
    head = "".join(line for line in printed if "....." in line)
    lines = [f" [2026-12-01 02:{minute:02}:{i // 2:02}]{line}" for i, line in enumerate(printed[2:])]
    memory = f"[Rank 0] (after 9 iterations) memory (MB) | max allocated: 2 | reserved: 3 | max reserved: {peak}\n"
    return head + "".join((*lines[:9], memory if peak else "", *lines[9:]))


def results(folder: Path, *logs: str) -> tuple[Measured, ...]:
    measurement = measurement_for(figures_of(PLAN))
    for place, text in enumerate(logs):
        (folder / f"{place}.log").write_text(text, encoding="utf-8")
        read_log(folder / f"{place}.log", measurement)
    return measurement.results()


def together(folder: Path, *logs: str) -> Calibration:
    return over_stages(figures_of(PLAN), results(folder, *logs), "a.log, b.log", TODAY)


@pytest.mark.parametrize("order", list(itertools.permutations(("main", "long"))))
@pytest.mark.parametrize("one_file", [True, False])
def test_two_stages_are_weighed_by_the_time_of_their_flop(
    order: tuple[str, str], one_file: bool, tmp_path: Path
) -> None:
    """900 B tokens at 4,096 and 100 B at 32,768; both logs start in the same minute. The last log's was taken for the run's."""
    texts = [stage(name) for name in order]
    found = together(tmp_path, *(["".join(texts)] if one_file else texts))
    flops = {"main": 0.9e12 * token(4096), "long": 0.1e12 * token(32768)}
    seconds = sum(flops[name] / STAGES[name][2] for name in flops)
    assert found.utilization == pytest.approx(sum(flops.values()) / seconds, rel=1e-6)
    assert found.edits["utilization.value"] == pytest.approx(found.utilization, rel=1e-3)
    source = found.edits["utilization.source"]
    assert "stage main of 4,096 tokens on 128 devices at 0.25" in source
    assert "stage long of 32,768 tokens on 128 devices at 0.35" in source
    assert "layout tensor=1 pipeline=1" in source
    assert found.measured.sequence == 32768.0
    assert [one.steps_used for one in (part.measured for part in found.parts)] == [100, 100]
    values = rung_values(figures_of(PLAN), found, "short-scaled")
    assert values["tokens_per_second_ratio"] == pytest.approx(0.25 / 0.4, rel=1e-3), "the worse of both"


def test_a_stage_in_two_logs_around_another_is_one_run(tmp_path: Path) -> None:
    main, long = results(tmp_path, stage("main"), stage("long", 1), stage("main", 2))
    assert (main.sequence, main.batch, main.steps_seen) == (4096.0, 1024.0, 240)
    assert (long.sequence, long.batch, long.steps_seen) == (32768.0, 128.0, 120)
    same = results(tmp_path, stage("main"), stage("long"), stage("main"))
    assert [one.steps_seen for one in same] == [120, 120], "another rank's log of the same minute"


def test_memory_is_that_of_each_run(tmp_path: Path) -> None:
    texts = (stage("long", peak=70000), stage("main", peak=30000))
    for logs in (texts, texts[::-1]):
        peaks = {one.sequence: one.peak for one in results(tmp_path, *logs)}
        assert peaks == {4096.0: 30000 * 2**20, 32768.0: 70000 * 2**20}
    without = {one.sequence: one.peak for one in results(tmp_path, texts[0], stage("main"))}
    assert without[4096.0] is None


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        ((stage("main"), stage("long", world=64)), "of other layers or devices"),
        (
            (
                stage("main"),
                stage("main").replace("seq_length " + "." * 38 + " 4096", "seq_length " + "." * 38 + " 2048"),
            ),
            "not one of each length of the plan",
        ),
    ],
)
def test_runs_that_are_not_the_plans_stages_set_no_utilization(logs: tuple[str, str], why: str, tmp_path: Path) -> None:
    found = together(tmp_path, *logs)
    assert len(found.parts) == 2
    assert found.utilization is None
    assert not [path for path in found.edits if path.startswith("utilization")]
    assert any(why in note and "left alone" in note for note in found.notes)
    assert any("stage main of 4,096 tokens" in note for note in found.notes)


def test_a_stage_that_no_log_is_of_is_named(tmp_path: Path) -> None:
    short = "\n[[data.stages]]\nname = 'short'\nuntil_tokens = '1.1T'\nsequence_length = 2048\n"
    plan = figures_of(
        PLAN.replace('train_tokens = "1T"', 'train_tokens = "1.1T"').replace("[batch]", short + "[batch]")
    )
    found = over_stages(plan, results(tmp_path, stage("main"), stage("long")), "a.log", TODAY)
    assert found.utilization is None
    assert any("no log is of the plan's sequences of 2,048 tokens" in note for note in found.notes)
