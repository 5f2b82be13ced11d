"""The catalogue: models, accelerators, samplers, optimizers, tasks, runs, fitted numbers, pilot rungs, each value sourced.

Data, never code, one TOML file per entry. Only the entries that somebody names are parsed, because tomllib takes 0.2 ms a kilobyte.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from trainplan.frozen import frozen, record

KINDS: Final = ("models", "accelerators", "samplers", "optimizers", "tasks", "evidence", "steptime", "rungs")
_FOLDER: Final = Path(__file__).parent


@frozen
class Fact:
    """One value of an entry: a number in base units, a word, a flag or a list, where it was read, and whether it was."""

    value: Any
    unit: str
    source: str
    date: str
    verified: bool


@record
class Entry:
    """One entry: its name, what it is called, and its facts by dotted key."""

    kind: str
    name: str
    title: str
    note: str
    facts: Mapping[str, Fact]

    def __getitem__(self, key: str) -> Fact:
        return self.facts[key]

    def get(self, key: str) -> Fact | None:
        """The fact of that key, or None where the catalogue has none: never zero by default."""
        return self.facts.get(key)


@cache
def names(kind: str) -> tuple[str, ...]:
    """Names of all entries of a kind, sorted; reads no file."""
    return tuple(sorted(path.stem for path in (_FOLDER / kind).glob("*.toml")))


@cache
def entry(kind: str, name: str) -> Entry | None:
    """The entry of that name, or None where the catalogue has none."""
    if name not in names(kind):
        return None
    data = tomllib.loads((_FOLDER / kind / f"{name}.toml").read_text(encoding="utf-8"))
    head = {key: data.pop(key) for key in ("title", "note", "source", "date", "verified") if key in data}
    facts = dict(_facts(data, "", head))
    return Entry(kind, name, str(head.get("title", name)), str(head.get("note", "")), MappingProxyType(facts))


def _facts(table: Mapping[str, Any], prefix: str, head: Mapping[str, Any]) -> list[tuple[str, Fact]]:
    found: list[tuple[str, Fact]] = []
    for key, item in table.items():
        if not isinstance(item, dict):
            found.append((prefix + key, _fact({"value": item}, head)))
        elif "value" in item:
            found.append((prefix + key, _fact(cast("dict[str, Any]", item), head)))
        else:
            found.extend(_facts(cast("dict[str, Any]", item), f"{prefix}{key}.", head))
    return found


def _fact(item: Mapping[str, Any], head: Mapping[str, Any]) -> Fact:
    """A fact says its own source, date and mark, or takes those at the head of its file."""
    return Fact(
        item["value"],
        str(item.get("unit", "1")),
        str(item.get("source", head.get("source", ""))) + _spread(item),
        str(item.get("date", head.get("date", ""))),
        bool(item.get("verified", head.get("verified", False))),
    )


def _spread(item: Mapping[str, Any]) -> str:
    """How sure a fitted number is: its uncertainty, and the range when one source is left out of the fit."""
    if "uncertainty" not in item:
        return ""
    low, high = item["folds"]
    return f"; +- {100 * item['uncertainty']:.0f} %, {low:g} to {high:g} with a source left out"
