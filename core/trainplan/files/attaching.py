"""A file on the disk as evidence: its path from the plan's folder and its sha256 now. Read-only, with a limit on size and time."""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path

from trainplan.files.bounded import TIME_LIMIT, Unread, answered, digest, leads_out
from trainplan.files.evidence import SIZE_LIMIT
from trainplan.review.record import EvidenceHash


class EvidenceError(Exception):
    """A file that cannot be evidence, in one sentence."""


def evidence_of_file(
    folder: Path, path: Path, limit: float = TIME_LIMIT, size_limit: int = SIZE_LIMIT
) -> tuple[EvidenceHash, str]:
    """The file with its hash, and where a link out of the plan's folder leads or "". Raises EvidenceError."""
    found = answered(lambda: _hashed(folder, path, size_limit), limit)
    if found is None:
        raise EvidenceError(f"{path.name}: not read within {limit:g} s")
    if isinstance(found, str):
        raise EvidenceError(f"{path.name}: {found}")
    return found


def _hashed(folder: Path, path: Path, size_limit: int) -> tuple[EvidenceHash, str] | str:
    try:
        sha256, status = digest(path, size_limit), os.stat(path)
        modified = dt.datetime.fromtimestamp(status.st_mtime, dt.UTC).isoformat(timespec="seconds")
        named = os.path.relpath(path, folder)
        return EvidenceHash(named, sha256, status.st_size, modified, job_of(path.name)), leads_out(folder, path)
    except Unread as error:
        return error.sentence
    except (OSError, ValueError) as error:
        return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)


def job_of(name: str) -> str:
    """The number of the job that a log's name carries, as Slurm's `%x-%j.out` and `slurm-%j.out` write it; "" where it has none."""
    found = re.search(r"(?:^|[-_.])(\d{3,})(?:[-_.]\d+)?\.(?:out|err|log|txt)$", name)
    return found[1] if found else ""
