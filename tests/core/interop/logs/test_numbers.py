"""Lines of every framework with numbers that are none, or past all sense: something is measured or a reason is told."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainplan.files.drills import steps_of
from trainplan.files.pilotlogs import settings_of
from trainplan.interop.logs.events import Step
from trainplan.interop.logs.measured import Measurement
from trainplan.interop.logs.reading import read_log

LINES: Final = (
    "[2024-01-01 00:00:00] iteration 21/ 100 | consumed samples: 2 | elapsed time per iteration (ms): 123.4 | "
    "global batch size: 64 | samples/sec: 12.3 | number of skipped iterations: 0 |",
    "[rank-0/8] iteration 4 / 5 | elapsed time per iteration (s): 3.5 | tokens per gpu per second (tgs): 33 |",
    " world_size .......... 8",
    "save-checkpoint ......: (1.2, 3.4)",
    "MaxMemAllocated=12.3GB",
    "using world size: 8",
    "step: 12  loss: 3  memory: 12.3GiB(4%)  tps: 1,234  tflops: 3  mfu: 3%",
    "Finished saving the checkpoint (or staging if async is enabled) in 1.23 seconds.",
    "4 CUDA memory allocation retries",
    "Building 1-D device mesh with ['dp_shard'], [8]",
    "global batch size 64 sequence length 33",
    "[step=12/33]\nthroughput/device/TPS=123",
    "completed step: 12, seconds: 1.23, TFLOP/s/device: 3, Tokens/s/device: 123.4, total_weights: 3",
    "Training epoch 0, iteration 3/9 | global_step: 3 | train_step_timing in s: 1.23 | peak_memory_usage: 123",
    "Epoch 0:  3/900 [00:10<00:20, 1.23s/it, reduced_train_loss=3, global_step=3.0, consumed_samples=30]",
    "iteration: 3 / 9 | consumed_tokens: 3 | tokens_per_sec_per_gpu: 1.2K | global_batch_size: 64 |",
    '{"step": 3, "step_time": 1.2, "tps": 33, "max_memory_reserved": 4}',
)
WRONG: Final = (
    "1.2.3", "..", "9" * 5000, "9" * 400, "9" * 20, "-1", "1e308", "1e-308", "nan", "inf", "0", "\N{SUPERSCRIPT TWO}",
)  # fmt: skip
_NUMBER: Final = re.compile(r"\d[\d.,]*")


def measurement_of(path: Path, text: str) -> Measurement:
    path.write_text(text, encoding="utf-8")
    measurement = Measurement(64, 4096, 8)
    read_log(path, measurement)
    return measurement


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[:8])
@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:24])
def test_a_wrong_number_in_each_place_of_each_line(tmp_path: Path, line: str, wrong: str) -> None:
    for place in _NUMBER.finditer(line):
        broken = line[: place.start()] + wrong + line[place.end() :]
        found = measurement_of(tmp_path / "run.log", f"{broken}\n{line}\n{broken}\n")
        assert found.result() is not None or found.nothing()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(LINES), st.randoms(use_true_random=False)), min_size=5, max_size=40))
def test_what_is_measured_of_a_broken_log_is_finite_and_above_zero(
    tmp_path: Path, parts: list[tuple[str, object]]
) -> None:
    def changed(found: re.Match[str], chance: object) -> str:
        roll = chance.random()  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]
        return WRONG[int(roll * 10 * len(WRONG))] if roll < 0.1 else str(int(roll * 300)) if roll < 0.4 else found[0]

    text = "\n".join(_NUMBER.sub(lambda found, by=by: changed(found, by), line) for line, by in parts)
    measurement = measurement_of(tmp_path / "run.log", text + "\n")
    found = measurement.result()
    if found is None:
        assert measurement.nothing()
        return
    assert all(0 < rate < math.inf for rate in (found.rate, found.rate_low, found.rate_high))
    assert found.peak is None or 0 < found.peak < math.inf
    assert found.stall is None or 0 <= found.stall < math.inf
    assert "nan" not in found.spread()


def test_a_number_past_all_sense_is_told_with_its_line(tmp_path: Path) -> None:
    good = "".join(f"step: {number}  loss: 3  memory: 12.3GiB(4%)  tps: 1,234\n" for number in range(1, 60))
    found = measurement_of(
        tmp_path / "run.log", good + "step: 60  memory: 1.2GiB  tps: 9e99\n" + good.replace("tps: 1", "tps: ..")
    )
    told = found.result()
    assert told is not None
    assert told.rate == 1234.0
    assert any(reason.startswith("not readable, the first is line 61") for reason in told.dropped)


@pytest.mark.parametrize(
    ("step", "sound"),
    [
        (Step(1, 1.0, 64.0), True),
        (Step(1, None, None, 1234.0), True),
        (Step(1, -1.0, 64.0), False),
        (Step(1, 1e-308, 64.0), False),
        (Step(1, 1.0, -64.0), False),
        (Step(1, None, None, -3.0), False),
        (Step(1, None, None, 1e18), False),
        (Step(1, 1.0, 64.0, length=-1.0), False),
    ],
)
def test_numbers_of_a_step(step: Step, sound: bool) -> None:
    assert step.sound is sound


def test_counts_of_five_thousand_digits_in_a_drill_and_a_pilot_are_no_counts() -> None:
    digits = "9" * 5000
    assert steps_of(f"iteration {digits}/ 9 | consumed samples: {digits} |").steps == ()
    assert settings_of("one-node", "run.log", f"total steps {digits}").steps is None
