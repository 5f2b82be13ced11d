"""A log as lines: plain or gzip, ended by line feeds or by the carriage returns of a progress bar, each cut at 64 KiB.

The last line of a log may be cut in the middle of a number: it is told apart. What is no text, or packed otherwise, is refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

LINE: Final = 65_536
_GZIP: Final = b"\x1f\x8b"
_REFUSED: Final = (
    (b"\x28\xb5\x2f\xfd", "compressed by zstd, which is not read. zstd -d gives what is"),
    (b"\xfd7zX", "compressed by xz, which is not read. xz -dk gives what is"),
    (b"BZh", "compressed by bzip2, which is not read. bzip2 -dk gives what is"),
    (b"\xff\xfe", "text in UTF-16, which is not read. iconv -f utf-16 -t utf-8 gives what is"),
    (b":W&B", "a run of Weights and Biases as it is stored. Its history as CSV is right"),
    (
        b"brain.Event:",
        "events as TensorBoard stores them. A scalar of step time as CSV, its column Value named so, is right",
    ),
)
"""Bytes at the head of a file, and what it is."""


class LogError(Exception):
    """A log that cannot be read, in one sentence with its place."""


def text_of(file: BinaryIO, path: Path) -> BinaryIO:
    """The bytes of a log's text, from its first. Raises LogError for a kind of file that is not read."""
    head = file.read(64)
    file.seek(0)
    if head.startswith(_GZIP):
        import gzip

        return cast("BinaryIO", gzip.open(file, "rb"))
    for magic, what in _REFUSED:
        if head.startswith(magic) or (len(magic) > 4 and magic in head):
            raise LogError(f"{path}: {what}")
    return file


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """(number of the line, its bytes, whether its end was there); the rest of one that is too long is passed over."""
    place, begun = 1, b""
    for chunk in _chunks(file):
        if not begun and chunk.endswith(b"\n") and b"\r" not in chunk:
            yield place, chunk, True
            place += 1
            continue
        *ended, rest = chunk.split(b"\r")
        for part in ended:
            yield place, begun + part, True
            begun = b""
        begun = (begun + rest)[:LINE]
        if rest.endswith(b"\n"):
            yield place, begun, True
            place, begun = place + 1, b""
    if begun:
        yield place, begun, False


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Lines, long ones in pieces. A gzip file that is cut, as one that is still written, ends where it is cut."""
    while True:
        try:
            chunk = file.readline(LINE)
        except (EOFError, zlib.error):
            return
        if not chunk:
            return
        yield chunk
