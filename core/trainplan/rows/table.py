"""The door to every table: a row takes a plan field, or a quantity that carries its story; nothing else gets in.

Rows are data. The app draws them, `show` prints them, the report quotes them; they all say the same because they ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainplan.catalogue import names
from trainplan.estimation import Estimate, Value
from trainplan.frozen import frozen
from trainplan.labels.names import field_label, quantity_label
from trainplan.plan.describe import words_of
from trainplan.quantity import numbers
from trainplan.quantity.figure import Blocked, Card, Choice, Figure
from trainplan.quantity.numbers import Scale, Style
from trainplan.quantity.unit import Quantity, amount, prefixed, without_zeros


@frozen
class FieldRow:
    """A plan field, editable in place. `unit` is what stands behind the box; `style` writes values that were typed as numbers."""

    path: str
    unit: str = ""
    style: Style = numbers.plain


@frozen
class FigureRow:
    """A quantity. `style` None means by its unit; `note` replaces what it rests on; `label` its own label in other company."""

    key: str
    style: Style | None = None
    note: str = ""
    label: str = ""


@frozen
class RuleRow:
    """A line across with a title."""

    title: str = ""


Row = FieldRow | FigureRow | RuleRow


@frozen
class Table:
    """One pane's ledger: its full name, the budget that it shows, its rows, and which of them come first in a low window."""

    title: str
    budget: str
    rows: tuple[Row, ...]
    first: tuple[str, ...] = ()


@frozen
class Cells:
    """What a row says in words: label, value, unit, movement, what it rests on. `editable` tells boxes from figures."""

    id: str
    label: str
    value: str
    unit: str
    moved: str
    rests_on: str
    editable: bool
    choices: tuple[str, ...] = ()
    raw: str = ""


def cells(row: FieldRow | FigureRow, now: Estimate, saved: Estimate | None = None) -> Cells:
    """The words of a row for an estimate, and how it moved against the saved one."""
    if isinstance(row, FieldRow):
        return _field_cells(row, now, saved)
    value = now.quantities[row.key]
    before = saved.quantities.get(row.key) if saved is not None else None
    style = row.style or style_of(row.key, value, now)
    text, unit = written(value, style)
    return Cells(
        row.key,
        row.label or quantity_label(row.key),
        text,
        unit,
        movement(before, value, style),
        row.note or rests(value),
        False,
    )


DEVICE: Final = ("memory.", "storage.staging_memory")
"""Keys whose bytes are those of a device or a host: GiB. Bytes of all others are on disks and links."""


def style_of(key: str, value: Value, now: Estimate) -> Style:
    """How a quantity is written where its row asks for nothing else."""
    unit = value.unit if isinstance(value, Figure | Blocked) else "1"
    if unit == "bytes" and key.startswith(DEVICE):
        return numbers.device_bytes
    return numbers.money(now.plan.cluster.currency) if unit == "currency" else numbers.BY_UNIT.get(unit, numbers.count)


def short_row(key: str, now: Estimate) -> FigureRow:
    """A quantity as a row of a narrow table: numbers that are longer than a column take a prefix."""
    return FigureRow(key, numbers.short(style_of(key, now.quantities[key], now)))


def written(value: Value, style: Style) -> tuple[str, str]:
    """A quantity as (text, unit): `?` where it cannot follow, `-` where it does not apply."""
    if isinstance(value, Blocked):
        return ("-" if value.code == "none" else "?"), ""
    if isinstance(value, Choice):
        return str(value), ""
    scale = style(float(value))
    return scale.text(float(value)), scale.unit


def movement(before: Value | None, after: Value, style: Style) -> str:
    """How a quantity moved, signed, on the scale that it is written in; `changed` for words and for what came or went."""
    if before is None:
        return ""
    if isinstance(before, Figure) and isinstance(after, Figure):
        return style(float(after)).moved(float(before), float(after))
    same = type(before) is type(after) and (not isinstance(before, Choice) or str(before) == str(after))
    return "" if same else "changed"


def rests(value: Value) -> str:
    """What a quantity rests on, with `?` where something in it was not read again; why, where it cannot follow."""
    if isinstance(value, Blocked):
        return blocked_by(value.code)
    if isinstance(value, Choice):
        return value.kind + ("" if value.verified else " ?")
    return value.rests_on + ("" if value.verified else " ?")


def blocked_by(code: str) -> str:
    """The reason of a blocked value in a few words."""
    if code == "none":
        return ""
    if code.startswith("missing:"):
        return "missing"
    return "not defined" if code.startswith("undefined:") else f"see {code}"


def lacking(code: str) -> str:
    """The reason of a blocked value with the name of the field that is missing: `global batch missing`."""
    return f"{field_label(code.removeprefix('missing:'))} missing" if code.startswith("missing:") else blocked_by(code)


