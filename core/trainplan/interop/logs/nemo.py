"""Lines of NeMo: the cells of its printed lines, and the progress bar of its older versions.

Times are those of the printed step alone, and of training alone: an evaluation is not in them, and the value that it left stays on
every later line. A bar is drawn many times a step; one without a timing has only its own running mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainplan.interop.logs.cells import cells, number, whole
from trainplan.interop.logs.events import Event, Framework, Peak, Step, Unread

_ITERATION = re.compile(r"iteration\s+(\d+)\s*/")
_BAR = re.compile(r"\b(\d+)/\d+ \[")
_PAIR = re.compile(
    r"(global_step|consumed_samples|train_step_timing in s|tokens_per_sec_per_gpu)=([\d.]+(?:e[+-]?\d+)?)"
)
_PACE = re.compile(r"\b([\d.]+)(s/it|it/s)\b")
_PEAKS = (("max_memory_reserved", True), ("peak_memory_usage", False), ("max_memory_allocated", False))
"""Bytes, as torch.cuda counts them."""


def nemo_events(line: str) -> Iterator[Event]:
    """What one line with a `train_step_timing in s` or a `reduced_train_loss` says."""
    if "train_step_timing in s:" in line:
        yield from _printed(line)
    elif "[" in line and "=" in line:
        yield from _bar(line)


def _printed(line: str) -> Iterator[Event]:
    found, iteration = cells(line), _ITERATION.search(line)
    seconds = number(found.get("train_step_timing in s"))
    step, printed = number(found.get("global_step")), whole(iteration[1]) if iteration else None
    if printed is None or seconds is None or seconds <= 0:
        yield Unread()
        return
    yield Framework("NeMo")
    for key, reserved in _PEAKS:
        peak = number(found.get(key))
        if peak:
            yield Peak(peak, reserved)
    batch, rate = number(found.get("global_batch_size")), number(found.get("tokens_per_sec_per_gpu"))
    yield Step(int(step or printed), seconds, batch, rate)


def _bar(line: str) -> Iterator[Event]:
    found, drawn = dict(_PAIR.findall(line)), _BAR.search(line)
    seconds = number(found.get("train_step_timing in s")) or _pace(line)
    place = whole(drawn[1]) if drawn else None
    if place is None or not seconds:
        return
    timed = "train_step_timing in s" in found
    yield Framework("NeMo" if timed else "NeMo, running means of its progress bar")
    step, samples = _exact(found, "global_step"), _exact(found, "consumed_samples")
    batch = samples / (step + 1) if step is not None and samples and samples % (step + 1) == 0 else None
    rate = number(found.get("tokens_per_sec_per_gpu"))
    yield Step(place if step is None else int(step), seconds, batch, rate)


def _exact(found: dict[str, str], key: str) -> float | None:
    """A count; None where the bar rounds it to four digits."""
    text = found.get(key, "")
    return None if "e" in text else number(text)


def _pace(line: str) -> float | None:
    found = _PACE.search(line)
    pace = number(found[1]) if found else None
    if found is None or not pace:
        return None
    return pace if found[2] == "s/it" else 1.0 / pace
