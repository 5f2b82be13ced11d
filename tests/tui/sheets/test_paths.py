"""Every sheet that asks for a path takes names that no file system takes: it says so, keeps the line, and esc leads back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual import events

if TYPE_CHECKING:
    from tests.tui.sheets.conftest import Drive, Driven

NAMES = ("x" * 5000, "~nosuchuser/x", "loop", "loop/x", "/etc/passwd/x", "~", "/", "..", "\N{SUPERSCRIPT TWO}")
OPENERS = {
    "compare": ("c",),
    "save as": (":", "save as", "enter"),
    "read": (":", "sources.read", "enter"),
    "log": ("9", "L"),
    "evidence of a rung": ("9", "o"),
    "evidence of an item": ("0", "a"),
}


async def typed(app: Driven, name: str) -> None:
    """A name in one piece, completed and taken."""
    await app.press("ctrl+u")
    await app.app.on_event(events.Paste(name))
    await app.press("tab", "enter")


@pytest.mark.parametrize("opener", list(OPENERS))
async def test_a_path_that_cannot_be_is_said_in_a_plan(opener: str, plan: Path, drive: Drive) -> None:
    Path("loop").symlink_to("loop")
    async with drive(plan) as app:
        before = app.session.history.now.text
        for name in NAMES:
            await app.press(*OPENERS[opener])
            assert app.app.sheets, f"{opener} asks nothing"
            await typed(app, name)
            await app.press(*["esc"] * 6)
            assert not app.app.sheets
            assert app.app.fault is None
        assert app.session.history.now.text == before


@pytest.mark.parametrize("opener", ["o", "i"])
async def test_a_path_that_cannot_be_is_said_on_the_start_page(opener: str, drive: Drive) -> None:
    Path("loop").symlink_to("loop")
    async with drive() as app:
        for name in NAMES:
            await app.press(opener)
            await typed(app, name)
            await app.press(*["esc"] * 6)
            assert app.app.opened is None
            assert app.app.fault is None


async def test_a_wrong_path_to_compare_with_has_no_place_in_a_file(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press("c", "gone.toml", "enter")
        assert "gone.toml: the file does not exist" in app.screen
