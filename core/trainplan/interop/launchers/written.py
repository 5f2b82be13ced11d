"""The text of a plan that was read from launch files: tables in the plan's order, each value with the line that says it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from trainplan.interop.launchers.telling import Said
from trainplan.plan.faults import table_in
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table

COMMENT: Final = 39
"""Column, from 0, at which a comment begins behind a value, as in the plans that `new` writes."""

_TABLES: Final = ("paths", "model", "data", "batch", "training", "cluster", "parallelism", "storage", "reliability")
MOST_WORDS: Final = 90


def plan_text(name: str, said: Mapping[str, Said], files: Sequence[str]) -> str:
    """A plan file of what is said; what is not stands nowhere, and `check` names it."""
    told = " and ".join(os.path.basename(file) for file in files)
    lines = [
        f"# Read by trainplan-tui from {_plain(told)}. A comment is the file and line that says a value, or",
        "# what the program takes because no line does. What the files do not say is left out: `check` names it.",
        "format = 1",
        f"name = {literal_of(name)}",
    ]
    for table in _TABLES:
        kind = table_in(Plan.model_fields[table].annotation)
        if kind is not None:
            lines.extend(_table(kind, table, said))
    return "\n".join([*lines, ""])


def _table(kind: type[Table], path: str, said: Mapping[str, Said]) -> Iterator[str]:
    own, inner, blocks = list[str](), list[str](), list[str]()
    for field, info in kind.model_fields.items():
        at = f"{path}.{field}"
        below = table_in(info.annotation)
        if at in said and _is_blocks(said[at].value) and field != "schedule":
            blocks += _blocks(at, said[at])
        elif at in said:
            own += _lines(field, said[at])
        elif below is not None:
            inner += _table(below, at, said)
    if own:
        yield from ("", f"[{path}]", *own)
    yield from inner
    yield from blocks


def _is_blocks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(cast("list[Any]", value)[0], dict)


def _lines(field: str, said: Said) -> list[str]:
    told = f"# {origin(said)}"
    if _is_blocks(said.value):
        entries = [f"  {literal_of(entry)}," for entry in said.value]
        return [f"{field} = [".ljust(COMMENT) + f" {told}", *entries, "]"]
    return [f"{field} = {literal_of(said.value)}".ljust(COMMENT) + f" {told}"]


def _blocks(path: str, said: Said) -> list[str]:
    found: list[str] = []
    for index, entry in enumerate(said.value):
        found += [
            "",
            *([] if index else [f"# {origin(said)}"]),
            f"[[{path}]]",
            *(f"{key} = {literal_of(value)}" for key, value in entry.items()),
        ]
    return found


def origin(said: Said) -> str:
    """Where a value comes from, as a comment says it."""
    where = f"{os.path.basename(said.place.file)}:{said.place.line}"
    words = said.words if len(said.words) <= MOST_WORDS else f"{said.words[: MOST_WORDS - 3]}..."
    return _plain(words if said.implied else f"{where}: {words}")


def _plain(text: str) -> str:
    """Text that may stand in a comment: no control characters, nothing that is not seen."""
    return "".join(one if one.isprintable() else "?" for one in text)
