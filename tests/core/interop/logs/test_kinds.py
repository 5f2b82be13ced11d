"""Lines as real logs print them, each with where it was read: units, counts, ranks, bars, restarts and what is cut.

Numbers are those of the source; where a test needs more lines than were published, they go on in the same way.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import re
from pathlib import Path

import pytest

from trainplan.interop.logs.measured import AGAIN, OTHER, Measured, Measurement
from trainplan.interop.logs.reading import LogError, read_log

TAIL = "number of skipped iterations: {skipped:3d} | number of nan iterations:   0 |"


def taken(path: Path, text: str | bytes, **settings: float) -> Measurement:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    measurement = Measurement(settings.get("batch"), settings.get("length"), settings.get("world"))
    read_log(path, measurement)
    return measurement


def measured(path: Path, text: str | bytes, **settings: float) -> Measured:
    found = taken(path, text, **settings).result()
    assert found is not None
    return found


def megatron(number: int, milliseconds: float, skipped: int = 0, time: str = "23:41:12") -> str:
    """A line of Megatron-LM in 2025."""
    return (
        f" [2025-04-13 {time}] iteration {number:8d}/    1000 | consumed samples: {16 * number:12d} | "
        f"elapsed time per iteration (ms): {milliseconds:.1f} | learning rate: 4.000000E-05 | global batch size:    16 | "
        f"lm loss: 1.072453E+01 | loss scale: 131072.0 | grad norm: 3.874 | {TAIL.format(skipped=skipped)}"
    )


GPT2 = [
    (10, 1147.6, 10),
    (20, 820.7, 6),
    (30, 821.8, 5),
    (40, 849.8, 0),
    (50, 904.5, 0),
    (60, 837.6, 0),
    (70, 840.3, 0),
]
"""A public run of GPT-2 on one device with a log interval of 10: iteration, milliseconds, skipped of ten."""


def test_a_line_of_ten_iterations_counts_as_ten(tmp_path: Path) -> None:
    found = measured(tmp_path / "a.log", "\n".join(megatron(*line) for line in GPT2) + "\n", length=1024, world=1)
    assert (found.steps_seen, found.steps_used) == (70, 40)
    assert found.dropped == {"warm-up": 20, "skipped": 10}
    assert found.steps_a_line == 10.0
    assert found.spread().endswith("of means of 10 steps")
    assert found.rate == pytest.approx(16 * 1024 / 0.8451, rel=0.01)


def test_single_steps_vary_as_steps(tmp_path: Path) -> None:
    text = "\n".join(megatron(number, 800.0 + number % 3) for number in range(1, 60)) + "\n"
    found = measured(tmp_path / "a.log", text, length=1024, world=1)
    assert found.steps_a_line == 1.0
    assert (found.steps_seen, found.steps_used) == (59, 39)
    assert found.spread() == "variation 0.1 %"


def test_a_long_mean_weighs_by_its_steps(tmp_path: Path) -> None:
    """A run goes on with another interval: 40 lines of one step, then three means of a hundred. The middle is over steps."""
    lines = [megatron(number, 1000.0) for number in range(1, 61)]
    lines += ["[before the start of training step] datetime: 2025-04-13 23:59:00 "]
    lines += [megatron(number, 2000.0, time="23:59:59") for number in range(100, 500, 100)]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=1024, world=1)
    assert found.rate == pytest.approx(16 * 1024 / 2.0)
    assert found.steps_used == 340
    assert found.steps_a_line == 100.0


def test_lines_that_are_lost_are_not_counted(tmp_path: Path) -> None:
    """An interval of 100, of which 100, 1,000 and 2,000 were published (rocm.blogs.amd.com, MegaBlocks on MI300X)."""
    text = "\n".join(megatron(number, 657.0) for number in (100, 1000, 2000)) + "\n"
    found = measured(tmp_path / "a.log", text, length=1024, world=8)
    assert (found.steps_seen, found.steps_used) == (300, 200)


def test_one_line_has_no_variation(tmp_path: Path) -> None:
    found = measured(
        tmp_path / "a.log", megatron(100, 657.0) + "\n" + megatron(200, 657.0) + "\n", length=1024, world=8
    )
    assert (found.steps_used, found.variation) == (100, None)
    assert found.spread() == "variation unknown of one line"


def test_a_restart_repeats_iterations_and_warms_up_again(tmp_path: Path) -> None:
    first = [megatron(10 * place, 840.0) for place in range(1, 11)]
    again = [megatron(10 * place, 840.0 if place > 8 else 5000.0, time="23:59:12") for place in range(6, 16)]
    found = measured(tmp_path / "a.log", "\n".join([*first, *again]) + "\n", length=1024, world=1)
    assert found.steps_seen == 200
    assert found.dropped["warm-up"] >= 40
    assert found.rate == pytest.approx(16 * 1024 / 0.84)
    assert AGAIN not in found.dropped


def test_a_start_that_is_printed_warms_up_whatever_its_number(tmp_path: Path) -> None:
    """A run that saved and left goes on at the next number: nothing goes back."""
    start = "[before the start of training step] datetime: 2025-04-13 23:59:00 "
    lines = [
        *(megatron(number, 800.0) for number in range(1, 61)),
        start,
        *(megatron(number, 900.0) for number in range(61, 101)),
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=1024, world=1)
    assert found.dropped["warm-up"] == 40


@pytest.mark.parametrize("ranks", [2, 8])
def test_ranks_that_print_the_same_step_count_once(tmp_path: Path, ranks: int) -> None:
    """pytorch/torchtitan pull request 2389: eight ranks print each step, in the same millisecond."""
    lines = [
        f"[titan] 2026-02-24 19:46:{number % 60:02d},508 - root - INFO - step: {number:2}  loss:  7.62585  grad_norm: 26.6250  "
        f"memory: 66.91GiB(37.51%)  tps: {10_050 - rank:,}  tflops: 314.71  mfu: 13.99%"
        for number in range(1, 41)
        for rank in range(ranks)
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.steps_seen, found.steps_used) == (40, 20)
    assert found.dropped[AGAIN] == 40 * (ranks - 1)


def test_a_rank_that_is_late_starts_no_run(tmp_path: Path) -> None:
    """Two ranks whose output is interleaved in blocks; launchers put the rank before each line."""

    def line(rank: int, number: int) -> str:
        return f"{rank}: [titan] 2026-02-24 19:{number:02d}:00,508 - INFO - step: {number:2}  loss: 7.6  tps: {9_000 + rank:,}"

    blocks = [
        [line(rank, number) for number in range(start, start + 10)] for start in range(1, 51, 10) for rank in (0, 1)
    ]
    found = measured(tmp_path / "a.log", "\n".join(one for block in blocks for one in block) + "\n")
    assert (found.steps_seen, found.steps_used) == (50, 30)
    assert found.rate == 9000.0


def test_a_log_of_each_rank_is_one_run(tmp_path: Path) -> None:
    """torchrun's --log-dir writes a file a rank; another day's log of the same steps is another run."""
    measurement = Measurement(16, 1024, 1)
    for name, day in (("0.log", "2025-04-13"), ("1.log", "2025-04-13"), ("next.log", "2025-04-14")):
        text = "\n".join(megatron(number, 800.0) for number in range(1, 61)).replace("2025-04-13", day)
        (tmp_path / name).write_text(text + "\n")
        read_log(tmp_path / name, measurement)
    found = measurement.result()
    assert found is not None
    assert (found.steps_seen, found.dropped["warm-up"], found.dropped[AGAIN]) == (120, 40, 60)
    assert found.date == "2025-04-14"
    (tmp_path / "bare.log").write_text("completed step: 1, seconds: 1.3, Tokens/s/device: 36653.2, loss: 0.0\n")
    read_log(tmp_path / "bare.log", measurement)
    assert measurement.date == "2025-04-14"


def test_the_later_of_two_worlds_is_measured(tmp_path: Path) -> None:
    world = "  world_size ...................................... {}"
    runs = [
        [world.format(size), *(megatron(number, 800.0, time=time) for number in range(1, 61))]
        for size, time in ((8, "01:00:00"), (16, "02:00:00"))
    ]
    found = measured(tmp_path / "a.log", "\n".join(line for run in runs for line in run) + "\n", length=1024)
    assert found.world == 16
    assert found.rate == pytest.approx(16 * 1024 / (0.8 * 16))
    assert found.dropped[OTHER] == 60


DEEP = (
    "{before} iteration {number:8d}/      10 | consumed samples: {samples:12d} | consumed tokens: {tokens:12d} | "
    "elapsed time per iteration (ms): {milliseconds} | learning rate: 2.270E-05 | global batch size:  {batch} | lm loss: 1.1E+01 | "
    "loss scale: 4294967296.0 | grad norm: 0.000 | actual seqlen:  {length} | number of skipped iterations:   0 | "
    "number of nan iterations:   0 | samples per second: {rate} | tokens per gpu per second (tgs): {tgs} | TFLOPs: 153.38 |"
)


@pytest.mark.parametrize(
    ("batch", "length", "milliseconds", "rate", "tgs", "world"),
    [(1536, 2048, 344656.1, 4.457, 142.612, 64), (768, 4096, 14287.5, 53.753, 1146.733, 192)],
    ids=["gpt3-175b on 64", "argonne-lcf on 192"],
)
def test_tokens_per_gpu_per_second_tell_the_world(
    tmp_path: Path, batch: int, length: int, milliseconds: float, rate: float, tgs: float, world: int
) -> None:
    """deepspeedai/Megatron-DeepSpeed prints the rate of one device: batch, length and time then say how many there are."""
    said = {"before": "7:", "milliseconds": milliseconds, "batch": batch, "length": length, "rate": rate, "tgs": tgs}
    text = "\n".join(
        DEEP.format(number=number, samples=number * batch, tokens=number * batch * length, **said)
        for number in range(1, 40)
    )
    found = measured(tmp_path / "a.log", text + "\n", world=8, length=512)
    assert found.framework == "Megatron-DeepSpeed"
    assert (found.world, found.sequence, found.batch) == (world, length, batch)
    assert found.rate == tgs
    assert found.assumed == ()


def test_bloom_settings_stand_behind_a_rank(tmp_path: Path) -> None:
    """`[default0]:` is torchrun's prefix; a length that grows is seen from one line to the next, not from the sum."""
    lines = ["[default0]:  world_size ...................................... 384"]
    samples, tokens = 9841584, 20155564032
    for number in range(12695, 12755):
        samples, tokens = samples + 2048, tokens + 2048 * 2048
        lines.append(
            f"[default7]: iteration {number:8d}/  115311 | consumed samples: {samples:12d} | consumed tokens: {tokens:12d} | "
            f"elapsed time per iteration (s): 105.22 | learning rate: 5.969E-05 | global batch size:  2048 | "
            f"lm loss: 2.463556E+00 | grad norm: 0.174 | num zeros: 0.0 | {TAIL.format(skipped=0)} "
            f"samples per second: 19.463 | TFLOPs: 149.02 |"
        )
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", world=64, length=4096)
    assert (found.world, found.sequence) == (384, 2048)
    assert found.rate == pytest.approx(2048 * 2048 / (105.22 * 384))


