"""The first picture of a plan stands before its findings are known: it says none, and nothing in it moves when they come."""

from __future__ import annotations

import datetime as dt
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.events import Key, Paste

from trainplan.plan.read import open_plan
from trainplan_tui.app import PlanApp
from trainplan_tui.forecaster import Forecaster
from trainplan_tui.keys import Keymap
from trainplan_tui.state.session import Session
from trainplan_tui.text.glyphs import UNICODE
from trainplan_tui.widgets.grid import Grid

from .conftest import DAY, PALETTE, ROOT

PLANS = sorted((ROOT / "plans").glob("*.toml"))
LOW = [(80, 24), (100, 24), (119, 30), (60, 18)]
ROOMY = [(80, 80), (120, 24), (160, 45)]


@pytest.fixture
def pictures(monkeypatch):
    """Everything that is shown, picture by picture, as text."""
    shown: list[list[str]] = []
    show = Grid.show

    def kept(self, lines, *args) -> None:
        shown.append(["".join(span.text for span in line).rstrip() for line in lines])
        show(self, lines, *args)

    monkeypatch.setattr(Grid, "show", kept)
    monkeypatch.setattr(Forecaster, "ask", lambda *_: None)  # its answer is a picture of its own
    return shown


@asynccontextmanager
async def running(path: Path, size: tuple[int, int], *, pending: bool = True):
    app = PlanApp(PALETTE, UNICODE, Keymap(), Session(open_plan(path), DAY, pending=pending))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        yield app


@pytest.mark.parametrize("size", LOW)
async def test_the_first_picture_has_figures_and_no_count_of_findings(pictures, size) -> None:
    async with running(PLANS[0], size) as app:
        first, last = pictures[0], pictures[-1]
        assert any("wall time" in line for line in first)
        findings = app.session.shown.findings
        assert findings
        count = f"{sum(item.severity == 'error' for item in findings)}E"
        assert count in last[0] or "error" in last[0]
        assert "E " not in first[0].replace("OVER", "")
        assert "error" not in first[0]
        assert "W" not in first[0]
        assert not any(item.message[:20] in line for item in findings for line in first)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
@pytest.mark.parametrize("size", LOW)
async def test_nothing_of_the_first_picture_moves(pictures, path, size) -> None:
    async with running(path, size):
        first, last = pictures[0], pictures[-1]
    assert first != last
    for before, after in zip(first, last, strict=True):
        assert all(cell in (" ", after[place : place + 1]) for place, cell in enumerate(before)), (before, after)


@pytest.mark.parametrize("size", LOW + ROOMY)
async def test_the_second_picture_is_that_of_a_session_that_knew(pictures, size) -> None:
    async with running(PLANS[0], size):
        late = pictures[-1]
    async with running(PLANS[0], size, pending=False):
        assert pictures[-1] == late


@pytest.mark.parametrize("size", ROOMY)
async def test_where_rows_would_move_the_first_picture_has_the_findings(pictures, size) -> None:
    async with running(PLANS[0], size):
        assert pictures[0] == pictures[-1]


async def test_a_key_before_the_second_picture_meets_the_findings() -> None:
    async with running(PLANS[0], (80, 24)) as app:
        app.opened = Session(open_plan(PLANS[0]), DAY, pending=True)
        await app.on_event(Key("exclamation_mark", "!"))
        assert not app.session.shown.pending
        assert app.session.shown.findings[0].code in app.message


async def test_a_burst_before_the_second_picture_is_an_edit(tmp_path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(PLANS[0].read_bytes())
    async with running(path, (80, 24)) as app:
        app.opened = Session(open_plan(path), DAY, pending=True)
        known = app.opened.history.now.plan.data.train_tokens
        for key, character in (("enter", None), ("1", "1"), ("T", "T"), ("enter", None)):
            await app.on_event(Key(key, character))
        assert app.session.history.now.plan.data.train_tokens == 1e12 != known
        assert app.session.shown.findings
        assert not app.session.shown.pending


async def test_a_paste_before_the_second_picture_is_not_lost() -> None:
    async with running(PLANS[0], (80, 24)) as app:
        app.opened = Session(open_plan(PLANS[0]), DAY, pending=True)
        await app.on_event(Paste("12"))
        assert not app.session.shown.pending
        assert "nothing is being edited" in app.message


def test_an_edit_of_a_pending_session_looks_for_findings() -> None:
    session = Session(open_plan(PLANS[0]), dt.date(2026, 11, 29), pending=True)
    assert session.shown.pending
    assert not session.shown.findings
    session.try_on(session.attempt("data.train_tokens", "1T"))
    assert session.shown.findings
    assert not session.shown.pending


async def test_a_sheet_over_the_first_picture_stands_with_its_keys(pictures) -> None:
    from trainplan_tui.sheets.palette import PaletteSheet

    session = Session(open_plan(PLANS[0]), DAY, pending=True)
    app = PlanApp(PALETTE, UNICODE, Keymap(), session, lambda app: PaletteSheet(app, lambda key: None, "data."))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert any("data." in line for line in pictures[0])
        assert pictures[0][-1] == pictures[-1][-1] != ""
        assert "0E" not in pictures[0][0]
        assert "0E" in pictures[-1][0]
