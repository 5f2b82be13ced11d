"""Unsaved edits come back after a session ended without saving them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.tui.sheets.conftest import Drive

EDIT = ("enter", "15.6T", "enter")


async def lost(plan: Path, drive: Drive) -> str:
    """End a session by a signal with two edits; the text that it had."""
    async with drive(plan) as app:
        await app.press(*EDIT)
        app.app.apply("data.sources.code.unique_tokens", "2T")
        app.app.interrupted(signal.SIGHUP)
        return app.session.history.now.text


async def test_taking_gives_the_same_text_and_one_undo_leads_back(plan: Path, drive: Drive, state: Path) -> None:
    text = await lost(plan, drive)
    before = plan.read_text(encoding="utf-8")
    async with drive(plan) as app:
        assert "2 edits were not saved" in app.screen
        assert "hangup" in app.screen
        await app.press("enter", "q", "space")
        assert "2 edits were not saved" in app.screen, "only the letters shown work"
        await app.press("r")
        assert app.session.history.now.text == text
        assert plan.read_text(encoding="utf-8") == before
        assert len(list((state / "recover").iterdir())) == 1, "one journal holds the edits"
        await app.press("u")
        assert app.session.history.now.text == before
        await app.press("U", "w")
        assert plan.read_text(encoding="utf-8") == text
    async with drive(plan) as app:
        assert not app.app.sheets


async def test_later_leaves_the_offer_and_drop_asks_once_more(plan: Path, drive: Drive, state: Path) -> None:
    await lost(plan, drive)
    async with drive(plan) as app:
        await app.press("l")
        assert not app.app.sheets
        assert not app.session.shown.unsaved
    async with drive(plan) as app:
        await app.press("d", "x")
        assert list((state / "recover").iterdir())
        await app.press("d", "d")
        assert not app.app.sheets
        assert not list((state / "recover").iterdir())


async def test_a_changed_file_is_said_and_merged(plan: Path, drive: Drive) -> None:
    await lost(plan, drive)
    theirs = plan.read_text(encoding="utf-8").replace("14.8T", "14.9T")
    plan.write_text(theirs, encoding="utf-8")
    async with drive(plan) as app:
        assert "changed since" in app.screen
        assert " ! data.train_tokens" in app.screen
        assert " ! data.sources" not in app.screen
        await app.press("r")
        assert "1 conflict" in app.screen
        await app.press("space", "space", "enter")
        assert app.session.history.now.text == theirs.replace('"1.6T"', '"2T"')
        assert plan.read_text(encoding="utf-8") == theirs


async def test_an_entry_that_moved_keeps_what_the_file_says(plan: Path, drive: Drive) -> None:
    await lost(plan, drive)
    text = plan.read_text(encoding="utf-8")
    theirs = text.replace('name = "code"', 'name = "math"')
    plan.write_text(theirs, encoding="utf-8")
    async with drive(plan) as app:
        await app.press("r", "enter")
        assert app.session.history.now.text == theirs.replace("14.8T", "15.6T")


async def test_discarded_edits_are_offered_until_the_next_save(plan: Path, drive: Drive, state: Path) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT, "q")
        assert "offered again until the next save" in app.screen
        await app.press("d")
    async with drive(plan) as app:
        assert "discarded when quitting" in app.screen
        await app.press("l", "enter", "15.5T", "enter", "w", "q")
    assert not list((state / "recover").iterdir())


async def test_edits_that_the_file_holds_are_not_offered(plan: Path, drive: Drive, state: Path) -> None:
    text = await lost(plan, drive)
    plan.write_text(text, encoding="utf-8")
    async with drive(plan) as app:
        assert not app.app.sheets
    assert not list((state / "recover").iterdir())


async def test_a_half_typed_value_does_not_end_the_journal(plan: Path, drive: Drive) -> None:
    async with drive(plan) as app:
        await app.press(*EDIT, "enter", "14.8T")
        app.app.interrupted(signal.SIGTERM)
    async with drive(plan) as app:
        assert "terminated" in app.screen
        assert '"15.6T"' in app.screen


@pytest.mark.parametrize("size", [(60, 15), (160, 45)])
async def test_the_offer_fits_every_window(plan: Path, drive: Drive, size: tuple[int, int]) -> None:
    await lost(plan, drive)
    async with drive(plan, size) as app:
        for answer in ("r  take the edits", "d  drop the edits", "l  later"):
            assert answer in app.screen


async def test_after_save_as_the_journal_is_the_new_files(plan: Path, drive: Drive) -> None:
    before = plan.read_text(encoding="utf-8")
    async with drive(plan) as app:
        await app.press(*EDIT)
        app.app.do("file.save_as")
        await app.press("enter", "enter", "15.5T", "enter")
        assert app.session.path.name == "base-2.toml"
        app.app.interrupted(signal.SIGHUP)
    assert plan.read_text(encoding="utf-8") == before
    async with drive(plan) as app:
        assert not app.app.sheets, "what was saved under another name is not lost"
    async with drive(Path("base-2.toml")) as app:
        assert '"15.5T"' in app.screen
