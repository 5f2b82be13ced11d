"""The terminal as this app leaves and meets it: signals, suspension, a dead line, and a cursor that can be followed.

Textual's own driver leaves a terminal raw when it is killed, starts a second reader after `kill -STOP` and `fg`, and
spins when the line is gone. Here a plain signal handler gives the terminal back and ends the process at once, even
when the terminal no longer reads; whatever touches a lock is left to the event loop.
It refuses the mouse, focus reports and the kitty keyboard, and any clean-up in a handler that could wait.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import termios
from codecs import getincrementaldecoder
from contextlib import suppress
from types import FrameType
from typing import Any, Protocol, cast

from textual.drivers.linux_driver import LinuxDriver

from trainplan_tui.widgets.presses import Presses

ENTER = "\x1b[?1004l\x1b[2 q\x1b[?25h"
"""Focus reports off, a steady block cursor, and the cursor shown: screen readers and tmux follow it."""

LEAVE = "\x1b[0 q"
"""The user's own cursor shape."""

RESTORE = (
    "\x18"  # ends an escape that was cut in the middle
    "\x1b[?2026l\x1b[?2048l\x1b[?2004l\x1b[?1004l"  # synchronised output, resizes, pastes, focus
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # mouse
    "\x1b[<u\x1b[?7h\x1b[0m\x1b[0 q"  # kitty keys, line wrap, colours, cursor shape
    "\x1b[?1049l\x1b[?25h\r"  # first screen, cursor
)
"""All that was switched on, switched off: what a killed app owes its terminal. Control functions of xterm (ctlseqs)."""

ENDING = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


class Owner(Protocol):
    """What the driver asks of its app."""

    def interrupted(self, number: int) -> None:
        """The process ends now by this signal. Called in a signal handler or thread: write, do not wait."""

    def redraw(self) -> None:
        """Send every cell again."""


def resumable() -> bool:
    """Whether a shell above can resume this process: one with job control has given it a process group of its own."""
    return os.getpgrp() != os.getsid(0)


def restore(attributes: list[Any] | None) -> None:
    """Give the terminal back without waiting for it, as far as it lets us. Nothing is raised."""
    with suppress(OSError, termios.error):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return
        with suppress(OSError):
            os.write(terminal, RESTORE.encode())
        if attributes is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, attributes)


class TerminalDriver(LinuxDriver):
    """The driver of the app on a real terminal. Tests without a terminal never see it."""

    _drawing = False
    _suspended = False
    _replaced: dict[int, object] | None = None

    @property
    def _owner(self) -> Owner:
        return cast(Owner, self._app)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        super().start_application_mode()
        self._drawing, self._suspended = True, False
        self.write(ENTER)
        if self._replaced is None:
            self._replaced = {number: signal.signal(number, self._end) for number in ENDING}
            # by the loop: a signal that another thread receives has to wake it, else a resumed app stays dark until a key
            self._loop.add_signal_handler(signal.SIGTSTP, self._stop)
            self._loop.add_signal_handler(signal.SIGCONT, self._continue)
        else:
            self._owner.redraw()

    def stop_application_mode(self) -> None:
        """Give the terminal back; the signals stay ours, so that an edit is not lost while an editor runs."""
        self.write(LEAVE)
        super().stop_application_mode()
        self._drawing = False

    def suspend_application_mode(self) -> None:
        """Give the terminal back for a while."""
        self._suspended = True
        super().suspend_application_mode()

    def close(self) -> None:
        """End writing; when the app ends for good, the signals are whose they were."""
        super().close()
        if not self._suspended:
            for number, handler in (self._replaced or {}).items():
                signal.signal(number, cast(signal.Handlers, handler))
            self._replaced = None

    def _end(self, number: int, _frame: FrameType | None = None) -> None:
        """End now. No lock, no loop, nothing that waits: the terminal may have stopped reading."""
        with suppress(Exception):
            self._owner.interrupted(number)
        if self._drawing:
            restore(self.attrs_before)
        os._exit(128 + number)

    def _sigtstp_application(self, *_: object) -> None:  # until the loop handles it
        self._loop.call_soon_threadsafe(self._stop)

    def _sigcont_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._continue)

    def _stop(self) -> None:
        """Give the terminal back and stop, with all of the process group, as the shell expects."""
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        if resumable():
            os.killpg(os.getpgrp(), signal.SIGSTOP)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _continue(self) -> None:
        """Take the terminal again. After a stop that was not ours it is given back first: one reader, one state."""
        if not self._auto_restart:
            return
        if self._drawing:
            self.suspend_application_mode()
        self.resume_application_mode()

    def _run_input_thread(self) -> None:
        """Read until told to stop. A line that is gone ends the process, as its signal would have."""
        try:
            self.run_input_thread()
        except OSError:
            self._end(signal.SIGHUP)
        except Exception as error:
            self._app.call_later(self._app._handle_exception, error)

    def run_input_thread(self) -> None:
        """Wait for input and hand its events to the app. OSError when the line is gone, or at its end."""
        parser = Presses(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    self._parse(parser, decode(_read(self.fileno)))
                for event in parser.tick():
                    self.process_message(event)

    def _parse(self, parser: Presses, text: str) -> None:
        """Feed text to the parser; an empty text would tell it that the input ends."""
        if text:
            for event in parser.feed(text):
                self.process_message(event)


def _read(descriptor: int) -> bytes:
    data = os.read(descriptor, 4096)
    if not data:
        raise OSError(errno.EIO, "the terminal is gone")
    return data
