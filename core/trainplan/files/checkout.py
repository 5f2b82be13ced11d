"""The training code as git has it: its commit, whether anything changed since, and its submodules.

git is asked without locks, hooks and monitors, so that looking writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from trainplan.files.bounded import printed
from trainplan.files.looks import Asked, Found, Look

_GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def code_looks(asked: Asked) -> list[Look]:
    """Revision, clean tree and submodules of `paths.code`."""
    named = asked.plan.paths.code
    if not named:
        return []
    code, limit = asked.path(named), asked.limit
    return [
        Look("configs", "revision", named, lambda: _revision(code, limit)),
        Look("configs", "clean tree", named, lambda: _clean(code, limit)),
        Look("configs", "submodules", named, lambda: _submodules(code, limit)),
    ]


def _git(code: Path, limit: float, *words: str) -> str | None:
    """What git prints, or None where the folder is no checkout."""
    status, output = printed([*_GIT, "-C", str(code), *words], limit)
    return output if status == 0 else None


def _revision(code: Path, limit: float) -> Found:
    commit = _git(code, limit, "rev-parse", "HEAD")
    return ("passed", commit) if commit else ("failed", f"{code.name} is no git checkout with a commit")


def _clean(code: Path, limit: float) -> Found:
    status = _git(code, limit, "status", "--porcelain", "--ignore-submodules=none")
    if status is None:
        return "failed", f"{code.name} is no git checkout"
    changed = status.splitlines()
    if changed:
        return "failed", f"{len(changed)} changed or new, the first is {changed[0][3:]}"
    return "passed", "nothing changed since the commit"


def _submodules(code: Path, limit: float) -> Found:
    status = _git(code, limit, "submodule", "status", "--recursive")
    if status is None:
        return "unknown", "git does not tell the submodules"
    moved = [line for line in status.splitlines() if not line.startswith(" ")]
    if moved:
        return "failed", f"{len(moved)} absent or at another commit, the first is {moved[0].split()[1]}"
    return "passed", f"{len(status.splitlines())} at their commits"
