"""What makes a published formula out of a function on plain numbers: figures in, a figure out.

It holds no formula of the field; those are in `formulas`, one function each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any, Final, ParamSpec, cast

from trainplan.quantity.figure import Blocked, Card, Figure

P = ParamSpec("P")


def formula(unit: str, *, source: str, verified: bool = True) -> Callable[[Callable[P, float]], Callable[P, Figure]]:
    """Make one published formula out of a function on plain numbers.

    Figures in, a Figure out; numpy columns in, a column out; bare numbers in, a bare number out; a Figure mixed with a bare
    number raises TypeError. A blocked input comes back before the body runs; division by zero, overflow, nan and infinity
    become `Blocked`. `unit` is the unit of the value in base units, `source` the citation, `verified` whether it was re-read.
    """

    def wrap(body: Callable[P, float]) -> Callable[P, Figure]:
        code: CodeType = body.__code__  # pyright: ignore[reportFunctionMemberAccess]
        names = code.co_varnames[: code.co_argcount]
        call = _call(Card(body.__name__, unit, source, verified, names, cast("Callable[..., float]", body)))
        call.__doc__, call.__module__ = body.__doc__, body.__module__
        return cast("Callable[P, Figure]", call)

    return wrap


def named_sum(unit: str, *names: str) -> Callable[..., Figure]:
    """The sum of parts that have the same names in every plan: what `figure.total` gives, at half its cost."""
    body = cast("Callable[..., float]", _WRITTEN_OUT.get(len(names), _sum))
    return cast("Callable[..., Figure]", _call(Card("total", unit, "definition", True, names, body)))


def _sum(*parts: float) -> float:
    value = 0.0
    for part in parts:
        value = value + part
    return value


def _two(a: float, b: float) -> float:
    return 0.0 + a + b


def _three(a: float, b: float, c: float) -> float:
    return 0.0 + a + b + c


def _seven(a: float, b: float, c: float, d: float, e: float, f: float, g: float) -> float:
    return 0.0 + a + b + c + d + e + f + g


_WRITTEN_OUT: Final = {2: _two, 3: _three, 7: _seven}
"""Sums of as many parts as occur often; an instant of a rank has seven."""

_CALL: Final = """
def call({names}):
    if {figures}:
        try:
            value = body({names})
        except (ZeroDivisionError, OverflowError, ValueError):
            return undefined(({names},))
        if value - value != 0.0:  # nan or infinity
            return undefined(({names},))
        figure = Figure(value)
        figure.origin, figure.inputs = card, ({names},)
        return figure
    return otherwise(card, ({names},))
"""
"""What a formula does with its inputs. Written out for their number: a loop over `*args` takes half as long again."""


@cache
def _code(count: int) -> CodeType:
    """The code of a formula of so many inputs."""
    names = [f"input_{place}" for place in range(count)]
    figures = " and ".join(f"type({name}) is Figure" for name in names)
    code: CodeType = compile(_CALL.format(names=", ".join(names), figures=figures), "<formula>", "exec").co_consts[0]
    return code


def _call(card: Card) -> FunctionType:
    """What stands for a formula: it takes figures, columns or bare numbers under the names that the body has for them."""
    code, undefined = _code(len(card.names)), partial(Blocked, f"undefined:{card.name}", card.unit)
    known = {"body": card.body, "card": card, "undefined": undefined, "Figure": Figure, "otherwise": _otherwise}
    code = code.replace(co_name=card.name, co_varnames=(*card.names, *code.co_varnames[len(card.names) :]))
    call = FunctionType(code, known, card.name)
    call.card = card  # type: ignore[attr-defined]
    return call


def _otherwise(card: Card, args: tuple[Any, ...]) -> Any:
    """The value where not every input is a figure."""
    kinds = {type(item) for item in args}
    if Blocked in kinds:
        first: Blocked = next(item for item in args if type(item) is Blocked)
        return first.of_unit(card.unit)
    if Figure in kinds and kinds & {int, float}:
        raise TypeError(_mixed(card, args))
    return card.body(*args)


def _mixed(card: Card, args: tuple[Any, ...]) -> str:
    bare = [name for name, item in zip(card.names, args, strict=True) if type(item) in (int, float)]
    return (
        f"{card.name}: {', '.join(bare)} is a bare number among figures; enter it with given(name, value, unit, source)"
    )
