"""Whatever keys come, the app stands: esc leads back to the plan, the file's text can be read, and undo leads to its beginning."""

from __future__ import annotations

import random

import pytest
from tests.tui.conftest import NAMES, ROOT
from textual.events import Key, Paste

from trainplan.plan.read import plan_of_text
from trainplan_tui.keys import KEYS, NAMED

PLANS = sorted((ROOT / "plans").glob("*.toml"))
LEAVES = {"q", "ctrl+z", "ctrl+c", "e"}
"""The app ends, stops or hands the terminal to an editor."""
LETTERS = sorted(
    ({key for one in KEYS for key in one.keys} | NAMED | set("0123456789.TMGi\N{SUPERSCRIPT TWO}")) - LEAVES
)
OFTEN = {"enter": 8, "esc": 4, "j": 6, "down": 4, "k": 3, "+": 3, "-": 3, "a": 2, "D": 2, "u": 2}
PASTES = ("20T", "0", "-1", "1d999", '"', "\x1b[31m", "~nosuchuser/x", "x" * 300, "main", "2026-13-01", "64")
KEYS_EACH = 40


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [(80, 24), (160, 45), (129, 33), (61, 18)])
async def test_any_keys(play, seed: int, size: tuple[int, int]) -> None:
    drawn = random.Random(seed * 1000 + size[0])
    text = drawn.choice(PLANS).read_text(encoding="utf-8")
    pressed: list[str] = []

    async def then(app, pilot) -> None:
        for _ in range(KEYS_EACH):
            word = drawn.choices(LETTERS, [OFTEN.get(key, 1) for key in LETTERS])[0]
            paste = drawn.choice(PASTES) if drawn.random() < 0.08 else ""
            pressed.append(paste or word)
            await app.on_event(Paste(paste) if paste else Key(NAMES.get(word, word), word if len(word) == 1 else None))
            assert len(app.grid.lines) <= size[1]
        plan_of_text(app.session.history.now.text, "plan.toml")
        for _ in range(12):
            await app.on_event(Key("escape", None))
        assert not app.sheets
        assert app.typist.now is None
        for _ in range(KEYS_EACH):
            await app.on_event(Key("u", "u"))
        assert app.session.history.at == 0
        assert app.fault is None

    try:
        await play(text, size=size, then=then)
    except BaseException as error:
        error.add_note(" ".join(pressed))
        raise


async def test_the_tree_of_a_field_has_no_levels(play, example) -> None:
    """What rests on a field is a list: keys that fold a tree do nothing there."""
    app = await play(example, "x - + space j -")
    assert any("Explain data.train_tokens" in line for line in app.seen)
