"""At 80x24 the findings of a pane stand in the window, as they are drawn; a field that is wanted and empty says so."""

from __future__ import annotations

import pytest


async def ready(app, pilot) -> None:
    for _ in range(200):
        if app.session.shown.runs and app.session.shown.forecast is not None:
            break
        await pilot.pause(0.05)
    app.paint()


@pytest.mark.parametrize(("pane", "code"), [("3", "C12"), ("6", "S10"), ("8", "E7"), ("2", "D1")])
async def test_the_worst_finding_of_a_pane_is_in_sight(play, example, pane: str, code: str) -> None:
    from tests.tui.conftest import lines_of

    async def look(app, pilot) -> None:
        await ready(app, pilot)
        assert any(line.startswith(" ! ") and line.endswith(f" {code}") for line in lines_of(app)[3:20]), lines_of(app)

    await play(example, pane, then=look)


async def test_a_layout_that_cannot_be_says_why_under_its_grid(play, example) -> None:
    app = await play(example.replace("\ntensor = 1", "\ntensor = 3"), "5")
    assert sum(line.startswith(" E ") for line in app.seen[3:20]) >= 3, app.seen


async def test_a_field_that_a_finding_wants_is_missing(play, example) -> None:
    """Empty brackets alone look like a field that may stay empty."""
    app = await play(example, "8")
    (row,) = [line for line in app.seen if "harness revision        [" in line]
    assert row.endswith("missing")
    app = await play(example, "2", (160, 45))
    (row,) = [line for line in app.seen if "critical batch          [" in line]
    assert "missing" not in row[:80]


async def test_the_date_of_the_evidence_is_not_cut(play, example) -> None:
    app = await play(example, "3")
    assert any(", 2024-07-23 " in line for line in app.seen), app.seen


async def test_parts_of_a_step_have_the_digits_of_the_whole(play, example) -> None:
    """Four digits of the longest time, so that the sum stands under its parts."""
    app = await play(example, "5")
    (planned,) = [line.split()[1] for line in app.seen if line.startswith("   planned ")]
    assert planned == "1.066"