def test_the_older_form_of_a_save(tmp_path: Path) -> None:
    """bigscience-workshop/bigscience, chronicle of tr1-13B."""
    save = [
        "saving checkpoint at iteration   33241 to /checkpoints",
        "  successfully saved checkpoint at iteration   33241 to /checkpoints",
        "time (ms) | save-checkpoint: 57514.53",
    ]
    lines = [*(megatron(10 * place, 23491.4) for place in range(3200, 3220)), *save]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=2048, world=256)
    assert found.stall == pytest.approx(57.51453)


def test_ranks_that_tell_of_the_same_save_count_once(tmp_path: Path) -> None:
    """torchtitan on every rank: the slowest is what all waited for."""
    lines: list[str] = []
    for number in range(10, 400, 10):
        lines += [f"[rank{rank}]:[titan] step: {number}  loss: 2.0  tps: 7,000" for rank in range(4)]
        if number % 100 == 0:
            saved = "[rank{}]:[titan] Finished saving the checkpoint (or staging if async is enabled) in {}.00 seconds."
            lines += [saved.format(rank, 10 + rank) for rank in range(4)]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.saves, found.stall) == (3, 13.0)
    assert found.dropped["after a checkpoint"] == 30


@pytest.mark.parametrize(
    "line",
    [
        "[2022-10-29 00:41:40,886] [INFO] [launch.py:156:main] dist_world_size=8",
        "using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, pipeline-model-parallel size: 1 ",
        "0: All distributed processes registered. Starting with 8 processes",
        "[default0]:  world_size ...................................... 8",
    ],
)
def test_what_says_the_world(tmp_path: Path, line: str) -> None:
    lines = [line, *(megatron(number, 800.0) for number in range(1, 60))]
    assert measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=1024, world=64).world == 8


