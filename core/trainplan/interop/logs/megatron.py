"""Lines of Megatron-LM and what descends from it: cells between bars, each `key: value`.

Look-alike lines differ in unit: Megatron-LM prints milliseconds, Megatron-DeepSpeed either. Printed TFLOP/s follow three
conventions and measure nothing here, they only tell of another model; tokens a second are taken where they are printed of one
device, and else worked out from batch, length, time and world. Times are means over the log's interval. A cell that its bar does
not close may be cut, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainplan.interop.logs.cells import GIBI, MEBI, MOST, cell, cells, number, whole
from trainplan.interop.logs.events import (
    Begin,
    Event,
    Framework,
    Interruption,
    Peak,
    Retries,
    Setting,
    Stall,
    Step,
    Unread,
)

_ITERATION = re.compile(r"iteration:?\s+(\d+)\s*/")
_CUT = re.compile(r"(?:^|[\s\]:])iteration\s+\d+\s*/\s*\d+\s*\|")
"""The head of a line of a step, which the rest has to follow."""
_SAVE = re.compile(r"\bsave-checkpoint(?:\s*\.*)?:\s*\(?\s*([\d.]+)(?:\s*,\s*([\d.]+))?")
_SETTING = re.compile(
    r"(?:^|[\s\]:])(world_size|global_num_gpus|seq_length|global_batch_size|train_batch_size|num_layers|hidden_size)\s*\.{2,}\s*(\d+)(?:\.+\w+)?\s*$"
)
"""Megatron's arguments; GPT-NeoX ends them with `updated` or `default`."""
_WORLD = re.compile(r"(?:using world size:\s*|dist_world_size=|distributed processes registered\. Starting with )(\d+)")
"""Megatron, the launcher of DeepSpeed, Lightning."""
_RANKS = re.compile(r"\[rank-\d+/(\d+)\]")
_ALLOCATED = re.compile(r"\bMaxMemAllocated=([\d.]+)GB")
"""DeepSpeed's timer line: GB are 2**30 bytes there, deepspeed/utils/timer.py."""
_NAMES: Final = {
    "world_size": "world",
    "global_num_gpus": "world",
    "seq_length": "sequence",
    "global_batch_size": "batch",
    "train_batch_size": "batch",
    "num_layers": "layers",
    "hidden_size": "hidden",
}
ELAPSED: Final = "elapsed time per iteration ("
_SECONDS, _MILLISECONDS = f"{ELAPSED}s):", f"{ELAPSED}ms):"
_DEEPSPEED_RATE, _PRIMUS_RATE = "tokens per gpu per second (tgs):", "tokens per GPU (tokens/s/GPU):"
"""Of one device."""
_FLOPS = ("throughput per GPU (TFLOP/s/GPU):", "TFLOPs:")
_PEAKS: Final = (
    ("max reserved", MEBI, True),
    ("max allocated", MEBI, False),
    ("mem-max-reserved-gigabytes", 1e9, True),
    ("mem-max-allocated-gigabytes", 1e9, False),
)
"""Megatron-LM, whose MB are 2**20 bytes, and Megatron Bridge, whose gigabytes are 10**9: 295.52 were reserved of 287.98 GiB."""
_STARTS: Final = ("[before the start of training step]", "[after megatron is initialized]")


