"""What files say of a plan, each value with its place and the words it was said in, and what several of them come to.

Two files that say different things are an error that names both; a program's own default, which a file says by being silent,
stands behind what any file says in words. Nothing is chosen in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainplan.frozen import frozen
from trainplan.interop.launchers.places import Place

LISTED: Final = 60
"""Names that one line lists."""


@frozen
class Said:
    """One value, where it stands, and the words; `implied` where the program takes it because the file does not say it."""

    value: Any
    place: Place
    words: str
    implied: bool = False


@dataclass(slots=True)
class Telling:
    """What one program's files say: plan paths, and facts under `run.` from which others follow.

    `silent` are names without a bearing on a plan, `fieldless` names that have one and no field, each with a reason, `unknown`
    names that are not known, `idle` names that were read and on which no value stands alone. Notes and problems are sentences; with
    a problem there is no plan.
    """

    said: dict[str, Said] = field(default_factory=dict[str, Said])
    silent: list[str] = field(default_factory=list[str])
    fieldless: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    idle: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])

    def say(self, path: str, value: Any, place: Place, words: str, *, implied: bool = False) -> None:
        """Take a value; None says nothing."""
        if value is not None:
            self.said[path] = Said(value, place, words, implied)

    def value(self, path: str) -> Any:
        """The value of a path or fact; None where nothing says it."""
        found = self.said.get(path)
        return None if found is None else found.value


def unheard(telling: Telling, names: Iterable[str]) -> list[str]:
    """Of names that were read those that stand in no value's words and in no sentence: nothing is dropped without a word."""
    told = "\n".join(
        (*(one.words for one in telling.said.values()), *telling.notes, *telling.problems, *telling.fieldless)
    )
    return [name for name in names if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", told)]


def together(tellings: Iterable[Telling]) -> Telling:
    """What several files say: later ones fill what earlier ones leave open; where two differ it is a problem that names both."""
    whole = Telling()
    for one in tellings:
        for path, said in one.said.items():
            whole.said[path] = _agreed(path, whole.said.get(path), said, whole.problems)
        for name in ("silent", "fieldless", "unknown", "idle", "notes", "problems"):
            getattr(whole, name).extend(getattr(one, name))
    return whole


def _agreed(path: str, before: Said | None, said: Said, problems: list[str]) -> Said:
    if before is None:
        return said
    if same(before.value, said.value):
        return said if before.implied and not said.implied else before
    if before.implied != said.implied and not path.startswith("model."):
        return said if before.implied else before
    problems.append(
        f"{said.place}: {path} is {shown(said.value)} by {said.words}, and {shown(before.value)} by {before.words} at "
        f"{before.place}. Both have to say the same"
    )
    return before


def same(one: Any, other: Any) -> bool:
    """Whether two values are one; true is not 1."""
    return (type(one) is type(other) and one == other) or (_number(one) and _number(other) and one == other)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value as a sentence has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value}"[:60]


def tables_of(said: Mapping[str, Said], paths: Iterable[str]) -> dict[str, dict[str, Said]]:
    """The paths that are said, in order, by their table: everything before the last dot."""
    found: dict[str, dict[str, Said]] = {}
    for path in paths:
        if path in said:
            table, _, name = path.rpartition(".")
            found.setdefault(table, {})[name] = said[path]
    return found
