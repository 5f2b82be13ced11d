"""Metric tables as CSV or JSON lines: the columns that frameworks and trackers export, found by their names.

A tracker's `run - metric` columns are taken by the metric. A table without a known column of time or rate is refused by its names.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainplan.interop.logs.events import Event, Framework, Peak, Retries, Step
from trainplan.interop.logs.megatron import number
from trainplan.interop.logs.torch import GIBI

STEP: Final = ("step", "_step", "iteration", "global_step", "trainer/global_step", "iter")
SECONDS: Final = (
    "time_metrics/end_to_end(s)",
    "iteration-time",
    "iteration_time",
    "train_step_timing in s",
    "elapsed time per iteration (s)",
    "step_time",
    "step_time_s",
    "seconds_per_step",
    "time_per_step",
)
RATE: Final = (
    "throughput(tps)",
    "throughput/device/tps",
    "tokens_per_second_per_gpu",
    "tokens_per_sec_per_gpu",
    "perf/tokens_per_second_per_gpu",
    "tps",
    "tokens/s/device",
    "tokens_per_second_per_device",
)
BATCH: Final = ("batch-size", "global_batch_size", "batch_size")
RESERVED: Final = ("memory/max_reserved(gib)", "gpu_memory/gpu reserved mem (gib)", "max_reserved_gib")
RETRIES: Final = ("memory/num_alloc_retries", "num_alloc_retries")
BYTES: Final = ("peak_memory_usage", "max_memory_allocated")


class UnknownColumns(ValueError):
    """A table whose columns tell no time and no rate; the message names what it has and what would do."""


def csv_events(header: str) -> Callable[[str], Iterator[Event]]:
    """A reader of the rows under a header line. Raises UnknownColumns."""
    columns = _fields(header)
    _refuse_unknown(dict.fromkeys(columns))

    def events(line: str) -> Iterator[Event]:
        yield from _row(dict(zip(columns, _fields(line), strict=False)))

    return events


def _fields(line: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], strict=False), [])


def json_events(line: str) -> Iterator[Event]:
    """What one JSON object on a line says; a line that is none says nothing."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        yield from _row({str(key): value for key, value in found.items()})  # pyright: ignore[reportUnknownVariableType]


def _refuse_unknown(row: Mapping[str, Any]) -> None:
    named = {_metric(key) for key in row}
    if named & {*SECONDS, *RATE}:
        return
    has = ", ".join(sorted(row)[:8])
    raise UnknownColumns(
        f"no column of step time or tokens a second among {has}. One of: {', '.join((*SECONDS, *RATE))}"
    )


def _metric(column: str) -> str:
    return column.rsplit(" - ", 1)[-1].strip().lower()


def _row(row: Mapping[str, Any]) -> Iterator[Event]:
    named = {_metric(key): value for key, value in row.items()}
    step, seconds, rate = _first(named, STEP), _first(named, SECONDS), _first(named, RATE)
    if not seconds and not rate:
        return
    yield Framework("metrics")
    reserved, allocated = _first(named, RESERVED), _first(named, BYTES)
    if reserved:
        yield Peak(reserved * GIBI, reserved=True)
    if allocated:
        yield Peak(allocated, reserved=False)
    retries = _first(named, RETRIES)
    if retries and retries > 0:
        yield Retries(int(retries))
    if step is not None and step >= 0:
        yield Step(int(step), seconds or None, _first(named, BATCH), rate or None)


def _first(named: Mapping[str, Any], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = number(str(named[key])) if named.get(key) is not None else None
        if value is not None:
            return value
    return None
