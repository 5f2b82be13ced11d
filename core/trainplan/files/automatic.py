"""What the program can check by itself on a login node of what `[paths]` names: the code's revision, the launch script, space.

Read-only, each check with a time limit; what does not answer is unknown, which is neither passed nor failed. It refuses to
attest: what only a person can know is not here.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from trainplan.files.evidence import TIME_LIMIT, answered
from trainplan.plan.plan import Plan
from trainplan.review.computed import Checked, Found

SCRIPT_LIMIT: Final = 4_000_000  # bytes
_DESTRUCTIVE: Final = re.compile(rb"\brm\s+(?:-\S+\s+)*-\S*[rR]|\bfind\b.*\s-delete\b|\bmkfs\b|\brsync\b.*\s--delete")
_GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def automatic_checks(folder: Path, plan: Plan, limit: float = TIME_LIMIT) -> tuple[Checked, ...]:
    """Every check whose path the plan names; paths are relative to `folder`, the plan's."""
    paths, told = plan.paths, list[Checked]()
    if paths.code:
        code = folder / paths.code
        told.append(_checked("configs", "revision", lambda: _revision(code, limit), limit))
        told.append(_checked("configs", "clean tree", lambda: _clean(code, limit), limit))
        told.append(_checked("configs", "submodules", lambda: _submodules(code, limit), limit))
    if paths.launch_script:
        script = folder / paths.launch_script
        told.append(_checked("configs", "launch script removes nothing", lambda: _harmless(script), limit))
    if paths.container:
        told.append(Checked("configs", "container digest", *_digest(paths.container)))
    if paths.checkpoints:
        kept = folder / paths.checkpoints
        told.append(_checked("cost", "space for checkpoints", lambda: _space(kept), limit))
    return tuple(told)


def _checked(item: str, check: str, work: Callable[[], Found], limit: float) -> Checked:
    found = answered(lambda: _safe(work), 2 * limit)
    return Checked(item, check, *(found or ("unknown", f"no answer within {2 * limit:g} s")))


def _safe(work: Callable[[], Found]) -> Found:
    try:
        return work()
    except subprocess.TimeoutExpired:
        return "unknown", "git did not answer in time"
    except (OSError, ValueError) as error:
        return "unknown", os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)


def _git(code: Path, limit: float, *words: str) -> str | None:
    """What git prints, or None where the folder is no checkout."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [*_GIT, "-C", str(code), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=limit,
        check=False,
        env=environment,
    )
    return done.stdout.decode(errors="replace").strip("\n") if done.returncode == 0 else None


def _revision(code: Path, limit: float) -> Found:
    told = _git(code, limit, "rev-parse", "HEAD")
    return ("passed", told) if told else ("failed", f"{code.name} is no git checkout with a commit")


def _clean(code: Path, limit: float) -> Found:
    told = _git(code, limit, "status", "--porcelain", "--ignore-submodules=none")
    if told is None:
        return "failed", f"{code.name} is no git checkout"
    changed = told.splitlines()
    if changed:
        return "failed", f"{len(changed)} changed or new, the first is {changed[0][3:]}"
    return "passed", "nothing changed since the commit"


def _submodules(code: Path, limit: float) -> Found:
    told = _git(code, limit, "submodule", "status", "--recursive")
    if told is None:
        return "unknown", "git does not tell the submodules"
    moved = [line for line in told.splitlines() if not line.startswith(" ")]
    if moved:
        return "failed", f"{len(moved)} absent or at another commit, the first is {moved[0].split()[1]}"
    return "passed", f"{len(told.splitlines())} at their commits"


def _harmless(script: Path) -> Found:
    descriptor = os.open(script, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "failed", f"{script.name} is not a regular file"
        content = os.read(descriptor, SCRIPT_LIMIT)
    finally:
        os.close(descriptor)
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.lstrip().startswith(b"#") and _DESTRUCTIVE.search(line):
            return "failed", f"line {number}: {line.strip()[:60].decode(errors='replace')}"
    return "passed", f"no destructive command in {len(content):,} bytes"


def _digest(container: str) -> Found:
    if re.search(r"@sha256:[0-9a-f]{64}$", container):
        return "passed", f"named by digest {container[-64:][:12]}"
    return "failed", f"{container} is not named by @sha256: and 64 digits"


def _space(folder: Path) -> Found:
    usage = shutil.disk_usage(folder)
    volume = os.statvfs(folder)
    if volume.f_files and not volume.f_favail:
        return "failed", "the volume can hold no more files"
    return (
        "passed" if usage.free else "failed",
        f"{usage.free / 1e12:,.3f} TB free on the volume; a quota is not seen here",
    )