def test_every_line_after_a_save_is_measured_and_said(tmp_path: Path) -> None:
    """aws-samples, a fault injection guide: a save after each iteration, behind srun's ranks."""
    lines: list[str] = []
    for number in range(1, 40):
        lines += [
            f"1: iteration {number:8d}/  508626 | consumed samples: {288 * number:12d} | "
            f"elapsed time per iteration (ms): 40352.6 | learning rate: 0.000E+00 | global batch size:   288 | "
            f"loss scale: 1.0 | {TAIL.format(skipped=0)}",
            f"0: saving checkpoint at iteration {number:7d} to /fsx/checkpoints",
            "1:     save-checkpoint ................................: (81611.24, 81611.82)",
        ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=2048, world=256)
    assert found.disturbed
    assert (found.steps_used, found.saves) == (19, 39)
    assert "after a checkpoint" not in found.dropped


def test_megatron_bridge_counts_memory_in_billions(tmp_path: Path) -> None:
    """NVIDIA/dgxc-benchmarking, Llama 3.1 8B, after the first iteration: of several ranks the most stands."""
    line = (
        "[Rank {rank}] (after 1 iterations) memory (GB) | mem-allocated-gigabytes: 51.072 | mem-reserved-gigabytes: 216.89 | "
        "mem-max-allocated-gigabytes: 194.41 | mem-max-reserved-gigabytes: {reserved} | mem-alloc-retires: 3 | "
        "mem-allocated-count: 571"
    )
    lines = [
        line.format(rank=0, reserved=216.89),
        line.format(rank=1, reserved=210.5),
        *(megatron(n, 800.0) for n in range(1, 60)),
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=8192, world=8)
    assert (found.peak, found.peak_reserved, found.retries) == (pytest.approx(216.89e9), True, 3)


