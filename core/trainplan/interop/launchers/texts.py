"""The text of a file that import reads. Of a log that is longer than a plan may be, its beginning: arguments are printed there."""

from __future__ import annotations

import os
from pathlib import Path

from trainplan.plan.source import LIMIT, SourceError, read_source


def text_of(path: Path) -> str:
    """The text of a file, lines ended by line feeds alone. Raises SourceError."""
    try:
        return read_source(path).text.replace("\r\n", "\n")
    except SourceError as error:
        if not _long(path):
            raise
        from trainplan.interop.launchers.megatron.listing import listed

        with path.open("rb") as file:
            head = file.read(LIMIT).decode("utf-8", errors="replace").replace("\r\n", "\n")
        if listed(head):
            return head
        message = f"the file is over {LIMIT:,} bytes, and no arguments are listed in as many at its beginning"
        raise SourceError(path, 1, 1, message, error.fix) from None


def _long(path: Path) -> bool:
    try:
        return os.path.isfile(path) and os.path.getsize(path) > LIMIT
    except OSError:
        return False
