"""The line editor: keys in, text and cursor out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainplan_tui.text.printable import cells
from trainplan_tui.widgets.line import LineEdit


def played(edit: LineEdit, *keys: str) -> LineEdit:
    for key in keys:
        taken = edit.take(key, key if len(key) == 1 else None)
        assert taken is not None, key
        edit = taken
    return edit


def test_typing_replaces_what_is_selected() -> None:
    assert played(LineEdit.opened("14.8T"), *"15.6T") == LineEdit("15.6T", 5)


def test_an_arrow_keeps_what_is_selected() -> None:
    assert played(LineEdit.opened("14.8T"), "left", "2") == LineEdit("214.8T", 1)
    assert played(LineEdit.opened("14.8T"), "right", "0") == LineEdit("14.8T0", 6)


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        (["backspace"], "", 0),
        (["end", "backspace"], "ab c", 4),
        (["end", "left", "left", "delete"], "ab d", 3),
        (["end", "ctrl+w"], "ab ", 3),
        (["end", "ctrl+w", "ctrl+w"], "", 0),
        (["end", "left", "ctrl+u"], "d", 0),
        (["home", "delete", "x"], "xb cd", 1),
        (["end", "ctrl+h"], "ab c", 4),
        (["home", "left", "left"], "ab cd", 0),
        (["end", "right"], "ab cd", 5),
    ],
)
def test_keys(keys: list[str], text: str, cursor: int) -> None:
    assert played(LineEdit.opened("ab cd"), *keys) == LineEdit(text, cursor)


@pytest.mark.parametrize("key", ["enter", "escape", "tab", "up", "down", "ctrl+c", "pageup"])
def test_other_keys_are_not_taken(key: str) -> None:
    assert LineEdit("1", 1).take(key, None) is None
    assert LineEdit("1", 1).take("enter", "\r") is None


def test_a_paste_is_its_first_line_with_anything_in_it() -> None:
    assert LineEdit().paste("\n \x1b\n  15T\u200b \nrm -rf\n") == LineEdit("15T", 3)
    assert LineEdit("1", 1).paste("\x1b\n\n") == LineEdit("1", 1)


def test_what_does_not_draw_itself_is_left_out() -> None:
    assert LineEdit().insert("1\x1b[2J\u202e5") == LineEdit("1[2J5", 5)


def test_a_long_line_scrolls_with_its_cursor() -> None:
    edit = LineEdit("abcdefghijklmnop", 16)
    assert edit.view(13) == ("efghijklmnop ", 12)
    assert edit.home().view(13) == ("abcdefghijklm", 0)
    assert LineEdit("15.6T", 5).view(13) == ("15.6T        ", 5)


@given(st.text("a名\x1b é", max_size=20), st.lists(st.sampled_from(["left", "home", "end", "x", "delete", "ctrl+w"])))
def test_the_view_is_always_as_wide_as_its_box(text: str, keys: list[str]) -> None:
    edit = played(LineEdit.opened(text), *keys)
    assert 0 <= edit.cursor <= len(edit.text)
    for width in (2, 5, 13):
        shown, column = edit.view(width)
        assert cells(shown) == width
        assert 0 <= column < width
