"""Which panes there are, and the rows of each at a height: what people look at first, then findings, then the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainplan.finding import Finding
from trainplan.ledgers import COMPUTE, OVERVIEW
from trainplan.table import FieldRow, FigureRow, Row, RuleRow, Table
from trainplan_tui.panes.rows import BodyRow, finding_row, ledger_row, note_row, rule_row
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.widgets.frame import PaneName

Rows = Callable[[Shown, int, int, Glyphs], list[BodyRow]]


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane: its digit and names, the budgets whose findings stand in it, and its rows for (shown, width, height)."""

    name: PaneName
    title: str
    budgets: tuple[str, ...]
    rows: Rows
    table: Table


def ledger(table: Table, shown: Shown, width: int, height: int, glyphs: Glyphs, found: list[BodyRow]) -> list[BodyRow]:
    """Rows of a table. Where all fit they stand in the table's order, findings last; else first things first."""
    if len(table.rows) + len(found) + 1 <= height or not table.first:
        return [*_drawn(table.rows, shown, width, glyphs), *_findings(found, width, glyphs)]
    first = tuple(row for row in table.rows if _id(row) in table.first)
    order = sorted(first, key=lambda row: table.first.index(_id(row)))
    fields = [row for row in order if isinstance(row, FieldRow)]
    figures = [row for row in order if isinstance(row, FigureRow)]
    top = [*_drawn((*fields, RuleRow(), *figures), shown, width, glyphs), *_findings(found[:4], width, glyphs)]
    rest = tuple(row for row in table.rows if _id(row) not in table.first)
    return [*top, *_drawn((RuleRow("more"), *_without_doubles(rest)), shown, width, glyphs), *found[4:]]


def _without_doubles(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rules that follow each other, or end the list, say nothing."""
    kept: list[Row] = []
    for row in rows:
        if isinstance(row, RuleRow) and (not kept or isinstance(kept[-1], RuleRow)):
            kept = kept[:-1] if kept else kept
            if not row.title and not kept:
                continue
        kept.append(row)
    return tuple(kept[:-1] if kept and isinstance(kept[-1], RuleRow) else kept)


def _id(row: Row) -> str:
    return row.path if isinstance(row, FieldRow) else row.key if isinstance(row, FigureRow) else ""


def _drawn(rows: tuple[Row, ...], shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    return [
        rule_row(row.title, width, glyphs) if isinstance(row, RuleRow) else ledger_row(row, shown, width, glyphs)
        for row in rows
    ]


def _findings(found: list[BodyRow], width: int, glyphs: Glyphs) -> list[BodyRow]:
    return [rule_row("findings", width, glyphs), *found] if found else []


def _overview(shown: Shown, width: int, height: int, glyphs: Glyphs) -> list[BodyRow]:
    found = [finding_row(item, width, glyphs, home_of(item)) for item in shown.findings]
    title = shown.plan.description or ""
    head = [note_row(f"{shown.name}: {title}" if title else shown.name, width, glyphs)] if height > 24 else []
    return [*head, *ledger(OVERVIEW, shown, width, height - len(head), glyphs, found)]


def _compute(shown: Shown, width: int, height: int, glyphs: Glyphs) -> list[BodyRow]:
    found = [finding_row(item, width, glyphs) for item in shown.findings if item.budget in COMPUTE_BUDGETS]
    rows = ledger(COMPUTE, shown, width, height, glyphs, [])
    place = next((i for i, row in enumerate(rows) if row.kind == "rule" and i > 6), len(rows))
    evidence = rule_row(_evidence(shown), width, glyphs)
    return [*rows[:place], evidence, *(found or [note_row("no finding on compute", width, glyphs)]), *rows[place:]]


def _evidence(shown: Shown) -> str:
    claim = shown.plan.utilization
    if claim.value is None:
        return "no date: utilization has no evidence. enter gives it"
    parts = [claim.evidence, claim.source or "no source", str(claim.date) if claim.date else "no date"]
    return f"evidence: {', '.join(parts)}"


COMPUTE_BUDGETS: Final = ("compute", "model", "reliability", "storage")

PANES: Final = (
    Pane(PaneName("1", "Overview", "Overview"), "Overview", (), _overview, OVERVIEW),
    Pane(PaneName("3", "Compute", "Compute"), "Compute", COMPUTE_BUDGETS, _compute, COMPUTE),
)


def pane_of(budget: str) -> Pane | None:
    """The pane in which a budget's findings stand, where there is one yet."""
    return next((pane for pane in PANES if budget in pane.budgets), None)


def home_of(finding: Finding) -> str:
    """`3 Compute`: where a finding's field is."""
    pane = pane_of(finding.budget)
    return f"{pane.name.digit} {pane.name.short}" if pane is not None else finding.budget
