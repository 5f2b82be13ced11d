"""Reading that ends: files, folders and programs looked at with a limit on size, entries and time, and never written.

A FIFO, a device, a sparse giant, a folder of a million files and a dead mount are told, never waited for. It refuses to judge
what was read, and to follow a link inside a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import stat
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar

TIME_LIMIT: Final = 10.0  # s for one thing
ENTRIES: Final = 100_000
OUTPUT: Final = 4_000_000  # bytes of a program's output that are kept
_BLOCK: Final = 2**20
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

R = TypeVar("R")


class Unread(Exception):
    """Why something was not read, in one sentence, and what that makes of a check."""

    def __init__(self, verdict: Literal["failed", "unknown"], sentence: str) -> None:
        super().__init__(sentence)
        self.verdict: Literal["failed", "unknown"] = verdict
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Listing:
    """Regular files below a folder with their bytes, links that were not followed, and whether every entry was seen."""

    files: tuple[tuple[Path, int], ...]
    links: int
    whole: bool


def answered(work: Callable[[], R], limit: float = TIME_LIMIT) -> R | None:
    """What `work` returns, or None where it takes longer than `limit` seconds; a stuck call is left behind."""
    found: list[R] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(limit)
    return found[0] if found else None


@contextlib.contextmanager
def opened(path: Path, most: int) -> Generator[int]:
    """A descriptor of a regular file of `most` bytes at most. Raises Unread."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise Unread("failed", f"{path.name} is missing") from None
    except (OSError, ValueError) as error:
        raise Unread("unknown", f"{path.name}: {told(error)}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unread("failed", f"{path.name} is not a regular file")
        if status.st_size > most:
            raise Unread("unknown", f"{path.name}: {status.st_size:,} bytes, {most:,} are read at most")
        yield descriptor
    except OSError as error:
        raise Unread("unknown", f"{path.name}: {told(error)}") from None
    finally:
        os.close(descriptor)


def content(path: Path, most: int) -> bytes:
    """The bytes of a regular file. Raises Unread; one that grows past `most` while it is read is cut there."""
    with opened(path, most) as descriptor:
        parts, left = list[bytes](), most
        while left and (block := os.read(descriptor, min(_BLOCK, left))):
            parts.append(block)
            left -= len(block)
        return b"".join(parts)


def digest(path: Path, most: int) -> str:
    """The sha256 of a regular file in hexadecimal. Raises Unread."""
    found = hashlib.sha256()
    with opened(path, most) as descriptor:
        while block := os.read(descriptor, _BLOCK):
            found.update(block)
    return found.hexdigest()


def listing(folder: Path) -> Listing:
    """The files below a folder, ENTRIES at most, links not followed. Raises Unread."""
    files, links, seen = list[tuple[Path, int]](), 0, 0
    waiting = deque([folder])
    while waiting:
        try:
            with os.scandir(waiting.popleft()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > ENTRIES:
                        return Listing(tuple(files), links, whole=False)
                    links += entry.is_symlink()
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif entry.is_file(follow_symlinks=False):
                        files.append((Path(entry.path), entry.stat(follow_symlinks=False).st_size))
        except OSError as error:
            raise Unread("unknown", f"{folder.name}: {told(error)}") from None
    return Listing(tuple(sorted(files)), links, whole=True)


def printed(words: list[str], limit: float) -> tuple[int, str]:
    """Exit status and output of a program without input, its group ended after `limit` seconds. Raises Unread."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        raise Unread("unknown", f"{words[0]} did not answer within {limit:g} s") from None
    return process.returncode, output[:OUTPUT].decode(errors="replace").strip("\n")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group; a program that a dead mount holds is left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)
    if process.stdout is not None:
        process.stdout.close()


def leads_out(folder: Path, path: Path) -> str:
    """Where the path really lies, if a link takes it out of the plan's folder; a path that says so itself does not count."""
    real, home = os.path.realpath(path), os.path.realpath(folder)
    named = os.path.normpath(os.path.join(home, os.path.relpath(path, folder)))
    inside = os.path.commonpath([home, named]) == home
    return real if inside and os.path.commonpath([home, real]) != home else ""


def told(error: Exception) -> str:
    """What the system answered, in its words."""
    return os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
