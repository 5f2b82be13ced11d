"""Help begins with the keys of the row and of the pane it was asked in."""

from __future__ import annotations

import pytest

from trainplan_tui.acts.footers import OF_PANE
from trainplan_tui.keys import KEYS
from trainplan_tui.panes.specs import PANES
from trainplan_tui.sheets.help import OWN


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.module)
async def test_a_panes_own_keys_come_before_those_of_all_panes(play, example, pane) -> None:
    app = await play(example, f"{pane.name.digit} ?")
    assert f"help: {pane.name.full}" in app.seen[2]
    listed = [line[3:24].strip() for line in app.seen[4:]]
    general = listed.index("1..9 0")
    for id_ in ("row.enter", "row.explain", *OWN.get(pane.module, ())):
        keys = next(key for key in KEYS if key.id == id_).keys
        assert listed.index("  ".join(keys)) < general, id_


def test_what_the_footer_shows_of_a_pane_is_its_own_in_help() -> None:
    for module, entries in OF_PANE.items():
        assert {id_ for id_, _ in entries} - {"row.explain"} <= set(OWN[module])


async def test_enter_says_what_it_does_in_readiness(play, example) -> None:
    app = await play(example, "0 ?")
    assert any(line.split()[:4] == [">", "enter", "walk", "the"] for line in app.seen)


async def test_the_palette_saves_under_another_name_as_messages_say(play, example) -> None:
    """A file that cannot be written says that `:` save as writes elsewhere."""
    app = await play(example, ": s a v e space a s enter")
    assert any("save under another name" in line for line in app.seen), app.seen


SHEETS = {"d": "diff", "x": "explain", "0 enter": "walk", "9 C": "launch", "4 z": "picture"}


@pytest.mark.parametrize(("keys", "word"), SHEETS.items())
async def test_help_over_a_sheet_tells_all_of_its_keys_and_comes_back_to_it(
    play, example, keys: str, word: str
) -> None:
    app = await play(example, f"{keys} ?")
    below = app.sheets[-2]
    assert below.word == word
    assert f"help: {word}" in app.seen[2]
    for entry in below.footer():
        assert entry.key == "up down" or any(entry.key in line and entry.word in line for line in app.seen), entry
    app = await play(example, f"{keys} ? esc")
    assert app.sheets[-1].word == word
    assert word == "walk" or "? help" in app.seen[-1], "the walk has no room for it"


async def test_where_only_answers_work_help_is_none(play, example) -> None:
    app = await play(example, "enter 20T enter q ?")
    assert app.sheets[-1].word == "quit?"
    assert "help" not in app.seen[-1]
