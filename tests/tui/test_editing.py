"""Editing in place: keys in, plan and screen out."""

from __future__ import annotations

import asyncio

import pytest
from tests.tui.conftest import lines_of

from trainplan.quantity.figure import Figure


def row(app, label: str) -> str:
    return next(line for line in app.seen if label in line)


async def test_one_number_is_edited_and_everything_moves(play, example) -> None:
    app = await play(example, "enter 20T enter")
    assert app.session.history.now.plan.data.train_tokens == 20e12
    assert "[          20T]" in row(app, "train tokens")
    assert "+4.4T" in row(app, "train tokens")
    assert app.seen[0].startswith("*")
    assert "numbers moved" in app.seen[-1]


async def test_only_the_edited_value_changes_in_the_text(play, example) -> None:
    app = await play(example, "enter 20T enter")
    assert app.session.history.now.text == example.replace('train_tokens = "15.6T"', 'train_tokens = "20T"')


async def test_undo_gives_the_bytes_back_and_redo_takes_them_again(play, example) -> None:
    app = await play(example, "enter 20T enter j enter 256 enter u u")
    assert app.session.history.now.text == example
    assert not app.seen[0].startswith("*")
    app = await play(example, "enter 20T enter u ctrl+r")
    assert app.session.history.now.plan.data.train_tokens == 20e12


async def test_esc_puts_the_value_back_and_never_quits(play, example) -> None:
    app = await play(example, "enter 20T esc esc esc")
    assert app.session.history.now.text == example
    assert "[        15.6T]" in row(app, "train tokens")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("x20", "such as"),
        ("-5", "from 1"),
        ("nan", "number of tokens"),
        ("true", "number of tokens"),
        ("[1]", "list of 1"),
    ],
)
async def test_what_is_no_value_is_said_and_the_figures_stay(play, example, typed: str, said: str) -> None:
    before = await play(example)
    app = await play(example, f"enter {' '.join(typed)} enter")
    assert said in " ".join(app.seen[-3:-1])
    assert typed in row(app, "train tokens")
    assert app.typist.now is not None
    assert row(app, "wall time") == row(before, "wall time")
    assert app.seen[0].endswith("?")
    assert app.session.history.now.text == example


async def test_the_inspector_says_whose_figures_stay(play, example) -> None:
    app = await play(example, "j enter 2x")
    assert "Figures stay those of 2" in " ".join(app.seen[-3:-1])
    assert 'nodes is "2x"' in app.seen[-3]
    app = await play(example, "enter 1 e 9 9 9 enter")
    assert "train_tokens is" in app.seen[-3]


async def test_each_prefix_of_a_number_is_tried_on_and_findings_wait(play, example) -> None:
    app = await play(example, "enter 2")
    assert app.session.history.now.text == example
    assert app.session.shown.plan.data.train_tokens == 2
    assert app.seen[0].endswith("?")


async def test_hostile_text_is_shown_and_harms_nothing(play, example) -> None:
    app = await play(example, "enter paste:\x1b]0;owned\x07[bold]x")
    assert app.typist.now is not None
    assert not any("\x1b" in line for line in app.seen)
    assert app.session.history.now.text == example


async def test_a_choice_is_taken_from_its_list(play, example) -> None:
    app = await play(example, "3 j enter full enter")
    assert app.session.history.now.plan.utilization.convention == "full"
    assert 'convention = "full"' in app.session.history.now.text


async def test_choices_say_what_they_would_do(play, example) -> None:
    app = await play(example, "3 j enter")
    listed = [line for line in app.seen if " d " in line and "$" in line]
    assert len(listed) >= 4


async def test_a_field_left_empty_means_its_default_again(play, example) -> None:
    app = await play(example, "/ price enter enter ctrl+u enter")
    assert app.session.history.now.plan.cluster.price_per_accelerator_hour is None
    assert not isinstance(app.session.shown.estimate.money.cost, Figure)
    assert "price" in " ".join(app.seen)


