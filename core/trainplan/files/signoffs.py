"""The record of sign-offs on the disk: read whole, appended to in one write, so that two people at once lose nothing.

It refuses to change or remove a line, and to write through anything but a regular file.
"""

from __future__ import annotations

import datetime as dt
import os
import stat
from pathlib import Path
from typing import Final

from trainplan.files.writing import folder_synced, sentence
from trainplan.review.record import Act, Record, line_of, read_record, record_path

READ_LIMIT: Final = 64_000_000  # bytes


class RecordError(Exception):
    """A record that cannot be read or written, in one sentence."""


def recorded(plan: Path, now: dt.datetime | None = None) -> Record:
    """The record beside a plan; an absent one is empty. Raises RecordError."""
    return read_record(_content(record_path(plan)), now)


def appended(plan: Path, act: Act) -> Record:
    """Adds one act to the record beside a plan, reads it again, and returns what it holds. Raises RecordError."""
    path = record_path(plan)
    before = _content(path)
    line = line_of(act, before)
    try:
        _write(path, line if not before or before.endswith(b"\n") else b"\n" + line)
    except OSError as error:
        raise RecordError(f"{path.name}: not written: {sentence(error, path)}") from error
    after = _content(path)
    if line.strip() not in after.split(b"\n"):
        raise RecordError(
            f"{path.name}: the line is not there after writing it. The disk or another program removed it"
        )
    folder_synced(path.parent)
    return read_record(after)


def _write(path: Path, line: bytes) -> None:
    """One write at the end of the file, which the system does not mix with another's."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o666)
    try:
        if os.write(descriptor, line) != len(line):
            raise RecordError(f"{path.name}: the line was written in part. It is told when the record is read")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _content(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RecordError(f"{path.name}: not read: {os.strerror(error.errno or 0)}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RecordError(f"{path.name}: this is not a regular file")
        if status.st_size > READ_LIMIT:
            raise RecordError(f"{path.name}: {status.st_size:,} bytes, {READ_LIMIT:,} at most")
    except BaseException:
        os.close(descriptor)
        raise
    with open(descriptor, "rb") as file:
        return file.read(READ_LIMIT)
