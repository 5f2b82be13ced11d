"""A log is held against what the plan has for the run that it is of: its length and batch, its rung's devices, never itself."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from tests.core.interop.test_ran import TODAY, calibrated, log_of, of_plan

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.files.automatic import automatic_checks
from trainplan.interop.calibration import Calibration, calibration, measurement_for, written
from trainplan.interop.export.pilot import run_of
from trainplan.interop.logs.reading import read_log
from trainplan.interop.rungs import as_rung, rung_values
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text

PLAN = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
train_tokens = "1T"
sequence_length = 4096
[[data.stages]]
name = "warm"
until_tokens = "100B"
global_batch_sequences = 512
[[data.stages]]
name = "main"
until_tokens = "900B"
[[data.stages]]
name = "long"
until_tokens = "1T"
sequence_length = 32768
global_batch_sequences = 128
[batch]
global_batch_sequences = 1024
[cluster]
accelerator = "h100-sxm"
nodes = 16
[utilization]
value = 0.40
convention = "causal"
evidence = "assumed"
"""


def token(length: int) -> float:
    """FLOP of a token of Llama 3.1 8B, causal: 525,336,576 of the head, and 218,103,808 + 4,096 a position in each of 32 layers."""
    return 6.0 * (525_336_576 + 32 * (218_103_808 + 4096 * length))


def figures_of(text: str) -> Estimate:
    return estimate(plan_of_text(text, "plan.toml"), TODAY)


def log(seconds: float, *, length: int | None, batch: int | None, world: int | None, flops: float | None = None) -> str:
    """A Megatron-LM log; None is not printed. `flops` are those of a token by which it prints its TFLOP/s."""
    told = {"world_size": world, "seq_length": length}
    head = [f"  {name} {'.' * (48 - len(name))} {value}" for name, value in told.items() if value]
    end = f" global batch size: {batch} |" if batch else ""
    if flops:
        end = f" throughput per GPU (TFLOP/s/GPU): {flops / 1e12:.3f} |{end}"
    lines = [
        f" iteration {i:8d}/ 1000 | elapsed time per iteration (ms): {1e3 * seconds:.6f} |{end}" for i in range(1, 121)
    ]
    return "\n".join([*head, *lines]) + "\n"


def at_main(use: float) -> str:
    """A log of stage main at a utilization on the plan's 128 devices, of 989.4 TFLOP/s each by the catalogue."""
    peak = float(figures_of(PLAN).speed.peak_flops)
    return log(1024 * 4096 * token(4096) / (128 * peak * use), length=4096, batch=1024, world=128)


def values_of(text: str, log: str, folder: Path, rung: str = "short-scaled") -> tuple[Calibration, dict[str, float]]:
    figures = figures_of(text)
    (folder / "run.log").write_text(log, encoding="utf-8")
    measurement = measurement_for(figures, rung)
    read_log(folder / "run.log", measurement)
    measured = measurement.result()
    assert measured is not None
    found = calibration(figures, measured, "run.log", TODAY, rung)
    return as_rung(figures, found, rung), rung_values(figures, found, rung)


def test_a_ratio_is_to_the_plan_at_the_logs_length(tmp_path: Path) -> None:
    """0.30 at 4,096 tokens where the plan has 0.40 was 1.14 of the plan's rate at 32,768, and passed."""
    found, values = values_of(PLAN, at_main(0.3), tmp_path)
    assert found.utilization == pytest.approx(0.3, rel=1e-6)
    assert values["tokens_per_second_ratio"] == pytest.approx(0.75, rel=1e-3)
    peak = float(figures_of(PLAN).speed.peak_flops)
    assert found.planned["tokens_per_second_per_accelerator"] == pytest.approx(0.4 * peak / token(4096), rel=1e-9)


def test_review_holds_a_log_against_the_plan_at_its_length(tmp_path: Path) -> None:
    text = PLAN + '[[pilot]]\nrung = "short-scaled"\n[[pilot.checks]]\nmetric = "x"\nevidence = "run.log"\n'
    figures = figures_of(text)

    def told(log: str, plan: Plan = figures.plan) -> tuple[str, str]:
        (tmp_path / "run.log").write_text(log, encoding="utf-8")
        looked = automatic_checks(tmp_path, plan, 5.0, quantities=figures.quantities)
        (one,) = [one for one in looked if one.item == "measured"]
        return one.verdict, one.found

    verdict, sentence = told(at_main(0.3))
    assert verdict == "failed"
    assert "0.750 of the plan's rate" in sentence
    assert told(at_main(0.4))[0] == "passed"
    two = at_main(0.3) + at_main(0.4).replace(" 4096\n", " 32768\n").replace(": 1024 |", ": 128 |")
    verdict, sentence = told(two)
    assert verdict == "failed", "the slower of two stages decides"
    assert "0.750 of the plan's rate; 120 steps" in sentence or "0.750 of the plan's rate; 100 steps" in sentence
    verdict, sentence = told(at_main(1.2))
    assert verdict == "unknown"
    assert "1.200 of the peak cannot be" in sentence
    own = plan_of_text(text.replace('"assumed"', '"measured-here"\nsource = "run.log, Megatron-LM"'), "plan.toml")
    assert "the plan's utilization is from it" in told(at_main(0.3), own)[1]


