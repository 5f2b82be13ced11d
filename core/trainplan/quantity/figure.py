"""Numbers that remember where they came from.

A `Figure` is a float with an origin: a plan field, a catalogue value, or a formula and the figures put into it. The door of
every table takes figures only, so no number without a story reaches a person. This module holds no formula of the field and
knows no plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias, cast

from trainplan.frozen import record
from trainplan.quantity.numeric import maximum, where

P = ParamSpec("P")

KINDS: Final = ("missing", "assumed", "default", "published", "catalogue", "preset", "file", "measured")
"""What a number can rest on, weakest first. A figure rests on the weakest of its inputs."""

RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}


@record
class Card:
    """What a formula says of itself: its name, unit, source, and whether the source was read again."""

    name: str
    unit: str
    source: str
    verified: bool
    names: tuple[str, ...]
    body: Callable[..., float]


class Given(NamedTuple):
    """A number that nothing here derives: a plan field or a catalogue value, its unit, kind and source."""

    name: str
    unit: str
    kind: str
    source: str
    verified: bool
    is_field: bool


Origin: TypeAlias = "Card | Given"


class Figure(float):
    """A float in base units that remembers its origin, its inputs and what the weakest of them is."""

    __slots__ = ("_rank", "_sound", "inputs", "origin")
    origin: Origin
    inputs: tuple[Figure, ...]
    _rank: int
    _sound: bool

    @property
    def unit(self) -> str:
        return self.origin.unit

    @property
    def rests_on(self) -> str:
        """The kind of the weakest input, one of `KINDS`."""
        return KINDS[self.rank]

    @property
    def rank(self) -> int:
        """The place of the weakest input's kind in `KINDS`; looked for when first asked, since few figures are shown."""
        try:
            return self._rank
        except AttributeError:
            own = RANK[self.origin.kind] if isinstance(self.origin, Given) else len(KINDS) - 1
            self._rank = min([item.rank for item in self.inputs], default=own)
            return self._rank

    @property
    def verified(self) -> bool:
        """Whether every value and formula that it rests on was read again in its source."""
        try:
            return self._sound
        except AttributeError:
            self._sound = self.origin.verified and all(item.verified for item in self.inputs)
            return self._sound

    def named_inputs(self) -> Iterator[tuple[str, Figure]]:
        """The inputs with the names that the formula gives them."""
        if isinstance(self.origin, Card):
            yield from zip(self.origin.names, self.inputs, strict=True)

    def __reduce__(self) -> tuple[Callable[[float], float], tuple[float]]:
        return float, (float(self),)


class Blocked:
    """A value that cannot follow, and why: `missing:data.sampler`, a finding's code, or `none` where nothing is wrong.

    `inputs` are those of a formula that has no finite value with them, so that it can be told which of them it is.
    """

    __slots__ = ("code", "inputs", "rank", "unit")

    def __init__(self, code: str, unit: str = "1", inputs: tuple[Figure, ...] = ()) -> None:
        self.code, self.unit, self.inputs, self.rank = code, unit, inputs, 0

    def of_unit(self, unit: str) -> Blocked:
        """The same reason where a value of another unit is expected."""
        return self if self.unit == unit else Blocked(self.code, unit, self.inputs)

    def __repr__(self) -> str:
        return f"Blocked({self.code!r})"

    def __bool__(self) -> bool:
        return False


class Choice(str):
    """A word that follows from figures, with the same story as a figure: a sampler, a rank's name, an instant.

    Its kind and mark are told, or those of the figure that it follows from, which are looked for when first asked.
    """

    __slots__ = ("_kind", "_verified", "inputs", "source")
    source: str
    inputs: tuple[Figure, ...]
    _kind: str | None
    _verified: bool | None

    def __new__(
        cls,
        text: str,
        source: str,
        kind: str | None = "file",
        verified: bool | None = True,
        inputs: tuple[Figure, ...] = (),
    ) -> Choice:
        choice = super().__new__(cls, text)
        choice.source, choice._kind, choice._verified, choice.inputs = source, kind, verified, inputs
        return choice

    @classmethod
    def following(cls, text: str, source: str, figure: Figure) -> Choice:
        """A word that rests on what a figure rests on."""
        return cls(text, source, None, None, (figure,))

    @property
    def kind(self) -> str:
        """The kind of the weakest input, one of `KINDS`."""
        return self.inputs[0].rests_on if self._kind is None else self._kind

    @property
    def verified(self) -> bool:
        """Whether everything that it rests on was read again in its source."""
        return self.inputs[0].verified if self._verified is None else self._verified


Quantity: TypeAlias = "Figure | Blocked"
"""What one plan yields for a row: a figure, or the reason why there is none."""


