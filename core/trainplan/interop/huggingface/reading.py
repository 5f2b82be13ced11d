"""One config.json as it is read: which keys were asked for, and what is wrong with what they say.

A key that nothing asked for is listed by the import, never dropped in silence. A value of the wrong kind is a problem
in words, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from trainplan.interop.huggingface.ignored import IGNORED

MOST: Final = 10**9
"""The largest count that a plan takes."""


class Reading:
    """Values of one config.json by name, with the defaults of its class."""

    def __init__(self, config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.config, self.defaults = config, defaults
        self.used: set[str] = {"model_type"}
        self.problems: list[str] = []
        self.notes: list[str] = []

    def value(self, *names: str) -> Any:
        """The first of the keys that says something, else a default of the class; null in the file means None."""
        self.used.update(names)
        for name in names:
            found = _at(self.config, name)
            if found is not None:
                return found
        if any(name in self.config for name in names):
            return None
        return next((self.defaults[name] for name in names if name in self.defaults), None)

    def count(self, *names: str, least: int = 1) -> int | None:
        """A whole number, or a list that says the same one for each layer; anything else is a problem and None."""
        found = self.value(*names)
        if isinstance(found, list) and found:
            found = self._same(names[0], cast("list[Any]", found))
        if found is None:
            return None
        if (
            isinstance(found, bool)
            or not isinstance(found, int | float)
            or found % 1 != 0
            or not least <= found <= MOST
        ):
            self.problems.append(f"{names[0]} is {found!r}. A whole number from {least} is right.")
            return None
        return int(found)

    def _same(self, name: str, listed: list[Any]) -> Any:
        if all(one == listed[0] and type(one) is type(listed[0]) for one in listed):
            return listed[0]
        self.problems.append(f"{name} differs between layers: {listed[0]!r}, then others. A plan has one number.")
        return None

    def flag(self, name: str, default: bool) -> bool:
        """True or false; anything else is a problem and the default."""
        found = self.value(name)
        if found is None:
            return default
        if not isinstance(found, bool):
            self.problems.append(f"{name} is {found!r}. true or false is right.")
            return default
        return found

    def unused(self) -> tuple[str, ...]:
        """Keys that nothing asked for and that may say something of the shape; null and false say nothing."""
        asked = {name.split(".")[0] for name in self.used} | IGNORED
        return tuple(key for key, value in self.config.items() if value not in (None, False) and key not in asked)


def _at(source: Mapping[str, Any], name: str) -> Any:
    found: Any = source
    for part in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = cast("Mapping[str, Any]", found).get(part)
    return found
