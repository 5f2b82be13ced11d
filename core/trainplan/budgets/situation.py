"""What a plan says, as figures: the field itself, else the preset, else the default, else blocked.

Every number is fetched by its plan path, so that a path found in `explain` is found in the budgets too. A search puts columns in
place of some paths; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final, TypeAlias

from trainplan.budgets.defaults import AFTER_A_PEAK, DEFAULTS, PLAIN, UNITS, Default
from trainplan.budgets.framework_defaults import framework_default
from trainplan.catalogue import Entry, Fact, entry
from trainplan.frozen import record
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table
from trainplan.quantity.figure import Figure, Given, blocked, entered, fields_given, given

EVIDENCE_KIND = {
    "measured-here": "measured",
    "measured-scaled": "measured",
    "measured-node": "measured",
    "published": "published",
    "assumed": "assumed",
}

_UNREAD: Final = object()
"""Stands for a value that was not asked for yet, since None is a value."""

Rows: TypeAlias = "tuple[Mapping[str, Any], Collection[str]]"
"""A table's values by field, and the fields that the plan file itself says."""

_NO_TABLE: Final[Rows] = ({}, ())


class Situation(dict[str, Figure]):
    """A plan with the catalogue entries that it names. Reading a path twice gives the same figure.

    `situation[path]` is the number at a plan path, in base units; blocked `missing:PATH` where nothing gives it. It is a dict
    so that a path that was read before costs no call, and an estimate reads most of them often; nothing else of a dict is meant.
    """

    __slots__ = ("_columns", "_names", "_origins", "_tables", "_values", "part", "plan", "preset")

    def __init__(self, plan: Plan, columns: Mapping[str, Any] | None = None) -> None:
        self.plan = plan
        model, cluster = plan.model.preset, plan.cluster.accelerator
        self.preset = entry("models", model) if model else None
        self.part = entry("accelerators", cluster) if cluster else None
        self._tables: dict[str, Rows] = {}
        self._values: dict[str, Any] = {}
        self._origins: dict[str, tuple[str, bool]] = {}
        self._columns: dict[str, tuple[Figure, ...]] = {}
        self._names: tuple[str, ...] | None = None
        if columns:
            self.update(columns)

    def __missing__(self, path: str) -> Figure:
        figure = self[path] = self._number(path)
        return figure

    def replaced(self, columns: Mapping[str, Any]) -> Situation:
        """The same situation with other figures (or columns) at some paths: a stage, or a chunk of layouts."""
        other = Situation(self.plan, self)
        other.update(columns)
        other._tables, other._values, other._origins = self._tables, self._values, self._origins
        other._columns, other._names = self._columns, self._names
        return other

    def entry(self, path: str, value: float | None, unit: str) -> Figure:
        """A number of a list's entry, which the plan file itself has to say."""
        if path in self:
            return self[path]
        found = blocked(f"missing:{path}", unit) if value is None else entered(field_origin(path, unit), value)
        self[path] = found
        return found

    def source_names(self) -> tuple[str, ...]:
        """The sources' names, a source's place where it has none."""
        if self._names is None:
            self._names = tuple([one.name or str(place) for place, one in enumerate(self.plan.data.sources)])
        return self._names

    def of_sources(self, field: str, unit: str) -> tuple[Figure, ...]:
        """A number of every source, in their order; read once, however many budgets ask."""
        column = self._columns.get(field)
        if column is None:
            origins = field_origins(self.source_names(), "data.sources.", f".{field}", unit)
            column = self._columns[field] = fields_given(origins, map(attrgetter(field), self.plan.data.sources))
        return column

    def word(self, path: str) -> str | None:
        """The word or flag's text at a path, after preset and default; None where nothing gives it."""
        value = self._values.get(path, _UNREAD)
        if type(value) is str:
            return value
        value = self.value(path)
        return None if value is None else str(value)

    def kind(self, path: str) -> Any:
        """The word at a path, or in a search the column of kinds that stands in its place."""
        found: Any = self.get(path)
        return self.word(path) if found is None else found

    def flag(self, path: str) -> bool:
        """The flag at a path, after preset and default; absent is false."""
        return bool(self.value(path))

    def switch(self, path: str, says: str) -> Figure:
        """The flag at a path as a figure, 1 or 0; `says` is what 1 means."""
        return _switch(path, float(self.flag(path)), says, *self.origin(path))

    def value(self, path: str) -> Any:
        """The bare value at a path, after preset and default; for words, flags and lists, never for arithmetic."""
        value = self._values.get(path, _UNREAD)
        if value is _UNREAD:
            value = self._values[path] = self._value(path)
        return value

    def _value(self, path: str) -> Any:
        place = PLACES[path]
        own = self._own(place)
        if own is not None:
            return own
        fact = self._fact(place)
        if fact is not None:
            return fact.value
        default = self._default(path, place)
        return None if default is None else default.value

    def written(self, path: str) -> bool:
        """Whether the plan file itself says the field."""
        place = PLACES[path]
        return self._own(place) is not None and place.field in self._tables[place.tables][1]

    def origin(self, path: str) -> tuple[str, bool]:
        """Where a field's value is from, one of `figure.KINDS`, and whether that was verified."""
        found = self._origins.get(path)
        if found is None:
            found = self._origins[path] = self._origin(path)
        return found

    def _origin(self, path: str) -> tuple[str, bool]:
        if self.written(path):
            return self._kind(path), True
        place = PLACES[path]
        fact = self._fact(place)
        if fact is not None:
            return ("preset" if place.table == "model" else "catalogue"), fact.verified
        if self.value(path) is None:
            return "missing", True
        default = self._default(path, place)
        return "default", default is None or default.verified

    def part_fact(self, key: str) -> Figure:
        """A fact of the accelerator's catalogue entry, blocked where there is none."""
        if self.part is None:
            return blocked("missing:cluster.accelerator")
        figure = _catalogued(self.part.kind, self.part.name, key)
        return blocked(f"missing:catalogue.accelerators.{self.part.name}.{key}") if figure is None else figure

    def preset_fact(self, key: str) -> Figure | None:
        """A fact of the preset's catalogue entry that is no field of a plan; None without a preset or the fact."""
        return None if self.preset is None else _catalogued(self.preset.kind, self.preset.name, key)

    def _own(self, place: Place) -> Any:
        """The plan's own value of a field, None where it has none; `_tables` has its table then."""
        rows = self._tables.get(place.tables)
        values, _ = self._read(place.tables) if rows is None else rows
        return values.get(place.field)

    def _read(self, tables: str) -> Rows:
        """A table of the plan, taken apart once: pydantic looks twice at each attribute that is read."""
        table: Any = self.plan
        for name in tables.split(".") if tables else ():
            table = getattr(table, name, None)
        found = _NO_TABLE
        if isinstance(table, Table):
            found = table.__dict__, table.__pydantic_fields_set__  # what model_fields_set asks for
        self._tables[tables] = found
        return found

    def _named(self, place: Place) -> Entry | None:
        """The catalogue's entry that stands behind a path: the preset's or the accelerator's."""
        return self.preset if place.table == "model" else self.part if place.table == "cluster" else None

    def _fact(self, place: Place) -> Fact | None:
        named = self._named(place)
        return None if named is None else named.facts.get(place.key)

    def _default(self, path: str, place: Place) -> Default | None:
        if path in AFTER_A_PEAK and self.plan.memory.calibration is not None:
            return AFTER_A_PEAK[path]
        return place.default or framework_default(path, self.plan)

    def _number(self, path: str) -> Figure:
        place = PLACES[path]
        values, written = self._tables.get(place.tables) or self._read(place.tables)
        own = values.get(place.field)
        if own is not None and place.field in written:
            kind = self._kind(path)
            return entered(place.origin if kind == "file" else place.origin._replace(kind=kind), own)
        named = self._named(place)
        if named is not None and place.key in named.facts:
            return _entry_field(named.kind, named.name, path)
        default = self._default(path, place)
        value = own if own is not None else None if default is None else default.value
        if value is None:
            return blocked(f"missing:{path}", place.origin.unit)
        source, verified = (PLAIN, False) if default is None else (default.source, default.verified)
        return _default_field(path, float(value), source, verified)

    def _kind(self, path: str) -> str:
        if path in ("utilization.value", "utilization.low", "utilization.high"):
            return EVIDENCE_KIND[self.plan.utilization.evidence]
        return "file"


