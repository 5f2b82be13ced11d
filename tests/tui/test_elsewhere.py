"""Keys that lead elsewhere work over a page that is read, as the key table says; a page with something to lose keeps them away."""

from __future__ import annotations

import pytest
from tests.tui.conftest import lines_of
from textual.events import Key

from trainplan_tui.acts import footers
from trainplan_tui.keys import ELSEWHERE, KEYS

PAGES = {"explain": "x", "difference": "d", "zoom": "z", "launch text": "4 C", "walk": "0 enter"}


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


async def test_help_and_dispatch_tell_the_same_of_what_leads_elsewhere(play, example: str) -> None:
    """One list: what a page is left for is what its help names, the digits in a line of their own."""
    app = await play(example, "x ?", (120, 45))
    told = {key.sentence for key in KEYS if key.id in ELSEWHERE and not key.id[-1].isdigit()}
    assert len(told) == 5
    assert all(any(sentence in line for line in lines_of(app)) for sentence in told)


async def test_what_was_ticked_in_a_walk_that_was_left_is_there_again(play, example: str) -> None:
    app = await play(example, "0 enter space 3")
    assert (app.sheets, app.cursor.pane) == ([], 2)
    (name,) = [name for name, points in app.session.ticks.items() if points]
    app = await play(example, "0 enter space 3 0 enter")
    assert app.sheets[-1].item.name == name
    assert sum("[x]" in line for line in lines_of(app)) == 1


@pytest.mark.parametrize("keys", ["?", "/", "1 j j enter", ": pri"])
async def test_a_control_key_leads_to_the_palette_where_letters_are_text(play, example: str, keys: str) -> None:
    app = await play(example, f"{keys} ctrl+p")
    assert [type(sheet).__name__ for sheet in app.sheets] == ["PaletteSheet"]
    assert app.sheets[0].line.text == ""


async def test_the_palette_takes_a_value_that_is_being_edited_and_no_wrong_one(play, example: str) -> None:
    """Section 6.6: leaving during an edit takes a valid value and refuses an invalid one, keeping the text."""
    app = await play(example, "enter 20T ctrl+p")
    assert app.session.shown.plan.data.train_tokens == 20e12
    assert [type(sheet).__name__ for sheet in app.sheets] == ["PaletteSheet"]
    app = await play(example, "enter 20X ctrl+p")
    assert app.typist.now is not None
    assert not app.sheets


@pytest.mark.parametrize("key", ["5", "]", "/", "!", ":", "ctrl+p"])
async def test_what_is_not_done_says_how_it_is_left(play, example: str, key: str) -> None:
    def changed(app) -> None:
        app.session.path.write_text(example.replace('"15T"', '"14T"', 1) + "\n", encoding="utf-8")

    async def then(app, pilot) -> None:
        changed(app)
        for one in ("w", key):
            await app.on_event(Key(one, one if len(one) == 1 else None))
        await pilot.pause()

    app = await play(example, "enter 20T enter", then=then)
    assert [type(sheet).__name__ for sheet in app.sheets] == ["DiskSheet"]
    assert app.message == f"{key} leads elsewhere: esc first"


async def test_a_source_is_offered_where_one_can_be_added(play, example: str) -> None:
    """`a` of the row data.sequence_length only said that sources are elsewhere."""
    offered: dict[int, set[str]] = {}

    async def then(app, pilot) -> None:
        for pane in range(10):
            for one in (str((pane + 1) % 10), "g", *("j" for _ in range(60))):
                await app.on_event(Key(one, one))
                entries = {entry.word for entry in footers.entries(app, app.rows(), editing=False)}
                if "add" in entries and app.row() is not None:
                    offered.setdefault(pane, set()).add(app.row().id)

    await play(example, then=then)
    assert set(offered) == {1, 7}
    assert all(id_.startswith(("data.sources", "data.stages")) for id_ in offered[1])
    assert all(id_.startswith("evaluation.tasks") for id_ in offered[7])


async def test_a_walk_offers_no_signature_that_it_would_refuse(play, example: str) -> None:
    """Section 3.13 draws no S where signing is not offered; section 6.7: no key that does nothing now."""
    app = await play(example, "0 enter")
    assert any("not offered" in line for line in lines_of(app))
    assert "S" not in {entry.key for entry in app.sheets[-1].footer()}


async def test_o_names_the_evidence_of_the_item_that_is_walked(play, example: str) -> None:
    """Section 3.13 draws `o open` in the walk, and section 7 has it on every row."""
    app = await play(example, "0 enter o")
    assert app.message == "no evidence attached: a attaches a file"
    assert "o" in {entry.key for entry in app.sheets[-1].footer()}


@pytest.mark.parametrize(
    ("keys", "gone"),
    [
        (": qqqq", {"enter", "tab", "up down"}),
        ("/ qqqq", {"enter", "up down"}),
        (": sign", {"tab"}),
        ("2 a", {"ctrl+u"}),
        ("2 j x", {"+"}),
    ],
)
async def test_a_sheet_names_no_key_that_does_nothing_now(play, example: str, keys: str, gone: set[str]) -> None:
    app = await play(example, keys)
    assert not gone & {entry.key for entry in app.sheets[-1].footer()}


async def test_a_tree_folds_one_level_at_each_key(play, example: str) -> None:
    """The first keys did nothing: they counted from a depth that no tree has."""
    deep = []

    async def then(app, pilot) -> None:
        for _ in range(4):
            deep.append(max(len(branch.place) for branch in app.sheets[-1].branches()))
            await app.on_event(Key("-", "-"))

    await play(example, "1 j j j j x", then=then)
    assert deep == [deep[0] - i for i in range(4)]
    assert deep[0] > 4


async def test_all_of_a_tree_is_offered_where_something_is_folded(play, example: str) -> None:
    app = await play(example, "1 j j j j x -")
    assert "+" in {entry.key for entry in app.sheets[-1].footer()}
    app = await play(example, "1 j j j j x - +")
    assert "+" not in {entry.key for entry in app.sheets[-1].footer()}