def test_neox_prints_sequences_a_second(tmp_path: Path) -> None:
    """deepspeedai/DeepSpeed issue 3742: 7.799 a second in 4.1031 s are 32; its arguments end in `updated`."""
    lines = [
        "  seq_length ...................... 2048........................updated",
        "  global_num_gpus ................. 8...........................updated",
        "[2023-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step=34/global_step=34, "
        "RunningAvgSamplesPerSec=7.8646, CurrSamplesPerSec=8.0091, MemAllocated=59.65GB, MaxMemAllocated=63.31GB",
    ]
    lines += [
        f" samples/sec: 7.799 | iteration {number:8d}/   10000 | elapsed time per iteration (ms): 4103.1 | "
        f"learning rate: 2.111E-06 | approx flops per GPU: 112.9TFLOPS | lm_loss: 1.118665E+01 | {TAIL.format(skipped=0)}"
        for number in range(1, 60)
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", batch=1024, world=64, length=4096)
    assert (found.framework, found.batch, found.world, found.sequence) == ("GPT-NeoX", 32, 8, 2048)
    assert found.rate == pytest.approx(32 * 2048 / (4.1031 * 8))
    assert found.peak == pytest.approx(63.31 * 2**30)
    assert not found.peak_reserved


def test_primus_prints_now_and_the_mean_so_far(tmp_path: Path) -> None:
    """AMD-AGI/Primus, with its colours: the time now, the rate of one device, and the world beside the rank."""
    text = "\n".join(
        f"[\x1b[32m20251121 12:10:29\x1b[0m][\x1b[36mrank-31/32\x1b[0m][\x1b[1mINFO \x1b[0m] [--------trainer.py:2488] :  "
        f"iteration {number:8d}/   36000 | consumed samples: {256 * number:12d} | elapsed time per iteration (ms): 2701.3/2712.7 | "
        f"hip mem usage/free/total/usage_ratio: 227.35GB/28.63GB/255.98GB/88.81% | throughput per GPU (TFLOP/s/GPU): 210.5/217.3 | "
        f"tokens per GPU (tokens/s/GPU): 12130.4/12525.5 | learning rate: 1.587349E-04 | global batch size:   256 | "
        f"lm loss: 2.352391E+00 | loss scale: 1.0 | grad norm: 0.132 | {TAIL.format(skipped=0)}\x1b[0m"
        for number in range(12125, 12185)
    )
    found = measured(tmp_path / "a.log", text + "\n", batch=1, length=1, world=1)
    assert (found.rate, found.world, found.batch) == (12130.4, 32, 256)


TITAN = [
    (1, 1478),
    (10, 7026),
    (20, 7080),
    (30, 7082),
    (40, 7072),
    (50, 7057),
    (60, 7051),
    (70, 7042),
    (80, 7036),
    (90, 7033),
    (100, 6856),
]


def test_titan_whose_colours_lost_their_escape(tmp_path: Path) -> None:
    """Llama 3 8B on eight H200, February 2025, as pasted: `[34mtps:`. Its start says world, batch and length."""
    lines = [
        "[rank0]:2025-02-13 11:33:12,140 - root - INFO - Building 1-D device mesh with ['dp_shard'], [8]",
        "[rank0]:2025-02-13 11:33:29,482 - root - INFO - Training starts at step 1, with local batch size 1, global batch size 8, "
        "sequence length 8192, total steps 100 (warmup 200)",
    ]
    lines += [
        f"[rank0]:2025-02-13 11:33:35,026 - root - INFO - [31mstep: {number:2}  [32mloss: 12.2417  [33mmemory: 49.59GiB(35.46%)  "
        f"[34mtps: {rate:,}  [35mmfu: 41.15%[39m"
        for number, rate in TITAN
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.world, found.batch, found.sequence) == (8, 8, 8192)
    assert (found.steps_seen, found.steps_used, found.steps_a_line) == (100, 80, 10.0)
    assert found.rate == pytest.approx(7046.5)
    assert found.date == "2025-02-13"


def test_titan_names_its_degrees(tmp_path: Path) -> None:
    """torchtitan, May 2026: two shards of two, and experts on the same devices; its oldest lines say wps."""
    mesh = "[titan] Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=2, cp=1, tp=2, ep=2"
    lines = [
        mesh,
        *(f"[titan] step: {number}  loss: 2.0  memory: 9.46GiB(64.99%)  wps: 7,282" for number in range(1, 50)),
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.world, found.rate) == (4, 7282.0)


def olmo_core(number: int) -> list[str]:
    """allenai/OLMo-core pull request 511."""
    return [
        f"2025-12-22 10:00:00.123\thost:0\tolmo_core.train.callbacks.console_logger:1\tINFO\t[step={number}/400,epoch=1,eta=1:00]",
        "    gpu_memory/GPU active mem (GiB)=50.14",
        "    gpu_memory/GPU reserved mem (GiB)=62.69",
        "    throughput/device/TPS=258,163",
        "    throughput/device/TPS (actual avg)=195,922",
        "    throughput/device/flopsPS=441.0T",
        "    throughput/total tokens=52,428,800",
    ]


@pytest.mark.parametrize("before", ["", "0: ", "[rank0]: "])
def test_olmo_core_behind_a_launcher(tmp_path: Path, before: str) -> None:
    """A line is a single step, whatever the interval: its rate is of that step alone. The date stands at its head."""
    lines = [before + line for number in range(10, 400, 10) for line in olmo_core(number)]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.framework, found.rate, found.steps_seen, found.steps_a_line) == ("OLMo-core", 258_163.0, 39, 1.0)
    assert found.peak == pytest.approx(62.69 * 2**30)
    assert found.date == "2025-12-22"


