"""The grid and the dispatch without a terminal: what is painted, what differs, what an app is handed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Size

from trainplan_tui.text.colours import Ink, Palette
from trainplan_tui.text.spans import Canvas, Line, Span
from trainplan_tui.widgets.dispatch import KeyedApp
from trainplan_tui.widgets.grid import Row, changes, paint

PALETTE = Palette()
TEXT = st.text("ab 名\x1b", max_size=12)
LINES = st.lists(st.builds(Span, TEXT, st.sampled_from(["text", "dim", "warn"]), reverse=st.booleans())).map(tuple)


def drawn(row: Row) -> str:
    return row.strip.text


def test_every_text_passes_the_sanitiser_whoever_wrote_it() -> None:
    row = paint((Span("\x1b]0;x\x07\u202e"),), 30, PALETTE)
    assert drawn(row) == "^[]0;x^G<U+202E>" + " " * 14


def test_equal_inks_are_one_segment_and_plain_text_has_no_style() -> None:
    line = (Span("a", "dim"), Span("  "), Span("b", "dim"), Span("c", "warn"))
    assert [segment.text for segment in paint(line, 5, PALETTE).strip] == ["a  b", "c"]
    plain = paint(line, 9, Palette(depth="none")).strip
    assert [(segment.text, segment.style) for segment in plain] == [("a  bc    ", None)]


def test_a_blank_keeps_no_colour_of_its_neighbour_for_comparing() -> None:
    before = paint((Span("a", "dim"), Span("   b")), 5, PALETTE)
    after = paint((Span("a", "warn"), Span("   b")), 5, PALETTE)
    assert [(region.x, region.width) for region in changes([before], [after])] == [(0, 1)]


def test_runs_are_joined_over_small_gaps_only() -> None:
    before, after = Canvas(80), Canvas(80)
    after.put(1, "x")
    after.put(10, "y")
    after.put(60, "z")
    rows = [paint(canvas.line(), 80, PALETTE) for canvas in (before, after)]
    assert [(region.x, region.width) for region in changes(rows[:1], rows[1:])] == [(0, 10), (59, 1)]


@given(LINES, st.integers(1, 40))
def test_a_row_is_always_as_wide_as_its_window(line: Line, width: int) -> None:
    row = paint(line, width, PALETTE)
    assert len(row.cells) == width
    assert row.strip.cell_length == width
    assert sum(segment.cell_length for segment in row.strip) == width


@given(LINES, LINES, st.integers(1, 40), st.integers(0, 20))
def test_sending_the_changes_gives_the_new_row(old: Line, new: Line, width: int, gap: int) -> None:
    before, after = paint(old, width, PALETTE), paint(new, width, PALETTE)
    cells = list(before.cells)
    for region in changes([before], [after], gap):
        cells[region.x : region.right] = after.cells[region.x : region.right]
        assert not after.cells[region.x][0].startswith("\0"), "no run begins in the middle of a character"
        assert region.right == width or not after.cells[region.right][0].startswith("\0"), "nor ends there"
    assert tuple(cells) == after.cells


class Recorder(KeyedApp):
    """Writes down what it is handed."""

    def __init__(self) -> None:
        super().__init__(PALETTE)
        self.heard: list[str] = []

    def take(self, key: str, character: str | None) -> None:
        self.heard.append(key)
        if key == "x":
            raise ValueError("a fault")
        self.grid.show([(Span(" ".join(self.heard)),)])

    def paste(self, text: str) -> None:
        self.heard.append(f"paste {text}")

    def resized(self, size: Size) -> None:
        self.heard.append(f"{size.width}x{size.height}")
        self.grid.show([(Span("ready"),)], width=size.width)


async def test_an_app_is_handed_its_size_and_then_keys_in_order() -> None:
    app = Recorder()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j", "enter", "ctrl+q", "ctrl+c", "tab")
        assert app.heard == ["40x10", "j", "enter", "ctrl+q", "ctrl+c", "tab"]
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        assert app.heard[-1] == "50x12"
    assert app.fault is None


async def test_a_fault_is_kept_for_the_caller() -> None:
    app = Recorder()
    with pytest.raises(ValueError, match="a fault"):
        async with app.run_test() as pilot:
            await pilot.press("x")
    assert isinstance(app.fault, ValueError)
    assert app.return_code == 70


async def test_equal_lines_keep_their_rows() -> None:
    app = Recorder()
    async with app.run_test(size=(40, 10)):
        app.grid.show([(Span("a"),), (Span("b"),)], width=40)
        first = app.grid.rows
        app.grid.show([(Span("b"),), (Span("a"),), (Span("c", "error"),)], width=40)
        assert app.grid.rows[0] is first[1]
        assert app.grid.rows[1] is first[0]
        assert app.grid.rows[2].cells[0] == ("c", Ink("#ff7b72"))


@pytest.mark.parametrize(
    "module",
    [
        *("text.spans", "text.colours", "keys", "keyfile", "widgets.frame"),
        *("widgets.strip", "widgets.line", "widgets.bars", "widgets.curves", "widgets.crash", "widgets.wire"),
    ],
)
def test_what_is_pure_imports_no_terminal_library(module: str) -> None:
    code = f"import sys, trainplan_tui.{module}; print([m for m in ('textual', 'rich', 'numpy') if m in sys.modules])"
    paths = [path for path in sys.path if path]
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(paths)},
    )
    assert run.stdout.strip() == "[]", f"{module} is pure: move what needs a terminal into grid, dispatch or driver"
