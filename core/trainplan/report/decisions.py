"""The decisions of a plan, table by table: what its file says with the comment beside it, and what stands where it says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from trainplan.budgets.defaults import DEFAULTS, UNITS
from trainplan.estimation import Estimate
from trainplan.labels.names import field_label
from trainplan.plan.faults import known_fields, known_tables
from trainplan.plan.leaves import NAMED, values
from trainplan.plan.tables import Table
from trainplan.quantity import numbers
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.report.words import numeric
from trainplan.rows.fields import field_row
from trainplan.rows.table import cells

ELSEWHERE = ("pilot", "readiness")
"""Tables that parts of their own tell."""


def decisions(facts: Facts, pen: Markdown) -> list[str]:
    """Every table of the plan that holds a value."""
    lines = pen.heading(2, "Decisions")
    for table in known_tables():
        if table not in ELSEWHERE:
            told = [*_fields(table, facts, pen), *_lists(table, facts, pen)]
            lines += [*pen.heading(3, ("", Code(table))), *told] if told else []
    return lines


def _fields(table: str, facts: Facts, pen: Markdown) -> list[str]:
    rows = [row for path in _paths(table, facts.estimate) if (row := _field(path, table, facts)) is not None]
    heads = ("field", "label", "value", "unit", "rests on", "comment in the file")
    return pen.table(heads if any(row[-1] for row in rows) else heads[:-1], _without_blank(rows), right=("value",))


def _without_blank(rows: list[tuple[Inline, ...]]) -> list[tuple[Inline, ...]]:
    """Rows without their last column where nothing stands in it."""
    return rows if any(row[-1] for row in rows) else [row[:-1] for row in rows]


def scalar_paths(estimate: Estimate) -> Iterator[str]:
    """Paths of all fields that stand in no list, in the order of the plan's tables."""
    for table in known_tables():
        if table not in ELSEWHERE:
            yield from _paths(table, estimate)


def _paths(table: str, estimate: Estimate) -> Iterator[str]:
    """Paths of the fields of a table that are no list of entries; those of tables inside it behind it."""
    for name in known_fields((table,)):
        inner = known_fields((table, name))
        if not inner:
            yield f"{table}.{name}"
        elif table == "model" and _has(name, estimate):
            yield from (f"{table}.{name}.{one}" for one in inner)


def _has(part: str, estimate: Estimate) -> bool:
    """Whether a model has a part such as experts, by plan or preset: defaults alone make none."""
    paths = [f"model.{part}.{one}" for one in known_fields(("model", part))]
    return any(estimate.situation.value(path) is not None for path in paths if path not in DEFAULTS)


def _field(path: str, table: str, facts: Facts) -> tuple[Inline, ...] | None:
    """A field with a value, or one that is missing; None where nothing says it and nothing waits for it."""
    told = cells(field_row(path, facts.estimate), facts.estimate)
    raw = facts.estimate.situation.value(path)
    value = _value(raw) if isinstance(raw, tuple) else told.value
    missing = told.rests_on == "missing"
    if not value and not missing:
        return None
    unit = told.unit or (_bare_unit(path, facts.estimate) if value else "")
    name = Code(path.removeprefix(f"{table}."))
    return (name, told.label, value or "?", unit, told.rests_on or "file", facts.remarks.get(path, ""))


def _bare_unit(path: str, estimate: Estimate) -> str:
    """The unit of an amount of money, and of a number that was typed without one."""
    value, unit = estimate.situation.value(path), UNITS.get(path, "1")
    typed = isinstance(value, bool) or not isinstance(value, int | float) or bool(getattr(value, "text", ""))
    if unit == "1" or (typed and unit != "currency"):
        return ""
    return unit.replace("currency", estimate.plan.cluster.currency)


def _lists(table: str, facts: Facts, pen: Markdown) -> list[str]:
    """Lists of entries, such as sources: an entry a row, a column for each field that one of them says."""
    lines: list[str] = []
    for name in known_fields((table,)):
        entries = getattr(getattr(facts.estimate.plan, table), name, ())
        if isinstance(entries, tuple) and entries and isinstance(entries[0], Table):
            lines += _listed(f"{table}.{name}", entries, facts, pen)
    return lines


def _listed(path: str, entries: tuple[Table, ...], facts: Facts, pen: Markdown) -> list[str]:
    known = type(entries[0]).model_fields
    fields = [name for name in known if any(name in one.model_fields_set for one in entries)]
    if not fields:
        return []
    rows = [_entry(path, place, one, fields, facts) for place, one in enumerate(entries)]
    heads = (*(field_label(name) for name in fields), "comments in the file")
    told = heads if any(row[-1] for row in rows) else heads[:-1]
    return [*pen.heading(4, Code(path)), *pen.table(told, _without_blank(rows), numeric(told, rows))]


def _entry(path: str, place: int, one: Table, fields: list[str], facts: Facts) -> tuple[Inline, ...]:
    named = getattr(one, NAMED.get(path.rsplit(".", 1)[-1], ""), None)
    here = f"{path}.{place if named is None else named}"
    told = [_value(getattr(one, name)) if name in one.model_fields_set else "" for name in fields]
    beside: dict[str, list[str]] = {}
    for field, remark in facts.remarks.items():
        if field.startswith(f"{here}."):
            beside.setdefault(remark, []).append(field.removeprefix(f"{here}.").split(".")[0])
    remarks = [
        f"{', '.join(field_label(name) for name in dict.fromkeys(names))}: {text}" for text, names in beside.items()
    ]
    return (*told, "; ".join(remarks))


def _value(value: Any) -> str:
    """A value as the file says it, numbers with commas; equal neighbours of a list together, weights by source."""
    told = [(path.removeprefix("."), _text(item)) for path, item in values(value, "")]
    if isinstance(value, dict):
        return "; ".join(f"{name} {text}" for name, text in told)
    runs = [(text, len(list(alike))) for text, alike in groupby(text for _, text in told)]
    return "; ".join(text if count == 1 else f"{count} x {text}" for text, count in runs)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return getattr(value, "text", "") or numbers.plain(float(value)).text(float(value))
    return str(value)
