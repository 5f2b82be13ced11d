"""Metric tables as CSV or JSON lines: the columns that frameworks and trackers export, found by their names.

A tracker's `run - metric` columns are taken by the metric. A table without a known column of time or rate is refused by its names.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainplan.interop.logs.cells import GIBI, number
from trainplan.interop.logs.events import Event, Foreign, Framework, Peak, Retries, Step, Unread

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
    "perf/step_time_seconds",
    "throughput/duration",
)
LOADING: Final = "throughput/loading_time"
"""Levanter's wait for a batch, s: its duration is of the step alone (marin lib/levanter trainer.py, training_steps)."""
MILLISECONDS: Final = (
    "elapsed time per iteration (ms)",
    "elapsed_time_per_iteration_ms",
    "time_per_iteration_ms",
    "step_time_ms",
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
    "tokens per gpu per second (tgs)",
    "throughput/device/tokens_per_sec",
    "throughput/device/tokens_per_second",
    "perf/per_device_tokens_per_sec",
)
MEANS: Final = ("time_metrics/end_to_end(s)", "throughput(tps)", "iteration-time")
"""Columns of torchtitan and Megatron-LM that hold means over their interval."""
BATCH: Final = ("batch-size", "global_batch_size", "batch_size")
RESERVED: Final = ("memory/max_reserved(gib)", "gpu_memory/gpu reserved mem (gib)", "max_reserved_gib")
RETRIES: Final = ("memory/num_alloc_retries", "num_alloc_retries")
BYTES_RESERVED: Final = ("max_memory_reserved", "cuda_max_memory_reserved")
BYTES: Final = ("peak_memory_usage", "max_memory_allocated", "mem-max-allocated-bytes")
TIMED: Final = frozenset((*SECONDS, *MILLISECONDS, *RATE))
WRAPPED: Final = ("log", "message", "textPayload")
"""Where Docker, and collectors of logs, keep a line."""


class UnknownColumns(ValueError):
    """A table whose columns tell no time and no rate, or those of several runs; the message names what it has and what would do."""


def csv_events(header: str) -> Callable[[str], Iterator[Event]]:
    """A reader of the rows under a header line; commas, tabs or semicolons part them. Raises UnknownColumns."""
    comma = max(",\t;", key=header.count)
    columns = _fields(header, comma)
    _refuse_unknown(columns)
    _refuse_several(columns)

    def events(line: str) -> Iterator[Event]:
        fields = _fields(line, comma)
        if any(fields) and len(fields) < len(columns):
            yield Unread()
        yield from _row(dict(zip(columns, fields, strict=False)))

    return events


def of_table(header: str) -> bool:
    """Whether a line is the header of a table: a step among its columns, whatever the file is named."""
    comma = max(",\t;", key=header.count)
    return comma in header and any(_metric(column) in STEP for column in _fields(header, comma))


def _fields(line: str, comma: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=comma, strict=False), [])
    except csv.Error:
        return []


def json_events(line: str) -> Iterator[Event]:
    """What one JSON object on a line says; one that is cut is told, and what is no object says nothing."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        if line.lstrip().startswith('{"'):
            yield Unread()
        return
    if isinstance(found, dict):
        row = _flat(found)  # pyright: ignore[reportUnknownArgumentType]
        yield from _row(row) if _tells(row) else _foreign(row)


def _flat(found: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by key, those of objects one level down among them."""
    row = {str(key): value for key, value in found.items() if not isinstance(value, dict)}
    for value in found.values():
        if isinstance(value, dict):
            row |= {str(key): inner for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return row


def _tells(row: Mapping[str, Any]) -> bool:
    return any(_metric(key) in TIMED for key in row)


def _foreign(row: Mapping[str, Any]) -> Iterator[Event]:
    """Objects of steps whose keys are none of time or rate."""
    if any(_metric(key) in STEP for key in row):
        yield Foreign(
            f"objects have {', '.join(sorted(row)[:6])}, and none of {', '.join((*SECONDS, *RATE)[:12])}, ..."
        )


def wrapped_line(line: str) -> str | None:
    """The line of a log that a container's log driver put into an object."""
    if not any(f'"{key}"' in line for key in WRAPPED):
        return None
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    text = next((found[key] for key in WRAPPED if key in found), None) if isinstance(found, dict) else None
    return text if isinstance(text, str) else None


def _refuse_unknown(columns: list[str]) -> None:
    named = {_metric(column) for column in columns}
    if named & TIMED:
        return
    has = ", ".join(sorted(columns)[:8])
    known = ", ".join((*SECONDS, *MILLISECONDS, *RATE))
    what = (
        "TensorBoard names a scalar's column Value: name it by what it is. " if {"wall time", "value"} <= named else ""
    )
    raise UnknownColumns(f"no column of step time or tokens a second among {has}. {what}One of: {known}")


def _refuse_several(columns: list[str]) -> None:
    """Columns `run - metric` of more than one run: the last would stand for all."""
    runs = {column.rpartition(" - ")[0]: None for column in columns if " - " in column and _metric(column) in TIMED}
    if len(runs) > 1:
        raise UnknownColumns(f"columns of {len(runs)} runs, {', '.join(list(runs)[:4])}. A table of one run is right")


def _metric(column: str) -> str:
    return column.rsplit(" - ", 1)[-1].strip().lower()


def _row(row: Mapping[str, Any]) -> Iterator[Event]:
    named = {_metric(key): value for key, value in row.items()}
    step, seconds, rate = _first(named, STEP), _seconds(named), _first(named, RATE)
    if not seconds and not rate:
        return
    yield Framework("metrics")
    yield from _memory(named)
    if step is not None and step >= 0:
        mean = any(named.get(key) not in (None, "") for key in MEANS)
        yield Step(int(step), seconds or None, _first(named, BATCH), rate or None, mean=mean)


def _seconds(named: Mapping[str, Any]) -> float | None:
    milliseconds = _first(named, MILLISECONDS)
    seconds = _first(named, SECONDS) or (None if milliseconds is None else milliseconds / 1e3)
    loading = _first(named, (LOADING,))
    return seconds + max(loading, 0.0) if seconds and loading else seconds


def _memory(named: Mapping[str, Any]) -> Iterator[Event]:
    for keys, unit, reserved in ((RESERVED, GIBI, True), (BYTES_RESERVED, 1.0, True), (BYTES, 1.0, False)):
        peak = _first(named, keys)
        if peak:
            yield Peak(peak * unit, reserved)
    retries = _first(named, RETRIES)
    if retries and retries > 0:
        yield Retries(int(retries))


def _first(named: Mapping[str, Any], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = number(str(named[key])) if named.get(key) is not None else None
        if value is not None:
            return value
    return None
