"""Pictures held to the drawings, in both glyph sets, and to amounts nobody would draw."""

from __future__ import annotations

from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan_tui.text.glyphs import ASCII, UNICODE
from trainplan_tui.text.spans import Line, line_cells, line_text
from trainplan_tui.widgets.bars import (
    Mark,
    MemoryParts,
    RungState,
    histogram,
    ladder,
    memory_bar,
    passes_axis,
    passes_bar,
    range_bar,
    stacked_bar,
    total_bar,
    waterfall,
)
from trainplan_tui.widgets.curves import Curve, curves, log_axis, log_column, log_columns

PLAN = MemoryParts(34.00, 14.96, 7.83, 0.03, 0.09, 5.59)
ZERO_1 = MemoryParts(34.00, 14.96, 7.83, 29.91, 0.09, 5.59)


def texts(lines: tuple[Line, ...]) -> list[str]:
    return [line_text(line) for line in lines]


@pytest.mark.parametrize(
    ("parts", "drawn"),
    [
        (PLAN, "█████████████████▓▓▓▓▓▓▓▓▒▒▒▒░░░  ┊     │   "),
        (ZERO_1, "█████████████████▓▓▓▓▓▓▓▓▒▒▒▒▚▚▚▚▚▚▚▚▚▚▚▚▚▚»"),
    ],
)
def test_the_memory_bar_is_as_drawn(parts: MemoryParts, drawn: str) -> None:
    assert line_text(memory_bar(parts, 79.1, 67.2)) == drawn


def test_the_memory_bar_in_ascii() -> None:
    assert line_text(memory_bar(PLAN, 79.1, 67.2, ASCII)) == "#################========++++---  :     |   "


@pytest.mark.parametrize(
    ("passes", "drawn"),
    [(0.89, "████ ┊        ┊"), (1.74, "████████      ┊"), (4.56, "███████████████"), (0.2, "╷    ┊        ┊")],
)
def test_passes_are_as_drawn(passes: float, drawn: str) -> None:
    assert line_text(passes_bar(passes, 4.0)).rstrip() == drawn


def test_passes_end_at_sixteen() -> None:
    assert passes_axis().rstrip() == "½    1   2    4   8    16"
    assert line_text(passes_bar(40.0, 4.0)) == "█" * 23 + "»"
    assert line_text(passes_bar(inf, 4.0)).endswith("»")
    assert line_text(passes_bar(0.0, 4.0)).strip() == "┊        ┊"
    assert line_text(passes_bar(nan, nan)).strip() == "┊    ┊"


def test_each_part_of_a_step_starts_where_the_last_ended() -> None:
    rows = texts(waterfall([0.927, 0.046, 0.0, 0.0], 1.066 / 31, 40))
    assert rows[0].rstrip() == "█" * 27
    assert rows[1].rstrip() == " " * 27 + "█"
    assert rows[2].rstrip() == " " * 28 + "╷"
    assert rows[3] == rows[2]
    assert line_text(total_bar(0.973, 1.066 / 31, 40)).rstrip() == "━" * 28


def test_the_ladder_is_as_drawn() -> None:
    rungs: list[tuple[str, RungState]] = [("unit", "passed"), ("batch", "passed"), ("node", "stale"), ("full", "open")]
    assert line_text(ladder(rungs, 60)).rstrip() == "███ unit ███ batch ▒▒▒ node ░░░ full"
    assert line_text(ladder(rungs, 60, ASCII)).rstrip() == "### unit ### batch +++ node --- full"


def test_the_histogram_has_the_largest_share_as_long_as_its_room() -> None:
    rows = texts(histogram([1.7, 8.3, 21.1, 0.01, 0.0], 32))
    assert [row.rstrip() for row in rows] == ["█" * 3, "█" * 13, "█" * 32, "╷", ""]
    assert texts(histogram([0.0, 0.0], 4)) == [" " * 4] * 2


def test_a_range_has_at_least_one_cell() -> None:
    assert line_text(range_bar(2, 4, 0, 10, 10)) == "  ██      "
    assert line_text(range_bar(10, 10, 0, 10, 10)) == " " * 9 + "█"
    assert line_text(range_bar(5, 5, 5, 5, 4)) == "█   "


def test_the_overhead_curve_has_its_least_at_the_square_root() -> None:
    saving, between_failures = 5.0, 47160.0
    columns = log_columns(60, 18000)
    cost = [saving / t * 100 + t / (2 * between_failures) * 100 for t in columns]
    least = log_column(sqrt(2 * saving * between_failures), 60, 18000)
    assert min(range(66), key=cost.__getitem__) == least
    assert line_text(log_axis([(60, "1min"), (3600, "1h")], 60, 18000))[6:10] == "1min"
    rows = texts(curves([Curve(cost, "█")], 2.0, least))
    assert len(rows) == 7
    assert {len(row) for row in rows} == {72}
    assert rows[0].startswith("  12 │")
    assert sum(row[6:].count("█") for row in rows) == sum(value < 13 for value in cost)
    assert rows[0][6 + least] == "┊"


def test_curves_lie_over_each_other_and_leave_out_what_is_not_finite() -> None:
    rows = texts(curves([Curve([2, nan, 2], "█"), Curve([2, 2, inf], "+")], 2.0, columns=3, rows=2))
    assert rows == ["   2 │█+█", "   0 │   "]


AMOUNT = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(AMOUNT, max_size=6), AMOUNT, AMOUNT, st.integers(1, 60))
def test_no_amount_breaks_a_bar(parts: list[float], scale: float, mark: float, room: int) -> None:
    for glyphs in (UNICODE, ASCII):
        bar = stacked_bar([(part, glyphs.solid) for part in parts], scale, room, [Mark(mark, glyphs.mark)], glyphs)
        assert line_cells(bar) == room
        assert all(line_cells(row) == room for row in waterfall(parts, scale, room, glyphs))
        assert all(line_cells(row) == room for row in histogram(parts, room, glyphs))
        assert line_cells(passes_bar(scale, mark, glyphs)) == 24
