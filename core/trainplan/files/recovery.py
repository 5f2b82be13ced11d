"""The journal of edits that were not saved, so that they survive a dropped connection or a kill.

Each committed edit is one line in a file of the user's state folder: the fields that differ from the plan's file at
that moment, and the hash of that file. The last whole line rules, so undo needs no line of its own kind. It refuses to
hold a whole plan, to read a clock, to write beside the plan, and to stop an edit: a journal that cannot be written
says so.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from trainplan.frozen import frozen

FieldPath: TypeAlias = tuple[str | int, ...]
Edits: TypeAlias = Mapping[FieldPath, str | None]  # TOML source of each field that differs; None where it was removed

VERSION = 1
READ_LIMIT = 32_000_000  # bytes of one journal
NAMES = 1000  # journals of one plan that may lie side by side
UNSAFE = re.compile(r"[^\w.+-]+")


@frozen
class Session:
    """Who edits, as the caller knows it: host, terminal, start, and the process with its `process_mark`."""

    host: str
    tty: str
    started_at: str
    pid: int = 0
    process: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """Edits that were not saved when a session ended.

    `text_hash` is the hash of the file they stood on; `at` the time of the last edit or of the end, as handed in;
    `cause` why the session ended ("" when it could say nothing, as after a kill). `elsewhere` is whether it ran on
    another host and said nothing of an end, so that it may still run there. `before` is what the file said of the fields.
    """

    path: Path
    journal: Path
    edits: dict[FieldPath, str | None]
    text_hash: str
    session: Session
    at: str
    cause: str
    elsewhere: bool
    before: Edits = field(default_factory=dict[FieldPath, str | None])


def process_mark(pid: int) -> str:
    """The start of process `pid` in ticks since boot, as Linux says it; "" when there is none or it is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if len(fields) > 19 else ""


