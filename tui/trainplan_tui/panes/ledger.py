"""A budget's table as rows: in its own order where all fit, else what people look at first, then findings, then the rest."""

from __future__ import annotations

from trainplan.rows.table import FieldRow, FigureRow, Row, RuleRow, Table
from trainplan_tui.panes.rows import BodyRow, finding_row, ledger_row, rule_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs

LOW = 30
"""Rows below which findings follow the figures without a rule of their own."""


def fits(table: Table, found: list[BodyRow], height: int) -> bool:
    """Whether a table stands in its own order: all of it and its findings have room, or it has no other order."""
    return len(table.rows) + len(found) + 1 <= height or not table.first


def ledger(table: Table, shown: Shown, width: int, height: int, glyphs: Glyphs, found: list[BodyRow]) -> list[BodyRow]:
    """Rows of a table. Where all fit they stand in the table's order, findings last; else first things first."""
    if fits(table, found, height):
        return [*drawn(table.rows, shown, width, glyphs), *under_rule(found, width, glyphs)]
    first, rest = foremost(table, shown, width, glyphs), remaining(table, shown, width, glyphs)
    most = found[:4] if height < LOW else under_rule(found[:4], width, glyphs)
    return [*first, *most, *rest, *found[4:]]


def foremost(table: Table, shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """What people look at first, fields above figures."""
    first = tuple(row for row in table.rows if _id(row) in table.first)
    order = sorted(first, key=lambda row: table.first.index(_id(row)))
    fields = [row for row in order if isinstance(row, FieldRow)]
    figures = [row for row in order if isinstance(row, FigureRow)]
    return drawn((*fields, RuleRow(), *figures), shown, width, glyphs)


def remaining(table: Table, shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """The rest of a table, under a line."""
    rest = tuple(row for row in table.rows if _id(row) not in table.first)
    return drawn((RuleRow("more"), *_without_doubles(rest)), shown, width, glyphs)


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


def drawn(rows: tuple[Row, ...], shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Rows of a table as they stand."""
    return [
        rule_row(row.title, width, glyphs) if isinstance(row, RuleRow) else ledger_row(row, shown, width, glyphs)
        for row in rows
    ]


def under_rule(found: list[BodyRow], width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Findings under a line of their own; nothing where there are none."""
    return [rule_row("findings", width, glyphs), *found] if found else []


def findings_of(shown: Shown, budgets: tuple[str, ...], width: int, glyphs: Glyphs) -> list[BodyRow]:
    """The findings of some budgets, one line each."""
    return [finding_row(item, width, glyphs) for item in shown.findings if item.budget in budgets]
