"""The glyphs of the drawings in two sets, chosen once at start.

Unicode is used only where the locale can carry it and the terminal can draw it; the ASCII set says the same things.
It refuses symbols that some terminals draw two cells wide, eighth blocks, braille and emoji.
Letters and `!` of severity are the same in both sets, so they are not here.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainplan.frozen import frozen


@frozen
class Glyphs:
    """One glyph set. Every value is one cell wide, but `half`."""

    more: str = "…"  # text was cut here
    choice: str = "▾"
    rule: str = "─"
    wall: str = "│"
    branch: str = "├"
    corner: str = "└"
    mark: str = "┊"  # target, limit, interval in use
    usable: str = "│"
    goes_on: str = "»"
    heavy: str = "━"
    zero: str = "╷"
    half: str = "½"
    unequal: str = "≠"
    dot: str = "·"
    ticked: str = "✓"
    crossed: str = "✗"
    solid: str = "█"
    stale: str = "▒"
    open: str = "░"
    activations: str = "█"
    weights: str = "▓"
    logits: str = "▒"
    gradients: str = "▚"
    optimizer: str = "▞"
    rest: str = "░"
    saving: str = "·"
    lost: str = "+"
    down: str = "↓"
    up: str = "↑"
    left: str = "←"
    right: str = "→"


UNICODE = Glyphs()

ASCII = Glyphs(
    more=">",
    choice="v",
    rule="-",
    wall="|",
    branch="|",
    corner="`",
    mark=":",
    usable="|",
    goes_on=">",
    heavy="=",
    zero="|",
    half="1/2",
    unequal="!",
    dot=".",
    ticked="o",
    crossed="x",
    solid="#",
    stale="+",
    open="-",
    activations="#",
    weights="=",
    logits="+",
    gradients="%",
    optimizer="*",
    rest="-",
    saving=".",
    lost="+",
    down="v",
    up="^",
    left="<",
    right=">",
)

_PLAIN_TERMINALS = frozenset({"", "dumb", "unknown", "linux", "vt52", "vt100", "vt102", "vt220", "cons25"})


def glyphs_for(environment: Mapping[str, str], *, ascii_only: bool = False) -> Glyphs:
    """The set for a terminal: ASCII when asked, when TERM cannot draw more, or when the locale is not UTF-8."""
    if ascii_only or environment.get("TERM", "") in _PLAIN_TERMINALS or not _speaks_utf8(environment):
        return ASCII
    return UNICODE


def _speaks_utf8(environment: Mapping[str, str]) -> bool:
    """The locale that counts is the first one set and not empty (POSIX, Base Definitions 8.2)."""
    locale = next((environment[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(name)), "")
    return locale.lower().replace("-", "").partition("@")[0].endswith("utf8")
