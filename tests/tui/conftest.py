"""The app without a terminal: a plan's text and keys in, the plan and the screen out."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from trainplan_tui.text.colours import prepare_environment

PALETTE = prepare_environment(dict(os.environ), "dark")
DAY = dt.date(2026, 11, 29)
ROOT = Path(__file__).resolve().parents[2]

NAMES = {"esc": "escape", "pgdn": "pagedown", "pgup": "pageup"}


def lines_of(app) -> list[str]:
    """The screen as text, one line a row."""
    return ["".join(span.text for span in line).rstrip() for line in app.grid.lines]


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Awaitable]:
    """`await play(text, "enter 2 0 T enter", size=(80, 24))` gives the app after the keys; its file is `app.session.path`.

    A word of several letters that is no key is typed letter by letter.
    """

    async def run(text: str, keys: str = "", size: tuple[int, int] = (80, 24), then: Callable | None = None):
        from textual.events import Key, Paste

        from trainplan.plan.read import open_plan
        from trainplan_tui.app import PlanApp
        from trainplan_tui.keys import NAMED, Keymap
        from trainplan_tui.state.session import Session
        from trainplan_tui.text.glyphs import UNICODE

        path = tmp_path / "plan.toml"
        path.write_bytes(text.encode())
        app = PlanApp(PALETTE, UNICODE, Keymap(), Session(open_plan(path), DAY))
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            for word in keys.split():
                if word.startswith("paste:"):
                    await app.on_event(Paste(word[6:]))
                elif word in NAMED or word.startswith("ctrl+") or len(word) == 1:
                    letter = " " if word == "space" else word if len(word) == 1 else None
                    await app.on_event(Key(NAMES.get(word, word), letter))
                else:
                    for letter in word:
                        await app.on_event(Key(letter, letter))
            await pilot.pause()
            app.seen = lines_of(app)
            if then is not None:
                await then(app, pilot)
        return app

    return run


@pytest.fixture
def example() -> str:
    """The text of the example plan that a team would begin with."""
    return (ROOT / "plans" / "llama-3.1-8b.toml").read_text(encoding="utf-8")