def test_a_rate_that_cannot_be_sets_nothing(tmp_path: Path) -> None:
    text = (
        at_main(4.4)
        + "[Rank 0] (after 9 iterations) memory (MB) | max allocated: 2 | reserved: 3 | max reserved: 60000\n"
    )
    found, values = values_of(PLAN, text, tmp_path)
    assert any("4.400 of the peak cannot be" in note for note in found.notes)
    assert not values
    assert not found.edits
    assert found.step_time is None
    assert found.predicted_ratio is None


def test_a_log_that_the_plan_rests_on_is_not_held_against_it(tmp_path: Path) -> None:
    """Taken twice, 0.75 of the plan's rate became 1.0; the same log under another name is the same log."""
    figures = figures_of(PLAN)
    first, values = values_of(PLAN, at_main(0.3), tmp_path)
    assert values["tokens_per_second_ratio"] == pytest.approx(0.75, rel=1e-3)
    after = written(PLAN, figures.plan, first)
    second, values = values_of(after, at_main(0.3), tmp_path)
    assert "tokens_per_second_ratio" not in values
    assert any("this very log" in note for note in second.notes)
    copied = after.replace('"run.log, ', '"copy.log, ')
    assert copied != after
    assert "tokens_per_second_ratio" not in values_of(copied, at_main(0.3), tmp_path)[1]
    _, values = values_of(after, at_main(0.24), tmp_path)
    assert "tokens_per_second_ratio" not in values, "the same name"
    third, values = values_of(copied, at_main(0.24), tmp_path)
    assert values["tokens_per_second_ratio"] == pytest.approx(0.8, rel=1e-3), "another log of the same rung"
    assert any("tokens_per_second_ratio is to that of copy.log" in note for note in third.notes)


def test_a_stall_is_not_held_against_itself(tmp_path: Path) -> None:
    """The first time sets the floor of a save to what the log measured, which the plan's stall then is."""
    save = (
        "(min, max) time across ranks (ms):\n    save-checkpoint ................................: (8700.00, 9000.00)\n"
    )
    lines = at_main(0.4).splitlines(keepends=True)
    text = "".join((*lines[:60], save, *lines[60:]))
    first, values = values_of(PLAN, text, tmp_path)
    planned = float(figures_of(PLAN).checkpoint.checkpoint_stall)
    assert values["checkpoint_overhead_ratio"] == pytest.approx(9.0 / planned, rel=1e-3)
    after = written(PLAN, figures_of(PLAN).plan, first)
    assert "checkpoint_overhead_ratio" not in values_of(after, text, tmp_path)[1]


def test_devices_and_length_are_those_of_the_named_rung(tmp_path: Path) -> None:
    """A log of few-nodes that says neither devices nor length was taken for one of all the plan's devices."""
    plan = of_plan("llama-3.1-405b")
    run = run_of(plan, "few-nodes").estimate
    text = "\n".join(line for line in log_of(run, 0.4, printed=True).splitlines() if "......" not in line) + "\n"
    (tmp_path / "run.log").write_text(text, encoding="utf-8")
    measurement = measurement_for(plan, "few-nodes")
    read_log(tmp_path / "run.log", measurement)
    measured = measurement.result()
    assert measured is not None
    found = calibration(plan, measured, "run.log", dt.date(2026, 12, 1), "few-nodes")
    assert found.utilization == pytest.approx(0.4, rel=1e-6)
    assert found.edits["utilization.evidence"] == "measured-node"
    assert found.predicted_ratio is None
    assert any(f"the {float(run.mesh.world_size):,.0f} of rung few-nodes" in note for note in found.notes)
    odd = text.replace("global batch size: ", "global batch size: 7")
    (tmp_path / "run.log").write_text(odd, encoding="utf-8")
    measurement = measurement_for(plan, "few-nodes")
    read_log(tmp_path / "run.log", measurement)
    measured = measurement.result()
    assert measured is not None
    refused = calibration(plan, measured, "run.log", dt.date(2026, 12, 1), "few-nodes")
    assert refused.utilization is None, "another number of sequences is another number of devices"
    assert not refused.edits
    bare = calibrated(plan, text, tmp_path)
    assert bare.utilization is None, "its TFLOP/s contradict the plan's devices"
    assert not bare.edits


