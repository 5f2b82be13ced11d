"""Ways through the parsed data of a plan, and the refusals of an edit whose path does not lead anywhere.

It exists so that splice states what an edit means on plain data, beside what it does to the text. It refuses ways
through values and past the end of an array.
"""

from typing import Any, TypeAlias

from trainplan.plan.literals import path_text
from trainplan.plan.places import Places, ValuePath

Table: TypeAlias = dict[str, Any]
Lookup: TypeAlias = Any  # a parsed table, array or value on the way of a path


class SpliceError(Exception):
    """An edit that was not made; its text is a sentence."""


def _step(node: Lookup, part: str | int) -> tuple[bool, Lookup]:
    if isinstance(node, dict) and isinstance(part, str):
        return part in node, node.get(part)
    if isinstance(node, list) and isinstance(part, int):
        return 0 <= part < len(node), node[part] if 0 <= part < len(node) else None
    return False, None


def standing(data: Table, path: ValuePath) -> tuple[int, Lookup]:
    """How many parts of `path` exist, and what stands at the last of them."""
    node: Lookup = data
    for length, part in enumerate(path):
        found, below = _step(node, part)
        if not found:
            return length, node
        node = below
    return len(path), node


def found(data: Table, path: ValuePath) -> Lookup:
    length, node = standing(data, path)
    if length < len(path) or not path:
        raise SpliceError(f"{path_text(path)} is not in the file")
    return node


def parent_of(data: Table, path: ValuePath) -> tuple[ValuePath, Table]:
    """The nearest table on the way to `path` that exists; refuses a way through values and missing entries."""
    length, node = standing(data, path[:-1])
    if isinstance(node, list):
        missing = f"{path_text(path[:length])} has {len(node)} entries, so there is no"
        raise SpliceError(f"{missing} {path_text(path[: length + 1])}")
    if not isinstance(node, dict):
        raise SpliceError(f"{path_text(path[:length])} is a value, not a table")
    if not path or not all(isinstance(part, str) for part in path[length:]):
        raise SpliceError(f"{path_text(path)} does not name a key")
    return path[:length], node


def forget(data: Table, places: Places, path: ValuePath) -> None:
    """Deletes `path` from the data, and above it what existed only because of it."""
    while True:
        node = standing(data, path[:-1])[1]
        del node[path[-1]]
        path = path[:-1]
        if node or not path or path in places.headers or path in places.values:
            return


def grow(table: Table, names: ValuePath, value: object) -> None:
    """Puts `value` at `names` below `table`, making the tables between."""
    for name in names[:-1]:
        table = table.setdefault(str(name), {})
    table[str(names[-1])] = value