def given(
    name: str,
    value: float,
    unit: str,
    source: str,
    *,
    kind: str = "catalogue",
    verified: bool = True,
    is_field: bool = False,
) -> Figure:
    """A figure that enters from outside: `name` is a plan path or a catalogue key; `source` says where it was read."""
    figure = Figure(value)
    figure.origin = tuple.__new__(Given, (name, unit, kind, source, verified, is_field))  # half the time of Given(...)
    figure.inputs = ()
    return figure


def entered(origin: Given, value: float) -> Figure:
    """As `given`, where the origin is known already: it says where a number enters, not which."""
    figure = Figure(value)
    figure.origin, figure.inputs = origin, ()
    return figure


def fields_given(origins: Iterable[Given], values: Iterable[float | None]) -> tuple[Figure, ...]:
    """Fields of the plan file by their origins; blocked as missing where the file says none."""
    found: list[Figure] = []
    for origin, value in zip(origins, values, strict=True):
        if value is None:
            found.append(blocked(f"missing:{origin.name}", origin.unit))
            continue
        figure = Figure(value)
        figure.origin, figure.inputs = origin, ()
        found.append(figure)
    return tuple(found)


def _sum(*parts: float) -> float:
    value = 0.0
    for part in parts:
        value = value + part
    return value


def _most(*parts: float) -> float:
    return max(parts)


class _Cards(dict[tuple[tuple[str, ...], str], Card]):
    """Cards of one kind of combination by the names of its parts and their unit, made when first asked for."""

    def __init__(self, name: str, body: Callable[..., float]) -> None:
        self.name, self.body = name, body

    def __missing__(self, key: tuple[tuple[str, ...], str]) -> Card:
        names, unit = key
        card = self[key] = Card(self.name, unit, "definition", True, names, self.body)
        return card


_SUMS: Final = _Cards("total", _sum)
_MAXIMA: Final = _Cards("largest", _most)


def total(**parts: Quantity) -> Figure:
    """The sum of named parts of one unit, left to right; a column where one of them is."""
    return summed(tuple(parts), tuple(parts.values()))


def total_of(parts: Mapping[str, Quantity]) -> Figure:
    """As `total`, where the parts are at hand in a mapping."""
    return summed(tuple(parts), tuple(parts.values()))


def summed(names: tuple[str, ...], parts: tuple[Any, ...]) -> Figure:
    """As `total`, where names and parts are at hand as two tuples, as those of sixty sources are."""
    value: float = 0.0
    try:
        for part in parts:
            value = value + part
    except TypeError:  # a blocked part cannot be added
        stop = first_blocked(parts)
        if stop is None:
            raise
        return cast("Figure", stop)
    if type(value) is not float:
        return cast("Figure", value)
    return _combined(_SUMS, names, parts, value)


def largest(**parts: Quantity) -> Figure:
    """The largest of named parts of one unit; a column where one of them is."""
    return largest_of(tuple(parts), tuple(parts.values()))


def largest_of(names: tuple[str, ...], parts: tuple[Any, ...]) -> Figure:
    """As `largest`, where names and parts are at hand as two tuples."""
    for part in parts:
        if type(part) is not Figure:
            return _largest_column(parts)
    return _combined(_MAXIMA, names, parts, max(parts) if parts else math.nan)


def _largest_column(parts: tuple[Any, ...]) -> Figure:
    """As `largest`, where not every part is a figure."""
    found = first_blocked(parts)
    return cast("Figure", reduce(maximum, parts) if found is None else found)


def _combined(cards: _Cards, names: tuple[str, ...], parts: tuple[Figure, ...], value: float) -> Figure:
    unit = parts[0].origin.unit if parts else "1"
    if value - value != 0.0:  # nan or infinity
        return cast("Figure", Blocked(f"undefined:{cards.name}", unit, parts))
    figure = Figure(value)
    figure.origin, figure.inputs = cards[names, unit], parts
    return figure


def require(value: Quantity, ok: bool, code: str) -> Figure:
    """`value` where the rule holds; else blocked by the finding's code. A column is nan on the rows that are blocked."""
    if ok is not True and ok is not False:
        return cast("Figure", where(ok, value, math.nan))
    return cast("Figure", value if ok else Blocked(code, value.unit))


def first_blocked(parts: Iterable[Quantity]) -> Blocked | None:
    """The first of several that cannot follow, None where all do."""
    for part in parts:
        if type(part) is Blocked:
            return part
    return None


def blocked(code: str, unit: str = "1") -> Figure:
    """A blocked value where a Figure is expected; the type says Figure, because formulas pass it on."""
    return cast("Figure", Blocked(code, unit))
