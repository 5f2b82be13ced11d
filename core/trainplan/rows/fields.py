"""A plan field by its path, as its ledger writes it: for what asks for one field and not for a pane."""

from __future__ import annotations

from functools import cache

from trainplan.estimation import Estimate
from trainplan.quantity import numbers
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FieldRow


def field_row(path: str, estimate: Estimate) -> FieldRow:
    """The field as its ledger writes it; memory of devices and hosts in GiB where no ledger has it."""
    row = _rows().get(path)
    if row is not None:
        return row
    memory = "memory" in path and estimate.situation[path].unit == "bytes"
    return FieldRow(path, "", numbers.device_bytes if memory else numbers.plain)


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
