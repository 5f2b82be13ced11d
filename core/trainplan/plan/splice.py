"""Edits of a plan's text that change only the lines of what was edited.

It exists because a person's comments, order and layout belong to that person. The text is edited by the places of its
values, not by a second TOML writer; after every edit tomllib reads the result, and an edit whose result does not say
what was intended is refused. A comment on the line of a removed value goes with it.
"""

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from trainplan.plan import blocks, inline, syntax
from trainplan.plan.blocks import Change, changed
from trainplan.plan.insertion import container_of, with_block, with_entry, with_entry_order, with_value
from trainplan.plan.literals import dotted_key, key_text, literal_of, path_text, same
from trainplan.plan.places import Places, ValuePath, scan
from trainplan.plan.skeleton import OF_SOURCES, without_open_sources
from trainplan.plan.tree import SpliceError, Table, forget, found, grow, parent_of, standing

__all__ = [
    "SpliceError",
    "append_entry",
    "literal_of",
    "move_entry",
    "remove_entry",
    "remove_value",
    "set_value",
]

BOM = "\ufeff"


def set_value(text: str, path: ValuePath, literal: str) -> str:
    """`text` with the value at `path` written as `literal`, which is TOML source.

    A key that is absent goes where a new plan kept its place open, else after the last key of its table; a table that is
    absent gets a header. A path that ends with the length of an inline array adds an element. Raises SpliceError.
    """
    value = _meaning(literal)
    return _edited(text, lambda body, data, places: _set(body, data, places, path, literal, value))


def remove_value(text: str, path: ValuePath) -> str:
    """`text` without the key, element, entry or table at `path`, with its whole lines. Raises SpliceError."""
    return _edited(text, lambda body, data, places: _remove(body, data, places, path))


def append_entry(text: str, path: ValuePath, items: Mapping[str, str]) -> str:
    """`text` with one more entry in the array of tables at `path`; `items` are names and TOML source.

    It comes after the last entry, or, as the first one, after its parent's tables or at the end of the file; in an
    array that is written inline it is an inline table. Raises SpliceError.
    """
    entry = {name: _meaning(literal) for name, literal in items.items()}
    return _edited(text, lambda body, data, places: _append(body, data, places, path, items, entry))


def remove_entry(text: str, path: ValuePath) -> str:
    """`text` without the entry at `path`, which ends in its number from 0; comments above it go too."""
    _numbered(path)
    return remove_value(text, path)


def move_entry(text: str, path: ValuePath, to_index: int) -> str:
    """`text` with the entry at `path` as number `to_index` (from 0) of its array; its comments move with it.

    In an array that is written inline, comments stay in their lines. Raises SpliceError.
    """
    return _edited(text, lambda body, data, places: _move(body, data, places, path, to_index))


def _edited(text: str, edit: Callable[[str, Table, Places], str]) -> str:
    """Runs `edit`, which returns the new text and makes the parsed data say the same; refuses when they differ."""
    mark, body = text[: text.startswith(BOM)], text.removeprefix(BOM)
    data = tomllib.loads(body)
    result = edit(body, data, scan(body))
    if result.endswith("\n") and not body.endswith("\n") and body:
        result = result.removesuffix("\n").removesuffix("\r")
    try:
        meaning = tomllib.loads(result)
    except ValueError as error:
        raise SpliceError(f"the edit would leave a file that cannot be read: {error}") from error
    if not same(meaning, data):
        raise SpliceError("the edit would change more than was asked, so it was not made")
    return mark + result


def _meaning(literal: str) -> Any:
    parsed = syntax.parsed(f"x = {literal}")
    if isinstance(parsed, syntax.Mistake):
        raise SpliceError(f"{syntax.short(literal)} is not a TOML value")
    if parsed.keys() != {"x"} or scan(f"x = {literal}").values[("x",)].end != len(literal) + 4:
        raise SpliceError(f"{syntax.short(literal)} is more than one TOML value")
    return parsed["x"]


