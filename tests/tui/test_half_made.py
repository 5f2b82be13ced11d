"""A plan that is not finished yet can be looked through, searched and explained from the keyboard in every pane."""

from __future__ import annotations

from tests.tui.conftest import lines_of

PLANS = {
    "new": 'format = 1\n[model]\npreset = "llama-3.1-8b"\n[cluster]\naccelerator = "h100-sxm"\nnodes = 128\n',
    "no model": "format = 1\n[model]\n[cluster]\nnodes = 4\n",
    "empty": "format = 1\n",
}


EVERY = "2 3 4 5 6 7 8 9 0 1"


def pytest_generate_tests(metafunc) -> None:
    metafunc.parametrize("text", PLANS.values(), ids=PLANS.keys())


async def test_every_pane_and_view_is_drawn(play, text: str) -> None:
    for size in ((80, 24), (160, 45)):
        app = await play(text, " ".join(f"{key} v G x esc g" for key in EVERY.split()), size)
        assert "Overview" in lines_of(app)[2]


async def test_rows_and_commands_are_found_by_their_name(play, text: str) -> None:
    app = await play(text, "/ price enter")
    assert any("price" in line for line in lines_of(app))
    app = await play(text, ": vocab")
    assert any("vocab" in line for line in lines_of(app))


async def test_findings_are_walked_to_their_fields(play, text: str) -> None:
    app = await play(text, "! ! ! ! ! ! ! !")
    assert lines_of(app)


async def test_a_missing_field_is_called_by_its_label_and_says_what_waits(play, text: str) -> None:
    """Strip, finish, inspector and footer name the same field and contradict neither each other nor the findings."""
    from trainplan_tui.panes.inspector import waiting

    app = await play(text, "!")
    named = app.seen[0].partition("no date: ")[2].partition("  ")[0]
    assert named.endswith(" missing"), app.seen[0]
    assert f"   no finish: {named}" in app.seen or app.seen[1].startswith(" 1Overview"), app.seen
    assert not any("draws" in line or "simulated" in line for line in app.seen if line.startswith("── finish"))
    first = app.session.shown.findings[0]
    assert "missing:" not in app.message
    assert app.message.startswith(first.message)
    for one in app.session.shown.findings:
        if one.code.startswith("missing:") and "figures wait" in one.message:
            assert waiting(one.code.removeprefix("missing:"), app.session.shown) in one.message
    assert not any("Nothing rests" in line for line in app.seen)


async def test_enter_where_there_are_no_sources_adds_one(play, text: str) -> None:
    from trainplan_tui.sheets.asking import LineSheet

    app = await play(text, "2 / sources enter")
    while (row := app.row()) is None or row.id != "data.sources":
        app.do("row.next")
    app.do("row.enter")
    assert isinstance(app.sheets[-1], LineSheet)
    assert app.sheets[-1].word == "add"
