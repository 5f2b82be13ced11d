"""A crash leaves a file for whoever mends it, one sentence for whoever met it, and a terminal that works.

It refuses to draw a traceback on the terminal: its text may hold escapes from a plan file.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from trainplan_tui.text.printable import printable


def written(error: BaseException, folder: Path) -> Path | None:
    """Write the traceback, sanitised line by line, into a file of mode 600 in the state folder. None when it cannot."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    path = folder / f"crash-{os.getpid()}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{printable(line)}\n" for line in lines)
    except OSError:
        return None
    return path


def sentence(error: BaseException, path: Path | None) -> str:
    """What happened and where to look, in one line that draws itself."""
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    where = f"the traceback is in {path}" if path else "its traceback was not written: the state folder is read-only"
    return printable(f"trainplan-tui stopped by a fault of its own: {what}; {where}")