def test_the_logs_own_flops_speak_where_a_length_was_lent(tmp_path: Path) -> None:
    """A step of 1,024 sequences of 4,096 tokens, taken for 32,768, tells an eighth of the FLOP of a token that it ran.

    A model with experts is no exception: nobody told what the rate is counted by.
    """
    for name in ("llama-3.1-8b", "mixtral-8x7b"):
        figures = figures_of(PLAN.replace("llama-3.1-8b", name))
        main = estimate(
            figures.plan.model_copy(update={"data": figures.plan.data.model_copy(update={"stages": ()})}), TODAY
        )
        seconds, rate = float(main.speed.step_time) * 1.1, float(main.speed.peak_flops) * 0.4 / 1.1
        lent = calibrated(figures, log(seconds, length=None, batch=1024, world=128, flops=rate), tmp_path)
        assert lent.utilization is None
        assert not lent.edits
        told = calibrated(figures, log(seconds, length=4096, batch=1024, world=128, flops=rate), tmp_path)
        assert told.utilization == pytest.approx(0.4 / 1.1, rel=1e-3)


def test_a_step_is_beside_the_prediction_at_its_length_and_batch(tmp_path: Path) -> None:
    """Only stage main has sequences of 4,096 tokens in steps of 1,024; the prediction is that of a plan of that stage alone."""
    main = figures_of(PLAN.replace(PLAN[PLAN.index("[[data") : PLAN.index("[batch]")], ""))
    predicted = float(main.step.predicted_step_time)
    figures = figures_of(PLAN)
    assert float(figures.step.predicted_step_time) != pytest.approx(predicted, rel=0.01)
    found = calibrated(figures, log(1.25 * predicted, length=4096, batch=1024, world=128), tmp_path)
    assert found.predicted_ratio == pytest.approx(1.25, rel=1e-6)
    assert found.planned["predicted_step_time"] == pytest.approx(predicted)
    warm = figures_of(PLAN.replace(PLAN[PLAN.index("[[data") : PLAN.index("[batch]")], "").replace("= 1024", "= 512"))
    half = float(warm.step.predicted_step_time)
    assert calibrated(figures, log(half, length=4096, batch=512, world=128), tmp_path).predicted_ratio == pytest.approx(
        1.0, rel=1e-6
    )
    rates = "".join(f"[titan] step: {i:2}  loss: 2.5  memory: 1.00GiB(1.00%)  tps: 9,000\n" for i in range(1, 200))
    unsaid = calibrated(figures, "[titan] sequence length 4096 batch size \n" + rates, tmp_path)
    assert unsaid.measured.sequence == 4096.0
    assert unsaid.predicted_ratio is None, "two stages of that length, and the log tells no batch"
    assert calibrated(figures, log(1.0, length=4096, batch=1024, world=64), tmp_path).predicted_ratio is None


def test_a_layout_that_moved_since_it_was_measured_is_found(tmp_path: Path) -> None:
    """Measured with a pipeline of 1, the plan then had 4 without a word."""

    def moved(text: str) -> list[str]:
        return [one.message for one in findings(figures_of(text)) if one.code == "C4" and "layout" in one.message]

    found, _ = values_of(PLAN, at_main(0.3), tmp_path, "")
    after = written(PLAN, figures_of(PLAN).plan, found)
    assert 'evidence = "measured-here"' in after
    assert moved(after) == []
    other = after + "[parallelism]\npipeline = 4\ntensor = 2\n"
    assert moved(other) == ["utilization was measured on another layout: tensor 1, now 2; pipeline 1, now 4"]
    assert moved(other.replace("measured-here", "assumed")) == []
    assert moved(other.replace("layout tensor", "a tensor")) == [], "no source of a log"
    assert "sharding default, now zero-3" in moved(after + '[parallelism]\nsharding = "zero-3"\n')[0]
    assert "nodes 16, now 8" in moved(after.replace("nodes = 16", "nodes = 8"))[0]
    assert "sequence length 32768, now 16384" in moved(after.replace("= 32768", "= 16384"))[0]
    node, _ = values_of(PLAN, log(3.0, length=4096, batch=8, world=8), tmp_path, "")
    assert "layout" not in node.edits["utilization.source"], "a node has a mesh of its own"


def test_a_length_that_only_the_flop_of_a_token_took_is_said(tmp_path: Path) -> None:
    """torchtitan prints tokens a second, so that no rate was worked out with the plan's length."""
    rates = "".join(f"[titan] step: {i:2}  loss: 2.5  memory: 1.00GiB(1.00%)  tps: 5,000\n" for i in range(1, 200))
    told = "the log does not say its sequence length: utilization is by what a token costs at the plan's 32,768"
    assert told in calibrated(figures_of(PLAN), rates, tmp_path).notes
    assert told not in calibrated(figures_of(PLAN), at_main(0.3), tmp_path).notes
