"""Frozen records that cost little to declare and to make.

The standard library writes and compiles the methods of each dataclass as text, about a millisecond a class; the hundred classes
that stand behind the first screen were a sixth of the time to it. Here all classes share their methods, and `__init__` is one
compiled code for each number of fields with the names put into it. It refuses what the house can do without: factories of
defaults, fields by keyword only, an `__init__` of one's own.
"""

from __future__ import annotations

from functools import cache, partial
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, Final, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(kind: type[T]) -> type[T]:
    """A class with slots, compared and hashed by its fields, whose fields cannot be set again."""
    locked = {"__eq__": _same, "__hash__": _hash, "__setattr__": _refused, "__delattr__": _refused}
    return _made(kind, _locking, locked)


@dataclass_transform(frozen_default=True, eq_default=False)
def record(kind: type[T]) -> type[T]:
    """A class with slots, compared by identity, whose fields no code may set again; the type checker alone refuses it.

    Every budget is one: an estimate makes a hundred, and a lock takes longer than all else in making one.
    """
    return _made(kind, _plain, {})


class Remembering:
    """A base of records that keep what they work out: the room that `cached_property` and weak references need."""


def field_names(kind: type) -> tuple[str, ...]:
    """The fields of such a class, in their order."""
    return getattr(kind, "__match_args__", ())


def _made(kind: type[T], code: Any, methods: dict[str, Any]) -> type[T]:
    """The class anew, with a slot for each field of its own and the methods that all of these classes share."""
    inherited = field_names(kind)
    own = tuple(name for name, told in kind.__annotations__.items() if "ClassVar" not in str(told))
    names = (*inherited, *own)
    defaults = _defaults(kind, inherited) | {name: kind.__dict__[name] for name in own if name in kind.__dict__}
    shared = {"__repr__": _repr, "__reduce__": _reduce, "__match_args__": names, "_values": _reader(names)} | methods
    kept = {key: value for key, value in kind.__dict__.items() if key not in own and key not in _LEFT}
    init = FunctionType(code(names), {"put": object.__setattr__}, "__init__", tuple(defaults.values()))
    body = shared | kept | {"__slots__": own, "__init__": init, "__dataclass_fields__": _Fields(names, defaults)}
    return type(kind)(kind.__name__, kind.__bases__, body)


_LEFT: Final = ("__dict__", "__weakref__")


def _defaults(kind: type, names: tuple[str, ...]) -> dict[str, Any]:
    """Defaults of inherited fields, the last ones of all."""
    told: tuple[Any, ...] = getattr(kind.__init__, "__defaults__", None) or ()
    return dict(zip(names[len(names) - len(told) :], told, strict=True))


@cache
def _template(count: int, line: str) -> CodeType:
    """The code of an `__init__` of so many fields, under names that stand for them."""
    names = [f"field_{place}" for place in range(count)]
    lines = [line.format(name=name) for name in names] or ["pass"]
    text = f"def __init__({', '.join(['self', *names])}):\n  " + "\n  ".join(lines)
    return next(item for item in compile(text, "<record>", "exec").co_consts if isinstance(item, CodeType))


def _plain(names: tuple[str, ...]) -> CodeType:
    return _template(len(names), "self.{name} = {name}").replace(co_varnames=("self", *names), co_names=names)


def _locking(names: tuple[str, ...]) -> CodeType:
    code = _template(len(names), "put(self, '{name}', {name})")
    told = {f"field_{place}": name for place, name in enumerate(names)}
    return code.replace(
        co_varnames=("self", *names),
        co_consts=tuple(told.get(item, item) if isinstance(item, str) else item for item in code.co_consts),
    )


def _reader(names: tuple[str, ...]) -> Any:
    """What reads all fields of one: a tuple, whatever their number."""
    if len(names) > 1:
        return attrgetter(*names)
    return staticmethod(partial(_few, names))


def _few(names: tuple[str, ...], one: object) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in names)


def _same(self: Any, other: object) -> Any:
    return self._values(self) == self._values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._values(self))


def _repr(self: Any) -> str:
    told = zip(self.__match_args__, self._values(self), strict=True)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in told)})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return type(self), self._values(self)


def _refused(self: Any, name: str, *value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__qualname__}")


class _Fields:
    """The fields as `dataclasses.fields` and `dataclasses.replace` want them, made when one of these first asks."""

    def __init__(self, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
        self._names, self._defaults = names, defaults

    def __get__(self, one: object, kind: Any) -> Any:
        from dataclasses import dataclass

        body = {"__annotations__": dict.fromkeys(self._names, "Any"), **self._defaults}
        kind.__dataclass_fields__ = dataclass(type(kind.__name__, (), body)).__dataclass_fields__
        return kind.__dataclass_fields__
