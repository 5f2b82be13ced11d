"""A line that is typed into takes a shell's keys, in a list too, and small words of the panes are right."""

from __future__ import annotations

import pytest
from tests.tui.conftest import ROOT


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ("a b c ctrl+u", ""),
        ("a b c space d ctrl+w", "abc "),
        ("a b c ctrl+a x", "xabc"),
        ("a b c ctrl+a ctrl+e x", "abcx"),
        ("a b c left left ctrl+k", "a"),
        ("a b c left left ctrl+u", "bc"),
    ],
)
@pytest.mark.parametrize("opened", [":", "/", "4 enter"])
async def test_a_line_over_a_list_has_the_keys_of_a_shell(play, example, opened: str, keys: str, left: str) -> None:
    app = await play(example, f"{opened} {keys}")
    assert app.sheets[-1].line.text == left


async def test_a_task_that_is_none_names_the_nearest_or_what_there_is(play, example) -> None:
    app = await play(example, "8 a nosuch enter")
    told = " ".join(app.seen)
    assert "Known here: arc-challenge" in told
    assert "gsm8k" in told.split("Known here", 1)[1]
    app = await play(example, "8 a mlu enter")
    assert any("Nearest: mmlu" in line for line in app.seen)


@pytest.mark.parametrize("name", ["llama-3.1-405b", "llama-3.1-8b", "smollm3-3b"])
async def test_a_run_as_fast_as_the_plan_has_no_sign(play, name: str) -> None:
    from trainplan_tui.panes.claims import _against

    text = (ROOT / "plans" / f"{name}.toml").read_text(encoding="utf-8")
    app = await play(text, "3", size=(160, 45))
    own = float(app.session.shown.estimate.speed.utilization)
    assert _against(own * 0.998, app.session.shown) == "0 %"
    assert _against(own * 0.98, app.session.shown) == "-2 %"
