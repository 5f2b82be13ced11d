"""The kinds of field that a plan has: how a value is read, what it may be, and how the schema describes it.

A reader takes what TOML gave (text or a number) and returns a `Quantity` in base units with the person's spelling; what it
refuses says what would be right. What relates two fields is not looked at here: that is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

from pydantic import ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainplan.quantity.unit import DIMENSIONS, Quantity, UnitError, parse

INT64: Final = 2.0**63


def refusal(wanted: str, nearest: str = "") -> PydanticCustomError:
    """The error of one field: what would be right, and the nearest text that would be."""
    return PydanticCustomError("refused", "{wanted}", {"wanted": wanted, "nearest": nearest})


def reader(
    dimension: str,
    low: float | None = None,
    high: float | None = None,
    *,
    above: float | None = None,
    whole: bool = False,
) -> Callable[[object], Quantity]:
    """A function that reads one value of a dimension; bounds are in base units, `above` is exclusive."""
    example = DIMENSIONS[dimension].example

    def read(value: object) -> Quantity:
        if isinstance(value, Quantity):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise refusal(_wanted(dimension, low, high, above, whole))
        text = value if isinstance(value, str) else ""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise refusal(f"past the whole numbers of 64 bits. {_wanted(dimension, low, high, above, whole)}")
        try:
            number = parse(text, dimension) if isinstance(value, str) else float(value)
        except UnitError as error:
            raise refusal(str(error) if str(error) else f"such as {example}", error.nearest) from None
        _check(number, dimension, low, high, above, whole)
        return Quantity(number, text)

    return read


def _check(
    number: float, dimension: str, low: float | None, high: float | None, above: float | None, whole: bool
) -> None:
    bad = number != number or abs(number) == float("inf") or abs(number) >= INT64
    bad = bad or (low is not None and number < low) or (high is not None and number > high)
    bad = bad or (above is not None and number <= above)
    if bad or (whole and number != int(number)):
        start = "not a whole number. " if not bad and whole else ""
        near = _nearest(number, low, high, above, whole)
        if dimension == "share" and 2 <= number <= 100 and high is not None and high <= 1:
            near = f"{number / 100:g}"  # a share told in percent
        raise refusal(start + _wanted(dimension, low, high, above, whole), near)


def _nearest(number: float, low: float | None, high: float | None, above: float | None, whole: bool) -> str:
    if number != number:
        return ""
    if whole and abs(number) < INT64 and (low is None or round(number) >= low) and (high is None or number <= high):
        return f"{round(number)}"
    if low is not None and number < low:
        return _plain(low)
    return _plain(high) if high is not None and number > high and abs(number) != float("inf") and above is None else ""


def _wanted(dimension: str, low: float | None, high: float | None, above: float | None, whole: bool) -> str:
    noun = {
        "1": "whole number" if whole else "number",
        "tokens": "number of tokens",
        "money": "amount",
        "bytes": "size in bytes",
        "bytes/s": "rate in bytes or bits",
        "FLOP/s": "rate in FLOP/s",
        "s": "time",
        "share": "number",
    }[dimension]
    bounds = _bounds(low, high, above)
    example = DIMENSIONS[dimension].example
    return f"A {noun}{bounds}" if dimension in ("1", "share") else f"A {noun}{bounds} such as {example}"


def _bounds(low: float | None, high: float | None, above: float | None) -> str:
    least = f" above {above:g}" if above is not None else f" from {low:g}" if low is not None else ""
    if high is None:
        return least
    most = f"{high:,.12g}".replace("e+", "e")
    return f"{least}{', at most' if above is not None else ' to'} {most}" if least else f", at most {most}"


def _plain(bound: float) -> str:
    """A bound as TOML reads it back: 1000000000, 1e17."""
    return f"{bound:.12g}".replace("e+", "e")


class Read:
    """Tells pydantic to call a reader and nothing else, and the schema what to say. Cheaper to build than its own validators."""

    __slots__ = ("_bounds", "_dimension", "_read")

    def __init__(self, read: Callable[[object], object], dimension: str, **bounds: float) -> None:
        self._read, self._dimension, self._bounds = read, dimension, bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        text = {"type": "string", "description": f"such as {DIMENSIONS[self._dimension].example}"}
        return {"anyOf": [{"type": "number", **self._bounds}, text]}


Count: TypeAlias = Annotated[Quantity, Read(reader("1", 1, 1e9, whole=True), "1", minimum=1)]
"""A whole number from 1."""
CountOrZero: TypeAlias = Annotated[Quantity, Read(reader("1", 0, 1e9, whole=True), "1", minimum=0)]
"""A whole number from 0."""
Documents: TypeAlias = Annotated[Quantity, Read(reader("1", 1, 1e15, whole=True), "1", minimum=1)]
"""Documents, from 1; a web corpus has more of them than any other count."""
Tokens: TypeAlias = Annotated[Quantity, Read(reader("tokens", 1, 1e17, whole=True), "tokens", minimum=1)]
"""Tokens, from 1."""
TokensOrZero: TypeAlias = Annotated[Quantity, Read(reader("tokens", 0, 1e17, whole=True), "tokens", minimum=0)]
"""Tokens, from 0."""
Share: TypeAlias = Annotated[Quantity, Read(reader("share", 0, 1), "share", minimum=0, maximum=1)]
"""A share from 0 to 1."""
Positive: TypeAlias = Annotated[Quantity, Read(reader("1", high=1e9, above=0), "1", exclusiveMinimum=0)]
"""A number above 0."""
Utilization: TypeAlias = Annotated[
    Quantity, Read(reader("share", high=1, above=0), "share", exclusiveMinimum=0, maximum=1)
]
"""A share above 0, 1 at most: above 1 is an input error, whatever the convention."""
Weight: TypeAlias = Annotated[Quantity, Read(reader("share", 0, 1e6), "share", minimum=0)]
"""A weight, not negative; that weights sum to 1 is a finding."""
AtLeastOne: TypeAlias = Annotated[Quantity, Read(reader("1", 1, 1e6), "1", minimum=1)]
"""A number from 1."""
Ratio: TypeAlias = Annotated[Quantity, Read(reader("1", 0, 1e6), "1", minimum=0)]
"""A number from 0."""
Bytes: TypeAlias = Annotated[Quantity, Read(reader("bytes", 0), "bytes", minimum=0)]
"""A size, from 0."""
Size: TypeAlias = Annotated[Quantity, Read(reader("bytes", above=0), "bytes", exclusiveMinimum=0)]
"""A size above 0."""
Rate: TypeAlias = Annotated[Quantity, Read(reader("bytes/s", above=0), "bytes/s", exclusiveMinimum=0)]
"""Bytes a second, above 0."""
FlopRate: TypeAlias = Annotated[Quantity, Read(reader("FLOP/s", above=0), "FLOP/s", exclusiveMinimum=0)]
"""FLOP a second, above 0."""
Time: TypeAlias = Annotated[Quantity, Read(reader("s", 0, 1e10), "s", minimum=0)]
"""A time in seconds, from 0."""
PositiveTime: TypeAlias = Annotated[Quantity, Read(reader("s", high=1e10, above=0), "s", exclusiveMinimum=0)]
"""A time in seconds, above 0."""
Money: TypeAlias = Annotated[Quantity, Read(reader("money", 0, 1e15), "money", minimum=0)]
"""An amount in the plan's currency, from 0."""


def _interval(value: object) -> Quantity | str:
    return "auto" if value == "auto" else reader("s", above=0, high=1e10)(value)


Interval: TypeAlias = Annotated[Quantity | str, Read(_interval, "s")]
"""`auto`, or a time above 0."""


RUNGS: Final = ("unit", "one-batch", "one-device", "one-node", "few-nodes", "short-scaled", "full")


def rung_name(name: str, entry: ValidationInfo) -> str:
    """The name of a rung: one of the seven, or one of a team's own where the entry says which rung it comes after."""
    if name in RUNGS:
        return name
    if entry.data.get("after") is not None and re.fullmatch(r"[^.\"'\x00-\x1f\x7f-\x9f]{1,80}", name):
        return name
    from difflib import get_close_matches

    nearest = next(iter(get_close_matches(name.lower().replace("_", "-"), RUNGS, 1, 0.55)), "")
    raise refusal(f"One of {', '.join(RUNGS)}, or a name without dot or quote where after is given", nearest)
