"""What a sign-off or a pilot run stood on: plan fields and figures with their values, and which of them moved since.

A field that the file leaves out counts with its default, so writing a default down breaks nothing. It refuses to know
who signed, and what a change means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from trainplan.frozen import frozen
from trainplan.plan.leaves import NAMED
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table
from trainplan.quantity.figure import Blocked, Choice, Figure
from trainplan.quantity.unit import DIMENSIONS, Quantity, UnitError, parse

Value: TypeAlias = "str | float | bool"
Covers: TypeAlias = "Mapping[str, Value]"
Quantities: TypeAlias = "Mapping[str, Figure | Blocked | Choice]"

ABSENT: Final = "-"
DIGEST: Final = "sha256:"
"""Begins what stands for all fields of a pattern in a plan's own mirror, which is to stay readable."""
PRESENT: Final = "set"
DRAWN: Final = "data.drawn"
ROUNDING: Final = 1e-6  # a figure written down by hand is rounded; fields are compared as they are


@frozen
class Limit:
    """How far a figure may rise before what stood on it is stale: a share of it, and an amount in its base unit."""

    share: float = 0.0
    amount: float = 0.0


@frozen
class Change:
    """One covered field or figure that moved: its path or key, and both values as people read them."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path} {self.old} to {self.new}"


def plan_values(plan: Plan) -> dict[str, Value]:
    """Every field of a plan by its path, defaults filled in, `-` where there is none; a list also says its names.

    `data.drawn` names the sources with a weight above 0 in any stage, which is no field of its own.
    """
    return {**dict(_values(plan, "")), DRAWN: _drawn(plan)}


def _drawn(plan: Plan) -> str:
    sources = plan.data.sources
    weights = [dict[str, float](stage.weights) for stage in plan.data.stages if stage.weights is not None]
    if not weights or any(stage.weights is None for stage in plan.data.stages):
        weighed = any(source.weight is not None for source in sources)
        weights.append({source.name or "?": source.weight or 0.0 if weighed else 1.0 for source in sources})
    return ", ".join(
        source.name or "?" for source in sources if any(one.get(source.name or "?", 0.0) > 0 for one in weights)
    )


def _values(value: Any, path: str) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Table):
        for name in type(value).model_fields:
            yield from _values(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _values(item, f"{path}.{key}")
    elif isinstance(value, tuple) and any(isinstance(item, Table) for item in cast("tuple[Any, ...]", value)):
        yield from _entries(cast("tuple[Table, ...]", value), path)
    else:
        yield path, _plain(value)


def _entries(entries: tuple[Table, ...], path: str) -> Iterator[tuple[str, Value]]:
    field = NAMED.get(path.rsplit(".", 1)[-1], "")
    names = [str(getattr(entry, field, None) or index) for index, entry in enumerate(entries)]
    yield path, ", ".join(names)
    for name, entry in zip(names, entries, strict=True):
        yield from _values(entry, f"{path}.{name}")


def _plain(value: Any) -> Value:
    if value is None or value == ():
        return ABSENT
    if isinstance(value, Quantity):
        return value.text or float(value)
    return value if isinstance(value, str | bool | int | float) else str(value)


def within(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path is one of the patterns or lies below one; `*` stands for one name, `$` at the end for nothing below."""
    parts = path.split(".")
    return any(_matches(parts, pattern.rstrip("$").split("."), pattern.endswith("$")) for pattern in patterns)


def _matches(parts: list[str], pattern: list[str], exactly: bool) -> bool:
    if len(parts) < len(pattern) or (exactly and len(parts) > len(pattern)):
        return False
    return all(want in ("*", part) for part, want in zip(parts, pattern, strict=False))


def covered(plan: Plan, quantities: Quantities, fields: Iterable[str], figures: Iterable[str]) -> dict[str, Value]:
    """What a sign-off made now stands on. A figure that is blocked is covered as `-`."""
    patterns = tuple(fields)
    found = {path: value for path, value in plan_values(plan).items() if within(path, patterns)}
    return found | {key: _figure(quantities.get(key)) for key in figures}


def mirrored_covers(
    plan: Plan, quantities: Quantities, fields: Iterable[str], figures: Iterable[str]
) -> dict[str, Value]:
    """As `covered`, in few lines: a pattern of one field with its value, one of several with a digest of their values."""
    values = plan_values(plan)
    found = {pattern: _mirrored(values, pattern) for pattern in fields}
    return found | {key: _figure(quantities.get(key)) for key in figures}


def _mirrored(values: Mapping[str, Value], pattern: str) -> Value:
    alone = pattern in values and not any(path.startswith(f"{pattern}.") for path in values)
    return values[pattern] if alone else _digest(values, pattern)


def _digest(values: Mapping[str, Value], pattern: str) -> str:
    """Of every field within a pattern; numbers count by their value, however they are spelled."""
    lines = sorted(f"{path}={_canonical(value)}" for path, value in values.items() if within(path, (pattern,)))
    return DIGEST + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _canonical(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(float(value))
    readings = _readings(value)
    return repr(min(readings)[1]) if readings else value.lower()


def _figure(value: Figure | Blocked | Choice | None) -> Value:
    return float(value) if isinstance(value, Figure) else str(value) if isinstance(value, Choice) else ABSENT


def changes(
    covers: Covers, plan: Plan, quantities: Quantities, limits: Mapping[str, Limit] | None = None
) -> tuple[Change, ...]:
    """What moved since, in the order of the covers. A key with a limit is a figure and may move by it; others not at all."""
    values, allowed = plan_values(plan), limits or {}
    found: list[Change] = []
    for path, old in covers.items():
        if isinstance(old, str) and old.startswith(DIGEST):
            if old != (now := _digest(values, path)):
                found.append(Change(path, old.removeprefix(DIGEST)[:6], now.removeprefix(DIGEST)[:6]))
            continue
        new = values[path] if path in values and path not in allowed else _other(path, values, quantities)
        same = _same(old, new) if path in values and path not in allowed else _near(old, new, allowed.get(path))
        if not same:
            found.append(Change(path, _shown(old), _shown(new)))
    return tuple(found)


def _other(path: str, values: Covers, quantities: Quantities) -> Value:
    """A figure, or a table that had been absent and now has fields."""
    below = any(one.startswith(f"{path}.") for one in values)
    return PRESENT if below else _figure(quantities.get(path))


def _same(old: Value, new: Value) -> bool:
    """Equal as written, or as numbers of one dimension: `14.8T` and 14800000000000 are the same tokens."""
    if old == new or str(old).lower() == str(new).lower():
        return True
    if isinstance(old, bool) or isinstance(new, bool):
        return False
    return bool(_readings(old) & _readings(new))


def _readings(value: Value) -> set[tuple[str, float]]:
    found: set[tuple[str, float]] = set()
    for dimension in DIMENSIONS:
        try:
            found.add((dimension, parse(value, dimension) if isinstance(value, str) else float(value)))
        except UnitError:
            continue
    return found


def _near(old: Value, new: Value, limit: Limit | None) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return old == new
    moved, scale = float(new) - float(old), abs(float(old))
    if limit is None:
        return abs(moved) <= ROUNDING * scale
    return moved <= max(limit.share * scale, limit.amount) + ROUNDING * scale


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:,.12g}" if abs(value) < 1e15 else f"{value:.6g}"
