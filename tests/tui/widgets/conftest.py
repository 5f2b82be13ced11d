"""A real pseudo-terminal for the demo: what a person's terminal receives, byte for byte."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BLANK_ENVIRONMENT = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LC_ALL": "C.UTF-8",
    "PATH": os.defpath,
    "PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'tui'}",
}


TOKENS = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([?>=]?)([\d;$ ]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\s\S]")


class Screen:
    """The least of a terminal's memory: addresses, text and the second screen; colours are left out."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], str] = {}
        self.row = self.column = 0
        self._rest = ""
        self._decode = getincrementaldecoder("utf-8")("replace").decode

    def feed(self, data: bytes) -> None:
        """Draw what was received. An escape that is cut in the middle waits for its end."""
        text = self._rest + self._decode(data)
        cut = text.rfind("\x1b")
        whole = cut < 0 or re.match(r"\x1b(\[[^A-Za-z]*[A-Za-z]|\][^\x07]*\x07)", text[cut:])
        text, self._rest = (text, "") if whole else (text[:cut], text[cut:])
        for token in TOKENS.finditer(text):
            self._draw(token)

    def _draw(self, token: re.Match[str]) -> None:
        row, column, private, numbers, final = token.groups()
        if row:
            self.row, self.column = int(row) - 1, int(column) - 1
        elif private == "?" and numbers == "1049":
            self.cells.clear()
        elif final == "C":
            self.column += int(numbers or 1)
        elif final == "K":
            for place in [place for place in self.cells if place[0] == self.row and place[1] >= self.column]:
                del self.cells[place]
        elif final or token[0].startswith("\x1b"):
            return
        elif token[0] == "\r":
            self.column = 0
        elif token[0] == "\n":
            self.row += 1
        else:
            self.cells[self.row, self.column] = token[0]
            self.column += 1

    def lines(self, columns: int = 160, rows: int = 45) -> list[str]:
        """The rows as text, without blanks at their ends."""
        return ["".join(self.cells.get((y, x), " ") for x in range(columns)).rstrip() for y in range(rows)]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines())


class Terminal:
    """A program on a pty, as the leader of its session."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], size: tuple[int, int]) -> None:
        self.process, self.line = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.execvpe(arguments[0], arguments, dict(environment))
        self.status: int | None = None
        self.screen = Screen()

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size, as a terminal does."""
        fcntl.ioctl(self.line, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def quiet(self, still: float = 0.25, limit: float = 20.0) -> bytes:
        """All bytes until nothing came for `still` seconds."""
        received, end = b"", time.monotonic() + limit
        while time.monotonic() < end:
            data = self._some(still)
            if not data:
                return received
            received += data
        return received

    def until(self, wanted: bytes, limit: float = 30.0) -> bytes:
        """All bytes until `wanted` came among them. AssertionError when it does not come."""
        received, end = b"", time.monotonic() + limit
        while wanted not in received and time.monotonic() < end:
            received += self._some(0.5)
        assert wanted in received, received[-2000:]
        return received

    def _some(self, wait: float) -> bytes:
        if not select.select([self.line], [], [], wait)[0]:
            return b""
        try:
            data = os.read(self.line, 65536)
        except OSError:
            return b""
        self.screen.feed(data)
        return data

    def shows(self, wanted: str, limit: float = 30.0) -> bool:
        """Whether the screen comes to show a text."""
        end = time.monotonic() + limit
        while wanted not in self.screen.text and time.monotonic() < end:
            self._some(0.2)
        return wanted in self.screen.text

    def send(self, keys: str) -> None:
        """Type without waiting."""
        os.write(self.line, keys.encode())

    def press(self, keys: str) -> bytes:
        """Type in one packet; what came back."""
        self.send(keys)
        return self.quiet()

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        os.kill(self.process, number)

    def ended(self, limit: float = 10.0) -> int | None:
        """Exit status, negative when it died by a signal; None when it goes on."""
        end = time.monotonic() + limit
        while self.status is None and time.monotonic() < end:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.status = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.01)
        return self.status

    def hang_up(self) -> None:
        """Close the terminal, as when the connection drops."""
        if self.line >= 0:
            os.close(self.line)
            self.line = -1

    def finish(self) -> None:
        """Leave nothing behind."""
        if self.ended(0.0) is None:
            os.kill(self.process, signal.SIGKILL)
            self.ended()
        self.hang_up()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start the demo on a terminal: `demo("name", size=(80, 24), shell=False, NO_COLOR="1")`."""
    opened: list[Terminal] = []

    def start(*arguments: str, size: tuple[int, int] = (80, 24), shell: bool = False, **environment: str) -> Terminal:
        program = [str(HERE / "shell.py")] if shell else []
        command = [sys.executable, *program, str(HERE / "demo.py"), *arguments]
        command += ["--journal", str(tmp_path / "journal"), "--state", str(tmp_path / "state")]
        terminal = Terminal(command, {**BLANK_ENVIRONMENT, "HOME": str(tmp_path), **environment}, size)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.finish()
