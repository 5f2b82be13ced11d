"""Lines of frameworks that print all that a measurement needs in one line, and those that are known and print too little."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainplan.interop.logs.cells import GIBI, cells, number, whole
from trainplan.interop.logs.events import Event, Foreign, Framework, Peak, Step, Unread

_MAXTEXT = re.compile(r"completed step:\s*(\d+), seconds:\s*([\d.]+),(?:.*?Tokens/s/device:\s*([\d.,]+),)?")
_NANOTRON = re.compile(r"iteration:\s*(\d+)\s*/\s*\d+\s*\|")
_TORCHTUNE = re.compile(r"\bStep (\d+) \|")
_PAIR = re.compile(r"\b(tokens_per_second_per_gpu|peak_memory_reserved|peak_memory_alloc):([\d.eE+-]+)(?=\s)")
_SCALES: Final = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_FOREIGN: Final = (
    (
        "SamplesPerSec=",
        "DeepSpeed's own timer counts micro steps in some versions; lines of the trainer that runs on it are read",
    ),
    (
        "'learning_rate':",
        "the Hugging Face Trainer prints losses and no time; a metrics table with a column of step time is read",
    ),
    (
        "throughput/device/tokens_per_sec:",
        "Composer prints means over a hundred batches; a table of its metrics is read",
    ),
    ("iter time:", "LitGPT's lines are of micro batches; its metrics.csv is read"),
    ("s/it", "a progress bar shows a running mean; a metrics table with a column of step time is read"),
    ("it/s", "a progress bar shows a running mean; a metrics table with a column of step time is read"),
)


def maxtext_events(line: str) -> Iterator[Event]:
    """A `completed step` of MaxText; its seconds are of one step, and its older lines have no rate."""
    found = _MAXTEXT.search(line)
    step, seconds = (whole(found[1]), number(found[2])) if found else (None, None)
    if found is None or step is None or seconds is None:
        yield Unread()
        return
    yield Framework("MaxText")
    yield Step(step, seconds or None, rate=number(found[3]) or None)


def nanotron_events(line: str) -> Iterator[Event]:
    """A line of Nanotron: the cells are Megatron's, the numbers end in K, M or G and hold three digits."""
    head, found = _NANOTRON.search(line), cells(line)
    rate = _scaled(found.get("tokens_per_sec_per_gpu"))
    step = whole(head[1]) if head else None
    if step is None or not rate:
        yield Unread()
        return
    yield Framework("Nanotron")
    for key, reserved in (("cuda_max_memory_reserved", True), ("cuda_max_memory_allocated", False)):
        peak = _scaled(found.get(key))
        if peak:
            yield Peak(peak, reserved)
    yield Step(step, None, _scaled(found.get("global_batch_size")), rate)


def torchtune_events(line: str) -> Iterator[Event]:
    """A line of torchtune: the rate is of the printed step alone and of tokens that the loss counts; memory is in GiB, of rank 0.

    torchtune recipes/full_finetune_distributed.py, training/metric_logging.py and training/memory.py.
    """
    head, found = _TORCHTUNE.search(line), dict(_PAIR.findall(line))
    step, rate = whole(head[1]) if head else None, number(found.get("tokens_per_second_per_gpu"))
    if step is None or not rate:
        yield Unread()
        return
    yield Framework("torchtune")
    for key, reserved in (("peak_memory_reserved", True), ("peak_memory_alloc", False)):
        peak = number(found.get(key))
        if peak:
            yield Peak(peak * GIBI, reserved)
    yield Step(step, rate=rate)


def _scaled(text: str | None) -> float | None:
    word = (text or "").strip()
    value = number(word[:-1] if word[-1:] in _SCALES else word)
    return None if value is None else value * _SCALES.get(word[-1:], 1.0)


def foreign_events(line: str) -> Iterator[Event]:
    """Why a line of steps cannot be measured from."""
    for word, why in _FOREIGN:
        if word in line:
            yield Foreign(why)
            return
