"""Quantities as people write and read them: text to base units, base units to text.

Parsing is per dimension, so a time is never read as a count. Case counts: `M` is mega and `m` is nothing. What cannot be read
raises `UnitError` with what would be right; nothing is guessed.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.frozen import frozen

DECIMAL: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
BINARY: Final = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
SIZE: Final = {f"{k}B": v for k, v in (DECIMAL | BINARY).items() if k != "B"}
RATE: Final = {f"{k}/s": v for k, v in SIZE.items()} | {
    f"{k}b/s": v / 8 for k, v in (DECIMAL | BINARY).items() if k != "B"
}
FLOP_RATE: Final = {k: v for k, v in DECIMAL.items() if k != "B"} | {
    f"{k}FLOP/s": v for k, v in DECIMAL.items() if k != "B"
}
TIME: Final = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
COUNT: Final = DECIMAL | BINARY
BILLION: Final = {"G": "B"}
"""What a prefix is called behind a count: people write 820B tokens, and 50 GB/s."""
POWERS: Final = {
    float(f"1e{power}") / bits: (power, bits) for power in (-3, 3, 6, 9, 12, 15, 18) for bits in (1.0, 8.0)
}
"""Powers of ten, and the bits of a byte where they are told, by the factors that these make."""
LONGEST_EXPONENT: Final = 6
"""Digits of an exponent that is added to a power: with more of them a number is endless or nothing, whatever its suffix."""

_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@frozen
class Dimension:
    """What a text may say: the suffixes with their factors, an example, and whether several terms are summed."""

    unit: str
    suffixes: dict[str, float]
    example: str
    summed: bool = False


DIMENSIONS: Final = {
    "1": Dimension("1", COUNT, "128 or 8Ki"),
    "tokens": Dimension("tokens", COUNT, "15.6T or 15.6e12"),
    "money": Dimension("money", COUNT, "1.8M or 1_800_000"),
    "bytes": Dimension("bytes", SIZE, "80GiB or 1.5TB"),
    "bytes/s": Dimension("bytes/s", RATE, "400Gb/s or 50GB/s"),
    "FLOP/s": Dimension("FLOP/s", FLOP_RATE, "989T"),
    "s": Dimension("s", TIME, "3d 4h or 15min", summed=True),
    "share": Dimension("share", {"": 1.0}, "0.40"),
}


class UnitError(ValueError):
    """A text that is no quantity of its dimension; `nearest` is a text that would be, or empty."""

    def __init__(self, message: str, nearest: str = "") -> None:
        super().__init__(message)
        self.nearest = nearest


class Quantity(float):
    """A number in base units that keeps how the person wrote it; `text` is empty when it was written as a number."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, value: float, text: str = "") -> Quantity:
        quantity = super().__new__(cls, value)
        quantity.text = text
        return quantity


def parse(text: str, dimension: str) -> float:
    """The number of base units that `text` says, read as `dimension` (a key of DIMENSIONS). Raises UnitError."""
    kind = DIMENSIONS[dimension]
    terms = text.split() if kind.summed else [text.strip()]
    if not terms or not terms[0]:
        raise UnitError(f"empty. {_wanted(kind)}")
    if kind.summed:
        terms = _joined(text)
    return _sum(_term(term, kind, text) for term in terms)


