"""A text comes out of Markdown as it went in, wherever it stands: in a cell, a heading, a list, a paragraph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.report.conftest import PEN, read

from trainplan.report.markdown import WIDEST, Code, escaped
from trainplan_tui.text.printable import printable

HOSTILE = (
    "a|b",
    "`code`",
    "a`b|c`",
    "\\|",
    "ends in \\",
    "<script>alert(1)</script>",
    "<!-- comment -->",
    "&amp; &#x3c; &lt;",
    "**bold** _it_ ~~gone~~ ***",
    "$x$ and $5 to $6",
    "[text](http://example.org) ![x](y) [^1]",
    "[ ] task",
    "# head",
    "heading #",
    "- entry",
    "+ entry",
    "1. entry",
    "2) entry",
    "> quoted",
    "---",
    "===",
    "```",
    "~~~",
    "    indented",
    "| a | b |",
    "two\nlines\r\nthree",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202eltr \u200b zero width",
    "資料源",
    "e\u0301 composed",
    "<https://example.org>",
    "a_b_c __d__ _",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_comes_back_as_it_was_and_makes_no_markup(text: str) -> None:
    told = printable(text).strip()
    page = [
        *PEN.heading(1, text),
        *PEN.paragraph(text),
        *PEN.bullets([text, ["first", text]]),
        *PEN.table(("head", text), [("left", text), (text, Code(text)), ((text, Code("a.b"), text), "")]),
    ]
    found = read("\n".join(page))
    assert found.markup == []
    assert found.headings == [(1, told)]
    assert found.paragraphs == [told]
    assert found.entries == [told, "first", told]
    heads, *rows = found.tables[0][1]
    assert [heads, *rows[:2]] == [["head", told], ["left", told], [told, told]]
    assert rows[2] == [f"{printable(text)}a.b{printable(text)}".strip(), ""]


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_stay_in_their_cells(first: str, second: str) -> None:
    found = read("\n".join(PEN.table(("a", "b", "c"), [(first, Code(second), "last")])))
    told = [" ".join(printable(text).split(" ")).strip() for text in (first, second)]
    assert found.markup == []
    assert found.tables[0][1][1] == [*told, "last"]


@given(st.text(max_size=60))
def test_any_text_is_a_heading_an_entry_and_a_paragraph(text: str) -> None:
    found = read("\n".join([*PEN.heading(2, text), *PEN.bullets([text]), *PEN.paragraph(text)]))
    told = printable(text).strip()
    assert found.markup == []
    assert found.headings == [(2, told)]
    assert [one for one in found.entries + found.paragraphs if one] == [told, told][: 2 if told else 0]


def test_a_page_has_no_raw_html_even_where_a_reader_would_take_it() -> None:
    assert escaped("<b>x</b> 1 < 2 <= 3") == "\\<b>x\\</b> 1 < 2 <= 3"


def test_columns_line_up_and_a_long_text_sticks_out_alone() -> None:
    long = "x" * (WIDEST + 1)
    rows = [("資料", "1"), ("ab", "22"), (long, "333")]
    lines = PEN.table(("name", "value"), rows, right=("value",))
    assert lines == [
        "| name | value |",
        "| ---- | ----: |",
        "| 資料 |     1 |",
        "| ab   |    22 |",
        f"| {long} |   333 |",
        "",
    ]


def test_blanks_before_the_last_edge_are_left_out() -> None:
    assert PEN.table(("a", "said"), [("x", "a longer text"), ("y", "")]) == [
        "| a   | said |",
        "| --- | --- |",
        "| x   | a longer text |",
        "| y   |     |",
        "",
    ]


def test_nothing_is_a_table_without_rows_and_a_list_without_entries() -> None:
    assert PEN.table(("a",), []) == PEN.bullets([]) == PEN.paragraph("  ") == []
