"""A plan field by its path, and a figure by its key, as their ledger writes them: for what asks for one and not for a pane."""

from __future__ import annotations

from functools import cache

from trainplan.estimation import Estimate
from trainplan.quantity import numbers
from trainplan.quantity.numbers import Style
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FieldRow, FigureRow


def field_row(path: str, estimate: Estimate) -> FieldRow:
    """The field as its ledger writes it; memory of devices and hosts in GiB where no ledger has it."""
    row = _rows().get(path)
    if row is not None:
        return row
    memory = "memory" in path and estimate.situation[path].unit == "bytes"
    return FieldRow(path, "", numbers.device_bytes if memory else numbers.plain)


@cache
def figure_styles() -> dict[str, Style]:
    """How ledgers write figures for which they ask for more than their unit: by key, of several the first ledger's."""
    found: dict[str, Style] = {}
    for table in TABLES.values():
        for row in table.rows:
            if isinstance(row, FigureRow) and row.style is not None:
                found.setdefault(row.key, row.style)
    return found


@cache
def _rows() -> dict[str, FieldRow]:
    """Rows of fields by path; of several the one of the first ledger."""
    found: dict[str, FieldRow] = {}
    for table in TABLES.values():
        for row in table.rows:
            if isinstance(row, FieldRow):
                found.setdefault(row.path, row)
    return found


def field_paths() -> tuple[str, ...]:
    """Paths of every field that a ledger lets a person decide, sorted."""
    return tuple(sorted(_rows()))
