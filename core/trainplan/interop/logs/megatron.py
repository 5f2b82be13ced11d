"""Lines of Megatron-LM, Megatron-DeepSpeed and NeMo: cells between bars, each `key: value`.

Look-alike lines differ in unit: Megatron-LM prints milliseconds, Megatron-DeepSpeed seconds. Printed TFLOP/s follow three
conventions and are never read; tokens a second are worked out from batch, length, time and world.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainplan.interop.logs.events import Event, Framework, Interruption, Peak, Setting, Stall, Step, Unread

MEBI: Final = 2.0**20
_ITERATION = re.compile(r"iteration\s+(\d+)\s*/")
_CUT = re.compile(r"^\W*(?:\[[^]]*\]\s*)*iteration\s+\d+\s*/\s*\d+\s*\|")
"""The head of a line of a step, which the rest has to follow."""
_SAVE = re.compile(r"save-checkpoint \.*:\s*\(?\s*([\d.]+)(?:\s*,\s*([\d.]+))?")
_SETTING = re.compile(r"^\W*(?:\w+:)?\s*(world_size|seq_length|global_batch_size)\s*\.{2,}\s*(\d+)\s*$")
_WORLD = re.compile(r"using world size:\s*(\d+)")
_NAMES: Final = {"world_size": "world", "seq_length": "sequence", "global_batch_size": "batch"}


def events_of(line: str) -> Iterator[Event]:
    """What one line says; nothing where it is not a line of these frameworks."""
    if "train_step_timing in s:" in line:
        yield from _nemo(line)
    elif "elapsed time per iteration (" in line:
        yield from _step(line)
    elif "save-checkpoint " in line:
        yield from _stall(line)
    elif "memory (MB)" in line:
        yield from _memory(line)
    elif "saving checkpoint at iteration" in line:
        yield Interruption("checkpoint")
    elif "validation loss at iteration" in line:
        yield Interruption("evaluation")
    elif "iteration" in line and _CUT.match(line):
        yield Unread()
    else:
        yield from _settings(line)


def cells(line: str) -> dict[str, str]:
    """The cells of a line by key."""
    parts = (cell.partition(":") for cell in line.split("|") if ":" in cell)
    return {key.strip(): value.strip() for key, _, value in parts}


def number(text: str | None) -> float | None:
    """A finite number, or None."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if value - value == 0.0 else None


def _step(line: str) -> Iterator[Event]:
    found, iteration = cells(line), _ITERATION.search(line)
    in_seconds = "elapsed time per iteration (s)" in found
    elapsed = number(found.get(f"elapsed time per iteration ({'s' if in_seconds else 'ms'})"))
    if iteration is None or elapsed is None or elapsed <= 0:
        yield Unread()
        return
    yield Framework("Megatron-DeepSpeed" if in_seconds else "Megatron-LM")
    tokens, samples = number(found.get("consumed tokens")), number(found.get("consumed samples"))
    if tokens and samples and (tokens / samples).is_integer():
        yield Setting("sequence", tokens / samples)
    skipped = number(found.get("number of skipped iterations")) or number(found.get("number of nan iterations"))
    seconds = elapsed if in_seconds else elapsed / 1e3
    yield Step(int(iteration[1]), seconds, number(found.get("global batch size")), skipped=bool(skipped))


def _nemo(line: str) -> Iterator[Event]:
    found, iteration = cells(line), _ITERATION.search(line)
    seconds = number(found.get("train_step_timing in s"))
    if iteration is None or seconds is None or seconds <= 0:
        yield Unread()
        return
    yield Framework("NeMo")
    peak = number(found.get("peak_memory_usage"))
    if peak:
        yield Peak(peak, reserved=False)
    rate = number(found.get("tokens_per_sec_per_gpu"))
    yield Step(
        int(number(found.get("global_step")) or int(iteration[1])),
        seconds,
        number(found.get("global_batch_size")),
        rate,
    )
    if "val_loss" in found:
        yield Interruption("evaluation")


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
    setting = _SETTING.match(line) if ".." in line else None
    if setting is not None:
        yield Setting(_NAMES[setting[1]], float(setting[2]))
    world = _WORLD.search(line) if "using world size:" in line else None
    if world is not None:
        yield Setting("world", float(world[1]))