def _numbered(path: ValuePath) -> tuple[ValuePath, int]:
    number = path[-1] if path else None
    if not isinstance(number, int) or number < 0:
        raise SpliceError(f"{path_text(path)} does not name an entry. A number from 0 ends its path")
    return path[:-1], number


def _set(text: str, data: Table, places: Places, path: ValuePath, literal: str, value: Any) -> str:
    length, node = standing(data, path)
    if length == len(path) and path:
        return _replace(text, data, places, path, literal, value)
    if isinstance(node, list) and length == len(path) - 1 and path[-1] == len(node) and path[:-1] in places.members:
        node.append(value)
        return inline.with_member(text, places, path[:-1], literal)
    parent, table = parent_of(data, path)
    grow(table, path[len(parent) :], value)
    after = with_value(text, places, parent, path, literal)
    return without_open_sources(after) if path == OF_SOURCES else after


def _replace(text: str, data: Table, places: Places, path: ValuePath, literal: str, value: Any) -> str:
    span = places.value(path)
    if span is None:
        listed = isinstance(standing(data, path)[1], list)
        told = "a list of tables, so its entries' fields" if listed else "a table, so its fields"
        raise SpliceError(f"{path_text(path)} is {told} are set one by one")
    standing(data, path[:-1])[1][path[-1]] = value
    return changed(text, [Change(span, literal)])


def _append(text: str, data: Table, places: Places, path: ValuePath, items: Mapping[str, str], entry: Table) -> str:
    length, node = standing(data, path)
    if length < len(path):
        return _first_entry(text, data, places, path, items, entry)
    if not isinstance(node, list) or not path:
        raise SpliceError(f"{path_text(path)} is not an array of tables")
    node.append(entry)
    if path in places.members:
        return inline.with_member(text, places, path, _inline_table(items))
    return with_entry(text, places, path, len(node) - 2, items)


def _inline_table(items: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{key_text(name)} = {literal}" for name, literal in items.items())
    return f"{{ {pairs} }}" if pairs else "{}"


def _first_entry(
    text: str, data: Table, places: Places, path: ValuePath, items: Mapping[str, str], entry: Table
) -> str:
    parent, table = parent_of(data, path)
    if container_of(places, parent) is not None:
        return _set(text, data, places, path, f"[{_inline_table(items)}]", [entry])
    grow(table, path[len(parent) :], [entry])
    after = with_block(text, places, path[:-1], f"[[{dotted_key(path)}]]", items)
    return without_open_sources(after) if path == OF_SOURCES else after


def _remove(text: str, data: Table, places: Places, path: ValuePath) -> str:
    found(data, path)
    around = container_of(places, path[:-1])
    forget(data, places, path)
    if around is not None:
        return _without_members(text, places, around, path)
    runs = blocks.runs(text, places, path)
    lines = [
        blocks.lines_removed(text, member.span)
        for block in places.blocks
        for member in block.members
        if blocks.begins_with(member.path, path) and not blocks.begins_with(block.path, path)
    ]
    return changed(text, [*lines, *(blocks.run_removed(text, run) for run in runs)])


def _without_members(text: str, places: Places, around: ValuePath, path: ValuePath) -> str:
    numbers = [i for i, m in enumerate(places.members[around]) if blocks.begins_with(m.path, path)]
    for number in reversed(numbers):
        text = inline.without_member(text, scan(text), around, number)
    return text


def _move(text: str, data: Table, places: Places, path: ValuePath, to_index: int) -> str:
    array, number = _numbered(path)
    found(data, path)
    entries = found(data, array)
    if not 0 <= to_index < len(entries):
        raise SpliceError(f"{path_text(array)} has {len(entries)} entries, so none can become entry {to_index}")
    order = list(range(len(entries)))
    order.insert(to_index, order.pop(number))
    entries.insert(to_index, entries.pop(number))
    if array in places.members:
        return inline.with_order(text, places.members[array], order)
    return with_entry_order(text, places, array, order)
