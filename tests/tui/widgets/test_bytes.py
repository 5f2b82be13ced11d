"""What a key costs on the line, counted on a real terminal. Counts are exact, so they are asserted; times are not.

The bounds are what was reached and a little more: 0.5 KB for an edit, 0.7 KB for the cursor, 2.5 KB for a pane of which every
cell changes, 10 KB at start, nothing while idle.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.tui.widgets.conftest import Terminal

Start = Callable[..., "Terminal"]
ENVIRONMENTS = [{}, {"COLORTERM": "", "TERM": "screen"}]
"""The longest colours and short ones; 256 colours and none lie between and below."""


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=["truecolor", "16"])
def test_bytes_for_each_kind_of_change(demo: Start, environment: dict[str, str]) -> None:
    terminal = demo(**environment)
    first = terminal.until(b"? help") + terminal.quiet()
    assert len(first) <= 10_000
    for key in "jjk":
        moved = terminal.press(key)
        assert 0 < len(moved) <= 700
    assert terminal.press("\r")
    for key in "8642\x7f":
        typed = terminal.press(key)
        assert len(re.findall(rb"\x1b\[[\d;]*[HC]", typed)) > 8, "the figures of every fourth row move with each key"
        assert len(typed) <= 500
    terminal.press("\x1b")
    terminal.quiet(0.5)
    for key in "452":
        switched = terminal.press(key)
        assert 500 < len(switched) <= 2_500
    assert terminal.quiet(2.0) == b"", "idle sends nothing"


def test_a_large_window(demo: Start) -> None:
    terminal = demo(size=(160, 45))
    assert len(terminal.until(b"? help") + terminal.quiet()) <= 31_000
    assert 0 < len(terminal.press("4")) <= 12_000


def test_keys_of_one_packet_act_in_order(demo: Start) -> None:
    terminal = demo()
    terminal.until(b"? help")
    terminal.quiet()
    terminal.press("\r20T\rjj")
    assert "[          20T]" in terminal.screen.lines()[3]
    assert terminal.screen.lines()[20].startswith("── row.2 ")
    assert "editing" not in terminal.screen.text


def test_differences_lead_to_the_same_screen_as_drawing_it_again(demo: Start) -> None:
    terminal = demo()
    terminal.until(b"? help")
    for keys in ("jjjkj", "\r15.6\x7f\x7f9T\x1b", "4", "\r12345678901234567\x1b[D\x1b[D\r", "0G1", "k" * 9):
        terminal.press(keys)
        terminal.quiet()
        differences = terminal.screen.lines()
        terminal.screen.cells.clear()
        terminal.press("\x0c")
        assert terminal.screen.lines() == differences


def test_a_resize_draws_the_window_once(demo: Start) -> None:
    terminal = demo()
    terminal.until(b"? help")
    terminal.quiet()
    terminal.resize(100, 30)
    drawn = terminal.quiet()
    assert drawn.count(b"row 0 rests on") == 1
    assert len(drawn) <= 5_000
    assert terminal.screen.lines()[29].startswith(" enter edit")
    for columns, rows in ((90, 20), (160, 45), (61, 15), (80, 24)):
        terminal.screen.cells.clear()
        terminal.resize(columns, rows)
        terminal.quiet()
        assert terminal.screen.lines()[rows - 1].startswith(" enter edit")
        assert not any(terminal.screen.lines()[rows:])
        assert terminal.screen.lines()[0].startswith(" llama31-8b")
    terminal.resize(52, 14)
    assert b"60x15 is the least; this is 52x14." in terminal.quiet()


def test_a_paste_is_text_and_nothing_else(demo: Start) -> None:
    terminal = demo()
    terminal.until(b"? help")
    terminal.quiet()
    assert terminal.press("\x1b[200~q\x1b[201~") == b"", "a paste is never a command"
    terminal.press("\r")
    terminal.press("\x1b[200~\n 17T\x07\nq\n\x1b[201~")
    assert "[17T          ]" in terminal.screen.lines()[3]
    assert terminal.ended(0.2) is None


def test_without_colour_there_is_no_colour(demo: Start) -> None:
    terminal = demo(NO_COLOR="")
    sent = terminal.until(b"? help") + terminal.press("j") + terminal.press("4")
    assert not re.search(rb"\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[0-9;]*m", sent)
    assert re.search(rb"\x1b\[7(;39;49)?m", sent), "the cursor row is reversed"


def test_ascii_is_ascii(demo: Start) -> None:
    terminal = demo("--ascii")
    assert (terminal.until(b"? help") + terminal.press("j")).isascii()


HOSTILE = {
    "clipboard": "\x1b]52;c;cGF5bG9hZA==\x07",
    "title": "\x1b]0;payload\x07",
    "clear": "\x1b[2Jpayload",
    "reset": "\x1bcpayload",
    "c1": "\x9b2Jpayload",
    "c1 osc": "\x9d0;payload\x9c",
    "bidi": "\u202epayload",
    "newline": "pay\r\nload",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_is_drawn_and_not_obeyed(demo: Start, text: str) -> None:
    terminal = demo(text, size=(120, 24))
    sent = terminal.until(b"? help") + terminal.press("jx")
    sent += terminal.quiet(1.0)
    assert text.encode() not in sent
    for part in ("\x1b]", "\x1b[2J", "\x1bc", "\x9b", "\x9d", "\x9c", "\u202e"):
        assert part.encode() not in sent
    drawn = {"bidi": b"<U+202E>payload", "newline": b"pay^M^Jload", "c1": b"<U+009B>2Jpayload"}
    wanted = next((mark for name, mark in drawn.items() if HOSTILE[name] == text), b"")
    assert wanted in sent
    assert b"cGF5bG9hZA==" in sent or b"payload" in sent or b"pay^M" in sent, "the control: the rest of it is drawn"