def _field_cells(row: FieldRow, now: Estimate, saved: Estimate | None) -> Cells:
    text, kind = field_text(row, now)
    raw = raw_text(row.path, now)
    before = raw_text(row.path, saved) if saved is not None else raw
    moved = "" if before == raw else _field_moved(row, now, saved)
    return Cells(
        row.path,
        field_label(row.path),
        text,
        row.unit or _field_unit(row, now),
        moved,
        kind,
        True,
        choices_of(row.path),
        raw,
    )


def _field_unit(row: FieldRow, now: Estimate) -> str:
    if row.path == "cluster.nodes":
        per, part = now.situation["cluster.accelerators_per_node"], now.plan.cluster.accelerator
        return f"x {int(per)} {_short(part)}" if isinstance(per, Figure) and part else ""
    if row.path == "cluster.price_per_accelerator_hour":
        return f"{now.plan.cluster.currency}/acc h"
    value = now.situation.value(row.path)
    typed = isinstance(value, Quantity) and value.text
    return "GiB" if row.style is numbers.device_bytes and value is not None and not typed else ""


def _short(part: str | None) -> str:
    return (part or "").split("-")[0].upper()


def field_text(row: FieldRow, now: Estimate) -> tuple[str, str]:
    """A field's text as the box shows it, and its own origin: file, preset, catalogue, default, missing."""
    value = now.situation.value(row.path)
    kind, verified = now.situation.origin(row.path)
    if value is None:
        return "", "missing" if row.path in _WANTED else ""
    origin = kind + ("" if verified else " ?")
    if isinstance(value, Quantity) and value.text:
        return value.text, origin
    if isinstance(value, bool):
        return ("yes" if value else "no"), origin
    if isinstance(value, int | float):
        text = row.style(float(value)).text(float(value)) if value else "0"
        return text if len(text) <= BOX else _fitted(float(value), now.situation[row.path].unit), origin
    return str(value), origin


BOX: Final = 13
"""Cells of a field's box."""
SUFFIXES: Final = {"bytes": "B", "bytes/s": "B/s"}


def _fitted(value: float, unit: str) -> str:
    """A number that is too long for its box with a prefix, and all the digits that the box holds: 11.13587712T."""
    digits, text = BOX, " " * (BOX + 1)
    while digits and len(text) > BOX:
        number, prefix = prefixed(value, digits)
        suffix = SUFFIXES.get(unit)
        text = amount(value, digits) if suffix is None else f"{without_zeros(number)}{prefix}{suffix}"
        digits -= 1
    return text


_WANTED = {
    "data.train_tokens",
    "data.sequence_length",
    "data.sampler",
    "batch.global_batch_sequences",
    "cluster.accelerator",
    "cluster.nodes",
    "cluster.price_per_accelerator_hour",
    "utilization.value",
    "storage.write_bandwidth",
}


def _field_moved(row: FieldRow, now: Estimate, saved: Estimate | None) -> str:
    after, before = now.situation.value(row.path), saved.situation.value(row.path) if saved is not None else None
    if not isinstance(after, int | float) or not isinstance(before, int | float) or isinstance(after, bool):
        return "changed"
    unit = now.situation[row.path].unit
    tokens = unit == "tokens" and row.path != "data.sequence_length"
    own = unit == "1" or row.style is numbers.device_bytes
    style = _short_tokens if tokens else row.style if own else numbers.BY_UNIT.get(unit, row.style)
    return style(float(after)).moved(float(before), float(after))


def _short_tokens(value: float) -> Scale:
    """Movement of tokens as people write them: +800B."""
    return _Prefixed(1, 0, "")


class _Prefixed(Scale):
    def moved(self, before: float, after: float) -> str:
        return f"{'+' if after > before else '-'}{amount(abs(after - before))}" if after != before else ""


def choices_of(path: str) -> tuple[str, ...]:
    """The words that a field may be: its own, or the names of its catalogue; empty where it is no choice."""
    return names(_CATALOGUES[path]) if path in _CATALOGUES else words_of(path)


_CATALOGUES = {"model.preset": "models", "cluster.accelerator": "accelerators"}


LONG: Final = 1e12
"""From here a number without a unit stands as `9.89e+14` in its box, whose cells it would not fit."""


def raw_text(path: str, now: Estimate) -> str:
    """A field's text as an edit of it begins: as typed, numbers without commas."""
    value = now.situation.value(path)
    if value is None:
        return ""
    if isinstance(value, Quantity) and value.text:
        return value.text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        short = f"{float(value):.12g}"
        return f"{int(value)}" if float(value).is_integer() and (abs(value) < LONG or float(short) != value) else short
    return str(value)


def story(value: Figure) -> str:
    """The formula or the origin of a figure in one line."""
    return value.origin.source if isinstance(value.origin, Card) else f"{value.origin.name}: {value.origin.source}"


def fields_in(rows: Sequence[Row]) -> tuple[str, ...]:
    """Paths of the fields among rows."""
    return tuple(row.path for row in rows if isinstance(row, FieldRow))
