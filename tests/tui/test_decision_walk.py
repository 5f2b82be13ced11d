"""The walk's inspector says what the rule of the question under the cursor rests on."""

from __future__ import annotations

import inspect
import re

import pytest
from tests.tui.conftest import ROOT, lines_of

from trainplan.alternatives import walk
from trainplan.alternatives.questions import BASES

SOURCES = ("Megatron", "Playbook", "judgement", "measured", "formula")


@pytest.mark.parametrize("plan", ["llama-3.1-8b", "deepseek-v3", "gpt3-175b"])
async def test_each_question_says_its_source_and_where_enter_leads(play, plan: str) -> None:
    async def look(app, pilot) -> None:
        asked = [row.id for row in app.rows() if row.id.startswith("walk ") and row.id != "walk proposal"]
        assert len(asked) >= 6
        for id_ in asked:
            assert app.row().id == id_
            said = lines_of(app)[-3:-1]
            assert any(word in said[0] for word in SOURCES), said
            assert said[1].strip() == f"enter edits {id_.split(' ', 2)[2]}"
            app.do("row.next")
            app.paint()

    await play((ROOT / "plans" / f"{plan}.toml").read_text(encoding="utf-8"), "5 v v g", then=look)


def test_every_question_has_a_source() -> None:
    asked = set(re.findall(r'"((?:parallelism|batch|cluster)\.\w+)"\)', inspect.getsource(walk)))
    assert len(asked) >= 8
    assert asked <= set(BASES)
