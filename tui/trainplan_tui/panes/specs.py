"""Which panes there are, and the rows of each at a height: what people look at first, then findings, then the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trainplan.finding import Finding
from trainplan.ledgers import COMPUTE, OVERVIEW, TOKENS
from trainplan.plan.tables import Stage
from trainplan.table import FieldRow, FigureRow, Row, RuleRow, Table
from trainplan_tui.panes import sides
from trainplan_tui.panes.rows import BodyRow, finding_row, ledger_row, note_row, rule_row
from trainplan_tui.panes.tokens import contract_rows, source_rows, stage_rows, views
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.widgets.frame import PaneName

Rows = Callable[[Shown, int, int, Glyphs, int], list[BodyRow]]
"""(shown, width, height, glyphs, view) to rows."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane: its digit and names, the budgets whose findings stand in it, its rows, its table, and how many views it has."""

    name: PaneName
    title: str
    budgets: tuple[str, ...]
    rows: Rows
    table: Table
    side: sides.Side
    views: Callable[[Shown], int] = lambda shown: 1


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


def _overview(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    found = [finding_row(item, width, glyphs, home_of(item)) for item in shown.findings]
    title = shown.plan.description or ""
    head = [note_row(f"{shown.name}: {title}" if title else shown.name, width, glyphs)]
    return [*head, *ledger(OVERVIEW, shown, width, height - len(head), glyphs, found)]


def _compute(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    found = [finding_row(item, width, glyphs) for item in shown.findings if item.budget in COMPUTE_BUDGETS]
    rows = ledger(COMPUTE, shown, width, height, glyphs, [])
    place = next((i for i, row in enumerate(rows) if row.kind == "rule" and i > 6), len(rows))
    evidence = rule_row(_evidence(shown), width, glyphs)
    return [*rows[:place], evidence, *(found or [note_row("no finding on compute", width, glyphs)]), *rows[place:]]


def _tokens(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    found = [finding_row(item, width, glyphs) for item in shown.findings if item.budget in TOKEN_BUDGETS]
    fields = tuple(row for row in TOKENS.rows if isinstance(row, FieldRow))
    figures = tuple(row for row in TOKENS.rows if isinstance(row, FigureRow))
    low = height < 30
    first = tuple(row for row in fields if row.path in TOKENS.first) if low else fields
    top = tuple(row for row in figures if row.key in TOKENS.first) if low else figures
    rest = tuple(row for row in (*fields, *figures) if row not in first and row not in top)
    stages = stage_rows(shown, width, glyphs)
    return [
        *_drawn(first, shown, width, glyphs),
        rule_row(_stages_title(shown), width, glyphs),
        *([] if low else stages),
        *source_rows(shown, view, width, glyphs),
        rule_row("", width, glyphs),
        *_drawn(top, shown, width, glyphs),
        *(found if low else _findings(found, width, glyphs)),
        *([rule_row("stages", width, glyphs), *stages] if low and stages else []),
        *([rule_row("more", width, glyphs), *_drawn(rest, shown, width, glyphs)] if rest else []),
        *contract_rows(shown, width, glyphs),
    ]


def _stages_title(shown: Shown) -> str:
    stages = shown.plan.data.stages
    if not stages:
        return f"{len(shown.plan.data.sources)} sources, one stage"
    ends = [f"stage {i + 1} {stage.name or ''} to {_end(stage)}" for i, stage in enumerate(stages[:3])]
    return ", ".join(ends) + (f", and {len(stages) - 3} more" if len(stages) > 3 else "")


def _end(stage: Stage) -> str:
    return stage.until_tokens.text or f"{stage.until_tokens:,.0f}" if stage.until_tokens is not None else "the end"


def _evidence(shown: Shown) -> str:
    claim = shown.plan.utilization
    if claim.value is None:
        return "no date: utilization has no evidence. enter gives it"
    parts = [claim.evidence, claim.source or "no source", str(claim.date) if claim.date else "no date"]
    return f"evidence: {', '.join(parts)}"


TOKEN_BUDGETS: Final = ("tokens",)
COMPUTE_BUDGETS: Final = ("compute", "model", "reliability", "storage")

PANES: Final = (
    Pane(PaneName("1", "Overview", "Overview"), "Overview", (), _overview, OVERVIEW, sides.overview),
    Pane(PaneName("2", "Tokens", "Tokens"), "Tokens", TOKEN_BUDGETS, _tokens, TOKENS, sides.tokens, views),
    Pane(PaneName("3", "Compute", "Compute"), "Compute", COMPUTE_BUDGETS, _compute, COMPUTE, sides.compute),
)


def pane_of(budget: str) -> Pane | None:
    """The pane in which a budget's findings stand, where there is one yet."""
    return next((pane for pane in PANES if budget in pane.budgets), None)


def home_of(finding: Finding) -> str:
    """`3 Compute`: where a finding's field is."""
    pane = pane_of(finding.budget)
    return f"{pane.name.digit} {pane.name.short}" if pane is not None else finding.budget
