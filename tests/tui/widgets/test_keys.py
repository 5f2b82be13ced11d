"""The key table and a user's key file."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan_tui.keyfile import key_file, keymap, remapped
from trainplan_tui.keys import KEYS, Keymap, key_name


def test_ids_are_unique_and_no_place_has_a_key_twice() -> None:
    assert len({key.id for key in KEYS}) == len(KEYS)
    assert remapped({}).problems == ()


def test_every_control_key_has_a_plain_twin_but_the_terminals_own() -> None:
    only_control = {key.id for key in KEYS if key.keys and all(name.startswith("ctrl+") for name in key.keys)}
    assert only_control == {"suspend", "cancel", "redraw"}


@pytest.mark.parametrize(
    ("key", "character", "name"),
    [
        ("question_mark", "?", "?"),
        ("plus", "+", "+"),
        ("minus", "-", "-"),
        ("G", "G", "G"),
        ("space", " ", "space"),
        ("escape", None, "esc"),
        ("escape", "\x1b", "esc"),
        ("pagedown", None, "pgdn"),
        ("ctrl+h", "\x08", "backspace"),
        ("ctrl+i", "\t", "tab"),
        ("ctrl+m", "\r", "enter"),
        ("ctrl+s", "\x13", "ctrl+s"),
        ("shift+tab", None, "shift+tab"),
    ],
)
def test_names_of_keys(key: str, character: str | None, name: str) -> None:
    assert key_name(key, character) == name


def test_what_a_key_does_depends_on_the_place() -> None:
    table = Keymap()
    assert table.action("j", []) == "row.next"
    assert table.action("F", []) is None
    assert table.action("F", ["mesh"]) == "mesh.search"
    assert table.action("ctrl+q", ["navigate", "rows"]) is None
    assert table.shown("file.save") == "w"
    with pytest.raises(KeyError):
        table.of("file.sve")


def test_a_key_file_moves_and_switches_off(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('row.next = "t down"\n"row.previous" = ["n", "up"]\nfile.save = ""\n', encoding="utf-8")
    table = keymap(path)
    assert table.action("t", []) == "row.next"
    assert table.action("j", []) is None
    assert table.action("w", ["navigate"]) is None
    assert table.shown("file.save") == ""
    assert table.problems == ('keys.toml: "n" is both row.previous and find.next; it does row.previous',)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('row.nxt = "j"', 'keys.toml: unknown id "row.nxt". Nearest: row.next'),
        ('row.next = "pgdown"', 'keys.toml: row.next is "pgdown". One character, a name such as pgdn'),
        ("row.next = 3", "keys.toml: row.next is 3. A key such as"),
        ("row.next = [1]", "keys.toml: row.next is [1]. A key such as"),
        ('row.next = "alt+j"', 'keys.toml: row.next is "alt+j". One character'),
    ],
)
def test_a_wrong_entry_is_told_and_the_rest_counts(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text + '\nquit = "Q"\n', encoding="utf-8")
    table = keymap(path)
    assert len(table.problems) == 1
    assert table.problems[0].startswith(problem)
    assert table.action("Q", ["navigate"]) == "quit"
    assert table.action("j", []) == "row.next"


def test_a_file_that_cannot_be_read_leaves_the_keys(tmp_path: Path) -> None:
    assert keymap(tmp_path / "none.toml") == Keymap()
    broken = tmp_path / "keys.toml"
    broken.write_text("row.next = \x1b]0;x", encoding="utf-8")
    assert "not TOML" in keymap(broken).problems[0]
    assert "\x1b" not in keymap(broken).problems[0]
    broken.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in keymap(broken).problems[0]
    assert "not read" in keymap(tmp_path).problems[0]


def test_the_key_file_is_in_the_config_folder() -> None:
    home = Path("/home/kim")
    assert key_file({}, home) == home / ".config/trainplan-tui/keys.toml"
    assert key_file({"XDG_CONFIG_HOME": "/etc/kim"}, home) == Path("/etc/kim/trainplan-tui/keys.toml")
    assert key_file({"XDG_CONFIG_HOME": "kim"}, home) == home / ".config/trainplan-tui/keys.toml"
