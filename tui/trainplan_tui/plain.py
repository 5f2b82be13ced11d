"""A pane as plain sentences, one fact a line: for pipes, screen readers and files."""

from __future__ import annotations

from trainplan.estimation import Estimate
from trainplan.table import Cells, FieldRow, FigureRow, Table, cells


def plain_table(table: Table, now: Estimate, saved: Estimate | None = None) -> list[str]:
    """Fields, then what follows from them."""
    fields = [row for row in table.rows if isinstance(row, FieldRow)]
    figures = [row for row in table.rows if isinstance(row, FigureRow)]
    lines = [f"{table.title}, decided here"]
    lines += [f"  {_sentence(cells(row, now, saved))}; {row.path}" for row in fields]
    lines += ["", f"{table.title}, follows"]
    return [*lines, *(f"  {_sentence(cells(row, now, saved))}; {row.key}" for row in figures)]


def _sentence(told: Cells) -> str:
    value = " ".join(part for part in (told.value or "empty", told.unit) if part)
    moved = f"; moved {told.moved}" if told.moved else ""
    return f"{told.label} = {value}{moved}" + (f"; rests on {told.rests_on}" if told.rests_on else "")