class Journal:
    """The journal of one session on one plan; its file appears with the first edit, for this user only.

    `failure` is a sentence when an edit could not be written, else "".
    """

    def __init__(self, folder: Path, plan: Path, session: Session) -> None:
        self.folder = folder
        self.plan = Path(os.path.realpath(plan))
        self.session = session
        self.failure = ""
        self.file: Path | None = None
        self._descriptor = -1

    def record(self, text_hash: str, edits: Edits, at: str, before: Edits = MappingProxyType({})) -> bool:
        """Writes the fields that now differ from the file with `text_hash`; whether that worked. Waits for no disk.

        No edits means that nothing is unsaved. `before` is what the file says of the fields.
        """
        if self._descriptor < 0 and not edits:
            return True
        fields, old = ([[list(path), text] for path, text in items.items()] for items in (edits, before))
        try:
            self._open(text_hash)
            self._write({"text": text_hash, "at": at, "edits": fields, **({"before": old} if old else {})})
        except OSError as error:
            self.failure = f"unsaved edits are not kept: {os.strerror(error.errno or 0)} in {self.folder}"
            return False
        self.failure = ""
        return True

    def close(self, clean: bool, cause: str = "", at: str = "") -> None:
        """Ends the journal: `clean` means that nothing is worth keeping, and its file goes; else `cause` is noted.

        Safe to call in a signal handler: one write and one close, and errors are nobody's to hear.
        """
        if self._descriptor < 0:
            return
        try:
            if not clean:
                self._write({"ended": cause, "at": at})
            os.close(self._descriptor)
        except OSError:
            pass
        self._descriptor = -1
        if clean and self.file:
            _removed(self.file)

    def synced(self) -> None:
        """Brings the journal to the disk; for a thread, since it may wait. Raises OSError."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)

    def _open(self, text_hash: str) -> None:
        if self._descriptor >= 0:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(self.folder, 0o700)
        self.file, self._descriptor = _new_file(self.folder, f"{_safe_name(self.plan)}-{text_hash[:4]}")
        try:
            self._write(self._head())
        except OSError:
            os.close(self._descriptor)
            self._descriptor = -1
            _removed(self.file)
            raise

    def _head(self) -> dict[str, Any]:
        session = self.session
        return {
            "journal": VERSION,
            "path": os.fspath(self.plan),
            "host": session.host,
            "tty": session.tty,
            "started": session.started_at,
            "pid": session.pid,
            "process": session.process,
        }

    def _write(self, line: dict[str, Any]) -> None:
        """Writes one line by one call, so that a kill leaves it whole or torn at the end, never mixed."""
        content = (json.dumps(line) + "\n").encode()
        if os.write(self._descriptor, content) < len(content):
            os.write(self._descriptor, b"\n")  # what follows begins on a line of its own
            raise OSError(28, "short write")


def _new_file(folder: Path, name: str) -> tuple[Path, int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    for number in range(1, NAMES):
        file = folder / (name if number == 1 else f"{name}-{number}")
        try:
            return file, os.open(file, flags, 0o600)
        except FileExistsError:
            continue
    raise FileExistsError(17, "too many journals")


def _safe_name(plan: Path) -> str:
    return UNSAFE.sub("_", plan.stem)[:80] or "plan"


def find(path: Path, folder: Path, host: str) -> Lost | None:
    """The newest edits of the plan at `path` that were not saved when their session ended; None when there are none.

    Journals of sessions that still run on `host` are not lost. Newest is by the times that were handed in, as text.
    """
    plan = Path(os.path.realpath(path))
    found = [lost for lost in lost_sessions(folder, host) if lost.path == plan]
    return max(found, key=lambda lost: lost.at, default=None)


def lost_sessions(folder: Path, host: str) -> tuple[Lost, ...]:
    """All edits in `folder` that were not saved when their session ended. Other files are passed over."""
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return ()
    return tuple(lost for file in files if (lost := _lost(file, host)) is not None)


def drop(lost: Lost) -> bool:
    """Removes the journal of `lost`; whether it is gone."""
    return _removed(lost.journal)


def _removed(file: Path) -> bool:
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _lost(file: Path, host: str) -> Lost | None:
    lines = _lines(file)
    head = lines[0] if lines else {}
    if head.get("journal") != VERSION or not isinstance(head.get("path"), str):
        return None
    session = _session(head)
    edited = [line for line in lines[1:] if "edits" in line]
    ended = next((line for line in reversed(lines) if "ended" in line), None)
    edits = _edits(edited[-1]["edits"]) if edited else {}
    if not edits or (ended is None and _runs(session, host)):
        return None
    last = ended or edited[-1]
    at = _word(last, "at") or _word(edited[-1], "at")
    elsewhere = ended is None and session.host != host
    text_hash, cause = _word(edited[-1], "text"), _word(ended or {}, "ended")
    before = _edits(edited[-1].get("before"))
    return Lost(Path(head["path"]), file, edits, text_hash, session, at, cause, elsewhere, before)


def _lines(file: Path) -> list[dict[str, Any]]:
    """The lines that are whole; a torn one is passed over. Only regular files of this user are read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            if os.fstat(descriptor).st_uid != os.geteuid() or not os.path.isfile(file):
                return []
            content = stream.read(READ_LIMIT)
    except OSError:
        return []
    return [line for raw in content.split(b"\n") if (line := _line(raw)) is not None]


def _line(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _word(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    return value if isinstance(value, str) else ""


def _session(head: Mapping[str, Any]) -> Session:
    pid = head.get("pid")
    return Session(
        _word(head, "host"),
        _word(head, "tty"),
        _word(head, "started"),
        pid if isinstance(pid, int) else 0,
        _word(head, "process"),
    )


def _edits(items: Any) -> dict[FieldPath, str | None]:
    """The edits of one line; an item of another shape is passed over."""
    edits: dict[FieldPath, str | None] = {}
    for item in items if isinstance(items, list) else ():
        match item:
            case [[*path], None | str() as literal] if path and all(isinstance(p, str | int) for p in path):
                edits[tuple(path)] = literal
            case _:
                continue
    return edits


def _runs(session: Session, host: str) -> bool:
    """Whether the session's process still runs here; a later process with its number does not count."""
    if session.host != host or session.pid <= 0:
        return False
    if session.process:
        return process_mark(session.pid) == session.process
    try:
        os.kill(session.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
