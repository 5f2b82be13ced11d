"""Lines of MLPerf training: blocks between evaluations with the samples before and behind them, and the global batch.

`tracked_stats` has a throughput that is samples a second in some benchmarks and tokens a second in others: blocks say it safely.
A block holds no evaluation.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from trainplan.interop.logs.cells import number
from trainplan.interop.logs.events import Begin, Event, Framework, Setting, Step, Unread

MARK: Final = ":::MLLOG "


class MlperfLines:
    """Lines of one log in order: a block is told by two of them."""

    def __init__(self) -> None:
        self._batch: float | None = None
        self._open: tuple[float, float] | None = None

    def events_of(self, line: str) -> Iterator[Event]:
        """What one line says after those before it."""
        entry = _entry(line)
        if entry is None:
            yield Unread()
            return
        key, time = entry.get("key"), _plain(entry.get("time_ms"))
        if key == "global_batch_size":
            self._batch = _plain(entry.get("value")) or self._batch
            if self._batch:
                yield Setting("batch", self._batch)
        elif key == "run_start":
            self._open = None
            yield Begin()
        elif key in ("block_start", "block_stop"):
            metadata: Any = entry.get("metadata")
            samples = _plain(metadata.get("samples_count")) if isinstance(metadata, dict) else None
            told = None if samples is None or time is None else (time, samples)
            begun, self._open = self._open, told if key == "block_start" else None
            if key == "block_stop" and begun is not None and told is not None:
                yield from self._block(begun, told)

    def _block(self, begun: tuple[float, float], ended: tuple[float, float]) -> Iterator[Event]:
        """The steps between two times (ms), each with the samples before it."""
        steps = (ended[1] - begun[1]) / self._batch if self._batch else 0.0
        if steps < 1.0 or ended[0] <= begun[0]:
            return
        yield Framework("MLPerf")
        yield Step(
            round(ended[1] / cast("float", self._batch)), (ended[0] - begun[0]) / 1e3 / steps, self._batch, mean=True
        )


def stamp(line: str) -> str | None:
    """The time of a line, in UTC as other logs print it; None where it says none."""
    entry = _entry(line)
    time = None if entry is None else _plain(entry.get("time_ms"))
    if time is None or not 0.0 < time < 1e14:
        return None
    return dt.datetime.fromtimestamp(time / 1e3, tz=dt.UTC).strftime("%Y-%m-%d %H:%M:%S")


def _entry(line: str) -> Mapping[str, Any] | None:
    try:
        found: Any = json.loads(line.partition(MARK)[2])
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None


def _plain(value: Any) -> float | None:
    return number(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None
