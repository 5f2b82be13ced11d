"""Room for checkpoints: free space and files of the volume, and this user's quota where the system tells one.

`quota` and `lfs quota` are asked with a time limit; they only read.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from trainplan.files.bounded import printed
from trainplan.files.looks import Asked, Found, Look
from trainplan.quantity.figure import Figure

KIBI: Final = 1024.0
_COLUMNS: Final = 7  # file system, used, quota, limit, grace, files, quota, ...


def room_looks(asked: Asked) -> list[Look]:
    """Space and quota of `paths.checkpoints`."""
    named = asked.plan.paths.checkpoints
    if not named:
        return []
    folder, looks = asked.path(named), list[Look]()
    looks.append(Look("cost", "space for checkpoints", named, lambda: _space(asked, folder)))
    if shutil.which("lfs") or shutil.which("quota"):
        looks.append(Look("cost", "quota", named, lambda: _quota(asked, folder)))
    return looks


def _checkpoint(asked: Asked) -> float:
    """Bytes of one full checkpoint, 0 where the plan does not tell."""
    value = asked.quantities.get("storage.checkpoint")
    return float(value) if isinstance(value, Figure) else 0.0


def _space(asked: Asked, folder: Path) -> Found:
    usage, volume = shutil.disk_usage(folder), os.statvfs(folder)
    free = f"{usage.free / 1e12:,.3f} TB free on the volume"
    if volume.f_files and not volume.f_favail:
        return "failed", "the volume can hold no more files"
    if usage.free <= _checkpoint(asked):
        return "failed", f"{free}; one checkpoint takes {_checkpoint(asked) / 1e12:,.3f} TB"
    return "passed", free


def _quota(asked: Asked, folder: Path) -> Found:
    row = _lustre(asked, folder) or _local(asked, folder)
    return _judged(asked, row) if row else ("unknown", "no quota is told for this folder")


def _lustre(asked: Asked, folder: Path) -> list[str]:
    if shutil.which("lfs") is None:
        return []
    _, output = printed(["lfs", "quota", "-q", "-u", str(os.getuid()), str(folder)], asked.limit)
    words = output.split()  # a long path stands on a line of its own
    return words if len(words) >= _COLUMNS else []


def _local(asked: Asked, folder: Path) -> list[str]:
    """The row of the file system that holds the folder."""
    if shutil.which("quota") is None:
        return []
    _, output = printed(["quota", "-w", "-p", "--show-mntpoint", "--hide-device"], asked.limit)
    real = os.path.realpath(folder)
    rows = [
        words for line in output.splitlines() if len(words := line.split()) >= _COLUMNS and words[0].startswith("/")
    ]
    holding = [
        words for words in rows if os.path.commonpath([real, words[0]]) == words[0].rstrip("/") or words[0] == "/"
    ]
    return max(holding, key=lambda words: len(words[0]), default=[])


def _judged(asked: Asked, row: list[str]) -> Found:
    used, soft, hard = (float(word.rstrip("*")) * KIBI for word in row[1:4])
    limits = [limit for limit in (soft, hard) if limit]
    if not limits:
        return "passed", f"{used / 1e12:,.3f} TB used, no limit"
    left, told = min(limits) - used, f"{used / 1e12:,.3f} TB of {min(limits) / 1e12:,.3f} TB used"
    if left <= 0:
        return "failed", f"{told}: the quota is used up"
    if left <= _checkpoint(asked):
        return "failed", f"{told}; one checkpoint takes {_checkpoint(asked) / 1e12:,.3f} TB"
    return "passed", told