def test_olmo_in_megabytes_of_a_million(tmp_path: Path) -> None:
    """allenai/OLMo, April 2024: running means, and a peak that is allocated, in 10**6 bytes."""
    lines: list[str] = []
    for number in range(1, 40):
        lines += [
            f"[2024-04-17 09:42:26] INFO     [olmo.train:816, rank=0] [step={number}/739328]",
            "    throughput/total_tokens=8,388,608",
            "    throughput/device/tokens_per_second=45,538",
            "    throughput/device/batches_per_second=0.0869",
            "    System/Peak GPU Memory (MB)=43,309",
        ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n")
    assert (found.framework, found.rate, found.peak, found.peak_reserved) == (
        "OLMo, running means",
        45_538.0,
        43_309e6,
        False,
    )


def test_nemo_behind_srun_with_two_peaks(tmp_path: Path) -> None:
    """NVIDIA-NeMo/Speech issue 14850."""
    text = "\n".join(
        f" 0: Training epoch 0, iteration {number}/29 | lr: 5.389e-06 | global_batch_size: 512 | global_step: {number} | "
        f"max_memory_reserved: 57466159104 | max_memory_allocated: 53930270720 | reduced_train_loss: 10.22 | "
        f"train_step_timing in s: 27.01 | consumed_samples: {512 * number + 512} | TFLOPS_per_GPU: 85.8\n 0: "
        for number in range(30)
    )
    found = measured(tmp_path / "a.log", text, length=4096, world=16)
    assert (found.peak, found.peak_reserved, found.batch) == (57466159104.0, True, 512)
    assert found.rate == pytest.approx(512 * 4096 / (27.01 * 16))


def test_nemo_leaves_the_last_evaluation_on_every_line(tmp_path: Path) -> None:
    """NVIDIA-BioNeMo pull request 740: `val_loss` stays, and the timing is of training alone."""
    text = "\n".join(
        f"Training epoch 0, iteration {number}/149 | lr: 3e-05 | consumed_samples: {number + 1} | global_batch_size: 1 | "
        f"global_step: {number} | reduced_train_loss: 1.233 | train_step_timing in s: 0.03146"
        + (" | val_loss: 4.106" if number >= 50 else "")
        for number in range(149)
    )
    found = measured(tmp_path / "a.log", text + "\n", length=1024, world=1)
    assert found.dropped == {"warm-up": 20}
    assert found.steps_used == 129


def test_nemo_bar_is_drawn_over_itself(tmp_path: Path) -> None:
    """NeMo 1.x: one line of the file, parted by carriage returns, each step drawn three times; 12,288 samples after six steps."""
    bar = "\r".join(
        f"Epoch 0: :  47%|████▋     | {number + 2}/15000 [06:19<07:13, reduced_train_loss=11.50, global_step={number}.000, "
        f"consumed_samples={2048.0 * (number + 1)}, train_step_timing in s=49.50]"
        for number in range(900)
        for _ in range(3)
    )
    assert len(bar) > 2 * 65_536
    found = measured(tmp_path / "a.log", bar + "\n", length=2048, world=64)
    assert (found.steps_seen, found.batch) == (900, 2048)
    assert found.rate == pytest.approx(2048 * 2048 / (49.5 * 64))


def test_nemo_bar_without_a_timing_is_named(tmp_path: Path) -> None:
    """NVIDIA/NeMo-Framework-Launcher issue 55: the bar's own mean, and counts that it rounds."""
    bar = "\r".join(
        f"Epoch 0:   1%|          | {795 + number}/77225 [9:07:58<878:01:48, 41.36s/it, loss=3.1, v_num=, "
        f"reduced_train_loss=3.090, global_step=7.94e+2, consumed_samples=1.63e+6]"
        for number in range(60)
    )
    found = measured(tmp_path / "a.log", bar, batch=2048, length=2048, world=64)
    assert found.framework == "NeMo, running means of its progress bar"
    assert found.steps_seen == 60
    assert found.assumed == ("batch", "sequence", "world")


def mllog(time: int, key: str, value: object = None, **metadata: object) -> str:
    """A line of MLPerf training v4.0, llama2_70b_lora, as srun labels it."""
    told = {"namespace": "", "time_ms": time, "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return (
        f"0: :::MLLOG {json.dumps({**told, 'metadata': {'file': '/workspace/ft-llm/custom_callbacks.py', **metadata}})}"
    )


def blocks(count: int) -> list[str]:
    """Blocks of 384 samples that take 199.434 s, as a public run of that benchmark, and evaluations of 44.377 s between them."""
    lines = [mllog(1721024896541, "global_batch_size", 8), mllog(1721024896541, "run_start")]
    for place in range(count):
        begin, before = 1721024896541 + 243811 * place, 384 * place
        lines += [
            mllog(begin, "block_start", samples_count=before),
            mllog(begin + 199434, "tracked_stats", {"throughput": 1.9257918929116467}, step=before + 384),
            mllog(begin + 199434, "block_stop", samples_count=before + 384),
            mllog(begin + 199434, "eval_start", samples_count=before + 384),
            mllog(begin + 243811, "eval_accuracy", 0.9234074354171753, samples_count=before + 384),
        ]
    return lines


def test_a_block_of_mlperf_is_a_mean_of_its_steps(tmp_path: Path) -> None:
    """Its own throughput is in samples a second; in others of the suite it is in tokens."""
    found = measured(tmp_path / "a.log", "\n".join(blocks(8)) + "\n", length=8192, world=8)
    assert found.rate == pytest.approx(1.9257918929116467 * 8192 / 8, rel=2e-4)
    assert (found.framework, found.batch, found.steps_seen, found.steps_a_line) == ("MLPerf", 8, 384, 48.0)
    assert found.date == "2024-07-15"


def test_mlperf_without_whole_blocks_measures_nothing(tmp_path: Path) -> None:
    assert taken(tmp_path / "a.log", "\n".join(blocks(8)[:3]) + "\n", length=8192, world=8).result() is None
    without = [line for line in blocks(8) if "global_batch_size" not in line]
    assert taken(tmp_path / "a.log", "\n".join(without) + "\n", length=8192, world=8).result() is None
    cut = "\n".join(blocks(8)) + '\n0: :::MLLOG {"namespace": "", "time_ms": 17210'
    assert measured(tmp_path / "a.log", cut, length=8192, world=8).dropped["not readable, line 43"] == 1


def test_a_block_of_mlperf_whose_begin_says_no_samples_is_no_part_of_the_next(tmp_path: Path) -> None:
    """Begin and stop of two blocks with an evaluation between them were taken for one."""
    lines = blocks(8)
    del lines[4]  # the first block never stops
    lines[6] = mllog(1721024896541 + 243811, "block_start", epoch_num=1)
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=8192, world=8)
    assert found.steps_seen == 6 * 48
    assert found.rate == pytest.approx(1.9257918929116467 * 8192 / 8, rel=2e-4)


