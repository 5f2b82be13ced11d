"""A real terminal that is killed, hung up or terminated with unsaved edits: the offer brings back the same text."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FAULTY = "from trainplan_tui.acts.commands import Commands; Commands.explain = lambda self: 1 / 0; "


@pytest.mark.parametrize("end", ["kill", "hangup", "terminate"])
def test_edits_survive_the_end_of_the_line(start: Callable[..., Any], plan: Path, state: Path, end: str) -> None:
    before = plan.read_text(encoding="utf-8")
    terminal = start(str(plan), "--set", "cluster.nodes=64")
    terminal.send("\r15.6T\r")
    assert terminal.shows("train tokens 15.6T")
    if end == "hangup":
        terminal.hang_up()
    else:
        terminal.signal(signal.SIGKILL if end == "kill" else signal.SIGTERM)
    assert terminal.ended() is not None
    assert plan.read_text(encoding="utf-8") == before, "the plan itself is never saved unasked"
    again = start(str(plan))
    assert "2 edits were not saved" in again.screen.text
    again.send("r")
    assert again.shows("edits taken, not saved")
    again.send("w")
    assert again.shows("saved base.toml")
    assert plan.read_text(encoding="utf-8") == before.replace("14.8T", "15.6T").replace("nodes = 128", "nodes = 64")
    again.send("q")
    assert again.ended() == 0
    assert not list((state / "recover").iterdir())


def test_edits_survive_a_fault_of_the_program(start: Callable[..., Any], plan: Path) -> None:
    terminal = start(str(plan), before=FAULTY)
    terminal.send("\r15.6T\r")
    assert terminal.shows("train tokens 15.6T")
    terminal.send("x")
    assert terminal.ended() == 70
    again = start(str(plan))
    assert "a fault of the program" in again.screen.text
    again.send("r")
    assert again.shows("15.6T]")
