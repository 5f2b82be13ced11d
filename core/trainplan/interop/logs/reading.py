"""Logs streamed line by line: what kind of log it is is seen from its lines, never from its name alone.

Bytes that are no text are replaced, so that a broken file costs neither memory nor an error.
"""

from __future__ import annotations

import datetime as dt
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from trainplan.interop.logs.events import Event, Step, Unread
from trainplan.interop.logs.lines import LINE, LogError, lines, text_of
from trainplan.interop.logs.measured import Measurement
from trainplan.interop.logs.megatron import ELAPSED, MegatronLines, other_events
from trainplan.interop.logs.metrics import UnknownColumns, csv_events, json_events, of_table, wrapped_line
from trainplan.interop.logs.mlperf import MARK, MlperfLines, stamp
from trainplan.interop.logs.nemo import nemo_events
from trainplan.interop.logs.others import foreign_events, maxtext_events, nanotron_events, torchtune_events
from trainplan.interop.logs.torch import OlmoLines, of_titan, titan_events
from trainplan.plan.source import unread

READ: Final = (
    "Megatron-LM",
    "Megatron-DeepSpeed",
    "GPT-NeoX",
    "Primus",
    "NeMo",
    "torchtitan",
    "torchtune",
    "OLMo-core",
    "OLMo",
    "Nanotron",
    "MaxText",
    "MLPerf",
)
"""Whose lines are read, beside CSV and JSON lines of metrics."""

TOLD: Final = 4 << 20
Progress = Callable[[int, int], None]
"""(bytes read, bytes in all), told every few MiB."""

Reader = Callable[[str], Iterator[Event]]
_TIME: Final = re.compile(r"\b(20\d\d-[01]\d-[0-3]\d)[ T_](\d\d)[:-](\d\d)(?:[:-](\d\d))?")
_LAST_NUMBER: Final = re.compile(r"(?:(?<=[\s|:=,])|^)-?\d[\d.,]*(?:[eE][+-]?\d*)?$")
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

__all__ = ["READ", "LogError", "Progress", "read_log", "text_reader"]


def read_log(path: Path, measurement: Measurement, progress: Progress | None = None) -> None:
    """Hand every event of a log to a measurement; where it has no date, its file's stands. Raises LogError."""
    measurement.begin()
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise LogError(f"{path}: this is not a regular file")
        with path.open("rb") as file:
            _read(file, path, status.st_size, measurement, progress)
        measurement.date = measurement.date or dt.date.fromtimestamp(status.st_mtime).isoformat()
    except OSError as error:
        raise LogError(unread(path, error)) from None


def _read(file: BinaryIO, path: Path, size: int, measurement: Measurement, progress: Progress | None) -> None:
    text = text_of(file, path)
    reader, skipped = _reader(path, text)
    done = 0
    for place, line, whole in lines(text):
        done += len(line)
        _take(line, whole, place + skipped, reader, measurement)
        if progress is not None and done >= TOLD:
            done = 0
            progress(file.tell(), size)
    if progress is not None:
        progress(size, size)


def _take(line: bytes, whole: bool, place: int, reader: Reader, measurement: Measurement) -> None:
    text = line.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "[step=" in text:
        _timed(text, measurement)
    for event in reader(text if whole else _before_cut(text)):
        if isinstance(event, Step) and event.sound:
            _timed(text, measurement)
        elif isinstance(event, Step | Unread):
            event = Unread()
            measurement.first_unread = measurement.first_unread or place
        measurement.take(event)
    if not measurement.lines:
        for event in foreign_events(text):
            measurement.take(event)


def _before_cut(text: str) -> str:
    """A last line that has no end, without the number at its end: that may be cut."""
    return _LAST_NUMBER.sub("", text)


def _timed(text: str, measurement: Measurement) -> None:
    """When a step was printed; OLMo's lines say it at the head of a step alone."""
    told = stamp(text) if MARK in text else None
    if told is not None:
        measurement.at(told)
        return
    time = _TIME.search(text[:200])
    if time is not None:
        measurement.at("{} {}:{}:{}".format(*time.groups(default="00")))


def _reader(path: Path, file: BinaryIO) -> tuple[Reader, int]:
    """The reader for a file's kind, and how many of its lines are read already."""
    head = file.readline(LINE).decode("utf-8", "replace").lstrip("\ufeff \t")
    if path.suffix.lower() in (".csv", ".tsv") or of_table(head):
        try:
            return csv_events(head), 1
        except UnknownColumns as error:
            raise LogError(f"{path}:1: {error}") from None
    if head.startswith("[") and path.suffix == ".json" and (file.read(1) or head.rstrip().endswith("]")):
        raise LogError(f"{path}: a JSON array has to be read whole. One object a line is right: jq -c '.[]'")
    file.seek(0)
    return text_reader(), 0


def text_reader() -> Reader:
    """A reader of logs of every framework: a line says by its own words which it is."""
    megatron, olmo, mlperf = MegatronLines(), OlmoLines(), MlperfLines()

    def events(line: str) -> Iterator[Event]:
        if line.startswith("{"):
            inner = wrapped_line(line)
            yield from json_events(line) if inner is None else events(inner)
        elif MARK in line:
            yield from mlperf.events_of(line)
        elif ELAPSED in line:
            yield from megatron.events_of(line)
        elif "tps:" in line or "wps:" in line or "validate step:" in line:
            yield from titan_events(line)
        elif "train_step_timing in s" in line or "reduced_train_loss=" in line:
            yield from nemo_events(line)
        elif "completed step:" in line:
            yield from maxtext_events(line)
        elif "tokens_per_sec_per_gpu:" in line:
            yield from nanotron_events(line)
        elif "tokens_per_second_per_gpu:" in line:
            yield from torchtune_events(line)
        else:
            yield from other_events(line)
            if of_titan(line):
                yield from titan_events(line)
            if "=" in line or "heckpoint" in line:
                yield from olmo.events_of(line)

    return events