async def test_steps_double_and_halve_nodes(play, example) -> None:
    app = await play(example, "j +")
    assert app.session.history.now.plan.cluster.nodes == 256
    app = await play(example, "j - -")
    assert app.session.history.now.plan.cluster.nodes == 32


async def test_equals_takes_the_saved_value_back(play, example) -> None:
    app = await play(example, "j + =")
    assert app.session.history.now.text == example


async def _settled(app, pilot) -> None:
    """Wait for what threads answer, the published runs and the draws of the finish, and take the screen then."""
    for _ in range(200):
        await pilot.pause()
        app.seen = lines_of(app)
        if app.session.shown.runs and "~" not in app.seen[0]:
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"threads did not answer: {app.seen[0]}")


async def test_keys_in_a_burst_give_the_same_as_keys_typed_slowly(play, example) -> None:
    slow = await play(example, "enter 2 0 T enter j enter 2 5 6 enter 3 j", then=_settled)
    fast = await play(example, "enter 20T enter j enter 256 enter 3 j", then=_settled)
    assert slow.session.history.now.text == fast.session.history.now.text
    assert slow.seen == fast.seen


async def test_one_edit_is_one_estimate(play, example, monkeypatch) -> None:
    import trainplan_tui.state.session as session_module

    calls: list[int] = []
    real = session_module.estimate

    def counted(*args):
        calls.append(1)
        return real(*args)

    async def then(app, pilot) -> None:
        monkeypatch.setattr(session_module, "estimate", counted)
        app.apply("data.train_tokens", "20T")

    await play(example, then=then)
    assert len(calls) == 1


async def test_the_palette_sets_a_field_by_its_path(play, example) -> None:
    app = await play(example, ": cluster.nodes=64 enter")
    assert app.session.history.now.plan.cluster.nodes == 64


async def test_an_unknown_path_in_the_palette_names_the_nearest(play, example) -> None:
    app = await play(example, ": parallelism.tensr=2 enter")
    assert "Nearest: tensor" in app.seen[-1]
    assert app.session.history.now.text == example


async def test_find_goes_to_the_row_and_backspace_returns(play, example) -> None:
    app = await play(example, "/ energy enter")
    assert "[3Compute]" in app.seen[1]
    assert any(line.startswith(">") and "energy" in line for line in app.seen)
    app = await play(example, "/ energy enter backspace")
    assert "[1Overview]" in app.seen[1]


async def test_a_finding_leads_to_the_field_that_decides(play, example) -> None:
    app = await play(example.replace('budget = "1.8M"', 'budget = "1M"'), "!")
    assert any(line.startswith(">") and "budget" in line for line in app.seen)


async def test_quit_asks_when_there_are_unsaved_edits(play, example) -> None:
    app = await play(example, "enter 20T enter q enter")
    assert any("quit with 1 unsaved edit" in line for line in app.seen)
    app = await play(example, "enter 20T enter q esc")
    assert not any("quit with" in line for line in app.seen)


async def test_save_writes_the_text_and_says_how_many_lines(play, example) -> None:
    app = await play(example, "enter 20T enter w")
    assert app.session.path.read_text(encoding="utf-8") == example.replace(
        'train_tokens = "15.6T"', 'train_tokens = "20T"'
    )
    assert "saved plan.toml, 1 line changed" in app.seen[-1]
    assert not app.seen[0].startswith("*")


async def test_a_small_window_says_what_it_needs_and_save_still_works(play, example) -> None:
    app = await play(example, "", size=(52, 14))
    assert app.seen[0].startswith("60x15 is the least; this is 52x14.")
    app = await play(example, "enter 20T enter", size=(52, 14))
    assert app.session.history.now.text == example


