"""Fixes are tried after the paint: none is shown before, and the one that is shown is of the plan that shows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.tui.conftest import lines_of

PLANS = Path(__file__).resolve().parents[2] / "plans"
FIX = "nothing tried holds; nearest is sharding"


async def settled(app, pilot) -> None:
    """Until every fix that shows was tried."""
    for _ in range(400):
        if not any(finding.untried for finding in app.session.shown.findings):
            return
        await asyncio.sleep(0.02)
        await pilot.pause()
    pytest.fail("fixes were not tried in 8 seconds")


@pytest.fixture
def large() -> str:
    """A plan above its memory target, whose fix for another finding would not fit."""
    return (PLANS / "llama-3.1-405b.toml").read_text(encoding="utf-8")


async def test_a_fix_comes_after_the_paint_and_was_tried(play, large) -> None:
    async def then(app, pilot) -> None:
        await settled(app, pilot)
        finding = next(one for one in app.session.shown.findings if one.code == "M5")
        assert finding.fix.startswith(FIX)
        assert any("M5" in line and "zero-2 with a pipeline" in line for line in lines_of(app))

    await play(large, "4", size=(160, 60), then=then)


async def test_x_on_a_finding_shows_all_of_it_without_waiting(play, large) -> None:
    app = await play(large, "4 " + "j " * 14 + "x", size=(80, 24))
    seen = " ".join(line.strip(" >") for line in app.seen)
    assert "what would be right: " + FIX in seen
    assert "90.0 GiB of 79.1 GiB usable" in seen


async def test_an_edit_makes_fixes_of_the_plan_before_it_late(play, large) -> None:
    async def then(app, pilot) -> None:
        before = app.session.shown.findings
        app.apply("parallelism.recompute", "full")
        app.paint()
        assert not app.session.take_fixes(before, ())
        await settled(app, pilot)
        assert not [one for one in app.session.shown.findings if one.code == "M1"]

    await play(large, "4", then=then)
