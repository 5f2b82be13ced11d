"""Layouts in the app: found beside the picture, ordered, used as one edit, compared, stopped."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator

import pytest
from tests.tui.conftest import lines_of
from textual.events import Key

from trainplan.plan.plan import Plan
from trainplan.search.searching import searched


async def _until(app, pilot, holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            await pilot.pause()
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    pytest.fail(f"did not come within half a minute: {lines_of(app)}")


async def _press(app, *keys: str) -> None:
    for key in keys:
        await app.on_event(Key(key, key if len(key) == 1 else None))


def found(app) -> bool:
    return bool(app.sheets) and app.sheets[-1].ended and any(line.startswith(">") for line in lines_of(app))


@pytest.fixture
def small(example: str) -> str:
    """The example on eight nodes: a search of a fraction of a second."""
    return example.replace("nodes = 128", "nodes = 8").replace(
        "global_batch_sequences = 1024", "global_batch_sequences = 128"
    )


async def test_the_best_layouts_stand_in_a_list_with_what_was_rejected(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        seen = lines_of(app)
        assert "layouts by predicted step, within target first" in seen[2]
        assert {"sharding", "recompute", "GiB", "step", "s"} <= set(seen[3].split())
        assert any("considered" in line and "legal" in line for line in seen)
        assert any("query heads not divisible by tensor" in line for line in seen)

    await play(small, "5 F", then=then)


async def test_enter_uses_a_layout_as_one_edit_that_undo_takes_back(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        fields = app.sheets[-1]._found[3].fields
        await _press(app, "j", "j", "j", "enter")
        assert not app.sheets
        plan: Plan = app.session.shown.plan
        assert plan.parallelism.tensor == fields["parallelism.tensor"]
        assert app.session.shown.estimate.situation.word("parallelism.sharding") == fields["parallelism.sharding"]
        assert plan.batch.micro_batch_sequences == fields["batch.micro_batch_sequences"]
        assert plan.parallelism.shard_size == fields["parallelism.shard_size"]
        await _press(app, "u")
        assert app.session.shown.text == small

    await play(small, "5 F", then=then)


async def test_the_order_goes_round_and_the_leanest_comes_first(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        await _press(app, "O")
        assert "by memory" in lines_of(app)[2]
        leanest = searched(app.session.shown.plan).best("memory", 1)[0]
        assert app.sheets[-1]._found[0].memory == leanest.memory
        await _press(app, "O", "O")
        assert "by predicted step" in lines_of(app)[2]

    await play(small, "5 F", then=then)


async def test_d_compares_with_the_plan_and_comes_back(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        await _press(app, "G", "d")
        assert "diff: plan against layout 1000" in lines_of(app)[2]
        await _press(app, "escape")
        assert "layouts by predicted step" in lines_of(app)[2]
        await _press(app, "escape")
        assert not app.sheets

    await play(small, "5 F", then=then)


async def test_u_undoes_nothing_where_a_layout_is_compared_and_says_so(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        await _press(app, "j", "j", "j", "d")
        assert "undo" not in lines_of(app)[-1]
        await _press(app, "u")
        assert app.session.shown.text == small
        assert "only against the saved plan" in lines_of(app)[-1]

    await play(small, "5 F", then=then)


async def test_u_undoes_a_field_where_the_saved_plan_is_compared(play, small) -> None:
    app = await play(small, "5 + d")
    assert "undo" in app.seen[-1]
    assert app.session.shown.plan.parallelism.tensor == 2
    app = await play(small, "5 + d u")
    assert app.session.shown.plan.parallelism.tensor == 1


async def test_escape_stops_a_search_under_way_and_then_leaves(play, small, monkeypatch) -> None:
    from trainplan.search import searching

    def slow(plan: Plan, *, forks: bool) -> Iterator[searching.Search]:
        for state in searching_of(plan, forks=forks):
            yield state
            break
        while True:
            time.sleep(0.02)
            yield state

    searching_of = searching.searching
    monkeypatch.setattr("trainplan_tui.sheets.layouts.searching", slow)

    async def then(app, pilot) -> None:
        sheet = app.sheets[-1]
        await _until(app, pilot, lambda: any("esc stops" in line for line in lines_of(app)))
        await _press(app, "escape")
        await _until(app, pilot, lambda: any("stopped at" in line for line in lines_of(app)))
        assert sheet.state.settled < sheet.state.considered
        await _press(app, "escape")
        assert not app.sheets

    await play(small, "5 F", then=then)


async def test_nothing_fits_and_the_nearest_is_named(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: app.sheets[-1].ended and app.sheets[-1].state is not None)
        await _until(app, pilot, lambda: any("Nearest" in line for line in lines_of(app)))

    tiny = small.replace("[cluster]", '[cluster]\nmemory_per_accelerator = "2GiB"')
    await play(tiny, "5 F", then=then)


async def test_f_lets_in_what_only_forks_have_and_leaves_it_out_again(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: found(app))
        sheet = app.sheets[-1]
        released = sheet.state.legal
        assert "forks too" in lines_of(app)[-1]
        await _press(app, "F")
        await _until(app, pilot, lambda: found(app))
        assert "forks too" in lines_of(app)[2]
        assert sheet.state.legal > released
        await _press(app, "F")
        await _until(app, pilot, lambda: found(app))
        assert "forks" not in lines_of(app)[2]
        assert sheet.state.legal == released

    await play(small, "5 F", then=then)


async def test_what_is_missing_stands_where_no_layout_does(play, small) -> None:
    async def then(app, pilot) -> None:
        await _until(app, pilot, lambda: any("is missing" in line for line in lines_of(app)[3:5]))

    assert "\nnodes = 8" in small
    await play(re.sub(r"(?m)^nodes = 8.*\n", "", small), "5 F", then=then)


async def test_escape_twice_leaves_a_search_that_never_answers(play, small, monkeypatch) -> None:
    def stuck(plan: Plan, *, forks: bool) -> Iterator[None]:
        time.sleep(1.0)
        yield from ()

    monkeypatch.setattr("trainplan_tui.sheets.layouts.searching", stuck)

    async def then(app, pilot) -> None:
        assert app.sheets
        await _press(app, "escape")
        assert app.sheets
        await _press(app, "escape")
        assert not app.sheets

    await play(small, "5 F", then=then)
