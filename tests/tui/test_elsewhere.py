"""Keys that lead elsewhere work over a page that is read, as the key table says; a page with something to lose keeps them away."""

from __future__ import annotations

import pytest
from tests.tui.conftest import lines_of

PAGES = {"explain": "x", "difference": "d", "zoom": "z", "launch text": "4 C"}


@pytest.mark.parametrize("page", list(PAGES))
async def test_a_page_is_left_for_another_pane(play, example: str, page: str) -> None:
    app = await play(example, f"{PAGES[page]} 5")
    assert not app.sheets
    assert "[5Mesh]" in lines_of(app)[1]
    app = await play(example, f"{PAGES[page]} ]")
    assert not app.sheets


@pytest.mark.parametrize("page", list(PAGES))
@pytest.mark.parametrize(("key", "word"), [("/", "FindSheet"), (":", "PaletteSheet")])
async def test_what_looks_through_all_panes_opens_over_none(play, example: str, page: str, key: str, word: str) -> None:
    app = await play(example, f"{PAGES[page]} {key}")
    assert [type(sheet).__name__ for sheet in app.sheets] == [word]


async def test_the_next_finding_is_gone_to_from_a_tree(play, example: str) -> None:
    app = await play(example, "x !")
    assert not app.sheets
    assert app.message


@pytest.mark.parametrize("keys", ["enter 20T enter q 5", ": 5", "enter 20T 5"])
async def test_answers_and_text_are_not_left(play, example: str, keys: str) -> None:
    app = await play(example, keys)
    assert app.cursor.pane == 0
    assert app.sheets or app.typist.now is not None


async def test_help_of_a_page_tells_what_leads_elsewhere(play, example: str) -> None:
    app = await play(example, "x ?")
    assert any("1..9 0" in line and "panes" in line for line in lines_of(app))
    assert any("next finding" in line for line in lines_of(app))
