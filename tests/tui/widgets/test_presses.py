"""What a terminal sends becomes the keys that were pressed, however they were packed."""

from __future__ import annotations

import pytest
from textual.events import Paste

from trainplan_tui.keys import key_name
from trainplan_tui.widgets.presses import CUT, Presses


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


@pytest.mark.parametrize(
    "report",
    [
        "\x1b[24;80R",  # the cursor's place
        "\x1b[?62;22c",  # device attributes, the first, the second, the third
        "\x1b[>41;388;0c",
        "\x1bP!|7E565445\x1b\\",
        "\x1b[0n",
        "\x1b[I",  # focus
        "\x1b[O",
        "\x1b[<0;30;12M",  # the mouse, in both ways
        "\x1b[<35;30;12m",
        "\x1b[M !w",
        "\x1b]11;rgb:0000/0000/0000\x07",  # a colour, the clipboard
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]52;c;d3dx\x07",
        "\x1bP>|XTerm(388)\x1b\\",
        "\x1bP1+r544e=787465726d\x1b\\",
        "\x1b_Gi=31;OK\x1b\\",
        "\x1b[8;24;80t",
        "\x1b[?1u",
        "\x1b[?997;1n",
        "\x1bO2P",  # shift and F1, as Konsole writes it
    ],
)
def test_a_report_that_nobody_asked_for_is_no_key(report: str) -> None:
    assert pressed(report) == []
    assert pressed(f"j{report}k") == ["j", "k"]
    parser = Presses()
    assert [event for part in report for event in parser.feed(part)] == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("\x1b[j", ["esc", "[", "j"]),
        ("\x1b[[x", ["esc", "[", "[", "x"]),
        ("\x1b]", ["esc", "]"]),
        ("\x1b]1", ["esc", "]", "1"]),
        ("\x1bO", ["esc", "O"]),
        ("\x1b]l", ["esc", "]", "l"]),
        ("\x1bP", ["esc", "P"]),
    ],
)
def test_keys_that_begin_as_a_report_does_are_keys(text: str, keys: list[str]) -> None:
    assert pressed(text) == keys


def test_what_is_held_too_long_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Presses()
    assert [*parser.feed("\x1b]11;rgb:00"), *parser.tick()] == []
    monkeypatch.setattr("trainplan_tui.widgets.presses.CUT", -1)
    assert list(parser.tick()) == []
    assert [event.key for event in parser.feed("w")] == ["w"]  # type: ignore[attr-defined]
    assert CUT > 0


def test_a_paste_with_escapes_in_it_is_one_text_and_no_key() -> None:
    parser = Presses()
    found = list(parser.feed("\x1b[200~ab\x1bqqqq\x1b[31mred" + "w" * 60 + "\x1b[201~j"))
    assert isinstance(found[0], Paste)
    assert found[0].text == "ab\x1bqqqq\x1b[31mred" + "w" * 60
    assert [event.key for event in found[1:]] == ["j"]  # type: ignore[attr-defined]


def test_a_paste_whose_end_was_lost_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Presses()
    assert list(parser.feed("\x1b[200~abc")) == []
    monkeypatch.setattr("trainplan_tui.widgets.presses.CUT", -1)
    assert [event.text for event in parser.tick()] == ["abc"]  # type: ignore[attr-defined]
    assert [event.key for event in parser.feed("j")] == ["j"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("long text w", " rest wq\x1b[201~"),
        ("abc\x1b[20", "1~"),
        ("abc", "\x1b[201~"),
        ("abc", "d\x1be wq\x1b[201~"),
    ],
)
def test_what_follows_a_paste_that_stood_still_is_pasted_too(
    monkeypatch: pytest.MonkeyPatch, first: str, rest: str
) -> None:
    parser, found = Presses(), list[object]()
    found += parser.feed("\x1b[200~" + first)
    monkeypatch.setattr("trainplan_tui.widgets.presses.CUT", -1)
    found += parser.tick()
    found += parser.tick()
    found += parser.feed(rest)
    assert all(isinstance(event, Paste) for event in found)
    assert "".join(event.text for event in found if isinstance(event, Paste)) == (first + rest).removesuffix(
        "\x1b[201~"
    )
    assert [event.key for event in parser.feed("j")] == ["j"]  # type: ignore[attr-defined]
