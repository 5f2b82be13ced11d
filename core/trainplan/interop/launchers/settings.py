"""A configuration as dotted names with their values and places, and what is wrong with a value: one reader for JSON and TOML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Place
from trainplan.interop.launchers.telling import Telling, shown

MOST: Final = 10**15


@frozen
class Setting:
    """One value, where it stands, and how it was written."""

    value: Any
    place: Place
    words: str


class Settings:
    """Settings by dotted name; a name that nobody asks for stays in `left`."""

    def __init__(self, found: Mapping[str, Setting], telling: Telling) -> None:
        self.found, self.telling = found, telling
        self.used: set[str] = set()
        self._auto: set[str] = set()

    def setting(self, *names: str) -> Setting | None:
        """The first of some names that is there, its value known; "auto" is said and left out."""
        self.used.update(names)
        for name in names:
            found = self.found.get(name)
            if found is None or found.value is None:
                continue
            if found.value == "auto":
                if name not in self._auto:
                    self._auto.add(name)
                    self.telling.notes.append(f"{found.place}: {name} is auto, which the program fills in; left out")
                continue
            return found
        return None

    def has(self, name: str) -> bool:
        """Whether a name is there, also as auto."""
        return name in self.found

    def count(self, *names: str, least: int = 1) -> int | None:
        """A whole number from `least`."""
        found = self.setting(*names)
        if found is None:
            return None
        value = found.value
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or value != value // 1
            or not least <= value <= MOST
        ):
            return self._wrong(found, f"A whole number from {least} is right")
        return int(value)

    def flag(self, *names: str) -> bool | None:
        """True or false."""
        found = self.setting(*names)
        if found is None:
            return None
        return found.value if isinstance(found.value, bool) else self._wrong(found, "true or false is right")

    def word(self, words: Iterable[str], *names: str) -> str | None:
        """One of some words."""
        found, known = self.setting(*names), tuple(words)
        if found is None:
            return None
        return found.value if found.value in known else self._wrong(found, f"One of {', '.join(known)} is right")

    def _wrong(self, found: Setting, right: str) -> None:
        self.telling.problems.append(f"{found.place}: {found.words}. {right}")

    def say(self, path: str, value: Any, *names: str) -> None:
        """Say a path where the first of some names stands; None says nothing."""
        found = next((self.found[name] for name in names if name in self.found), None)
        if found is not None:
            self.telling.say(path, value, found.place, found.words)

    @property
    def left(self) -> list[str]:
        """Names that nobody asked for."""
        return [name for name in self.found if name not in self.used]


def worded(name: str, value: Any) -> str:
    """A setting as a sentence has it."""
    return f"{name} = {shown(value) if not isinstance(value, int) or isinstance(value, bool) else value}"