def whole_number(text: str) -> int | None:
    """A count written in ASCII digits alone, below 10^15 as every count of this field; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def _sum(terms: object) -> float:
    value = 0.0
    for term in terms:  # type: ignore[attr-defined]
        value += term
    return value


def _joined(text: str) -> list[str]:
    """`3d 4h`, `11min 23s` and `3 d` as terms: a number and the suffix after it."""
    return [piece.replace(" ", "") for piece in re.findall(r"[^\sA-Za-z]+\s*[A-Za-z]*|[A-Za-z]\S*", text)]


def _term(term: str, kind: Dimension, text: str) -> float:
    found = _NUMBER.match(term)
    if found is None or "__" in found[0] or found[0].endswith("_"):
        raise UnitError(f"{_not(kind)}. {_wanted(kind)}", _nearest(text, kind))
    number, suffix = found[0].replace("_", ""), term[found.end() :].strip()
    if suffix not in kind.suffixes or (kind.summed and not suffix and text.strip() != term):
        raise UnitError(f"{_not(kind)}. {_wanted(kind)}", _nearest(text, kind))
    return _times(number, kind.suffixes[suffix])


def _times(number: str, factor: float) -> float:
    """A number as it is written times the factor of its suffix: rounded once where that is a power of ten, so 16.4T is whole."""
    digits, _, exponent = number.lower().partition("e")
    if factor not in POWERS or len(exponent) > LONGEST_EXPONENT:
        return float(number) * factor
    power, bits = POWERS[factor]
    return float(f"{digits}e{int(exponent or 0) + power}") / bits


def _not(kind: Dimension) -> str:
    return {"1": "not a number", "share": "not a number", "money": "not an amount"}.get(kind.unit, f"not {_noun(kind)}")


def _noun(kind: Dimension) -> str:
    return {
        "tokens": "a number of tokens",
        "bytes": "a size in bytes",
        "bytes/s": "a rate in bytes or bits",
        "FLOP/s": "a rate in FLOP/s",
        "s": "a time",
        "money": "an amount",
    }.get(kind.unit, "a number")


def _wanted(kind: Dimension) -> str:
    return f"{_noun(kind)[0].upper()}{_noun(kind)[1:]} such as {kind.example}"


_WORDS: Final = {"thousand": "k", "million": "M", "billion": "B", "trillion": "T"}


_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(?![\d,])")
"""Commas that set thousands apart; any other one stands for the point."""


def _nearest(text: str, kind: Dimension) -> str:
    """The text with its suffix put right: other case, a word for a prefix, a forgotten `B` or `/s`, a comma."""
    stripped = text.strip()
    stripped = stripped.replace(",", "") if _GROUPED.match(stripped) else stripped.replace(",", ".")
    found = _NUMBER.match(stripped)
    if found is None:
        return ""
    number, suffix = found[0].rstrip("_"), stripped[found.end() :].strip()
    if kind.unit == "share" and suffix == "%":
        return f"{float(number) / 100:g}"
    suffix = _WORDS.get(suffix.lower(), suffix)
    tries = (suffix, suffix + "B", suffix + "B/s", suffix.replace("ps", "/s"), suffix.removesuffix("tokens").strip())
    for known in kind.suffixes:
        if known in tries:
            return number + known
    for known in kind.suffixes:
        if any(known.lower() == one.lower() for one in tries):
            return number + known
    return ""


def prefixed(value: float, digits: int = 4) -> tuple[str, str]:
    """`value` with a decimal prefix as people read it: (number with `digits` significant digits, prefix)."""
    for prefix, factor in (("Y", 1e24), ("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if abs(value) >= factor * (1 - 0.5 * 10**-digits):
            return significant(value / factor, digits), prefix
    return significant(value, digits), ""


def amount(value: float, digits: int = 4) -> str:
    """Tokens or parameters with a prefix, as people type them: 15.6T, 820B; whole below 100,000, no idle zeros."""
    if abs(value) < 99_999.5:
        return "<1" if 0 < value < 0.5 else whole(value)
    number, prefix = prefixed(value, digits) if abs(value) >= 999_950 else (significant(value / 1e3, digits), "k")
    return f"{without_zeros(number)}{BILLION.get(prefix, prefix)}"


def amounts(*values: float) -> list[str]:
    """Amounts of one sentence; all in full where two that differ would look the same."""
    told = [amount(value) for value in values]
    return [whole(value) for value in values] if len(set(told)) < len(set(values)) else told


def without_zeros(number: str) -> str:
    """A number without zeros at the end of its digits after the point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def significant(value: float, digits: int) -> str:
    """`value` with `digits` significant digits, thousands commas, never in scientific notation."""
    if value == 0:
        return "0"
    shown = f"{value:.{digits - 1}e}"
    exponent = int(shown.split("e")[1])
    return f"{float(shown):,.{max(0, digits - 1 - exponent)}f}"


def whole(value: float) -> str:
    """A count with thousands commas."""
    return f"{value:,.0f}"


def numbered(count: float, noun: str) -> str:
    """A count with its noun, which takes an s but for one."""
    return f"{whole(count)} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> tuple[str, str]:
    """A time as (number, unit) in the rules of the screens: ms, s, min with s, h, d."""
    size = abs(seconds)
    if size >= 2 * 86400:
        return significant(seconds / 86400, 4), "d"
    if size >= 3600:
        return significant(seconds / 3600, 3), "h"
    if size >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}min {rest}s", ""
    return (significant(seconds, 4), "s") if size >= 1 or size == 0 else (significant(seconds * 1e3, 4), "ms")


def time_said(seconds: float) -> str:
    """A time in one text, without seconds that are none: `15min`, `26.53 d`."""
    return " ".join(duration(seconds)).strip().removesuffix(" 0s")
