"""A program in a real pty: start it, wait for a text, type keys, count bytes. Standard library only."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import tempfile
import termios
import time
from collections.abc import Sequence
from pathlib import Path

STATE = tempfile.TemporaryDirectory(prefix="benchmark-")
"""A state folder of its own: a program that is killed leaves a journal, and the user's own plans are not to offer it."""


class Program:
    """One program on a terminal of its own."""

    def __init__(self, command: Sequence[str], columns: int = 80, rows: int = 24) -> None:
        self.begin = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", XDG_STATE_HOME=STATE.name)
            os.execvp(command[0], list(command))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)
        self.seen = b""

    def read(self, timeout: float) -> bytes:
        """What it wrote within a time; empty when nothing came."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return b""
        if b"\x1b[?2026$p" in data:  # answers as a modern terminal: synchronised output is known
            os.write(self.fd, b"\x1b[?2026;2$y")
        self.seen += data
        return data

    def until(self, text: str, limit: float = 20.0) -> float:
        """Seconds from the start until a text was written."""
        while time.perf_counter() - self.begin < limit:
            self.read(0.05)
            if text.encode() in self.seen:
                return time.perf_counter() - self.begin
        raise TimeoutError(f"{text!r} was not written; the end was {self.seen[-300:]!r}")

    def spent(self) -> tuple[float, float]:
        """Seconds of processor that its threads took so far, and MiB of memory that it holds (Linux)."""
        process = Path(f"/proc/{self.pid}")
        seconds = sum(int(one.read_text().split()[0]) for one in process.glob("task/*/schedstat")) / 1e9
        held = process.joinpath("status").read_text().split("VmRSS:")[1].split()[0]
        return seconds, int(held) / 1024

    def type(self, keys: bytes, quiet: float = 0.15) -> tuple[int, float]:
        """Bytes written after keys, and seconds from the keys to the last byte."""
        begin = last = time.perf_counter()
        os.write(self.fd, keys)
        count = 0
        while data := self.read(quiet):
            count, last = count + len(data), time.perf_counter()
        return count, last - begin

    def settle(self, quiet: float = 0.3) -> None:
        """Wait until nothing is written any more."""
        while self.read(quiet):
            pass

    def end(self) -> None:
        """Kill it and reap it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
