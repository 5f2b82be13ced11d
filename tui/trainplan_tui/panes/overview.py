"""Overview: what people change first, what follows from all of it, and the worst findings of every pane."""

from __future__ import annotations

from typing import Final

from trainplan.quantity.figure import Card, Figure
from trainplan.rows.ledgers import OVERVIEW as LEDGER
from trainplan_tui.panes import finish as forecasts
from trainplan_tui.panes.finish import quantile_rows
from trainplan_tui.panes.ledger import drawn, fits, foremost, remaining, under_rule
from trainplan_tui.panes.names import home_of
from trainplan_tui.panes.rows import BodyRow, finding_row, note_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import rule

CHAIN: Final = (
    "tokens.steps",
    "compute.step_time",
    "compute.compute_time",
    "reliability.slowdown",
    "compute.wall_time",
    "compute.accelerator_hours",
    "compute.cost",
)
"""From tokens to money, each made of the one before."""


SHOWN_FINDINGS: Final = 3
"""Findings that a low window shows above the rows that people look at less."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The ledger, the forecast, findings with the pane they belong to; in a low window what people look at first.

    Where findings are pending the rows end above them.
    """
    found = [finding_row(item, width, glyphs, home_of(item)) for item in shown.counted]
    title = shown.plan.description or ""
    head = [note_row(f"{shown.name}: {title}" if title else shown.name, width, glyphs)]
    finish = quantile_rows(shown, width, glyphs)
    if fits(LEDGER, found, height - len(head) - len(finish)):
        told = [*head, *drawn(LEDGER.rows, shown, width, glyphs)]
        return [*told, *finish, *under_rule(found, width, glyphs)]
    first = foremost(LEDGER, shown, width, glyphs)
    if shown.pending:
        return [*first, *finish]
    rest = remaining(LEDGER, shown, width, glyphs)
    return [*first, *finish, *found[:SHOWN_FINDINGS], *rest, *found[SHOWN_FINDINGS:], *head]


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """The chain from tokens to the cost, each figure with its numbers put in; then the forecast."""
    from trainplan.labels.names import quantity_label
    from trainplan.views.explain import put_in, readable

    lines = [rule("from tokens to the cost", width, "", glyphs)]
    for key in CHAIN:
        value = shown.estimate.quantities.get(key)
        if not isinstance(value, Figure) or not isinstance(value.origin, Card):
            continue
        canvas = Canvas(width, glyphs)
        canvas.put(2, quantity_label(key), end=22)
        told = put_in(value.origin, value, shown.estimate)
        canvas.put(24, f"= {told}" if len(told) < width - 40 else "", "dim", end=width - 16)
        canvas.right(width - 1, readable(value, shown.estimate), bold=True)
        lines.append(canvas.line())
    return [*lines, *forecasts.side(shown, width, glyphs)]