def test_torchtune_prints_a_rate_of_the_step_and_gibibytes(tmp_path: Path) -> None:
    """A line of amang1802/llama-3.1-8B-cpttest_mode2_qna_fulltext on huggingface.co, four devices; GiB by torchtune's memory.py."""
    lines = [
        f"Step {number} | loss:0.35119619965553284 lr:1e-06 tokens_per_second_per_gpu:9077.1552734375 "
        "peak_memory_active:85.53374147415161 peak_memory_alloc:85.53374147415161 peak_memory_reserved:104.0546875 "
        for number in range(1, 60)
    ]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", batch=64, length=8192, world=4)
    assert (found.framework, found.rate, found.steps_seen, found.steps_used) == ("torchtune", 9077.1552734375, 59, 39)
    assert (found.peak, found.peak_reserved) == (104.0546875 * 2**30, True)


def test_a_line_of_torchtune_that_is_cut_is_told(tmp_path: Path) -> None:
    line = "Step {} | loss:0.35 lr:1e-06 tokens_per_second_per_gpu:9077.15 peak_memory_alloc:85.5 "
    text = (
        "\n".join(line.format(number) for number in range(1, 60))
        + "\nStep 60 | loss:0.35 lr:1e-06 tokens_per_second_per_gpu:90"
    )
    found = measured(tmp_path / "a.log", text)
    assert (found.rate, found.dropped["not readable, line 60"]) == (9077.15, 1)


