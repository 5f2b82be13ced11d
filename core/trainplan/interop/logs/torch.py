"""Lines of torchtitan and OLMo-core: tokens a second of one device are printed, so that batch and world need not be known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainplan.interop.logs.events import Event, Framework, Interruption, Peak, Retries, Stall, Step, Unread
from trainplan.interop.logs.megatron import number

GIBI: Final = 2.0**30
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"(?<!validate )step:\s*(\d+)")
_TPS = re.compile(r"\btps:\s*([\d,.]+)")
_MEMORY = re.compile(r"memory:\s*([\d.]+)GiB")
_SAVED = re.compile(r"Finished saving the checkpoint.*?in ([\d.]+) seconds")
_RETRIED = re.compile(r"(\d+) \w+ memory allocation retries")
_OLMO_STEP = re.compile(r"\[step=(\d+)/")
_OLMO_VALUE = re.compile(r"^\s*([\w/ ()]+?)=([\d,.eE+-]+)\s*$")


def titan_events(line: str) -> Iterator[Event]:
    """What one line of torchtitan says. Memory is what the allocator reserved; older lines have no gradient norm."""
    plain = _COLOUR.sub("", line) if "\x1b" in line else line
    if "Finished saving the checkpoint" in plain:
        saved = _SAVED.search(plain)
        if saved is not None:
            yield Stall(float(saved[1]))
        yield Interruption("checkpoint")
        return
    if "validate step:" in plain:
        yield Interruption("evaluation")
        return
    if "memory allocation retries" in plain:
        retried = _RETRIED.search(plain)
        if retried is not None:
            yield Retries(int(retried[1]))
        return
    step, rate = _STEP.search(plain), _TPS.search(plain)
    value = number(rate[1]) if rate is not None else None
    if step is None or not value:
        if "tps:" in plain:
            yield Unread()
        return
    yield Framework("torchtitan")
    memory = _MEMORY.search(plain)
    if memory is not None:
        yield Peak(float(memory[1]) * GIBI, reserved=True)
    yield Step(int(step[1]), rate=value)


class OlmoLines:
    """Lines of OLMo-core, which spread one step over many: the step's head, then `key=value` lines."""

    def __init__(self) -> None:
        self._step: int | None = None

    def events_of(self, line: str) -> Iterator[Event]:
        """What one line says after those before it."""
        head = _OLMO_STEP.search(line)
        if head is not None:
            self._step = int(head[1])
        elif "=" not in line:
            if "aving checkpoint" in line or "aved checkpoint" in line:
                yield Interruption("checkpoint")
        else:
            yield from self._value(line)

    def _value(self, line: str) -> Iterator[Event]:
        pair = _OLMO_VALUE.match(line)
        value = number(pair[2]) if pair is not None else None
        if pair is None or value is None or self._step is None:
            return
        if pair[1] == "throughput/device/TPS" and value > 0:
            yield Framework("OLMo-core")
            yield Step(self._step, rate=value)
        elif pair[1] == "gpu_memory/GPU reserved mem (GiB)":
            yield Peak(value * GIBI, reserved=True)
        elif pair[1].startswith("eval/"):
            yield Interruption("evaluation")
