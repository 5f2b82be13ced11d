"""Files against a list of their sha256, as `sha256sum` writes it; and the configs whose hashes the evidence of item 1 lists.

A name that leads out of the list's folder is never followed, and says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from trainplan.files.bounded import Unread, content, digest, leads_out
from trainplan.files.looks import Asked, Found, Look

FILE_LIMIT: Final = 2**30  # bytes
LIST_LIMIT: Final = 64_000_000  # bytes
CONFIGS: Final = 200
"""Configs of one list that are read whole; of a longer list so many, evenly chosen."""
_SUM: Final = re.compile(r"^([0-9a-fA-F]{64}) [ *](.+)$", re.MULTILINE)


def config_looks(asked: Asked) -> list[Look]:
    """Each list of sha256 among the evidence of the configs, against the files beside it."""
    return [
        Look(
            "configs",
            f"hashes of {path}",
            path,
            lambda path=path: held(asked.path(path).parent, asked.path(path), CONFIGS),
        )
        for path in asked.files("configs", ".sha256", "sha256sums", "sha256sums.txt")
    ]


def held(folder: Path, written: Path, most: int) -> Found:
    """Whether files have the sha256 that a list gives them; of more than `most` so many, evenly chosen. Raises Unread."""
    entries = _SUM.findall(content(written, LIST_LIMIT).decode(errors="replace"))
    if not entries:
        return "failed", f"{written.name} has no line of a sha256 and a name"
    return _compared(folder, entries[:: max(1, -(-len(entries) // most))], len(entries))


def _compared(folder: Path, chosen: list[tuple[str, str]], listed: int) -> Found:
    skipped = list[str]()
    for wanted, name in chosen:
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts or leads_out(folder, path):
            skipped.append(f"{name} leads out of {folder.name}")
            continue
        try:
            found = digest(path, FILE_LIMIT)
        except Unread as error:
            if error.verdict == "failed":
                raise
            skipped.append(error.sentence)
            continue
        if found != wanted.lower():
            return "failed", f"{name}: sha256 {wanted[:8]} in the list, {found[:8]} now"
    told = f"{len(chosen) - len(skipped)} of {listed:,} files have their sha256"
    return ("unknown", f"{told}; {skipped[0]}") if skipped else ("passed", told)
