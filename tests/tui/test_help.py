"""Help begins with the keys of the row and of the pane it was asked in."""

from __future__ import annotations

import pytest

from trainplan_tui.footers import OF_PANE
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
