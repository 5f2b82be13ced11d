"""The canvas: text stays in its columns, whatever the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainplan_tui.text.glyphs import ASCII
from trainplan_tui.text.spans import Canvas, Span, clipped, line_cells, line_text


def test_a_row_of_the_drawing_is_laid_out_as_drawn() -> None:
    canvas = Canvas(80)
    canvas.put(1, ">")
    canvas.put(4, "train tokens", end=26)
    canvas.put(28, "[", "edit")
    canvas.right(41, "15.6T", "edit", start=29)
    canvas.put(42, "]", "edit")
    canvas.put(44, "tokens", "dim", end=53)
    canvas.right(64, "+800B", "moved", start=55)
    canvas.put(66, "file", "dim")
    drawn = ">  train tokens            [        15.6T] tokens          +800B file           "
    assert line_text(canvas.line()) == drawn


def test_neighbours_of_one_look_are_one_span() -> None:
    canvas = Canvas(6)
    canvas.put(1, "ab", "dim")
    canvas.put(3, "cd", "dim")
    assert canvas.line() == (Span("abcd", "dim"), Span("  "))


def test_text_that_is_too_long_ends_in_a_mark() -> None:
    canvas = Canvas(10, ASCII)
    assert canvas.put(2, "abcdefgh", end=5) == 6
    assert canvas.right(10, "1234567", start=7) == 7
    assert line_text(canvas.line()) == " abc> 123>"


def test_the_cursor_row_drops_roles_and_a_match_keeps_them() -> None:
    canvas = Canvas(6)
    canvas.put(1, "abcdef", "warn")
    canvas.cursor(3)
    assert canvas.line() == (Span("ab", "warn"), Span("cdef", reverse=True))
    canvas = Canvas(3)
    canvas.put(1, "abc", "warn")
    canvas.match(2, 2)
    assert canvas.line()[1] == Span("b", "warn", underline=True)


def test_half_of_a_wide_character_becomes_a_blank() -> None:
    canvas = Canvas(6)
    canvas.put(1, "名名名")
    canvas.put(2, "x")
    assert line_text(canvas.line()) == " x名名"
    canvas.put(4, "y")
    assert line_text(canvas.line()) == " x y名"


@given(
    st.integers(0, 20),
    st.lists(
        st.tuples(st.integers(-3, 25), st.text("ab \x1b\u202e名é", max_size=9), st.integers(0, 25), st.booleans())
    ),
)
def test_a_canvas_is_always_as_wide_as_it_was_made(width: int, writes: list[tuple[int, str, int, bool]]) -> None:
    canvas = Canvas(width)
    for column, text, end, right in writes:
        if right:
            canvas.right(end, text, start=column)
        else:
            canvas.put(column, text, end=end)
        canvas.cursor(column, end)
    assert line_cells(canvas.line()) == width


@given(st.text(max_size=30), st.integers(0, 30))
def test_clipped_text_never_exceeds_its_width(text: str, width: int) -> None:
    from trainplan_tui.text.printable import cells

    assert cells(clipped(text, width)) <= width
