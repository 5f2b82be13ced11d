"""A real terminal that is killed, hung up or terminated with unsaved edits: the offer brings back the same text."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

WIDGETS = Path(__file__).resolve().parents[1] / "widgets" / "conftest.py"
PROGRAM = "import sys; from trainplan_tui.cli import main; sys.exit(main())"
FAULTY = "from trainplan_tui.commands import Commands; Commands.explain = lambda self: 1 / 0; "


@pytest.fixture(scope="module")
def pty() -> ModuleType:
    """The pseudo-terminal of the widgets' tests."""
    spec = importlib.util.spec_from_file_location("trainplan_test_pty", WIDGETS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start(pty: ModuleType, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts the app on arguments; ended afterwards."""
    opened: list[Any] = []

    def run(*arguments: str, program: str = PROGRAM) -> Any:
        environment = {**pty.BLANK_ENVIRONMENT, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
        terminal = pty.Terminal([sys.executable, "-c", program, *arguments], environment, (80, 24))
        opened.append(terminal)
        terminal.until(b"? help" if len(opened) == 1 else b"later")
        terminal.quiet()
        return terminal

    yield run
    for terminal in opened:
        terminal.finish()


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
    terminal = start(str(plan), program=FAULTY + PROGRAM)
    terminal.send("\r15.6T\r")
    assert terminal.shows("train tokens 15.6T")
    terminal.send("x")
    assert terminal.ended() == 70
    again = start(str(plan))
    assert "a fault of the program" in again.screen.text
    again.send("r")
    assert again.shows("15.6T]")
