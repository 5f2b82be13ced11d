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