async def test_the_keys_of_a_small_window_do_what_it_says_over_a_sheet_and_a_box(play, example) -> None:
    from textual.geometry import Size

    async def shrink(app, pilot) -> None:
        app.resized(Size(52, 14))
        for key in ("x", "w"):
            app.take(key, key)
        app.seen = lines_of(app)

    for before in ("enter 20T enter d", "enter 20T enter j enter 9"):
        app = await play(example, before, then=shrink)
        assert app.session.path.read_text(encoding="utf-8") != example
        assert "saved plan.toml" in app.seen[3]
        assert app.sheets or app.typist.now is not None, "what was open stays"


async def test_quitting_a_small_window_asks_in_it(play, example) -> None:
    from textual.geometry import Size

    async def shrink(app, pilot) -> None:
        app.resized(Size(52, 14))
        app.take("q", "q")
        assert "s save   d discard   esc stay" in lines_of(app)[2]
        app.take("enter", None)
        app.session.path.write_text(example + "# other\n", encoding="utf-8")
        app.take("s", "s")
        assert "changed on disk" in " ".join(lines_of(app)[3:5])
        assert app._exit is False
        app.take("q", "q")
        app.take("d", "d")

    app = await play(example, "enter 20T enter", then=shrink)
    assert app._exit


@pytest.mark.parametrize("size", [(60, 15), (64, 18), (79, 24), (80, 24), (100, 30), (120, 40), (160, 45), (250, 70)])
async def test_every_size_draws_rows_of_its_width(play, example, size: tuple[int, int]) -> None:
    app = await play(example, "2 3 1", size=size)
    assert len(app.grid.lines) == size[1]
    assert all(sum(len(span.text) for span in line) <= size[0] for line in app.grid.lines)
    assert any("train tokens" in line for line in app.seen)


async def test_the_tree_explains_down_to_fields_and_edits_them_in_place(play, example) -> None:
    app = await play(example, "/ accelerator-hours enter x")
    assert any("compute.accelerator_hours = wall x world / 3600" in line for line in app.seen)
    nodes = next(i for i, line in enumerate(app.seen) if "[nodes" in line)
    first = next(i for i, line in enumerate(app.seen) if line.startswith(">"))
    down = " ".join(["j"] * (nodes - first))
    app = await play(example, f"/ accelerator-hours enter x {down} enter backspace backspace backspace 256 enter")
    assert app.session.history.now.plan.cluster.nodes == 256
    assert any("[nodes  256]" in line for line in app.seen)


@pytest.mark.parametrize(
    ("keys", "seen"), [("x o", "train_tokens ="), ("/ accelerator-hours enter x {nodes} o", "nodes =")]
)
async def test_o_in_the_tree_opens_the_line_of_the_field_under_the_cursor(
    play, example, monkeypatch: pytest.MonkeyPatch, keys: str, seen: str
) -> None:
    opened: list[str] = []

    def editor(app: object, text: str, line: int) -> None:
        opened.append(text.splitlines()[line - 1])

    monkeypatch.setattr("trainplan_tui.app.PlanApp.run_editor", editor)
    app = await play(example, "/ accelerator-hours enter x")
    place, first = (next(i for i, line in enumerate(app.seen) if mark in line) for mark in ("[nodes", ">"))
    app = await play(example, keys.format(nodes=" ".join("j" * (place - first))))
    assert "o source" in app.seen[-1]
    assert [line.partition("#")[0].startswith(seen) for line in opened] == [True]
    assert app.sheets[-1].word == "explain"


async def test_o_in_the_tree_tells_the_source_of_what_no_line_of_the_plan_gives(play, example) -> None:
    app = await play(example, "/ accelerator-hours enter x o")
    first = next(line for line in app.seen if line.startswith(">"))
    assert "wall" in first
    assert "source: " in app.seen[-1]
    app = await play(example, "4 j j j x o")
    assert "source: default" in app.seen[-1], "the loss kernel stands in no line"


async def test_a_field_explains_what_it_moves(play, example) -> None:
    app = await play(example, "x")
    assert any("train tokens moves" in line for line in app.seen)
    assert any("optimizer steps" in line for line in app.seen)


