"""What the user's state folder keeps of plans: unsaved edits, answers not signed yet, plans opened last, texts replaced."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from trainplan.files.folders import recovery_folder, state_folder
from trainplan.files.recovery import Journal, Session, drop, lost_sessions, process_mark
from trainplan.frozen import frozen

MOST_RECENT = 9
"""Plans that the start screen can offer by a digit."""


def now() -> str:
    """The time for a journal, UTC."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def local_time(at: str) -> str:
    """A time of a journal as people here read it; as it stands where it is none."""
    try:
        return f"{dt.datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return at


def host_name() -> str:
    """This machine, as journals name it."""
    return socket.gethostname()


def journal_for(plan: Path) -> Journal:
    """The journal of this process on a plan; its file appears with the first edit."""
    pid = os.getpid()
    try:
        tty = os.ttyname(0)
    except OSError:
        tty = ""
    return Journal(recovery_folder(os.environ), plan, Session(host_name(), tty, now(), pid, process_mark(pid)))


def forget_discarded(plan: Path) -> None:
    """A save ends the edits of this plan that were discarded when an earlier session quit."""
    real = Path(os.path.realpath(plan))
    for lost in lost_sessions(recovery_folder(os.environ), host_name()):
        if lost.cause == "discarded" and lost.path == real:
            drop(lost)


@frozen
class Recent:
    """A plan that was opened or saved, and when (UTC, ISO 8601)."""

    path: Path
    at: str


def recent() -> tuple[Recent, ...]:
    """The plans opened or saved last, newest first. A file of another shape counts as empty."""
    try:
        items = json.loads((state_folder(os.environ) / "recent.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    rows = cast("list[Any]", items) if isinstance(items, list) else []
    found = [Recent(Path(row[0]), row[1]) for row in rows if _is_recent(row)]
    return tuple(found[:MOST_RECENT])


def _is_recent(row: Any) -> bool:
    return isinstance(row, list) and len(cast("list[Any]", row)) == 2 and all(isinstance(item, str) for item in row)


def remember(plan: Path) -> None:
    """Put a plan first among the recent ones. A state folder that cannot be written keeps nothing."""
    path = Path(os.path.abspath(plan))
    rows = [Recent(path, now()), *(item for item in recent() if item.path != path)][:MOST_RECENT]
    text = json.dumps([[str(item.path), item.at] for item in rows], indent=1) + "\n"
    with suppress(OSError, UnicodeEncodeError):
        _private(state_folder(os.environ) / "recent.json", text.encode())


def keep_ticks(plan: Path, text_hash: str, ticks: Mapping[str, Collection[str]]) -> None:
    """Keep what a person answered for in the walk and did not sign yet; a state folder that cannot be written keeps nothing."""
    told = {item: sorted(points) for item, points in ticks.items() if points}
    path = _ticks_file(plan)
    with suppress(OSError):
        if told:
            _private(path, json.dumps({"text": text_hash, "ticks": told}, indent=1).encode())
        else:
            path.unlink(missing_ok=True)


def kept_ticks(plan: Path, text_hash: str) -> dict[str, set[str]]:
    """What was answered for and not signed, of the same file; of a file that changed since, everything is asked again."""
    try:
        found = json.loads(_ticks_file(plan).read_text(encoding="utf-8"))
        if found["text"] != text_hash:
            return {}
        return {str(item): {str(point) for point in points} for item, points in found["ticks"].items()}
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return {}


def _ticks_file(plan: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(plan))).hexdigest()[:16]
    return state_folder(os.environ) / "ticks" / f"{name}.json"


def kept_copy(plan: Path, content: bytes) -> Path | None:
    """Keep bytes that are about to be replaced, under a name by their hash; None where the state folder takes none."""
    name = f"{plan.stem[:80]}-{hashlib.sha256(content).hexdigest()[:8]}{plan.suffix}"
    path = state_folder(os.environ) / "replaced" / name
    try:
        _private(path, content)
    except OSError:
        return None
    return path


def _private(path: Path, content: bytes) -> None:
    """Write a file of this user wholly or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
        file.write(content)
    os.replace(part, path)
