"""Lines of Megatron-LM and what descends from it: cells between bars, each `key: value`.

Look-alike lines differ in unit: Megatron-LM prints milliseconds, Megatron-DeepSpeed either. Printed TFLOP/s follow three
conventions and are never read; tokens a second are taken where they are printed of one device, and else worked out from batch,
length, time and world. Times are means over the log's interval. A cell that its bar does not close may be cut, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainplan.interop.logs.events import Begin, Event, Framework, Interruption, Peak, Setting, Stall, Step, Unread

MEBI: Final = 2.0**20
GIBI: Final = 2.0**30
_ITERATION = re.compile(r"iteration:?\s+(\d+)\s*/")
_CUT = re.compile(r"(?:^|[\s\]:])iteration\s+\d+\s*/\s*\d+\s*\|")
"""The head of a line of a step, which the rest has to follow."""
_SAVE = re.compile(r"\bsave-checkpoint(?:\s*\.*)?:\s*\(?\s*([\d.]+)(?:\s*,\s*([\d.]+))?")
_SETTING = re.compile(
    r"(?:^|[\s\]:])(world_size|global_num_gpus|seq_length|global_batch_size|train_batch_size)\s*\.{2,}\s*(\d+)(?:\.+\w+)?\s*$"
)
"""Megatron's arguments; GPT-NeoX ends them with `updated` or `default`."""
_WORLD = re.compile(r"using world size:\s*(\d+)|distributed processes registered\. Starting with (\d+) processes")
_RANKS = re.compile(r"\[rank-\d+/(\d+)\]")
_ALLOCATED = re.compile(r"\bMaxMemAllocated=([\d.]+)GB")
"""DeepSpeed's timer line: GB are 2**30 bytes there, deepspeed/utils/timer.py."""
_NAMES: Final = {
    "world_size": "world",
    "global_num_gpus": "world",
    "seq_length": "sequence",
    "global_batch_size": "batch",
    "train_batch_size": "batch",
}
_RATES: Final = ("tokens per gpu per second (tgs)", "tokens per GPU (tokens/s/GPU)")
"""Of one device: Megatron-DeepSpeed, Primus."""
_STARTS: Final = ("[before the start of training step]", "[after megatron is initialized]")


def cells(line: str) -> dict[str, str]:
    """The cells of a line by key."""
    parts = (cell.partition(":") for cell in line.split("|") if ":" in cell)
    return {key.strip(): value.strip() for key, _, value in parts}


def number(text: str | None) -> float | None:
    """A finite number, or None. Of `now/mean so far`, as Primus prints, the first."""
    try:
        value = float((text or "").partition("/")[0].replace(",", ""))
    except ValueError:
        return None
    return value if value - value == 0.0 else None


class MegatronLines:
    """Lines of one log. What a line says of its length is seen against the line before."""

    def __init__(self) -> None:
        self._before = (0.0, 0.0)
        self._told = False

    def events_of(self, line: str) -> Iterator[Event]:
        """What one line says after those before it; nothing where it is not a line of these frameworks."""
        if "elapsed time per iteration (" in line:
            yield from self._step(line)
        elif "save-checkpoint" in line:
            yield from _stall(line)
        elif "memory (MB)" in line:
            yield from _memory(line)
        elif "saving checkpoint at iteration" in line:
            yield Interruption("checkpoint")
        elif "validation loss at iteration" in line:
            yield Interruption("evaluation")
        elif any(start in line for start in _STARTS):
            yield Begin()
        elif "iteration" in line and _CUT.search(line):
            yield Unread()
        else:
            yield from _settings(line)

    def _step(self, line: str) -> Iterator[Event]:
        found, iteration = cells(line.rpartition("|")[0]), _ITERATION.search(line)
        in_seconds = "elapsed time per iteration (s)" in found
        elapsed = number(found.get(f"elapsed time per iteration ({'s' if in_seconds else 'ms'})"))
        if iteration is None or elapsed is None or elapsed <= 0:
            yield Unread()
            return
        yield Framework(_framework(found))
        seconds, length = (elapsed if in_seconds else elapsed / 1e3), self._length(found)
        batch = number(found.get("global batch size")) or _batch(line, seconds)
        rate = next((value for key in _RATES if (value := number(found.get(key)))), None)
        yield from self._world(line, rate, seconds, (batch or 0.0) * (length or 0.0))
        skipped = number(found.get("number of skipped iterations")) or number(found.get("number of nan iterations"))
        yield Step(int(iteration[1]), seconds, batch, rate, bool(skipped), length, mean=True)

    def _length(self, found: dict[str, str]) -> float | None:
        """Tokens of a sequence: as printed, else of what was consumed since the line before."""
        tokens, samples = number(found.get("consumed tokens")), number(found.get("consumed samples"))
        if not tokens or not samples:
            return None
        before, self._before = self._before, (tokens, samples)
        more = (tokens - before[0], samples - before[1]) if samples > before[1] else (tokens, samples)
        printed = number(found.get("actual seqlen"))
        return printed or (more[0] / more[1] if (more[0] / more[1]).is_integer() else None)

    def _world(self, line: str, rate: float | None, seconds: float, tokens: float) -> Iterator[Event]:
        """Devices, once a log: printed, or those at which both rates of a line agree."""
        ranks = _RANKS.search(line)
        world = float(ranks[1]) if ranks else tokens / (seconds * rate) if rate else 0.0
        if not self._told and world >= 1.0 and abs(world - round(world)) < 0.01 * world:
            self._told = True
            yield Setting("world", float(round(world)))


def _framework(found: dict[str, str]) -> str:
    if "approx flops per GPU" in found:
        return "GPT-NeoX"
    deep = "elapsed time per iteration (s)" in found or "samples per second" in found
    return "Megatron-DeepSpeed" if deep else "Megatron-LM"


_SAMPLES = re.compile(r"\bsamples/sec:\s*([\d.]+)\s*\|")


def _batch(line: str, seconds: float) -> float | None:
    """GPT-NeoX prints sequences a second in place of its batch."""
    found = _SAMPLES.search(line)
    return float(round(float(found[1]) * seconds)) or None if found else None


def _stall(line: str) -> Iterator[Event]:
    found = _SAVE.search(line)
    value = number(found[2] or found[1]) if found else None
    if value is not None:
        yield Stall(value / 1e3)


def _memory(line: str) -> Iterator[Event]:
    found = cells(line)
    for key, reserved in (("max reserved", True), ("max allocated", False)):
        value = number(found.get(key, "").split(" ")[0])
        if value:
            yield Peak(value * MEBI, reserved)


def _settings(line: str) -> Iterator[Event]:
    setting = _SETTING.search(line) if ".." in line else None
    if setting is not None:
        yield Setting(_NAMES[setting[1]], float(setting[2]))
    world = _WORLD.search(line) if "world size:" in line or "processes" in line else None
    if world is not None:
        yield Setting("world", float(world[1] or world[2]))
    allocated = _ALLOCATED.search(line) if "MaxMemAllocated" in line else None
    if allocated is not None:
        yield Peak(float(allocated[1]) * GIBI, reserved=False)
