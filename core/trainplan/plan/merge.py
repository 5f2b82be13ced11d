"""A plan edited on two sides: what each side changed, field by field, and the text with what was chosen.

It exists so that a file which changed under an edit is neither overwritten nor able to swallow the edit. The text on disk
keeps its comments and layout; only chosen fields are written into it. It refuses to guess which entry of a list is which:
a list whose entries were added, removed or renamed is one field, kept whole from one side.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from trainplan.plan.differences import Differences, differences, with_differences
from trainplan.plan.edit import ENTRY_NAMES
from trainplan.plan.literals import literal_of
from trainplan.plan.places import ValuePath, scan

Side = Literal["disk", "yours", "read"]
SIDES: Final[tuple[Side, ...]] = ("disk", "yours", "read")


@dataclass(frozen=True, slots=True)
class Contested:
    """A field that is not the same on disk and in your text: what each says, as TOML source, None where absent.

    `by_disk` and `by_you` tell who changed it; both where it is not known what was read. `edits` are what writing a side
    into the text on disk takes. `moved` says that the list entry on disk is another one.
    """

    path: ValuePath
    read: str | None
    disk: str | None
    yours: str | None
    edits: Mapping[Side, Differences]
    by_disk: bool
    by_you: bool
    moved: bool = False

    @property
    def both(self) -> bool:
        """Whether somebody has to decide."""
        return self.by_disk and self.by_you

    @property
    def preset(self) -> Side:
        """The side kept unless somebody says otherwise: the one that edited, yours where both did."""
        return "yours" if self.by_you and not self.moved else "disk"


def contested(read: str, disk: str, yours: str) -> tuple[Contested, ...]:
    """The fields in which the text on disk and yours differ, by what was read. All three are TOML texts."""
    forth, back = differences(disk, yours), differences(disk, read)
    theirs, mine = differences(read, disk), differences(read, yours)
    parsed = [tomllib.loads(text) for text in (read, disk, yours)]
    return tuple(
        Contested(
            root,
            *(spelled(text, root) for text in (read, disk, yours)),
            edits=_sides(root, forth, back),
            by_disk=_touched(root, theirs),
            by_you=_touched(root, mine),
        )
        for root in _roots(_whole_list(path, parsed) for path in (*theirs, *mine))
        if _touched(root, forth)
    )


def _touched(root: ValuePath, edits: Differences) -> bool:
    return any(_overlap(root, path) for path in edits)


def _sides(root: ValuePath, forth: Differences, back: Differences) -> Mapping[Side, Differences]:
    yours = {path: literal for path, literal in forth.items() if _overlap(root, path)}
    return {"disk": {}, "yours": yours, "read": {path: text for path, text in back.items() if _overlap(root, path)}}


def recovered(disk: str, edits: Differences, before: Differences) -> tuple[Contested, ...]:
    """The fields of a journal that the text on disk does not hold; `before` is what the file said when they were made.

    Fields in `before` that are not in `edits` are names of list entries: where one differs, entries have moved.
    """
    rows: list[Contested] = []
    for path, literal in edits.items():
        now, was = spelled(disk, path), before.get(path)
        if now == literal:
            continue
        moved = any(spelled(disk, name) != before[name] for name in identities(disk, path) if name in before)
        sides: Mapping[Side, Differences] = {"disk": {}, "yours": {path: literal}, "read": {path: was}}
        rows.append(Contested(path, was, now, literal, sides, moved or path not in before or now != was, True, moved))
    return tuple(rows)


def merged(disk: str, chosen: Iterable[tuple[Contested, Side]]) -> str:
    """The text on disk with each field as the chosen side has it. Raises SpliceError."""
    edits: Differences = {}
    for row, side in chosen:
        edits.update(row.edits[side])
    present = {
        path: literal for path, literal in edits.items() if literal is not None or _value(disk, path) is not None
    }
    return with_differences(disk, present)


def before_edits(text: str, edits: Differences) -> Differences:
    """What a text says of fields that were edited away from it, and the names of the list entries that hold them."""
    names = (name for path in edits for name in identities(text, path))
    return {path: spelled(text, path) for path in dict.fromkeys((*edits, *names))}


def identities(text: str, path: ValuePath) -> Iterator[ValuePath]:
    """The fields that name the list entries on the way to `path`."""
    for depth, part in enumerate(path[:-1]):
        if isinstance(part, int) and depth:
            yield (*path[: depth + 1], ENTRY_NAMES.get(str(path[depth - 1]), "name"))


def spelled(text: str, path: ValuePath) -> str | None:
    """The TOML source of a field in a text; a count for a list of tables; None where it is absent."""
    value = _value(text, path)
    if value is None:
        return None
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in cast("list[Any]", value)):
        count = len(cast("list[Any]", value))
        return f"{count} entr{'y' if count == 1 else 'ies'}"
    span = scan(text).value(path)
    source = span.of(text) if span is not None else literal_of(value)
    return source if "\n" not in source else literal_of(value)


def _value(text: str, path: ValuePath) -> Any:
    found: Any = tomllib.loads(text.removeprefix("\ufeff"))
    for part in path:
        try:
            found = found[part]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def _whole_list(path: ValuePath, parsed: Iterable[Any]) -> ValuePath:
    """`path`, or the list on its way whose entries are not the same ones in all three."""
    for depth, part in enumerate(path):
        if isinstance(part, int):
            named = [_names(data, path[:depth]) for data in parsed]
            if any(names != named[0] for names in named):
                return path[:depth]
    return path


def _names(data: Any, path: ValuePath) -> list[Any]:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return []
    name = ENTRY_NAMES.get(str(path[-1]), "name")
    return [item.get(name) if isinstance(item, dict) else item for item in data] if isinstance(data, list) else []


def _roots(paths: Iterable[ValuePath]) -> list[ValuePath]:
    """The paths without those that lie inside another, in their order."""
    every = list(dict.fromkeys(paths))
    return [path for path in every if not any(path != other and path[: len(other)] == other for other in every)]


def _overlap(one: ValuePath, other: ValuePath) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
