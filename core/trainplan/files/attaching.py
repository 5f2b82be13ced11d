"""A file on the disk as evidence: its path from the plan's folder and its sha256 now. Read-only, with a limit on size and time."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from trainplan.files.evidence import SIZE_LIMIT, TIME_LIMIT, answered, digest_of, leads_out
from trainplan.review.record import EvidenceHash


class EvidenceError(Exception):
    """A file that cannot be evidence, in one sentence."""


def evidence_of_file(
    folder: Path, path: Path, limit: float = TIME_LIMIT, size_limit: int = SIZE_LIMIT
) -> tuple[EvidenceHash, str]:
    """The file with its hash, and where a link out of the plan's folder leads or "". Raises EvidenceError."""
    stop = threading.Event()
    found = answered(lambda: _hashed(folder, path, size_limit, stop), limit)
    stop.set()
    if found is None:
        raise EvidenceError(f"{path.name}: not read within {limit:g} s")
    if isinstance(found, str):
        raise EvidenceError(f"{path.name}: {found}")
    return found


def _hashed(folder: Path, path: Path, size_limit: int, stop: threading.Event) -> tuple[EvidenceHash, str] | str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return "this is not a regular file"
        if status.st_size > size_limit:
            return f"{status.st_size:,} bytes, {size_limit:,} are read at most"
        return EvidenceHash(os.path.relpath(path, folder), digest_of(descriptor, stop)), leads_out(folder, path)
    except OSError as error:
        return os.strerror(error.errno or 0)
    finally:
        os.close(descriptor)
