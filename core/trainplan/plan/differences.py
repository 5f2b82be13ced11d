"""What differs between two plans' texts, field by field, and writing such differences into a text.

It exists for the journal of unsaved edits and for the merge with a file that changed on disk: both need fields, not
lines. It refuses to match entries by name: entry 2 is entry 2.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from trainplan.plan.literals import literal_of, same
from trainplan.plan.places import ValuePath, scan
from trainplan.plan.splice import append_entry, remove_value, set_value

Differences: TypeAlias = dict[ValuePath, str | None]


def differences(before: str, after: str) -> Differences:
    """The fields in which `after` differs from `before`: path to TOML source as `after` spells it, None where absent.

    Both are TOML texts. Arrays of tables are compared entry by entry; other arrays are one field.
    """
    places = scan(after)
    found = _differing((), tomllib.loads(before), tomllib.loads(after))
    return {path: _spelled(after, places.value(path), value) for path, value in found}


ABSENT = object()


def _spelled(text: str, span: Any, value: Any) -> str | None:
    if value is ABSENT:
        return None
    spelled: str = span.of(text) if span else literal_of(value)
    return spelled if "\n" not in spelled else literal_of(value)


def _differing(path: ValuePath, before: Any, after: Any) -> Iterator[tuple[ValuePath, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        for name in names:
            yield from _differing((*path, name), before.get(name, ABSENT), after.get(name, ABSENT))
    elif path and _is_entries(after) and before is ABSENT:
        yield from _differing(path, [], after)
    elif isinstance(before, list) and _is_entries(after) and all(isinstance(item, dict) for item in before):
        for number in range(max(len(before), len(after))):
            pair = (items[number] if number < len(items) else ABSENT for items in (before, after))
            yield from _differing((*path, number), *pair)
    elif isinstance(after, dict) and after and before is ABSENT and not isinstance(path[-1], int):
        yield from _differing(path, {}, after)
    elif before is ABSENT or after is ABSENT or not same(before, after):
        yield path, after


def _is_entries(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def with_differences(text: str, edits: Mapping[ValuePath, str | None]) -> str:
    """`text` with each field set, added or removed as `differences` gives them. Raises SpliceError."""
    for path, literal in edits.items():
        if literal is not None:
            text = _with(text, path, literal)
    for path in sorted((path for path, literal in edits.items() if literal is None), key=_last_first):
        text = remove_value(text, path)
    return text


def _last_first(path: ValuePath) -> tuple[int, ...]:
    """Sorts later entries before earlier ones, so that the numbers of those that are left stay true."""
    return tuple(-part for part in path if isinstance(part, int))


def _with(text: str, path: ValuePath, literal: str) -> str:
    entry = tomllib.loads(f"x = {literal}")["x"] if isinstance(path[-1], int) else None
    if isinstance(entry, dict) and path not in scan(text).values:
        return append_entry(text, path[:-1], {name: literal_of(value) for name, value in entry.items()})
    return set_value(text, path, literal)
