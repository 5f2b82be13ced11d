"""Arguments of Megatron and what they are said to mean: the pair that each part of its reader works on."""

from __future__ import annotations

from typing import Any

from trainplan.frozen import record
from trainplan.interop.launchers.megatron.arguments import Arguments
from trainplan.interop.launchers.places import Place
from trainplan.interop.launchers.telling import Telling


@record
class Saying:
    """Arguments, the telling that they fill, and where what they leave out is told; `deep` for Megatron-DeepSpeed."""

    arguments: Arguments
    telling: Telling
    place: Place
    deep: bool

    def given(self, path: str, name: str, value: Any) -> None:
        """What an option says."""
        option = self.arguments.names.get(name)
        if option is not None:
            short = name in self.arguments.flags and not self.arguments.listing
            self.telling.say(path, value, option.place, option.spelled if short else option.words)

    def taken(self, path: str, value: Any, words: str) -> None:
        """What the program takes where no option says it."""
        self.telling.say(path, value, self.place, words, implied=True)

    def count(self, path: str, name: str, least: int = 1) -> int | None:
        """A whole number as an option says it."""
        value = self.arguments.count(name, least)
        self.given(path, name, value)
        return value

    def either(self, path: str, name: str, default: Any, words: str, value: Any) -> None:
        """What an option says, else what the program takes; nothing where the option's value is not known."""
        if value is not None and self.arguments.has(name):
            self.given(path, name, value)
        elif not self.arguments.open(name):
            self.taken(path, default, words)

    def flag(self, path: str, name: str, words: str, *, default: bool = False) -> bool | None:
        """A flag, set or left out."""
        value = self.arguments.flag(name, default=default)
        if value is not None and self.arguments.has(name):
            self.given(path, name, value)
        elif value is not None:
            self.taken(path, value, words)
        return value

    def problem(self, name: str, message: str) -> None:
        """What cannot be, at the option that says it."""
        option = self.arguments.names.get(name)
        self.telling.problems.append(f"{option.place if option else self.place}: {message}")

    def note(self, name: str, message: str) -> None:
        """What a person has to know of an option."""
        option = self.arguments.names.get(name)
        self.telling.notes.append(f"{option.place if option else self.place}: {message}")