def test_levanters_duration_leaves_out_the_wait_for_a_batch(tmp_path: Path) -> None:
    """marin's trainer.py, training_steps: loading is timed before the step, and logged beside its duration.

    Its report of 32 GB200: 128 sequences of 8,192 in 1.401 s, 748,219 tokens a second of all.
    """
    head = "Step,r - throughput/duration,r - throughput/tokens_per_second,r - throughput/hook_time"
    rows = "".join(f"{number},1.401,748219,0.002\n" for number in range(1, 60))
    found = measured(tmp_path / "a.csv", f"{head}\n{rows}", batch=128, length=8192, world=32)
    assert found.rate * 32 == pytest.approx(748_219, rel=5e-4)
    keys = ("throughput/duration", "throughput/loading_time")
    rows = "".join(json.dumps({"_step": number, keys[0]: 1.401, keys[1]: 0.5}) + "\n" for number in range(1, 60))
    found = measured(tmp_path / "a.jsonl", rows, batch=128, length=8192, world=32)
    assert found.rate == pytest.approx(128 * 8192 / (1.901 * 32))


def test_nanotron_numbers_end_in_letters(tmp_path: Path) -> None:
    """huggingface/nanotron issue 390 and pull request 23."""
    text = "\n".join(
        f"10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: iteration: {number} / 378950 | consumed_tokens: 85.8G | "
        f"elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K | tokens_per_sec_per_gpu: 11.4K | global_batch_size: 64 | "
        f"lm_loss: 2.38 | lr: 1e-05 | model_tflops_per_gpu: 38.3 | hardware_tflops_per_gpu: 38.3 | grad_norm: 1.25 | "
        f"cuda_memory_allocated: 75.2M | cuda_max_memory_reserved: 547M"
        for number in range(327281, 327321)
    )
    found = measured(tmp_path / "a.log", text + "\n")
    assert (found.framework, found.rate, found.batch, found.peak) == ("Nanotron", 11_400.0, 64, 547e6)


def test_maxtext_of_both_ages(tmp_path: Path) -> None:
    """AI-Hypercomputer/maxtext pull request 761, and issue 8 for lines without a rate."""
    new = [
        f"completed step: {number}, seconds: 1.341, TFLOP/s/device: 257.929, Tokens/s/device: 36653.244, loss: 0.000"
        for number in range(50)
    ]
    assert measured(tmp_path / "a.log", "\n".join(new) + "\n").rate == 36653.244
    old = [f"completed step: {15107 + number}, seconds: 2.167, TFLOP/s: 36.722, loss: 2.191" for number in range(50)]
    found = measured(tmp_path / "a.log", "\n".join(old) + "\n", batch=64, length=2048, world=8)
    assert found.rate == pytest.approx(64 * 2048 / (2.167 * 8))


WHOLE = "\n".join(megatron(number, 800.0 + number % 3) for number in range(1, 60)) + "\n"


@pytest.mark.parametrize(
    "kept",
    [
        gzip.compress(WHOLE.encode()),
        WHOLE.replace("\n", "\r\n").encode(),
        ('{"config": {"model": "gpt2"}}\n' + WHOLE).encode(),
        ("step by step, here is a log\n" + WHOLE).encode(),
        "\n".join(json.dumps({"log": line + "\n", "stream": "stdout"}) for line in WHOLE.splitlines()).encode(),
    ],
    ids=["gzip", "CRLF", "a brace first", "commas first", "a container's driver"],
)
def test_a_log_says_the_same_however_it_was_kept(tmp_path: Path, kept: bytes) -> None:
    found, plain = (measured(tmp_path / "a.log", text, length=1024, world=1) for text in (kept, WHOLE))
    assert (found.rate, found.steps_used, found.dropped) == (plain.rate, plain.steps_used, plain.dropped)


def test_a_gzip_file_that_is_still_written_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    import random

    numbers = random.Random(1)
    text = "\n".join(megatron(number, 800.0 + numbers.random()) for number in range(1, 4000)) + "\n"
    cut = gzip.compress(text.encode())[:-20_000]
    assert measured(tmp_path / "a.log.gz", cut, length=1024, world=1).steps_seen > 1000


REFUSED = [
    (b"\x28\xb5\x2f\xfd", "compressed by zstd, which is not read. zstd -d"),
    (b"\xfd7zXZ", "compressed by xz, which is not read"),
    (b"BZh9", "compressed by bzip2, which is not read"),
    (WHOLE[:50].encode("utf-16"), "UTF-16, which is not read. iconv"),
    (b":W&B\xbe\xb2\x00", "Weights and Biases as it is stored"),
    (
        b"\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\t\x00\x00\x80\xf7\x04\x1a\rbrain.Event:2",
        "as TensorBoard stores them",
    ),
]


@pytest.mark.parametrize(("head", "what"), REFUSED, ids=["zstd", "xz", "bzip2", "UTF-16", "W&B", "TensorBoard"])
def test_a_file_that_is_no_text_is_refused_with_the_way_out(tmp_path: Path, head: bytes, what: str) -> None:
    with pytest.raises(LogError, match=re.escape(what)):
        taken(tmp_path / "a.log", head + b"\x00" * 100)


