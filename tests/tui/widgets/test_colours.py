"""Glyph sets and inks: chosen from the environment, and readable on both backgrounds."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from trainplan_tui.text.colours import THEMES, Depth, Ink, Palette, depth_for, prepare_environment
from trainplan_tui.text.glyphs import ASCII, UNICODE, Glyphs, glyphs_for
from trainplan_tui.text.spans import ROLES, Look, Role


@pytest.mark.parametrize(
    ("environment", "glyphs"),
    [
        ({"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}, UNICODE),
        ({"TERM": "tmux-256color", "LC_ALL": "C.utf8"}, UNICODE),
        ({"TERM": "xterm", "LANG": "C"}, ASCII),
        ({"TERM": "xterm", "LC_ALL": "POSIX", "LANG": "en_GB.UTF-8"}, ASCII),
        ({"TERM": "xterm", "LANG": "de_DE.ISO-8859-1@euro"}, ASCII),
        ({"TERM": "linux", "LANG": "en_GB.UTF-8"}, ASCII),
        ({"TERM": "vt100", "LANG": "en_GB.UTF-8"}, ASCII),
        ({"LANG": "en_GB.UTF-8"}, ASCII),
    ],
)
def test_glyphs_follow_locale_and_terminal(environment: dict[str, str], glyphs: Glyphs) -> None:
    assert glyphs_for(environment) == glyphs
    assert glyphs_for(environment, ascii_only=True) == ASCII


def test_glyph_sets_are_one_cell_and_ascii_is_ascii() -> None:
    assert all(len(glyph) == 1 for glyph in astuple(UNICODE))
    assert all(glyph.isascii() for glyph in astuple(ASCII))
    assert [glyph for glyph in astuple(ASCII) if len(glyph) != 1] == ["1/2"]


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "screen"}, "16"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": ""}, "none"),
    ],
)
def test_depth_follows_the_environment(environment: dict[str, str], depth: Depth) -> None:
    assert depth_for(environment) == depth


def test_without_colour_every_role_is_plain() -> None:
    for theme in THEMES:
        assert {Palette(theme, "none").ink(Look(role)) for role in ROLES} == {Ink()}


def test_reverse_drops_the_role() -> None:
    assert Palette().ink(Look("error", reverse=True)) == Ink(reverse=True)


@pytest.mark.parametrize(("theme", "background"), [("dark", "#101418"), ("light", "#ffffff")])
def test_contrast_is_that_of_the_drawings(theme: str, background: str) -> None:
    """The drawings say 5.7; dim on dark is 5.693, the least of all. The floor of WCAG 2.1 AA is 4.5."""
    for role in ROLES[1:]:
        colour = Palette("light" if theme == "light" else "dark").ink(Look(role)).colour
        assert colour
        assert _contrast(colour, background) >= 5.69, f"{role} on {background}"


def test_roles_differ_in_every_theme_that_has_colour() -> None:
    coloured: tuple[Role, ...] = ("edit", "moved", "warn", "error")
    for theme in THEMES:
        for depth in ("truecolor", "256", "16"):
            palette = Palette(theme, depth)
            assert len({palette.ink(Look(role)) for role in coloured}) == len(coloured)


def test_the_environment_is_prepared_and_the_users_choices_stay() -> None:
    environment = {"TERM": "xterm", "TEXTUAL_ANIMATIONS": "full"}
    palette = prepare_environment(environment, "terminal-light")
    assert palette == Palette("terminal-light", "16")
    assert environment["TEXTUAL_ANIMATIONS"] == "full"
    assert environment["TEXTUAL_THEME"] == "ansi-light"
    assert environment["TEXTUAL_DISABLE_KITTY_KEY"] == "1"


def _contrast(one: str, other: str) -> float:
    """Contrast of two colours, WCAG 2.1, definition of contrast ratio."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
