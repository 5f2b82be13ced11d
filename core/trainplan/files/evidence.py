"""Evidence on the disk against what was signed over: the file is there, is a file, and has the same sha256.

Read-only, with a limit on size and time, so that a FIFO, a dead mount or a sparse giant is told and never waited for. What
could not be checked is unknown: neither right nor wrong. A link that leads out of the plan's folder is followed and told.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from trainplan.files.bounded import TIME_LIMIT, answered, leads_out
from trainplan.plan.plan import Plan
from trainplan.review.items import NAMES
from trainplan.review.record import EvidenceHash, Record

SIZE_LIMIT: Final = 8 * 2**30  # bytes
_BLOCK: Final = 2**20

Verdict = Literal["same", "broken", "unknown"]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file: whether it is what was signed over, the sentence for people, and where a link out leads or ""."""

    file: EvidenceHash
    verdict: Verdict
    message: str
    leads_out: str = ""


def evidence_of(record: Record) -> tuple[EvidenceHash, ...]:
    """The files that the last sign-off or waiver of each item and the last measurement of each rung stand on, each once."""
    last = {act.subject: act for act in record.acts if act.kind in ("sign", "waive")}
    rungs = {act.subject: act for act in record.acts if act.kind == "attach" and act.subject not in NAMES}
    return tuple(dict.fromkeys(file for act in (*last.values(), *rungs.values()) for file in act.evidence))


def evidence_paths(plan: Plan, record: Record | None = None) -> Mapping[str, tuple[str, ...]]:
    """Evidence of each item by path: what the plan mirrors and what anybody attached, signed or waived with."""
    found: dict[str, dict[str, None]] = {}
    for entry in plan.readiness:
        found.setdefault(entry.item or "", {}).update(dict.fromkeys(file.path for file in entry.evidence if file.path))
    for act in record.acts if record else ():
        found.setdefault(act.subject, {}).update(dict.fromkeys(file.path for file in act.evidence))
    return {item: tuple(paths) for item, paths in found.items()}


def checked_evidence(
    folder: Path, files: Iterable[EvidenceHash], limit: float = TIME_LIMIT, size_limit: int = SIZE_LIMIT
) -> tuple[FileCheck, ...]:
    """Each file against its hash; paths are relative to `folder`, the plan's."""
    return tuple(_checked(folder, file, limit, size_limit) for file in files)


def _checked(folder: Path, file: EvidenceHash, limit: float, size_limit: int) -> FileCheck:
    stop = threading.Event()
    found = answered(lambda: _compared(folder, file, size_limit, stop), limit)
    stop.set()
    return found or FileCheck(file, "unknown", f"{file.path}: not read within {limit:g} s")


def _compared(folder: Path, file: EvidenceHash, size_limit: int, stop: threading.Event) -> FileCheck:
    path = folder / file.path
    try:
        out = leads_out(folder, path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return FileCheck(file, "broken", f"{file.path}: the file is missing")
    except (OSError, ValueError) as error:
        return FileCheck(file, "unknown", f"{file.path}: {_sentence(error)}")
    try:
        return FileCheck(file, *_read(descriptor, file, size_limit, stop), out)
    except OSError as error:
        return FileCheck(file, "unknown", f"{file.path}: {_sentence(error)}", out)
    finally:
        os.close(descriptor)


def _read(descriptor: int, file: EvidenceHash, size_limit: int, stop: threading.Event) -> tuple[Verdict, str]:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return "broken", f"{file.path}: this is not a regular file"
    if status.st_size > size_limit:
        return "unknown", f"{file.path}: {status.st_size:,} bytes, {size_limit:,} are read at most"
    if not file.sha256:
        return "unknown", f"{file.path}: no sha256 was recorded"
    digest = _digest(descriptor, stop)
    if digest == file.sha256.lower():
        return "same", f"{file.path}: sha256 as signed"
    return "broken", f"{file.path}: sha256 {file.sha256[:8]} when signed, {digest[:8]} now"


def _digest(descriptor: int, stop: threading.Event) -> str:
    digest = hashlib.sha256()
    while not stop.is_set() and (block := os.read(descriptor, _BLOCK)):
        digest.update(block)
    return digest.hexdigest()


def _sentence(error: Exception) -> str:
    return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
