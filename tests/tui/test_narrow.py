"""What is too long for a window shows that it is cut, and pictures are drawn for the window that there is."""

from __future__ import annotations

import pytest
from tests.tui.conftest import lines_of

from trainplan_tui.screens.drawing import _fitted
from trainplan_tui.text.printable import cells


@pytest.mark.parametrize("width", [60, 63, 71, 79])
async def test_no_row_of_a_pane_is_wider_than_the_window(play, example, width: int) -> None:
    async def look(app, pilot) -> None:
        for pane in "1234567890":
            app.do(f"pane.{pane}")
            app.paint()
            wide = [line for line in lines_of(app) if cells(line) > width]
            assert not wide, (pane, wide)

    await play(example, "", (width, 30), then=look)


async def test_the_curve_of_a_small_window_has_its_right_end(play, example) -> None:
    app = await play(example, "7", (60, 30))
    assert any(line.rstrip().endswith("3h") for line in app.seen), app.seen


async def test_a_sentence_that_is_cut_under_the_body_says_so(play, example) -> None:
    app = await play(example, "8")
    assert app.seen[22].endswith("…"), app.seen[21:23]


def test_only_a_sentence_that_goes_on_is_marked() -> None:
    """The mark comes from a line that is too long for its row."""
    assert _fitted(["one", "two", "three"], 20, 2) == ["one", "two"]
    assert _fitted(["one two three four", "x"], 9, 2)[1] == "three four x"
    assert _fitted(["one", "two three four"], 9, 1) == ["one"]
    assert _fitted(["one", "two three four five"], 10, 2) == ["one", "two three four five"]


def test_a_name_of_marks_is_cut_for_room_and_not_for_its_letters() -> None:
    """A character that is told by a mark takes the cells of the mark."""
    from trainplan_tui.text.spans import line_text
    from trainplan_tui.widgets.strip import StripParts, strip

    parts = StripParts(name="p\udce9\u202ez", unsaved=False)
    assert line_text(strip(parts, 80)).startswith(" p<U+DCE9><U+202E>z ")


async def test_pictures_at_the_side_write_numbers_as_the_ledger_does(play, example) -> None:
    """Nothing is `0`, and a number does not touch its bar."""
    app = await play(example, "4", (160, 45))
    assert any("attention temporaries" in line and line.endswith(" 0") for line in app.seen), app.seen
    app = await play(example, "2", (160, 45))
    (drawn,) = [line for line in app.seen if line.endswith(" new") and "drawn " in line]
    assert drawn.partition("13.78T")[0].endswith(" ")


async def test_a_message_shows_the_end_of_a_path(play, example, tmp_path, monkeypatch) -> None:
    """From home it begins with `~`; a long one loses its first folders, never the file's name."""
    from trainplan_tui.outside import LONGEST, told

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".local" / "state"))
    app = await play(example, "y")
    assert "copied, and in ~/.local/state/trainplan-tui/copies/data.train_tokens.txt" in app.seen[-1]
    app = await play(example, "P")
    assert "written to ~/.local/state/trainplan-tui/copies/plan-overview.txt" in app.seen[-1]
    deep = tmp_path.parent / ("f" * 90) / "log.txt"
    assert told(deep).endswith("f/log.txt")
    assert len(told(deep)) == LONGEST


@pytest.mark.parametrize("width", [60, 66, 72, 79, 80, 100])
async def test_what_moved_is_whole_in_every_window(play, example, width: int) -> None:
    app = await play(example, "enter 20T enter d", (width, 30))
    (row,) = [line for line in app.seen if line.lstrip(" >").startswith("math passes")]
    before, after, moved, *share = row.split("math passes")[1].split()
    assert (before, after, moved) == ("4.56", "10.67", "+6.11")
    assert bool(share) == (width >= 80)


async def test_the_hint_of_a_line_stands_outside_its_box(play, example) -> None:
    """A dim hint in an empty box looks like what would be signed."""
    app = await play(example, "9 W")
    boxes = [line[line.index("[") + 1 : line.rindex("]")] for line in app.seen if line.endswith("]")]
    assert boxes[1].strip() == "", app.seen
    assert any("owner: who answers for it" in line for line in app.seen), app.seen


async def test_heads_of_a_comparison_stand_above_their_values(play, example, tmp_path) -> None:
    """A long file name moved to the left of its half, and its values stayed at the right."""
    (tmp_path / "another-plan-of-ours.toml").write_text(
        example.replace('train_tokens = "15.6T"', 'train_tokens = "9T"')
    )
    app = await play(example, f"c ctrl+u paste:{tmp_path}/another-plan-of-ours.toml enter")
    (head,) = [line for line in app.seen if line.lstrip().startswith("fields")]
    (row,) = [line for line in app.seen if "data.train_tokens" in line]
    assert head.split()[1:] == ["another-pla…", "plan"]
    assert len(head) == len(row.partition('"15.6T"')[0] + '"15.6T"') or len(head) == len(row.rstrip())


async def test_an_edit_that_moves_one_number_says_so_in_the_singular(play, example) -> None:
    from trainplan_tui.acts.typist import outcome

    async def told(app, pilot) -> None:
        assert ": 1 number moved" in outcome(app.session, "data.train_tokens", "15T", 1)
        assert ": 2 numbers moved" in outcome(app.session, "data.train_tokens", "15T", 2)

    await play(example, "", then=told)


ROWS = (
    ("2", "data.sources.math"),
    ("2 v", "data.sources.math"),
    ("2", "data.stages.anneal"),
    ("3", "claim 0"),
    ("3", "claim predicted"),
    ("4 v", "memory.ranks.0.total"),
    ("5 v", "time of data"),
    ("8", "evaluation.tasks.hellaswag.standard_error"),
    ("9", "pilot.unit.checks.tokenizer_round_trip"),
    ("0", "readiness.cost"),
    ("0 v", "readiness.cost"),
)


@pytest.mark.parametrize("width", [60, 67, 74, 79])
@pytest.mark.parametrize(("pane", "id_"), ROWS)
async def test_tables_scroll_behind_their_first_column(play, example, width: int, pane: str, id_: str) -> None:
    """No column is cut in two, and `l` brings every one of them: half a number would be another number."""

    def words(app) -> set[str]:
        app.paint()
        (row,) = [line for line in lines_of(app)[3:] if line.startswith(">")]
        return {word for word in row[1:].removesuffix("…").split() if any(letter.isalnum() for letter in word)}

    async def look(app, pilot) -> None:
        for _ in range(100):
            if app.session.shown.runs:
                break
            await pilot.pause(0.05)
        app.cursor.put(next(row for row in app.rows() if row.id.startswith(id_)))
        app.told = words(app)
        for _ in range(12):
            app.do("cell.next")
            more = words(app)
            assert app.window.width >= 80 or more <= whole.told, more - whole.told
            app.told |= more

    whole = await play(example, pane, (80, 40), then=look)
    app = await play(example, pane, (width, 40), then=look)
    assert app.told == whole.told


async def test_a_box_behind_the_window_is_edited_in_sight(play, example) -> None:
    """The threshold of a check stands behind its measured value at 60 columns; the row goes on behind both."""
    app = await play(example, "9 l", (60, 18))
    assert any("[      >= 1]" in line for line in app.seen), app.seen
    app = await play(example, "9 l l l enter", (60, 18))
    assert any("[>= 1      ]" in line for line in app.seen), app.seen
    app = await play(example, "9 l enter 0", (60, 18))
    assert any("% or = 0" in line for line in app.seen[-4:]), "an error is told whole where there is room"
