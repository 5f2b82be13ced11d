"""Lines of torchtitan, OLMo-core and OLMo: tokens a second of one device are printed, so that batch and world need not be known.

torchtitan's are means over its interval; OLMo-core's are of the printed step alone; OLMo's are running means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod
from typing import Final

from trainplan.interop.logs.cells import GIBI, MOST, number, whole
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

_COLOUR = re.compile(r"\[\d[\d;]*m")
"""What is left of a colour where the escape character was lost on the way."""
_STEP = re.compile(r"(?<!validate )step:\s*(\d+)")
_TPS = re.compile(r"\b(?:tps|wps):\s*([\d,.]+)")
_MEMORY = re.compile(r"memory:\s*([\d.]+)GiB")
_SAVED = re.compile(r"Finished saving the checkpoint.*?in ([\d.]+) seconds")
_FLOPS = re.compile(r"\btflops:\s*([\d.,]+)")
_PARAMETERS = re.compile(r"size:\s*([\d,]+) total parameters")
_RETRIED = re.compile(r"(\d+) \w+ memory allocation retries")
_MESH = re.compile(r"-D device mesh with \[[^]]*\], \[([\d, ]+)\]")
_DEGREES = re.compile(r"\b(?:pp|dp_replicate|dp_shard|cp|tp)=(\d+)")
"""Degrees that multiply to the world: experts share the devices of the others."""
_SIZES = (("batch", re.compile(r"global batch size (\d+)")), ("sequence", re.compile(r"sequence length (\d+)")))


def of_titan(line: str) -> bool:
    """Whether a line may be one of torchtitan's around its steps."""
    return (
        "heckpoint" in line
        or "device mesh with" in line
        or "batch size " in line
        or "Training starts" in line
        or "allocation retries" in line
        or "total parameters" in line
    )


def titan_events(line: str) -> Iterator[Event]:
    """What one line of torchtitan says. Memory is what the allocator reserved; older lines have no gradient norm."""
    plain = _COLOUR.sub("", line) if "[" in line else line
    if "Finished saving the checkpoint" in plain:
        saved = _SAVED.search(plain)
        seconds = number(saved[1]) if saved else None
        if seconds is not None:
            yield Stall(seconds)
        yield Interruption("checkpoint")
    elif "validate step:" in plain:
        yield Interruption("evaluation")
    elif "memory allocation retries" in plain:
        retried = _RETRIED.search(plain)
        count = whole(retried[1]) if retried else None
        if count:
            yield Retries(count)
    elif "tps:" in plain or "wps:" in plain:
        yield from _titan_step(plain)
    else:
        yield from _titan_start(plain)


def _titan_step(plain: str) -> Iterator[Event]:
    step, rate = _STEP.search(plain), _TPS.search(plain)
    place, value = whole(step[1]) if step else None, number(rate[1]) if rate else None
    if place is None or not value:
        yield Unread()
        return
    yield Framework("torchtitan")
    memory = _MEMORY.search(plain)
    peak = number(memory[1]) if memory else None
    if peak:
        yield Peak(peak * GIBI, reserved=True)
    flops = _FLOPS.search(plain)
    counted = number(flops[1]) if flops else None
    yield Step(place, rate=value, mean=True, flops=counted and counted * 1e12)


def _titan_start(plain: str) -> Iterator[Event]:
    mesh = _MESH.search(plain)
    if mesh is not None:
        yield from _world(size.strip() for size in mesh[1].split(",") if size.strip())
    elif "device mesh with parallelism:" in plain:
        yield from _world(_DEGREES.findall(plain))
    if "batch size" in plain:
        for name, size in _SIZES:
            found = size.search(plain)
            value = whole(found[1]) if found else None
            if value:
                yield Setting(name, float(value))
    parameters = _PARAMETERS.search(plain) if "total parameters" in plain else None
    count = whole(parameters[1]) if parameters else None
    if count:
        yield Setting("parameters", float(count))
    if "Training starts at step" in plain:
        yield Begin()


def _world(degrees: Iterable[str]) -> Iterator[Event]:
    world = prod(whole(degree) or 0 for degree in degrees)
    if 0 < world < MOST:
        yield Setting("world", float(world))


_OLMO_STEP = re.compile(r"\[step=(\d+)/")
_OLMO_VALUE = re.compile(r"(?:^|\s)((?:throughput|gpu_memory|System|eval)/[^=]*)=([\d,.eE+-]+)\s*$")
_OLMO_RATES: Final = {
    "throughput/device/TPS": "OLMo-core",
    "throughput/device/tokens_per_second": "OLMo, running means",
}
_OLMO_PEAKS: Final = {
    "gpu_memory/GPU reserved mem (GiB)": (GIBI, True),
    "System/Peak GPU Memory (MB)": (1e6, False),
}
"""OLMo's MB are 10**6 bytes allocated: peak_gpu_memory of olmo/torch_util.py."""


class OlmoLines:
    """Lines of OLMo-core and OLMo, which spread one step over many: the step's head, then `key=value` lines."""

    def __init__(self) -> None:
        self._step: int | None = None

    def events_of(self, line: str) -> Iterator[Event]:
        """What one line says after those before it."""
        head = _OLMO_STEP.search(line)
        if head is not None:
            self._step = whole(head[1])
        elif "=" not in line:
            if "aving checkpoint" in line or "aved checkpoint" in line:
                yield Interruption("checkpoint")
        elif "/" in line:
            yield from self._value(line)

    def _value(self, line: str) -> Iterator[Event]:
        pair = _OLMO_VALUE.search(line)
        value = number(pair[2]) if pair is not None else None
        if pair is None or value is None or self._step is None:
            return
        key = pair[1].strip()
        if key in _OLMO_RATES and value > 0:
            yield Framework(_OLMO_RATES[key])
            yield Step(self._step, rate=value)
        elif key in _OLMO_PEAKS:
            unit, reserved = _OLMO_PEAKS[key]
            yield Peak(value * unit, reserved)
        elif key.startswith("eval/"):
            yield Interruption("evaluation")
