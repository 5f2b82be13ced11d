"""A pane as plain sentences, one fact a line: for pipes, screen readers and files."""

from __future__ import annotations

from textwrap import wrap

from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.rows.table import Cells, FieldRow, FigureRow, Table, cells
from trainplan.views.explain import readable


def plain_table(table: Table, now: Estimate, saved: Estimate | None = None) -> list[str]:
    """Fields, then what follows from them, in lines of at most 100 columns."""
    fields = [row for row in table.rows if isinstance(row, FieldRow)]
    figures = [row for row in table.rows if isinstance(row, FigureRow)]
    lines = [f"{table.title}, decided here"] if fields else []
    lines += [f"  {_sentence(cells(row, now, saved))}; {row.path}" for row in fields]
    if table.budget == "tokens":
        lines += ["", f"{table.title}, sources", *_sources(now)]
    lines += ["", *_listed(table, now)] if table.budget in LISTED else []
    lines += ["", f"{table.title}, follows"]
    lines += [f"  {_sentence(cells(row, now, saved))}; {row.key}" for row in figures]
    found = [item for item in findings(now) if item.budget == table.budget or table.budget == "overview"]
    if found:
        lines += ["", f"{table.title}, findings", *(line for item in found for line in _finding(item))]
    lines = lines if lines[0] else lines[1:]
    return [piece for line in lines for piece in wrap(line, 100, subsequent_indent="    ") or [""]]


LISTED = ("pilot", "readiness")
"""Budgets whose rows are a listing."""


def _listed(table: Table, now: Estimate) -> list[str]:
    """Checks of the ladder, or readiness items, a sentence each."""
    from trainplan.views.listings import listings_of

    found: list[str] = []
    for listing in listings_of(table.budget, now):
        found.append(f"{table.title}, {listing.title}")
        name = ""
        for first, *rest in listing.rows:
            name = first or name
            told = [f"{head} {cell}" for head, cell in zip(listing.heads[1:], rest, strict=True) if cell]
            found.append(f"  {', '.join((name, *told))}")
    return found


def _finding(item: Finding) -> list[str]:
    word = {"error": "ERROR", "warning": "WARNING", "info": "NOTE"}[item.severity]
    return [f"  {word} {item.code} {item.message}.", *([f"    fix: {item.fix}"] if item.fix else [])]


def _sources(now: Estimate) -> list[str]:
    found: list[str] = []
    for source in now.mixture.rows:
        told = [("unique", source.unique), ("drawn", source.drawn), ("passes", source.passes), ("share", source.share)]
        parts = [f"{word} {readable(value, now)}" for word, value in told if isinstance(value, Figure)]
        found.append(f"  {source.name}: {', '.join(parts) or 'cannot be told'}")
    return found


def _sentence(told: Cells) -> str:
    value = " ".join(part for part in (told.value or "empty", told.unit) if part)
    moved = f"; moved {told.moved}" if told.moved else ""
    return f"{told.label} = {value}{moved}" + (f"; rests on {told.rests_on}" if told.rests_on else "")
