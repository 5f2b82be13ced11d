"""The figures of every budget as the ledgers have them: value and unit as the app writes them, and what each rests on."""

from __future__ import annotations

from typing import Final

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Blocked
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.report.words import because, capital, listed
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FigureRow, RuleRow, Table, cells
from trainplan.views.listings import Listing, answers, changes, ranks, tasks, transfers
from trainplan.views.mixing import mixture_of

STANDING: Final = ("pilot", "readiness")
"""Budgets that parts of their own tell."""


def figures(facts: Facts, pen: Markdown) -> list[str]:
    """The overview, then each budget with its listings. A figure stands once, in the budget that it is of."""
    lines = pen.heading(2, "Figures")
    for table in TABLES.values():
        if table.budget not in STANDING:
            lines += [*pen.heading(3, table.title), *_ledger(table, facts.estimate, pen)]
            lines += [line for one in _listings(table.budget, facts.estimate) for line in listed(one, pen, 4)]
    return lines


def _ledger(table: Table, estimate: Estimate, pen: Markdown) -> list[str]:
    lines: list[str] = []
    for title, rows in _groups(table):
        heads = ("figure", "value", "unit", "rests on", "key")
        told = [_row(row, estimate) for row in rows]
        lines += pen.heading(4, capital(title)) if title else []
        lines += pen.table(heads, told, right=("value",))
    return lines


def _groups(table: Table) -> list[tuple[str, list[FigureRow]]]:
    """Figures of a ledger under the title of the rule above them."""
    found: list[tuple[str, list[FigureRow]]] = [("", [])]
    for row in table.rows:
        if isinstance(row, RuleRow):
            found.append((row.title, []))
        elif isinstance(row, FigureRow) and _is_home(row, table):
            found[-1][1].append(row)
    return [(title, rows) for title, rows in found if rows]


def _is_home(row: FigureRow, table: Table) -> bool:
    """Whether a figure belongs here: in the overview, in its own budget, beside others to compare, or in no other ledger."""
    budget = row.key.split(".")[0]
    return table.budget in ("overview", budget) or bool(row.label) or row.key not in _KEYS.get(budget, ())


_KEYS: Final = {
    name: frozenset(row.key for row in table.rows if isinstance(row, FigureRow)) for name, table in TABLES.items()
}


def _row(row: FigureRow, estimate: Estimate) -> tuple[Inline, ...]:
    told, value = cells(row, estimate), estimate.quantities[row.key]
    reason = because(value) if isinstance(value, Blocked) else told.rests_on
    return (told.label, told.value, told.unit, reason, Code(row.key))


def _listings(budget: str, estimate: Estimate) -> list[Listing]:
    """Tables beside a ledger. The framework's dry runs are not among them: a report starts nothing."""
    makers = {"memory": (ranks, answers, changes), "parallelism": (transfers,), "evaluation": (tasks,)}
    return [*mixture_of(budget, estimate), *(make(estimate) for make in makers.get(budget, ()))]
