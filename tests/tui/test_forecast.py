"""The forecast in the app: it comes by itself, replaces the marked point estimate, and never shows for another plan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.tui.conftest import ROOT, lines_of


async def _until(pilot, holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    pytest.fail("the forecast did not come within ten seconds")


async def test_the_strip_marks_the_point_estimate_until_the_median_comes(play, example, monkeypatch) -> None:
    monkeypatch.setattr(
        "trainplan_tui.forecaster.PAUSE", 2.0
    )  # a busy machine may take the usual pause for its first picture

    async def then(app, pilot) -> None:
        assert "~30 Dec" in lines_of(app)[0]
        assert "P50" not in lines_of(app)[0]
        assert any("being simulated" in line for line in lines_of(app))
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        seen = lines_of(app)
        assert "P50 31 Dec" in seen[0]
        assert "~" not in seen[0]
        quantiles = next(line for line in seen if line.lstrip().startswith("P10 "))
        assert any("deadline 100 %" in line and "budget 99.8 %" in line for line in seen)
        assert quantiles.index("P10 ") < quantiles.index("P50 ") < quantiles.index("P90 ")

    await play(example, then=then)


async def test_an_edit_shows_the_point_estimate_again_then_how_far_the_median_moved(play, example) -> None:
    from textual.events import Key

    async def then(app, pilot) -> None:
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        for letter in "20T":
            await app.on_event(Key("enter", None)) if letter == "2" else None
            await app.on_event(Key(letter, letter))
        await app.on_event(Key("enter", None))
        assert "~" in lines_of(app)[0]
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        shown = app.session.shown
        moved = float(shown.forecast.quantities["forecast.finish.p50"]) - float(
            shown.saved_forecast.quantities["forecast.finish.p50"]
        )
        assert f"+{moved / 86400:,.1f}d" in lines_of(app)[0]

    await play(example, then=then)


async def test_an_edit_before_the_first_forecast_is_told_from_median_to_median_too(play, example) -> None:
    async def then(app, pilot) -> None:
        app.apply("data.train_tokens", "20T")
        app.paint()
        assert app.session.forecasts == {}
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        shown = app.session.shown
        now, saved = (one.quantities["forecast.finish.p50"] for one in (shown.forecast, shown.saved_forecast))
        assert f"{(float(now) - float(saved)) / 86400:+,.1f}d" in lines_of(app)[0]

    await play(example, then=then)


async def test_a_late_answer_for_another_plan_is_dropped(play, example) -> None:
    from trainplan.forecast.finish import forecast

    async def then(app, pilot) -> None:
        app.forecaster.stop()
        before = app.session.shown.estimate
        late = forecast(before, draws=100)
        app.apply("data.train_tokens", "20T")
        app.forecaster.stop()
        app._show_forecast(before, late, ())
        assert app.session.shown.estimate is not before
        assert app.session.shown.forecast is None

    await play(example, then=then)


async def test_published_runs_are_held_against_the_plan_once_the_screen_stands(play, example) -> None:
    async def then(app, pilot) -> None:
        assert "C12" not in {finding.code for finding in app.session.shown.findings}
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        assert "C12" in {finding.code for finding in app.session.shown.findings}

    await play(example.replace("value = 0.40", "value = 0.60"), then=then)


async def test_a_plan_whose_time_cannot_follow_says_why_there_is_no_finish(play, example) -> None:
    async def then(app, pilot) -> None:
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        assert any("no finish: " in line for line in lines_of(app))

    await play(example.replace("value = 0.40", "# value"), then=then)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_quantiles_with_years_do_not_touch(play, size) -> None:
    async def then(app, pilot) -> None:
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        quantiles = [line for line in lines_of(app) if "P50 " in line and "P90 " in line]
        assert quantiles
        assert all(" P50 " in line and " P90 " in line for line in quantiles)

    await play((ROOT / "plans" / "llama-3.1-405b.toml").read_text(encoding="utf-8"), size=size, then=then)


async def test_a_window_below_the_least_has_the_forecast_too(play, example) -> None:
    async def then(app, pilot) -> None:
        await _until(pilot, lambda: app.session.shown.forecast is not None)
        assert "  31 Dec  " in lines_of(app)[1]
        assert "~" not in lines_of(app)[1]

    await play(example, size=(52, 14), then=then)


def test_rows_of_a_wide_histogram_are_whole_days_from_midnight() -> None:
    """A row of two half-days that began at noon was labelled as an afternoon; shares stay."""
    from trainplan.forecast.finish import Bin
    from trainplan_tui.panes.finish import _begin, _merged

    halves = tuple(Bin((41 + place) * 43200.0, 0.05) for place in range(20))
    bins, days = _merged(halves)
    assert days == 1
    assert all(one.begin % 86400 == 0 for one in bins)
    assert sum(one.share for one in bins) == pytest.approx(1.0)
    assert (bins[0].share, bins[1].share) == pytest.approx((0.05, 0.10))
    assert _begin(None, bins[1].begin, days) == "day 21.0"
    import datetime as dt

    assert _begin(dt.date(2026, 12, 7), bins[1].begin, days) == "28 Dec"
    assert _begin(dt.date(2026, 12, 7), halves[0].begin, 0.5) == "27 Dec pm"


async def test_what_never_ends_has_no_bar_and_says_so(play, example) -> None:
    """A late end at infinity stopped the picture."""
    from dataclasses import replace

    from trainplan_tui.panes.finish import _driver
    from trainplan_tui.text.glyphs import UNICODE
    from trainplan_tui.text.spans import line_text

    async def look(app, pilot) -> None:
        for _ in range(200):
            if app.session.shown.forecast is not None:
                break
            await pilot.pause(0.05)
        found = app.session.shown.forecast
        endless = replace(found.drivers[0], high_finish=float("inf"))
        (line,) = _driver(endless, replace(found, drivers=(endless, *found.drivers[1:])), 78, UNICODE)
        assert "never" in line_text(line)

    await play(example, then=look)


def test_a_finish_far_from_today_has_its_year() -> None:
    """`24 Mar` of a run that begins in two years would be read as the next one."""
    import datetime as dt

    from trainplan_tui.text.dates import finish_of

    today, month = dt.date(2026, 11, 29), 30 * 86400.0
    assert finish_of(dt.date(2026, 12, 7), month, year=False, today=today) == "6 Jan"
    assert finish_of(dt.date(2028, 2, 20), month, year=False, today=today) == "21 Mar 2028"
    assert finish_of(dt.date(2024, 2, 20), month, year=False, today=today) == "21 Mar 2024"