class MegatronLines:
    """Lines of one log. What a line says of its length is seen against the line before."""

    def __init__(self) -> None:
        self._before = (0.0, 0.0)
        self._told = False

    def events_of(self, line: str) -> Iterator[Event]:
        """What one line with an elapsed time says after those before it."""
        iteration, in_seconds = _ITERATION.search(line), _SECONDS in line
        elapsed = cell(line, _SECONDS if in_seconds else _MILLISECONDS)
        step = whole(iteration[1]) if iteration else None
        if step is None or elapsed is None or elapsed <= 0:
            yield Unread()
            return
        yield Framework(_framework(line))
        seconds, length = (elapsed if in_seconds else elapsed / 1e3), self._length(line)
        batch = cell(line, "global batch size:") or _batch(line, seconds)
        rate = cell(line, _DEEPSPEED_RATE) or cell(line, _PRIMUS_RATE)
        if not self._told and (rate or "[rank-" in line):
            yield from self._world(line, rate, seconds, (batch or 0.0) * (length or 0.0))
        skipped = cell(line, "number of skipped iterations:") or cell(line, "number of nan iterations:")
        flops = next((value for key in _FLOPS if (value := cell(line, key))), None)
        yield Step(step, seconds, batch, rate, bool(skipped), length, mean=True, flops=flops and flops * 1e12)

    def _length(self, line: str) -> float | None:
        """Tokens of a sequence: as printed, else of what was consumed since the line before."""
        tokens = cell(line, "consumed tokens:")
        samples = cell(line, "consumed samples:") if tokens else None
        if not tokens or not samples:
            return None
        before, self._before = self._before, (tokens, samples)
        more = (tokens - before[0], samples - before[1]) if samples > before[1] else (tokens, samples)
        printed = cell(line, "actual seqlen:")
        return printed or (more[0] / more[1] if (more[0] / more[1]).is_integer() else None)

    def _world(self, line: str, rate: float | None, seconds: float, tokens: float) -> Iterator[Event]:
        """Devices, once a log: printed, or those at which both rates of a line agree."""
        ranks = _RANKS.search(line)
        world = number(ranks[1]) or 0.0 if ranks else tokens / (seconds * rate) if rate else 0.0
        if 1.0 <= world < MOST and abs(world - round(world)) < 0.01 * world:
            self._told = True
            yield Setting("world", float(round(world)))


def other_events(line: str) -> Iterator[Event]:
    """What a line around the steps says: saves, evaluations, memory, settings, starts, and a step whose line is cut."""
    if "save-checkpoint" in line:
        yield from _stall(line)
    elif "memory (MB)" in line or "memory (GB)" in line:
        yield from _memory(line)
    elif "iteration" in line:
        yield from _cut_or_marked(line)
    elif "datetime:" in line:
        if any(start in line for start in _STARTS):
            yield Begin()
    else:
        yield from _settings(line)


def _cut_or_marked(line: str) -> Iterator[Event]:
    if "saving checkpoint at iteration" in line:
        yield Interruption("checkpoint")
    elif "validation loss at iteration" in line:
        yield Interruption("evaluation")
    elif _CUT.search(line):
        yield Unread()


def _framework(line: str) -> str:
    if "approx flops per GPU" in line:
        return "GPT-NeoX"
    return "Megatron-DeepSpeed" if "samples per second:" in line or _SECONDS in line else "Megatron-LM"


_SAMPLES = re.compile(r"\bsamples/sec:\s*([\d.]+)\s*\|")


def _batch(line: str, seconds: float) -> float | None:
    """GPT-NeoX prints sequences a second in place of its batch."""
    found = _SAMPLES.search(line)
    rate = number(found[1]) if found else None
    return float(round(rate * seconds)) or None if rate else None


def _stall(line: str) -> Iterator[Event]:
    found = _SAVE.search(line)
    value = number(found[2] or found[1]) if found else None
    if value is not None:
        yield Stall(value / 1e3)


def _memory(line: str) -> Iterator[Event]:
    found = cells(line)
    for key, unit, reserved in _PEAKS:
        value = number(found.get(key, "").split(" ")[0])
        if value:
            yield Peak(value * unit, reserved)
    retries = number(found.get("mem-alloc-retires"))
    if retries:
        yield Retries(int(retries))


def _settings(line: str) -> Iterator[Event]:
    setting = _SETTING.search(line) if ".." in line else None
    if setting is not None:
        yield from _setting(_NAMES[setting[1]], setting[2])
    world = _WORLD.search(line) if "world" in line or "processes" in line else None
    if world is not None:
        yield from _setting("world", world[1])
    allocated = _ALLOCATED.search(line) if "MaxMemAllocated" in line else None
    peak = number(allocated[1]) if allocated else None
    if peak:
        yield Peak(peak * GIBI, reserved=False)


def _setting(name: str, text: str) -> Iterator[Event]:
    value = whole(text)
    if value:
        yield Setting(name, float(value))
