"""What a terminal sends becomes the keys that were pressed, however they were packed."""

from __future__ import annotations

import pytest

from trainplan_tui.keys import key_name
from trainplan_tui.widgets.driver import Presses


def pressed(text: str) -> list[str]:
    """The names of the keys in one packet, after which nothing more comes."""
    parser = Presses()
    return [key_name(key.key, key.character) for key in [*parser.feed(text), *parser.feed("")]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("letter", [chr(code) for code in range(33, 127) if chr(code) not in "bf"] + ["é"])
def test_an_escape_and_a_character_in_one_packet_are_two_keys(letter: str) -> None:
    assert pressed("\x1b" + letter) == ["esc", letter]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("\x1b ", ["esc", "space"]),
        ("\x1b\r", ["esc", "enter"]),
        ("\x1b\x13", ["esc", "ctrl+s"]),
        ("\x1b", ["esc"]),
        ("\x1b\x1b", ["esc", "esc"]),
        ("\x1b?\x1b", ["esc", "?", "esc"]),
        ("\x1b?\x1b[B", ["esc", "?", "down"]),
        ("\x1b:\x1b:", ["esc", ":", "esc", ":"]),
        ("\x1b/abc", ["esc", "/", "a", "b", "c"]),
        ("\x1b/" + "n" * 60, ["esc", "/", *"n" * 60]),
        ("\x1b[A\x1bOA\x1b[Z", ["up", "up", "shift+tab"]),
        ("\x1b\x7f", ["ctrl+w"]),
    ],
)
def test_packets(text: str, keys: list[str]) -> None:
    assert pressed(text) == keys
