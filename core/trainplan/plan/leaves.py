"""The fields that a plan file gives, one by one, and in which of them two plans differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table
from trainplan.quantity.unit import Quantity

NAMED = {"sources": "name", "stages": "name", "tasks": "task", "pilot": "rung", "readiness": "item", "checks": "metric"}


def field_differences(before: Plan, after: Plan) -> Iterator[tuple[str, str, str]]:
    """Paths of fields that differ, with what each file says; `-` where it says nothing."""
    old, new = dict(leaves(before, "")), dict(leaves(after, ""))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield path, old.get(path, "-"), new.get(path, "-")


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every field that a plan file gives, as (path, text); entries of lists go by their name."""
    for found, item in values(value, path):
        yield found, _text(item)


def values(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The same as (path, value)."""
    if isinstance(value, Table):
        for name in sorted(value.model_fields_set, key=list(type(value).model_fields).index):
            yield from values(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from values(item, f"{path}.{key}")
    elif isinstance(value, tuple):
        for index, item in enumerate(cast("tuple[Any, ...]", value)):
            name = getattr(item, NAMED.get(path.rsplit(".", 1)[-1], ""), None)
            yield from values(item, f"{path}.{name if name is not None else index}")
    elif value is not None:
        yield path, value


def typed_at(plan: Plan, path: str) -> str:
    """What a plan file says at a path, as a person types it, in entries of lists too; empty where it says nothing."""
    value = dict(values(plan, "")).get(path)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Quantity) and value.text:
        return value.text
    if isinstance(value, int | float):
        return f"{int(value)}" if float(value).is_integer() else repr(float(value))
    return "" if value is None else str(value)


def _text(value: Any) -> str:
    if isinstance(value, Quantity):
        return value.text or f"{float(value):,.12g}"
    return str(value).lower() if isinstance(value, bool) else str(value)
