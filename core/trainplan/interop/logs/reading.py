"""Logs streamed line by line: what kind of log it is is seen from its lines, never from its name alone.

A line is cut at 64 KiB and bytes that are no text are replaced, so that a broken file costs neither memory nor an error.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from trainplan.interop.logs.events import Event, Step, Unread
from trainplan.interop.logs.measured import Measurement
from trainplan.interop.logs.megatron import events_of as megatron_events
from trainplan.interop.logs.metrics import UnknownColumns, csv_events, json_events
from trainplan.interop.logs.torch import OlmoLines, titan_events

LINE, TOLD = 65_536, 4 << 20
Progress = Callable[[int, int], None]
"""(bytes read, bytes in all), told every few MiB."""

Reader = Callable[[str], Iterator[Event]]
_DAY: Final = re.compile(r"\b(20\d\d-[01]\d-[0-3]\d)[ T_]\d\d[:-]\d\d")


class LogError(Exception):
    """A log that cannot be read, in one sentence with its place."""


def read_log(path: Path, measurement: Measurement, progress: Progress | None = None) -> None:
    """Hand every event of a log to a measurement. Raises LogError."""
    measurement.begin()
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise LogError(f"{path}: this is not a regular file")
        with path.open("rb") as file:
            _read(file, path, status.st_size, measurement, progress)
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}") from None


def _read(file: BinaryIO, path: Path, size: int, measurement: Measurement, progress: Progress | None) -> None:
    reader, done, told = _reader(path, file), 0, 0
    for place, line in enumerate(lines(file), 1):
        done += len(line)
        text = line.decode("utf-8", "replace")
        for event in reader(text):
            if isinstance(event, Step):
                _date(text, measurement)
            elif isinstance(event, Unread) and not measurement.first_unread:
                measurement.first_unread = place
            measurement.take(event)
        if progress is not None and done - told >= TOLD:
            told = done
            progress(done, size)
    if progress is not None:
        progress(size, size)


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file; the rest of one that is too long is passed over."""
    whole = True
    while line := file.readline(LINE):
        if whole:
            yield line
        whole = line.endswith(b"\n")


def _date(text: str, measurement: Measurement) -> None:
    day = _DAY.search(text[:200])
    if day is not None:
        measurement.date = day[1]


def _reader(path: Path, file: BinaryIO) -> Reader:
    """The reader for a file's kind, the file left where its lines begin."""
    start = file.tell()
    head = file.readline(LINE).decode("utf-8", "replace").lstrip("\ufeff \t")
    if head.startswith("{"):
        file.seek(start)
        return json_events
    if head.startswith("["):
        rest = file.read(1)
        file.seek(start)
        if path.suffix == ".json" and (rest or head.rstrip().endswith("]")):
            raise LogError(f"{path}: a JSON array has to be read whole. One object a line is right: jq -c '.[]'")
        return text_reader()
    if _is_table(path, head):
        try:
            return csv_events(head)
        except UnknownColumns as error:
            raise LogError(f"{path}:1: {error}") from None
    file.seek(start)
    return text_reader()


def _is_table(path: Path, head: str) -> bool:
    return path.suffix.lower() in (".csv", ".tsv") or (
        head.count(",") >= 1 and "step" in head.lower() and "|" not in head and ":" not in head
    )


def text_reader() -> Reader:
    """A reader of text logs of every framework: a line says by its own words which it is."""
    olmo = OlmoLines()

    def events(line: str) -> Iterator[Event]:
        yield from megatron_events(line)
        if "tps:" in line or "checkpoint" in line or "validate step:" in line or "allocation retries" in line:
            yield from titan_events(line)
        if "=" in line or "heckpoint" in line:
            yield from olmo.events_of(line)

    return events
