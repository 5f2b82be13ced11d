"""Text that a terminal marks as pasted is no command; keys in one packet are keys, however many a slow line brings at once."""

from __future__ import annotations

import pytest
from textual.events import Key, Paste

from trainplan_tui.acts import footers
from trainplan_tui.sheets.quitting import QuitSheet
from trainplan_tui.widgets.presses import Presses

TEXT = "+w please save this plan: Dqd\n"


async def burst(app, text: str) -> None:
    """Keys as a packet brings them."""
    for key in Presses().feed(text):
        assert isinstance(key, Key)
        await app.on_event(key)


@pytest.mark.parametrize("before", ["", "x", "enter 20T enter q", "d"])
async def test_pasted_text_is_no_command(play, example: str, before: str) -> None:
    async def paste(app, pilot) -> None:
        seen, sheets, plan = app.session.path.read_text(), list(app.sheets), app.session.history.now.text
        await app.on_event(Paste(TEXT))
        assert "pasted text is no command" in app.message
        assert (app.session.path.read_text(), app.sheets, app.session.history.now.text) == (seen, sheets, plan)

    await play(example, before, then=paste)


async def test_a_whole_session_in_one_packet_is_what_was_typed(play, example: str) -> None:
    """Typed ahead over a line that stood still: thirty keys, twelve kinds, and every edit is there."""

    async def typed(app, pilot) -> None:
        await burst(app, "j\r16384\rk\r14.25T\r:cluster.nodes=64\r3jj")
        plan = app.session.history.now.plan
        assert (plan.data.train_tokens, plan.cluster.nodes) == (14.25e12, 64)
        assert app.cursor.pane == 2
        await burst(app, "1" + "j" * 40)
        assert app.cursor.position(app.rows()) > 5

    await play(example, "", then=typed)


async def test_whether_only_answers_work_is_said_by_the_sheet(play, example: str) -> None:
    app = await play(example, "enter 20T enter q")
    sheet = app.sheets[-1]
    assert isinstance(sheet, QuitSheet)
    sheet.word = "another word"
    assert not footers.is_helped(sheet)