async def test_the_difference_lists_what_moved_and_undoes_one_field(play, example) -> None:
    app = await play(example, "enter 20T enter j + d")
    assert any("data.train_tokens" in line and "20T" in line for line in app.seen)
    app = await play(example, "enter 20T enter j + d u")
    assert app.session.history.now.plan.data.train_tokens == 15.6e12
    assert app.session.history.now.plan.cluster.nodes == 256


async def test_every_key_in_the_footer_and_the_help_does_something(play, example) -> None:
    """The footer and the help show only actions that the table of this version has."""
    app = await play(example, "?")
    known = app.actions()
    for key in app.keymap.keys:
        if any(f" {key.sentence[:30]}" in line for line in app.seen):
            assert key.id in known, key.id


async def test_fields_of_one_source_are_told_apart_in_the_difference(play, example) -> None:
    named = example.replace('"math"', '"mathematics-of-the-open-web"').replace(
        "math = ", "mathematics-of-the-open-web = "
    )
    app = await play(named, "2 / mathematics enter enter 5 0 B enter d")
    lines = [line for line in app.seen if line.startswith((" ", ">")) and "…" in line]
    assert any(".unique_tokens" in line for line in lines), app.seen


async def test_an_escape_in_front_of_a_key_counts_as_escape_and_the_key(play, example) -> None:
    from trainplan_tui.widgets.driver import Presses

    async def together(app, pilot) -> None:
        parser = Presses()
        for event in [*parser.feed("\x1b3"), *parser.feed("")]:
            await app.on_event(event)
        await pilot.pause()
        app.seen = lines_of(app)

    app = await play(example, "enter 9 9", then=together)
    assert app.typist.now is None
    assert app.session.history.now.text == example
    assert "[3Compute]" in app.seen[1]


DEFAULTS = 'format = 1\n[model]\npreset = "llama-3.1-8b"\n[cluster]\naccelerator = "h100-sxm"\nnodes = 128\n'


async def test_every_row_is_stood_on_and_every_field_emptied(play) -> None:
    """Also fields that the file has not, and figures that are named like rows of another pane."""

    async def walk(app, pilot) -> None:
        met = set()
        for pane in "1234567890":
            app.do(f"pane.{pane}")
            for row in [row for row in app.rows() if row.id and row.id not in met]:
                met.add(row.id)
                app.cursor.put(row)
                app.paint()
                for key in ("=", "enter", "ctrl+u", "enter", "escape") if row.boxes else ():
                    app.take(key, key if len(key) == 1 else None)
                app.close_sheets()
        assert "readiness.signed" in met

    app = await play(DEFAULTS, "", then=walk)
    assert app.fault is None


async def test_a_default_that_is_emptied_stays_and_nothing_is_unsaved(play, example) -> None:
    app = await play(example, "6 j enter backspace enter")
    assert app.session.history.now.text == example
    assert not app.session.shown.unsaved
    assert app.message == "usable fraction is in the file as it was: nothing changed"
    assert app.typist.now is None


async def test_quitting_counts_what_it_lists(play, example) -> None:
    """One edit of a weight writes two fields: the question lists fields, and says so."""
    app = await play(example, "2 j j j j j l enter 0.7 enter q")
    assert any("quit with 2 edited fields not saved" in line for line in app.seen), app.seen


async def test_a_field_says_where_it_is_written_and_what_was_saved(play, example) -> None:
    """Before what it moves, so that no edge cuts the line of the file; a wide window tells the row as well."""
    app = await play(example, "enter 16T enter j k")
    assert any(line.startswith(" plan.toml:") and ", saved 15.6T. Moves " in line for line in app.seen), app.seen
    app = await play(example, "j", (160, 45))
    assert "│ row 2 of " in app.seen[2]
    assert "│ cluster.nodes" in app.seen[3]
    assert any("├── from tokens to the cost ───" in line for line in app.seen)
