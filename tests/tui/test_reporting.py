"""The report from inside the app: asked for in the palette, made beside the keys, never over a file that exists."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.events import Key

ASK = ": report: enter"


async def pressed(app, pilot, *keys: str) -> None:
    for key in keys:
        await app.on_event(Key(key, key if len(key) == 1 else None))
    await pilot.pause()


async def until(app, pilot, done) -> None:
    for _ in range(600):
        if done():
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    raise AssertionError(app.message)


async def test_the_palette_writes_a_report_of_the_plan(play, example: str) -> None:
    async def then(app, pilot) -> None:
        assert app.sheets[-1].word == "report"
        await pressed(app, pilot, "enter")
        await until(app, pilot, lambda: app.message.startswith("report written"))

    app = await play(example, ASK, (120, 40), then)
    path = app.session.path.with_name("plan-report.md")
    assert app.message == "report written to plan-report.md"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Llama 3.1 8B, 15.6T tokens, 1,024 H100\n")
    assert "changed for this report" not in text
    assert f"| plan file           | `{app.session.path}` |" in text


async def test_it_tells_the_plan_as_it_is_shown_and_names_what_is_not_saved(play, example: str) -> None:
    async def then(app, pilot) -> None:
        await pressed(app, pilot, "enter")
        await until(app, pilot, lambda: app.message.startswith("report written"))

    app = await play(example, f"enter 20T enter {ASK}", (120, 40), then)
    text = app.session.path.with_name("plan-report.md").read_text(encoding="utf-8")
    assert "| changed for this report, not in the file | `data.train_tokens=20T` |" in text
    assert app.session.shown.unsaved


async def test_a_file_that_exists_stays_and_the_question_too(play, example: str, tmp_path: Path) -> None:
    (tmp_path / "plan-report.md").write_text("mine")

    async def then(app, pilot) -> None:
        await pressed(app, pilot, "enter")

    app = await play(example, ASK, (120, 40), then)
    assert app.sheets[-1].refusal == "plan-report.md exists. Another name"
    assert (tmp_path / "plan-report.md").read_text() == "mine"


async def test_a_name_of_a_table_writes_the_quantities(play, example: str, tmp_path: Path) -> None:
    async def then(app, pilot) -> None:
        await pressed(app, pilot, "ctrl+u", *str(tmp_path / "q.csv"), "enter")
        await until(app, pilot, lambda: app.message.startswith("report written"))

    await play(example, ASK, (120, 40), then)
    assert (tmp_path / "q.csv").read_bytes().startswith(b"key,value,unit,rests_on,verified,blocked_by,label,")


async def test_a_folder_that_is_not_there_is_told(play, example: str, tmp_path: Path) -> None:
    async def then(app, pilot) -> None:
        await pressed(app, pilot, "ctrl+u", *str(tmp_path / "none" / "r.md"), "enter")
        await until(app, pilot, lambda: "not written" in app.message)

    app = await play(example, ASK, (120, 40), then)
    assert "the folder" in app.message


async def test_a_fault_while_it_is_made_is_told_and_ends_nothing(play, example: str, monkeypatch) -> None:
    def broken(*_: object) -> str:
        raise TypeError("no number")

    monkeypatch.setattr("trainplan_tui.acts.reporting.report", broken)

    async def then(app, pilot) -> None:
        await pressed(app, pilot, "enter")
        await until(app, pilot, lambda: "is being made" not in app.message)

    app = await play(example, ASK, (120, 40), then)
    assert app.message == "no report: a fault of this program, TypeError: no number"
    assert not app.session.path.with_name("plan-report.md").exists()
