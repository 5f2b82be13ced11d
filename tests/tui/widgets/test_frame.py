"""The rows of the frame, held to the drawings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainplan_tui.text.glyphs import ASCII
from trainplan_tui.text.spans import line_cells, line_text
from trainplan_tui.widgets.frame import Entry, PaneName, footer, layout, panes_row, rule, scrolled, small_window
from trainplan_tui.widgets.strip import StripParts, Told, strip

PARTS = StripParts(
    "llama31-8b",
    unsaved=True,
    edits="1 edit",
    room=Told("16.6GiB", "16.6 GiB"),
    share="79.0 %",
    date=Told("31 Dec", "31 Dec 2026"),
    date_moved=Told("+1.2d", "+1.2 d"),
    cost=Told("$1.48M", "$1.479M"),
    cost_moved=Told("+75k", "+$75k"),
    warnings=5,
    signed="5/10",
    signed_moved="-2",
    pilot="3/7",
)
NAMES = [
    PaneName(*words)
    for words in [
        ("1", "Overview", "Overview"),
        ("2", "Tokens", "Tokens"),
        ("3", "Compute", "Compute"),
        ("4", "Memory", "Memory"),
        ("5", "Mesh", "Parallelism"),
        ("6", "Storage", "Storage"),
        ("7", "Faults", "Reliability"),
        ("8", "Eval", "Evaluation"),
        ("9", "Pilot", "Pilot"),
        ("0", "Ready", "Readiness"),
    ]
]
KEYS = [
    Entry(*text.split(" "))
    for text in ["enter edit", "x explain", "v view", "/ find", "! finding", "d diff", "u undo", "w save", "? help"]
]
DRAWN = {
    60: "*llama31-8b 16.6GiB free  31 Dec  $1.48M  0E 5W  5/10",
    80: "*llama31-8b  16.6GiB free  P50 31 Dec +1.2d  $1.48M +75k  0E 5W  signed 5/10 -2",
    160: "*llama31-8b  1 edit    fits, 16.6 GiB free (79.0 %)    P50 31 Dec 2026 +1.2 d    P50 cost $1.479M +$75k"
    "    0 errors  5 warnings    signed 5/10 -2    pilot 3/7",
}


@pytest.mark.parametrize("width", DRAWN)
def test_the_strip_is_as_drawn(width: int) -> None:
    line = strip(PARTS, width)
    assert line_cells(line) == width
    assert line_text(line).rstrip() == DRAWN[width]


@pytest.mark.parametrize("width", DRAWN)
def test_a_pending_strip_keeps_the_place_of_the_counts_and_what_follows_blank(width: int) -> None:
    told, pending = line_text(strip(PARTS, width)), line_text(strip(replace(PARTS, pending=True), width))
    assert len(told) == len(pending)
    assert told.startswith(pending.rstrip())
    assert pending != told
    assert "0E" in told or "error" in told
    assert "signed" not in pending
    assert "E" not in pending.replace("GiB", "")


def test_the_strip_that_does_not_fit_is_as_drawn() -> None:
    over = replace(
        PARTS,
        room=Told("13.3GiB"),
        over=True,
        date=Told("29 Dec"),
        date_moved=Told(),
        cost=Told("$1.40M"),
        cost_moved=Told(),
        errors=1,
        warnings=4,
        signed="6/10",
        signed_moved="-1",
    )
    drawn = "*llama31-8b  13.3GiB OVER  P50 29 Dec  $1.40M  1E 4W  signed 6/10 -1"
    line = strip(over, 80)
    assert line_text(line).rstrip() == drawn
    assert [span.role for span in line if "OVER" in span.text] == ["error"]
    missing = replace(PARTS, unsaved=False, problem="no date: utilization missing", errors=2, signed="7/10")
    assert "free  no date: utilization missing  2E 5W  signed 7/10" in line_text(strip(missing, 80))


def test_what_is_dropped_is_dropped_in_order() -> None:
    orders = ["-2", "+75k", "+1.2d", "signed", "P50", "$1.48M", "5/10"]
    present: list[set[str]] = []
    for letters in range(10, 60):
        text = line_text(strip(replace(PARTS, name="n" * letters), 80))
        present.append({word for word in orders if word in text})
    for words in present:
        assert words == set(orders[len(orders) - len(words) :]), words


def test_some_words_are_never_dropped() -> None:
    for width in range(60, 200):
        text = line_text(strip(replace(PARTS, name="n" * 90, unsure=True), width))
        assert len(text) == width
        assert text.startswith("*nnnnnn")
        assert all(word in text for word in ("free", "31 Dec", "5W" if width < 100 else "5 warnings", "?")), text


@pytest.mark.parametrize(
    ("width", "current", "drawn"),
    [
        (79, 3, "1 2 3 [4Memory] 5 6 7 8 9 0"),
        (80, 0, "[1Overview]2Tokens 3Compute 4Memory 5Mesh 6Storage 7Faults 8Eval 9Pilot 0Ready"),
        (80, 3, " 1Overview 2Tokens 3Compute[4Memory]5Mesh 6Storage 7Faults 8Eval 9Pilot 0Ready"),
        (80, 9, " 1Overview 2Tokens 3Compute 4Memory 5Mesh 6Storage 7Faults 8Eval 9Pilot[0Ready]"),
        (
            160,
            3,
            " 1 Overview  2 Tokens !1  3 Compute !1  [4 Memory]  5 Parallelism  6 Storage  7 Reliability !1"
            "  8 Evaluation !1  9 Pilot !1  0 Readiness",
        ),
    ],
)
def test_the_panes_row_is_as_drawn(width: int, current: int, drawn: str) -> None:
    line = panes_row(NAMES, current, ["", "!1", "!1", "", "", "", "!1", "!1", "!1", ""], width)
    assert line_text(line).rstrip() == drawn
    assert line_cells(line) == width


def test_the_footer_is_as_drawn() -> None:
    drawn = "enter edit  x explain  v view  / find  ! finding  d diff  u undo  w save  ? help"
    assert line_text(footer(KEYS, 80)) == drawn
    entries = [Entry("enter", "take it"), Entry("esc", "leave it as 1"), Entry("ctrl+u", "clear")]
    drawn = " editing   enter take it   esc leave it as 1   ctrl+u clear"
    assert line_text(footer(entries, 80, mode="editing")).rstrip() == drawn


def test_the_footer_never_drops_its_first_and_last_key() -> None:
    for width in range(20, 100):
        text = line_text(footer(KEYS, width))
        assert len(text) == width
        assert "enter edit" in text
        assert text.rstrip().endswith("? help")
        assert set(text.strip().split("  ")) <= {entry.text for entry in KEYS}


def test_a_result_takes_the_left_part_of_the_footer() -> None:
    text = line_text(footer(KEYS, 80, message="saved llama31-8b.toml, 1 line changed"))
    assert text.startswith(" saved llama31-8b.toml, 1 line changed ")
    assert text.endswith("? help")
    assert line_text(footer(KEYS, 80, message="x" * 70)) == " " + "x" * 70 + "  " + "? help".rjust(7)
    assert line_text(footer(KEYS, 80, message="x" * 76)).rstrip() == " " + "x" * 76, "the message needs all the room"
    assert line_text(footer(KEYS, 80, message="x" * 90)).endswith("x…")


def test_the_rule_is_as_drawn() -> None:
    drawn = "── data.train_tokens ──────────────────────────────────────────── row 1 of 20 ──"
    assert line_text(rule("data.train_tokens", 80, "row 1 of 20")) == drawn
    assert line_text(rule("memory.total", 80, "row 1 of 22", ASCII)).isascii()
    assert len(line_text(rule("t" * 90, 80, "row 1 of 20"))) == 80


def test_a_small_window_says_what_is_needed() -> None:
    rows = [line_text(row).rstrip() for row in small_window(52, 14, strip(PARTS, 52), [Entry("w", "save")])]
    assert rows[0] == "60x15 is the least; this is 52x14."
    assert rows[1] == "*llama31-8b  16.6GiB free  31 Dec  0E 5W", "as drawn"
    assert rows[2] == "w save"
    assert small_window(10, 1, strip(PARTS, 10), [])


def test_rows_of_the_window_are_as_drawn() -> None:
    rows = layout(24)
    assert (rows.body, rows.rule, rows.inspector, rows.footer) == (range(3, 20), range(20, 21), range(21, 23), 23)
    sheet = layout(24, 9)
    assert (sheet.body, sheet.sheet, sheet.rule, sheet.inspector) == (range(3, 14), range(14, 23), range(0), range(0))


@pytest.mark.parametrize("height", range(15, 60))
@pytest.mark.parametrize("sheet", [0, 1, 2, 5, 9, 80])
def test_rows_of_the_window_cover_it_once(height: int, sheet: int) -> None:
    rows = layout(height, sheet)
    covered = [0, 1, 2, *rows.body, *rows.rule, *rows.inspector, *rows.sheet, rows.footer]
    assert covered == list(range(height))
    assert len(rows.body) >= 3


def test_the_body_scrolls_by_the_least() -> None:
    assert scrolled(0, 11, 10, 20) == 0
    assert scrolled(0, 11, 11, 20) == 1
    assert scrolled(5, 11, 2, 20) == 2
    assert scrolled(9, 17, 9, 20) == 3
