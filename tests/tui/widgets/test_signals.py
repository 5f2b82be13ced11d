"""Ends and stops of the app on a real terminal: status, journal, and a terminal that works afterwards."""

from __future__ import annotations

import os
import signal
import stat
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.tui.widgets.conftest import Terminal

Start = Callable[..., "Terminal"]
FIRST_SCREEN = b"\x1b[?1049l"


def cooked(terminal: Terminal) -> bool:
    """Whether the line echoes and edits, as a shell needs it."""
    flags = termios.tcgetattr(terminal.line)[3]
    return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)


def opened(terminal: Terminal) -> Terminal:
    terminal.until(b"? help")
    terminal.quiet()
    return terminal


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_at_once_and_gives_the_terminal_back(demo: Start, tmp_path: Path, number: int) -> None:
    terminal = opened(demo())
    assert not cooked(terminal)
    terminal.signal(number)
    assert terminal.ended() == 128 + number
    sent = terminal.quiet()
    for owed in (FIRST_SCREEN, b"\x1b[?25h", b"\x1b[?2004l", b"\x1b[0 q", b"\x1b[?7h"):
        assert owed in sent
    assert (tmp_path / "journal").read_text(encoding="utf-8") == f"ended by signal {number}\n"


def test_a_signal_restores_the_line(demo: Start) -> None:
    terminal = opened(demo())
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == 143
    assert cooked(terminal)


def test_a_closed_terminal_ends_the_app(demo: Start, tmp_path: Path) -> None:
    terminal = opened(demo())
    terminal.hang_up()
    assert terminal.ended() == 129
    assert "ended by signal 1" in (tmp_path / "journal").read_text(encoding="utf-8")


def test_a_closed_terminal_ends_the_app_when_nobody_says_so(demo: Start, tmp_path: Path) -> None:
    """The app is not the leader of its session here, and the shell above does not pass the signal on."""
    terminal = opened(demo("--deaf"))
    terminal.hang_up()
    assert terminal.ended() == 129
    assert "ended by signal 1" in (tmp_path / "journal").read_text(encoding="utf-8")


def test_a_terminal_that_stopped_reading_does_not_hold_the_app(demo: Start) -> None:
    terminal = opened(demo())
    for _ in range(400):
        terminal.send("4" if _ % 2 else "5")
        time.sleep(0.002)
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == 143


def test_quitting_leaves_the_terminal_as_it_was(demo: Start, tmp_path: Path) -> None:
    terminal = opened(demo())
    sent = terminal.press("q")
    assert terminal.ended() == 0
    assert b"\x1b[0 q" in sent
    assert FIRST_SCREEN in sent
    assert cooked(terminal)
    assert (tmp_path / "journal").read_text(encoding="utf-8") == ""


def test_the_cursor_is_shown_steady_and_follows(demo: Start) -> None:
    terminal = demo()
    sent = terminal.until(b"? help") + terminal.quiet()
    assert sent.rindex(b"\x1b[?25h") > sent.rindex(b"\x1b[?25l")
    assert sent.rindex(b"\x1b[?1004l") > sent.rindex(b"\x1b[?1004h")
    assert b"\x1b[2 q" in sent
    assert terminal.press("j").endswith(b"\x1b[5;3H")
    assert b"\x1b[>" not in sent, "kitty keys stay off"


def test_focus_reports_and_the_mouse_draw_nothing(demo: Start) -> None:
    terminal = opened(demo())
    assert terminal.press("\x1b[O\x1b[I\x1b[O\x1b[<0;5;5M\x1b[<0;5;5m") == b""


def test_suspending_comes_back_with_one_reader(demo: Start) -> None:
    terminal = opened(demo(shell=True))
    terminal.send("\x1a")
    stopped = terminal.until(b"stopped ")
    assert FIRST_SCREEN in stopped
    assert cooked(terminal)
    for _ in range(2):
        terminal.send("fg\n")
        again = terminal.until(b"? help") + terminal.quiet()
        assert b"\x1b[?1049h" in again
        assert not cooked(terminal)
        terminal.press("jjjjjjjjjk")
        assert "── row.8 " in terminal.screen.text, "no key is lost to a second reader"
        terminal.press("kkkkkkkk")
        terminal.send("\x1a")
        terminal.until(b"stopped ")
    terminal.send("fg\n")
    terminal.until(b"? help")
    terminal.quiet()
    terminal.send("q")
    assert terminal.ended() == 0


def stopped(process: int) -> None:
    """Wait until a process has really stopped: a SIGCONT before that takes the SIGSTOP back."""
    end = time.monotonic() + 10
    status = Path(f"/proc/{process}/stat")
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "T" and time.monotonic() < end:
        time.sleep(0.01)


def test_a_stop_from_outside_comes_back_with_one_reader(demo: Start) -> None:
    terminal = opened(demo())
    terminal.signal(signal.SIGSTOP)
    stopped(terminal.process)
    terminal.signal(signal.SIGCONT)
    again = terminal.until(b"? help") + terminal.quiet()
    assert again.index(FIRST_SCREEN) < again.index(b"\x1b[?1049h")
    terminal.press("j" * 12)
    assert "── row.12 " in terminal.screen.text, "no key is lost to a second reader"
    threads = os.listdir(f"/proc/{terminal.process}/task") if os.path.isdir("/proc/self/task") else []
    assert len(threads) in (0, 3), "the loop, one reader, one writer"


def test_after_an_editor_the_window_is_drawn_again(demo: Start) -> None:
    terminal = opened(demo())
    terminal.send("e")
    terminal.until(b"an editor")
    assert cooked(terminal)
    terminal.send("\n")
    terminal.until(b"? help")
    terminal.press("jjj")
    assert terminal.screen.lines()[1].startswith("[1Overview]2Tokens")
    assert "── row.3 " in terminal.screen.text


def test_a_hangup_in_an_editor_marks_the_journal(demo: Start, tmp_path: Path) -> None:
    terminal = opened(demo())
    terminal.send("e")
    terminal.until(b"an editor")
    terminal.signal(signal.SIGTERM)
    assert terminal.ended() == 143
    assert (tmp_path / "journal").read_text(encoding="utf-8") == "ended by signal 15\n"
    assert FIRST_SCREEN not in terminal.quiet(), "the terminal belongs to the editor"


def test_suspending_is_not_offered_where_no_shell_can_resume(demo: Start) -> None:
    terminal = opened(demo())
    terminal.press("\x1a")
    terminal.press("j")
    assert "── row.1 " in terminal.screen.text


def test_a_fault_leaves_a_file_a_sentence_and_status_70(demo: Start, tmp_path: Path) -> None:
    terminal = opened(demo("name\x1b]0;x\x07"))
    terminal.send("x")
    sent = terminal.until(b"the traceback is in")
    assert terminal.ended() == 70
    assert FIRST_SCREEN in sent
    assert b"ValueError: no story for name^[]0;x^G" in sent
    assert b"\x1b]0" not in sent
    (report,) = (tmp_path / "state").iterdir()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text(encoding="utf-8")
    assert "Traceback" in text
    assert "\x1b" not in text
