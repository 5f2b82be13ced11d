"""Six roles and what colour each has: by theme and by what the terminal can show.

No role is the only sign of anything, so "no colour" loses nothing. The background is always the terminal's own.
Values and their contrast are those of the drawings (5.69 or more against #101418 and #ffffff).
It refuses to import a terminal library: Textual reads its settings at import, so they are set here before it.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from typing import Literal, TypeAlias

from trainplan.frozen import frozen
from trainplan_tui.text.spans import Look, Role

Theme: TypeAlias = Literal["terminal-dark", "terminal-light", "dark", "light"]
Depth: TypeAlias = Literal["none", "16", "256", "truecolor"]
THEMES: tuple[Theme, ...] = ("terminal-dark", "terminal-light", "dark", "light")


@frozen
class Shade:
    """One role in every depth: `#rrggbb`, palette numbers, a name of the 16, or None for the terminal's own text."""

    truecolor: str | None
    indexed: str | None
    named: str | None
    bold: bool = False


_PLAIN = Shade(None, None, None)
_DARK: dict[Role, Shade] = {
    "text": _PLAIN,
    "dim": Shade("#8a8f98", "color(245)", None),
    "edit": Shade("#7fb4ff", "color(111)", "cyan"),
    "moved": Shade("#c9a0ff", "color(183)", "magenta"),
    "warn": Shade("#ffb454", "color(215)", "yellow"),
    "error": Shade("#ff7b72", "color(210)", "red", bold=True),
}
_LIGHT: dict[Role, Shade] = {
    "text": _PLAIN,
    "dim": Shade("#5b6068", "color(59)", None),
    "edit": Shade("#005faf", "color(25)", "blue"),
    "moved": Shade("#7a2fa0", "color(91)", "magenta"),
    "warn": Shade("#8a5a00", "color(94)", None, bold=True),
    "error": Shade("#b00020", "color(124)", "red", bold=True),
}


@frozen
class Ink:
    """What a cell is drawn with. An ink equal to `Ink()` needs no escape at all."""

    colour: str | None = None
    bold: bool = False
    reverse: bool = False
    underline: bool = False


@frozen
class Palette:
    """The looks of one session, as inks."""

    theme: Theme = "dark"
    depth: Depth = "truecolor"

    def ink(self, look: Look) -> Ink:
        """The ink of a look. Reversed cells drop their colour: focus is reverse video and nothing else."""
        return _ink(self.theme, self.depth, look)


@lru_cache(maxsize=512)
def _ink(theme: Theme, depth: Depth, look: Look) -> Ink:
    shade = _shade(theme, look.role)
    if look.reverse or depth == "none":
        return Ink(None, look.bold, look.reverse, look.underline)
    if depth == "16" or theme.startswith("terminal"):
        return Ink(shade.named, look.bold or shade.bold, False, look.underline)
    colour = shade.truecolor if depth == "truecolor" else shade.indexed
    return Ink(colour, look.bold, False, look.underline)


def _shade(theme: Theme, role: Role) -> Shade:
    return (_LIGHT if theme.endswith("light") else _DARK)[role]


def depth_for(environment: Mapping[str, str]) -> Depth:
    """What the terminal can show. NO_COLOR counts when it is set, even empty; COLORTERM and TERM say the rest."""
    term = environment.get("TERM", "")
    if "NO_COLOR" in environment or term.endswith("-m") or term == "dumb":
        return "none"
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return "truecolor"
    return "256" if term.endswith("-256color") or term == "xterm-kitty" else "16"


_COLOUR_SYSTEMS: dict[Depth, str] = {"none": "standard", "16": "standard", "256": "256", "truecolor": "truecolor"}


def prepare_environment(environment: MutableMapping[str, str], theme: Theme) -> Palette:
    """Set what Textual reads at import, and answer with the palette of the session.

    To be called once, with `os.environ`, before anything imports textual. What the user has set stays, but two:
    the theme, whose background must be the terminal's own, and the colour system, which must agree with the palette.
    NO_COLOR stays set: Textual then drops the last colours itself.
    """
    depth = depth_for(environment)
    for name, value in _SETTINGS.items():
        environment.setdefault(name, value)
    environment["TEXTUAL_THEME"] = "ansi-light" if theme.endswith("light") else "ansi-dark"
    environment["TEXTUAL_COLOR_SYSTEM"] = _COLOUR_SYSTEMS[depth]
    return Palette(theme, depth)


_SETTINGS = {
    "TEXTUAL_ANIMATIONS": "none",
    "TEXTUAL_SMOOTH_SCROLL": "0",
    "TEXTUAL_DISABLE_KITTY_KEY": "1",
    "TEXTUAL_SPEEDUPS": "0",
}
