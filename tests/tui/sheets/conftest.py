"""The app without a terminal: keys go in as events, in order; the plan's text and the screen's text come out."""

from __future__ import annotations

import datetime as dt
import importlib.util
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from textual import events

from trainplan.plan.read import open_plan
from trainplan_tui.app import PlanApp
from trainplan_tui.keys import Keymap
from trainplan_tui.starting import first_sheet
from trainplan_tui.state.session import Session
from trainplan_tui.text.colours import prepare_environment
from trainplan_tui.text.glyphs import UNICODE
from trainplan_tui.text.spans import line_text

WIDGETS = Path(__file__).resolve().parents[1] / "widgets"
PROGRAM = "import sys; from trainplan_tui.cli import main; sys.exit(main())"
TODAY = dt.date(2026, 12, 1)
NAMED = {"enter": "enter", "esc": "escape", "tab": "tab", "space": "space", "down": "down", "up": "up"}

PLAN = """\
# the plan of the spring run
format = 1
name = "base"

[schedule]
start = 2026-12-07

[model]
preset = "llama-3.1-8b"

[data]
train_tokens = "14.8T"   # two epochs of web
sequence_length = 8192
sampler = "megatron-blended"

[[data.sources]]
name = "web"
unique_tokens = "13.5T"
weight = 0.8

[[data.sources]]
name = "code"
unique_tokens = "1.6T"
weight = 0.2

[batch]
global_batch_sequences = 1024

[cluster]
accelerator = "h100-sxm"
nodes = 128
price_per_accelerator_hour = 2.50

[utilization]
value = 0.40

[reliability]
spare_nodes = 4   # asked for
"""


class Driven:
    """An app that is driven by keys."""

    def __init__(self, app: PlanApp) -> None:
        self.app = app

    @property
    def session(self) -> Session:
        """Its session."""
        return self.app.session

    async def press(self, *keys: str) -> None:
        """Press keys one after the other; a word that names no key is typed letter by letter."""
        for word in keys:
            for key in [word] if word in NAMED or word.startswith(("ctrl+", "shift+")) else word:
                character = key if len(key) == 1 else " " if key == "space" else None
                await self.app.on_event(events.Key(NAMED.get(key, key), character))

    @property
    def screen(self) -> str:
        """The screen as text."""
        return "\n".join(line_text(line).rstrip() for line in self.app.grid.lines)


Drive = Callable[..., AbstractAsyncContextManager[Driven]]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder and a working folder of this test's own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder / "trainplan-tui"


@pytest.fixture
def plan() -> Path:
    """The plan's file."""
    path = Path("base.toml")
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def drive() -> Drive:
    """Starts the app on a plan, or on the start screen without one."""

    @asynccontextmanager
    async def start(path: Path | None = None, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Driven, None]:
        session = Session(open_plan(path), TODAY) if path is not None else None
        if session is not None:
            session.keep()
        palette = prepare_environment(dict(os.environ), "dark")
        app = PlanApp(palette, UNICODE, Keymap(), session, lambda app: first_sheet(app, TODAY))
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Driven(app)

    return start


@pytest.fixture(scope="module")
def pty() -> ModuleType:
    """The pseudo-terminal of the widgets' tests."""
    spec = importlib.util.spec_from_file_location("trainplan_test_pty", WIDGETS / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start(pty: ModuleType, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts the app on arguments, after a statement `before` it, under a `shell`; ended afterwards."""
    opened: list[Any] = []

    def run(*arguments: str, before: str = "", shell: bool = False, **given: str) -> Any:
        environment = {
            **pty.BLANK_ENVIRONMENT,
            "HOME": str(tmp_path),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            **given,
        }
        above = [str(WIDGETS / "shell.py")] if shell else []
        terminal = pty.Terminal([sys.executable, *above, "-c", before + PROGRAM, *arguments], environment, (80, 24))
        opened.append(terminal)
        terminal.until(b"? help" if len(opened) == 1 else b"later")
        terminal.quiet()
        return terminal

    yield run
    for terminal in opened:
        terminal.finish()
