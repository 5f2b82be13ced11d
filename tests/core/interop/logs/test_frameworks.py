"""Logs of every framework recover what they were made from: format-true lines, warm-up, saves, evaluations and restarts in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan.interop.logs.measured import Measured, Measurement
from trainplan.interop.logs.reading import LogError, read_log, text_reader
from trainplan.interop.logs.series import KEPT

SECONDS, BATCH, LENGTH, WORLD = 4.0, 512, 4096, 128
RATE = BATCH * LENGTH / (SECONDS * WORLD)


def measured(
    path: Path, *, batch: float | None = None, length: float | None = None, world: float | None = None
) -> Measured:
    measurement = Measurement(batch, length, world)
    read_log(path, measurement)
    result = measurement.result()
    assert result is not None
    return result


def seconds(step: int) -> float:
    """A slow first stretch, then small noise around the true time."""
    return 30.0 if step < 10 else SECONDS * (1.0 + 0.01 * ((step * 7919) % 5 - 2))


def megatron(steps: int) -> list[str]:
    lines = [
        "  world_size ...................................... 128",
        "  seq_length ...................................... 4096",
    ]
    for i in range(1, steps + 1):
        lines.append(
            f" [2026-11-02 10:00:00.000000] iteration {i:8d}/{steps:8d} | consumed samples: {i * BATCH:12d} | "
            f"elapsed time per iteration (ms): {1e3 * seconds(i):.1f} | throughput per GPU (TFLOP/s/GPU): 400.1 | "
            f"learning rate: 3.000000E-04 | global batch size: {BATCH:5d} | lm loss: 2.101E+00 | loss scale: 1.0 | "
            f"grad norm: 0.301 | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if i % 100 == 0:
            lines += [
                f"saving checkpoint at iteration {i:7d} to /checkpoints",
                "(min, max) time across ranks (ms):",
                "    save-checkpoint ................................: (11800.10, 12000.00)",
            ]
    lines.append(
        "[Rank 0] (after 9 iterations) memory (MB) | allocated: 1.0 | max allocated: 5e4 | reserved: 2.0 | max reserved: 61440.0"
    )
    return lines


def deepspeed(steps: int) -> list[str]:
    """Seconds in place of milliseconds, and TFLOPs by another convention: two traps of a look-alike line."""
    return [
        f"[default7]: iteration {i:8d}/  115311 | consumed samples: {i * BATCH:12d} | consumed tokens: {i * BATCH * LENGTH:12d} | "
        f"elapsed time per iteration (s): {seconds(i):.2f} | learning rate: 5.969E-05 | global batch size: {BATCH:5d} | "
        f"lm loss: 2.463556E+00 | grad norm: 0.174 | num zeros: 0.0 | number of skipped iterations:   0 | "
        f"number of nan iterations:   0 | samples per second: 19.463 | TFLOPs: 149.02 |"
        for i in range(1, steps + 1)
    ]


def titan(steps: int) -> list[str]:
    lines: list[str] = []
    for i in range(1, steps + 1):
        rate = BATCH * LENGTH / (seconds(i) * WORLD)
        lines.append(
            f"[rank0]:[titan] 2026-11-02 10:00:00,616 - root - INFO - \x1b[31mstep: {i:2}  \x1b[32mloss: {2.1:8.5f}  "
            f"\x1b[38;2;180;60;0mgrad_norm: {0.3:7.4f}  \x1b[33mmemory: 60.00GiB(75.80%)  "
            f"\x1b[34mtps: {round(rate):,}  \x1b[36mtflops: 400.10  \x1b[35mmfu: 40.41%\x1b[39m"
        )
        if i % 100 == 0:
            lines.append(
                "[rank0]:[titan] - root - INFO - Finished saving the checkpoint (or staging if async is enabled)in 12.00 seconds."
            )
            lines.append(
                "[rank0]:[titan] - root - INFO - validate step: 100  loss: 2.5  memory: 60.0GiB(75.8%)  tps: 99,999"
            )
    return lines


def olmo(steps: int) -> list[str]:
    lines: list[str] = []
    for i in range(1, steps + 1):
        rate = BATCH * LENGTH / (seconds(i) * WORLD)
        lines += [
            f"2026-11-02 10:00:00.123\thost:0\tolmo_core.train.callbacks:1\tINFO\t[step={i}/{steps},epoch=1,eta=1:00]",
            "    train/CE loss=2.101",
            "    optim/total grad norm=0.3010",
            f"    throughput/device/TPS={rate:,.3f}",
            f"    throughput/device/TPS (actual avg)={rate / 3:,.3f}",
            "    throughput/device/MFU=40.4",
            "    gpu_memory/GPU reserved mem (GiB)=60.00",
        ]
    return lines


def nemo(steps: int) -> list[str]:
    return [
        f"Training epoch 0, iteration {i}/{steps} | lr: 7.496e-06 | global_batch_size: {BATCH} | global_step: {i} | "
        f"peak_memory_usage: {60 * 2**30} | memory_allocated: 44271689728 | reduced_train_loss: 11.96 | "
        f"train_step_timing in s: {seconds(i):.3f} | consumed_samples: {i * BATCH}"
        for i in range(steps)
    ]


def table(steps: int) -> list[str]:
    rows = [f"{i},{seconds(i):.4f},{BATCH},60.0" for i in range(1, steps + 1)]
    return ["Step,run-1 - time_metrics/end_to_end(s),run-1 - batch-size,run-1 - memory/max_reserved(GiB)", *rows]


def objects(steps: int) -> list[str]:
    return [
        json.dumps(
            {"_step": i, "throughput(tps)": BATCH * LENGTH / (seconds(i) * WORLD), "memory/max_reserved(GiB)": 60.0}
        )
        for i in range(1, steps + 1)
    ]


LOGS: list[tuple[str, Callable[[int], list[str]], str]] = [
    ("Megatron-LM", megatron, "log"),
    ("Megatron-DeepSpeed", deepspeed, "log"),
    ("torchtitan", titan, "log"),
    ("OLMo-core", olmo, "log"),
    ("NeMo", nemo, "out"),
    ("metrics", table, "csv"),
    ("metrics", objects, "jsonl"),
]


@pytest.mark.parametrize(("framework", "lines", "suffix"), LOGS, ids=[f"{name}-{end}" for name, _, end in LOGS])
def test_a_log_recovers_what_it_was_made_from(
    tmp_path: Path, framework: str, lines: Callable[[int], list[str]], suffix: str
) -> None:
    path = tmp_path / f"run.{suffix}"
    path.write_text("\n".join(lines(400)) + "\n")
    found = measured(path, batch=BATCH, length=LENGTH, world=WORLD)
    assert found.framework == framework
    assert found.rate == pytest.approx(RATE, rel=0.002)
    assert found.rate_low <= found.rate <= found.rate_high
    assert found.rate_low == pytest.approx(RATE / 1.02, rel=0.003)
    assert 0.005 < found.variation < 0.03
    assert found.steps_seen == 400
    assert 340 <= found.steps_used <= 362
    if framework != "Megatron-DeepSpeed":
        assert found.peak == pytest.approx(60 * 2**30)


def test_saves_and_what_follows_them(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    for lines in (megatron, titan):
        path.write_text("\n".join(lines(400)))
        found = measured(path, batch=BATCH, length=LENGTH, world=WORLD)
        assert found.stall == pytest.approx(12.0)
        assert found.saves == 4
        assert sum(count for reason, count in found.dropped.items() if reason.startswith("after")) == 3
        assert found.date == "2026-11-02"


def test_a_log_says_its_own_world_and_length(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("\n".join(megatron(200)) + "\n")
    found = measured(path)
    assert (found.world, found.sequence, found.batch) == (WORLD, LENGTH, BATCH)
    assert found.rate == pytest.approx(RATE, rel=0.002)
    assert found.peak_reserved


def test_bloom_line_as_published(tmp_path: Path) -> None:
    """105.22 s at 2,048 sequences of 2,048 on 384 A100 is 103.8 tokens/s a device, whatever TFLOPs it prints."""
    line = (
        " [default7]: iteration    12695/  115311 | consumed samples:      9841584 | consumed tokens:  20155564032 | "
        "elapsed time per iteration (s): 105.22 | learning rate: 5.969E-05 | global batch size:  2048 | lm loss: 2.463556E+00 | "
        "grad norm: 0.174 | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 | "
        "samples per second: 19.463 | TFLOPs: 149.02 |"
    )
    path = tmp_path / "bloom.log"
    path.write_text("\n".join(line.replace("12695", str(step)) for step in range(12695, 12795)))
    found = measured(path, world=384)
    assert found.framework == "Megatron-DeepSpeed"
    assert found.sequence == 2048
    assert found.rate == pytest.approx(2048 * 2048 / (105.22 * 384))


def test_skipped_steps_are_dropped(tmp_path: Path) -> None:
    lines = megatron(100)
    lines = [
        line.replace("number of skipped iterations:   0", "number of skipped iterations:   1")
        if "    50/" in line
        else line
        for line in lines
    ]
    path = tmp_path / "run.log"
    path.write_text("\n".join(lines))
    assert measured(path).dropped["skipped"] == 1


def test_a_restart_warms_up_again(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("\n".join([*megatron(200), *megatron(100)]))
    found = measured(path)
    assert found.rate == pytest.approx(RATE, rel=0.002)
    assert found.dropped["warm-up"] >= 38


def test_a_short_log_uses_its_later_half(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("\n".join(megatron(16)[2:]))
    found = measured(path, length=LENGTH, world=WORLD)
    assert found.steps_used == 8
    assert found.steps_seen == 16


def test_retries_of_the_allocator_are_read(tmp_path: Path) -> None:
    """torchtitan warns beside its steps; a table has a column. The largest count of a log stands."""
    path = tmp_path / "run.log"
    lines = titan(100)
    warned = "[rank0]:2026-11-02 10:00:00,000 - root - WARNING - {} CUDA memory allocation retries."
    path.write_text("\n".join([*lines[:50], warned.format(3), *lines[50:], warned.format(5)]))
    assert measured(path, length=LENGTH, world=WORLD).retries == 5
    path.write_text("\n".join(lines))
    assert measured(path, length=LENGTH, world=WORLD).retries == 0
    table = tmp_path / "run.csv"
    rows = [f"{step},{RATE},{2 if step > 60 else 0}" for step in range(1, 100)]
    table.write_text("\n".join(["step,throughput(tps),memory/num_alloc_retries", *rows]))
    assert measured(table, length=LENGTH, world=WORLD).retries == 2


def test_memory_of_many_steps_is_bounded() -> None:
    from trainplan.interop.logs.events import Step

    measurement = Measurement(BATCH, LENGTH, WORLD)
    for step in range(4 * KEPT):
        measurement.take(Step(step, seconds(step)))
    assert len(measurement.series.rates) < KEPT
    found = measurement.result()
    assert found is not None
    assert found.rate == pytest.approx(RATE, rel=0.002)
    assert found.steps_used == pytest.approx(0.9 * 4 * KEPT, rel=0.01)


def test_progress_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("\n".join(megatron(200)))
    told: list[tuple[int, int]] = []
    read_log(path, Measurement(None, None, None), lambda done, size: told.append((done, size)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


MALFORMED = [
    b"",
    b"\x00\xff\xfe garbage \x80",
    b"iteration 1/ | elapsed time per iteration (ms): | global batch size: x |\n",
    b"iteration 1/2 | elapsed time per iteration (ms): nan | global batch size: 5 |\n",
    b"step: 1 loss: 1 tps: ,,\n",
    b"[step=x/1]\n throughput/device/TPS=1\n",
    b"train_step_timing in s: -1 | iteration 1/2\n",
    b'{"step": 1, "tps": "many"}\n{not json\n[[[[[\n',
    b"x" * 300_000,
]


@pytest.mark.parametrize("data", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_logs_measure_nothing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(data)
    measurement = Measurement(BATCH, LENGTH, WORLD)
    read_log(path, measurement)
    assert measurement.result() is None


@given(line=st.text(max_size=300))
def test_no_line_raises(line: str) -> None:
    list(text_reader()(line))


def test_a_table_without_a_known_column_names_what_would_do(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("step,loss\n1,2.0\n")
    with pytest.raises(LogError, match="no column of step time or tokens a second among loss, step"):
        read_log(path, Measurement(None, None, None))


def test_a_json_array_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('[{"step": 1, "tps": 1.0}]')
    with pytest.raises(LogError, match="One object a line is right"):
        read_log(path, Measurement(None, None, None))


def test_a_log_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="the file does not exist"):
        read_log(tmp_path / "none.log", Measurement(None, None, None))


def test_a_log_that_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "log")
    with pytest.raises(LogError, match="not a regular file"):
        read_log(tmp_path / "log", Measurement(None, None, None))


def test_lines_that_are_cut_or_hold_no_number_are_counted(tmp_path: Path) -> None:
    """One loses its time, one ends in the middle: both are told, with the first of them."""
    lines = megatron(60)
    steps = [place for place, line in enumerate(lines) if "elapsed time per iteration" in line]
    first, second = steps[30], steps[40]
    lines[first] = re.sub(r"(elapsed time per iteration \(ms\)): [\d.]+", r"\1: garbage", lines[first])
    lines[second] = lines[second][: lines[second].index("|") + 12]
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = measured(path)
    assert found.dropped[f"not readable, the first is line {first + 1}"] == 2
    assert found.rate == pytest.approx(RATE, rel=0.01)
