"""A text that is pasted where letters are commands does nothing and says so, whether the terminal marks pastes or not."""

from __future__ import annotations

import time

import pytest
from textual.events import Key

from trainplan_tui import footers
from trainplan_tui.sheets.quitting import QuitSheet
from trainplan_tui.widgets.presses import Packet, Presses

TEXT = "+w please save this plan: Dqd\r"


def packet(text: str) -> Packet:
    """What the driver makes of a packet."""
    return Packet([key for key in Presses().feed(text) if isinstance(key, Key)])


@pytest.mark.asyncio
@pytest.mark.parametrize("before", ["", "x", "enter 20T enter q", "d"])
async def test_a_text_in_one_packet_is_no_command(play, example: str, before: str) -> None:
    async def paste(app, pilot) -> None:
        seen, sheets, plan = app.session.path.read_text(), list(app.sheets), app.session.history.now.text
        await app.on_event(packet(TEXT))
        await app.on_event(packet("wDq"))  # the rest, that a slow line has cut off
        assert "pasted text is no command" in app.message
        assert (app.session.path.read_text(), app.sheets, app.session.history.now.text) == (seen, sheets, plan)
        time.sleep(0.25)
        await app.on_event(packet("?"))

    await play(example, before, then=paste)


@pytest.mark.asyncio
async def test_text_in_one_packet_goes_into_the_line_that_is_open(play, example: str) -> None:
    async def paste(app, pilot) -> None:
        await app.on_event(packet("data.train_tokens = 12 345 678 901\rwDq and the rest of a note\r"))
        assert app.typist.now is None or "12 345" in app.typist.now.line.text
        assert app.session.path.read_text() == example

    await play(example, "enter", then=paste)


@pytest.mark.asyncio
async def test_a_fast_typist_is_not_taken_for_a_paste(play, example: str) -> None:
    async def burst(app, pilot) -> None:
        await app.on_event(packet("\r20T\r"))
        assert app.session.history.now.plan.data.train_tokens == 20e12
        await app.on_event(packet("j" * 40))
        assert app.cursor.position(app.rows()) > 5
        await app.on_event(packet(":cluster.nodes=64\r"))
        assert app.session.history.now.plan.cluster.nodes == 64

    await play(example, "", then=burst)


@pytest.mark.asyncio
async def test_whether_only_answers_work_is_said_by_the_sheet(play, example: str) -> None:
    app = await play(example, "enter 20T enter q")
    sheet = app.sheets[-1]
    assert isinstance(sheet, QuitSheet)
    sheet.word = "another word"
    assert not footers.is_helped(sheet)