@lru_cache(maxsize=1000)
def field_origin(path: str, unit: str) -> Given:
    """The origin of a number that the plan file says, whatever it says."""
    return Given(path, unit, "file", "plan file", verified=True, is_field=True)


@lru_cache(maxsize=100)
def field_origins(names: tuple[str, ...], before: str, after: str, unit: str) -> tuple[Given, ...]:
    """The same of one field of every source; kept, because sixty sources are many and an edit seldom renames one."""
    return tuple([field_origin(f"{before}{name}{after}", unit) for name in names])


@record
class Place:
    """Where a path leads: to a field of a table, or to a key of a catalogue entry, and else to a default.

    `origin` is that of a number that the plan file says, whatever it says.
    """

    tables: str
    field: str
    table: str
    key: str
    default: Default | None
    origin: Given


class _Places(dict[str, Place]):
    """Places by path, made when first asked for."""

    def __missing__(self, path: str) -> Place:
        tables, _, field = path.rpartition(".")
        table, _, key = path.partition(".")
        origin = field_origin(path, UNITS.get(path, "1"))
        place = self[path] = Place(tables, field, table, key, DEFAULTS.get(path), origin)
        return place


PLACES: Final = _Places()


@cache
def _switch(path: str, on: float, says: str, kind: str, verified: bool) -> Figure:
    return given(path, on, "1", says, kind=kind, verified=verified, is_field=True)


@cache
def _default_field(path: str, value: float, source: str, verified: bool) -> Figure:
    """A field's default as a figure, which is the same in every plan that leaves the field out."""
    return given(path, value, UNITS.get(path, "1"), source, kind="default", verified=verified, is_field=True)


@cache
def _entry_field(kind: str, name: str, path: str) -> Figure:
    """A field as a preset or an accelerator gives it, which is the same in every plan that names that entry."""
    found = entry(kind, name)
    fact = None if found is None else found.get(PLACES[path].key)
    if fact is None:
        raise KeyError(f"{kind}/{name} has no {path}")
    word, source = ("preset" if kind == "models" else "catalogue"), f"{name}: {fact.source}"
    unit = UNITS.get(path, "1")
    return given(path, float(fact.value), unit, source, kind=word, verified=fact.verified, is_field=True)


@cache
def _catalogued(kind: str, name: str, key: str) -> Figure | None:
    """A number of a catalogue entry, None where it has none."""
    found = entry(kind, name)
    fact = None if found is None else found.get(key)
    if fact is None:
        return None
    return given(f"catalogue.{kind}.{name}.{key}", float(fact.value), fact.unit, fact.source, verified=fact.verified)