CUT = [
    ("tps: 9,800  mfu: 36.1%", "tps: 9,8", True),
    ("tps: 9,800  mfu: 36.1%", "tps: 9,800  mfu: 3", False),
]


def test_a_log_without_a_date_has_that_of_its_file(tmp_path: Path) -> None:
    """Megatron-LM of 2020 prints none: the day of measuring would make old evidence new."""
    path = tmp_path / "a.log"
    path.write_text(WHOLE.replace("[2025-04-13 23:41:12] ", ""))
    noon = dt.datetime(2020, 11, 18, 12).timestamp()
    os.utime(path, (noon, noon))
    measurement = Measurement(16, 1024, 1)
    read_log(path, measurement)
    assert measurement.date == "2020-11-18"


@pytest.mark.parametrize(("whole", "left", "lost"), CUT)
def test_a_number_at_the_end_of_a_cut_line_is_not_taken(tmp_path: Path, whole: str, left: str, lost: bool) -> None:
    lines = [f"[titan] step: {number}  loss: 2.0  memory: 9.46GiB(64.99%)  {whole}" for number in range(1, 50)]
    found = measured(tmp_path / "a.log", "\n".join(lines).removesuffix(whole) + left)
    assert found.variation == 0.0
    assert found.steps_seen == (48 if lost else 49)
    assert ("not readable, line 49" in found.dropped) == lost


def test_a_cell_that_its_bar_does_not_close_is_not_taken(tmp_path: Path) -> None:
    """The process ends in the middle of a line, and the next one writes on: `(ms): 54` was 5,444.9."""
    lines = WHOLE.splitlines()
    lines[40] = lines[40][: lines[40].index("(ms): ") + 8]
    found = measured(tmp_path / "a.log", "\n".join(lines) + "\n", length=1024, world=1)
    assert found.dropped["not readable, line 41"] == 1
    assert found.variation is not None
    assert found.variation < 0.01


FOREIGN = [
    ("{'loss': 6.2645, 'learning_rate': 0.001, 'epoch': 0.02}", "Hugging Face Trainer prints losses and no time"),
    (
        "[INFO] [timer.py:189:stop] 0/40, SamplesPerSec=83.486, MemAllocated=0.26GB, MaxMemAllocated=9.02GB",
        "counts micro steps",
    ),
    ("\t Train throughput/device/tokens_per_sec: 1255.1776", "Composer prints means"),
    ("  8%|███   | 1999/24128 [1:52:09<20:27:23,  3.33s/it]", "progress bar shows a running mean"),
]


@pytest.mark.parametrize(("line", "why"), FOREIGN)
def test_a_log_that_cannot_be_measured_from_says_why(tmp_path: Path, line: str, why: str) -> None:
    found = taken(tmp_path / "a.log", f"{line}\n" * 9)
    assert found.result() is None
    assert found.nothing().startswith("9 lines of steps")
    assert why in found.nothing()


def test_tables_by_tabs_and_of_milliseconds(tmp_path: Path) -> None:
    rows = "\n".join(f"{number}\t500\t{60 * 10**9}" for number in range(1, 50))
    found = measured(
        tmp_path / "a.tsv", "step\tstep_time_ms\tmax_memory_reserved\n" + rows + "\n", batch=8, length=1024, world=1
    )
    assert found.rate == pytest.approx(8 * 1024 / 0.5)
    assert (found.peak, found.peak_reserved) == (60e9, True)


def test_a_table_of_several_runs_is_refused(tmp_path: Path) -> None:
    head = '"Step","a - throughput(tps)","a - throughput(tps)__MIN","b - throughput(tps)"\n'
    with pytest.raises(LogError, match="columns of 2 runs, a, b"):
        taken(tmp_path / "a.csv", head + "1,7000,6900,9000\n")
    assert measured(tmp_path / "a.csv", head.replace(',"b - throughput(tps)"', "") + "1,7000,6900\n" * 2).rate == 7000.0


def test_a_scalar_of_tensorboard_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="TensorBoard names a scalar's column Value"):
        taken(tmp_path / "a.csv", "Wall time,Step,Value\n1700000000.1,1,7000\n")


def test_objects_in_objects(tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({"step": number, "metrics": {"tps": 7000.0}}) for number in range(1, 50))
    assert measured(tmp_path / "a.jsonl", rows + "\n").steps_seen == 49


def test_objects_without_a_time_say_what_they_have(tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({"step": number, "loss": 2.0, "lr": 1e-4}) for number in range(9))
    assert "objects have loss, lr, step, and none of" in taken(tmp_path / "a.jsonl", rows + "\n").nothing()


def test_an_object_that_is_cut_is_told(tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({"_step": number, "tps": 7000.0}) for number in range(1, 50))
    found = measured(tmp_path / "a.jsonl", rows + '\n{"_step": 50, "tp')
    assert found.dropped["not readable, line 50"] == 1
