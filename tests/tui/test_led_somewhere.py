"""Every name that `/` and `:` offer leads somewhere: to its row, to its explanation, to a box, or to a line for its value."""

from __future__ import annotations

import pytest
from tests.tui.conftest import ROOT, lines_of

PLANS = ["llama-3.1-8b", "llama-3.1-405b", "deepseek-v3"]
BARE = 'format = 1\n[model]\npreset = "llama-3.1-8b"\n'


@pytest.mark.parametrize("name", [*PLANS, ""])
async def test_every_name_leads_somewhere(play, name: str) -> None:
    text = (ROOT / "plans" / f"{name}.toml").read_text(encoding="utf-8") if name else BARE
    stuck: list[str] = []

    async def then(app, pilot) -> None:
        from trainplan.plan.edit import resolve
        from trainplan.plan.read import UnknownPath
        from trainplan_tui.sheets.index import items

        figures = app.session.shown.estimate.quantities
        for item in [one for one in items(app) if not one.command]:
            app.close_sheets()
            app.do("find")
            sheet = app.sheets[-1]
            sheet.pick(item)
            if not app.sheets:
                row = app.row()
                found = row is not None and item.id in (row.id, *(box.path for box in row.boxes))
            elif app.sheets[-1] is sheet:
                try:
                    found = resolve(item.id, app.session.shown.plan) != () and sheet.line.text == f"{item.id}="
                except UnknownPath:
                    found = False
            else:
                found = app.sheets[-1].word == "explain" and item.id in figures
                app.paint()
                found = found and any("Explain" in line for line in lines_of(app))
            if not found:
                stuck.append(item.id)

    await play(text, "", then=then)
    assert not stuck


async def test_a_figure_without_a_row_opens_its_explanation(play, example) -> None:
    app = await play(example, "/ stage space transfers enter")
    assert app.sheets[-1].word == "explain"
    assert any("parallelism.waterfall.pipeline" in line for line in app.seen)
    app = await play(example, "/ stage space transfers enter esc")
    assert not app.sheets
