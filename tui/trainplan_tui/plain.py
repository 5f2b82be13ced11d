"""A pane as plain sentences, one fact a line: for pipes, screen readers and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainplan.checks import findings
from trainplan.estimation import Estimate
from trainplan.evidence.published import published_runs
from trainplan.finding import Finding
from trainplan.rows.table import Cells, FieldRow, FigureRow, Table, cells
from trainplan.views.listings import Listing, listings_of
from trainplan.views.mixing import mixture_of
from trainplan_tui.text.folding import folded


def plain_table(
    table: Table, now: Estimate, saved: Estimate | None = None, claimed: Sequence[Finding] = ()
) -> list[str]:
    """Fields, then what follows from them, in lines of at most 100 columns; `claimed` are findings of the record."""
    fields = [row for row in table.rows if isinstance(row, FieldRow)]
    figures = [row for row in table.rows if isinstance(row, FigureRow)]
    lines = [f"{table.title}, decided here"] if fields else []
    lines += [f"  {_sentence(cells(row, now, saved))}; {row.path}" for row in fields]
    follows = ["", f"{table.title}, follows", *(f"  {_sentence(cells(row, now, saved))}; {row.key}" for row in figures)]
    listings = (*mixture_of(table.budget, now), *listings_of(table.budget, now))
    listed = [line for one in listings for line in ("", f"{table.title}, {one.title}", *_listed(one))]
    lines += [*listed, *follows] if table.budget in LISTED else [*follows, *listed]
    found = [*claimed, *findings_of(table.budget, now)] if table.budget in CLAIMED else findings_of(table.budget, now)
    if found:
        lines += ["", f"{table.title}, findings", *(line for item in found for line in _finding(item))]
    lines = lines if lines[0] else lines[1:]
    return [piece for line in lines for piece in folded(line, 100, 4)]


CLAIMED: Final = ("overview", "readiness")
"""Budgets among whose findings stand those of the record."""
LISTED: Final = ("tokens", "pilot", "readiness")
"""Budgets whose rows are a listing, which comes first."""


def findings_of(budget: str, now: Estimate) -> list[Finding]:
    """The findings that stand in the pane of a budget; all of them in the overview."""
    budgets = budgets_of(budget)
    return [item for item in findings(now, published_runs()) if item.budget in budgets or budget == "overview"]


def budgets_of(pane: str) -> tuple[str, ...]:
    """The budgets that a pane shows."""
    return (pane, *ALSO.get(pane, ()))


ALSO: Final = {"compute": ("model",), "parallelism": ("communication",)}
"""Budgets that have no pane of their own."""


def _listed(listing: Listing) -> list[str]:
    """Rows of a listing, a sentence each; a first cell that is empty is that of the row above."""
    found, name = list[str](), ""
    for first, *rest in listing.rows:
        name = first or name
        told = [f"{head} {cell}" for head, cell in zip(listing.heads[1:], rest, strict=True) if cell]
        found.append(f"  {', '.join((name, *told))}")
    return found


def _finding(item: Finding) -> list[str]:
    word = {"error": "ERROR", "warning": "WARNING", "info": "NOTE"}[item.severity]
    return [f"  {word} {item.code} {item.message}.", *([f"    fix: {item.fix}"] if item.fix else [])]


def _sentence(told: Cells) -> str:
    value = " ".join(part for part in (told.value or "empty", told.unit) if part)
    moved = f"; moved {told.moved}" if told.moved else ""
    return f"{told.label} = {value}{moved}" + (f"; rests on {told.rests_on}" if told.rests_on else "")
