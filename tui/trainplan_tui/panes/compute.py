"""Compute: utilization and its evidence, FLOPs by convention, time, cost, the deadline."""

from __future__ import annotations

from trainplan.quantity.figure import Figure
from trainplan.rows.ledgers import COMPUTE as LEDGER
from trainplan_tui.panes.claims import PREDICTED, claim_rows
from trainplan_tui.panes.ledger import LOW, findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, COMPUTE
from trainplan_tui.panes.rows import BodyRow, rule_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line, clipped
from trainplan_tui.widgets.bars import stacked_bar
from trainplan_tui.widgets.frame import rule


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The ledger, with the evidence of utilization and the findings under what it decides."""
    found = findings_of(shown, BUDGETS[COMPUTE], width, glyphs)
    found_rows = ledger(LEDGER, shown, width, height, glyphs, [])
    place = next((i for i, row in enumerate(found_rows) if row.kind == "rule" and i > 6), len(found_rows))
    low = height < LOW
    claims = claim_rows(shown, width, glyphs, 3 if low else 5)
    predicted = [row for row in claims if row.id == PREDICTED]
    runs = [row for row in claims if row.id != PREDICTED]
    first = 1 if low else 0
    return [
        *found_rows[:place],
        rule_row(_evidence(shown, width, glyphs), width, glyphs),
        *runs,
        *found[:first],
        *predicted,
        *found[first:],
        *found_rows[place:],
    ]


def _evidence(shown: Shown, width: int, glyphs: Glyphs) -> str:
    """The kind of the evidence, what it is, and its date, which no edge cuts."""
    claim = shown.plan.utilization
    if claim.value is None:
        return "no date: utilization has no evidence. enter gives it"
    date = str(claim.date) if claim.date else "no date"
    room = width - len(f"── evidence: {claim.evidence}, , {date} ───")
    return f"evidence: {claim.evidence}, {clipped(claim.source or 'no source', room, glyphs.more)}, {date}"


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """FLOP of a token by every convention, as bars, and which one the plan's utilization is told in."""
    flops = shown.estimate.speed.flops
    told = (
        ("6n", flops.flops_per_token_6n),
        ("causal", flops.flops_per_token_causal),
        ("full", flops.flops_per_token_full),
        ("hardware", flops.flops_per_token_hardware),
        ("masked", flops.flops_per_token_masked),
    )
    known = [(name, float(value)) for name, value in told if isinstance(value, Figure)]
    if not known:
        return []
    most, room = max(value for _, value in known), width - 34
    lines = [rule("FLOP of one token, by convention", width, "", glyphs)]
    for name, value in known:
        canvas = Canvas(width, glyphs)
        canvas.put(2, f"{'>' if name == shown.plan.utilization.convention else ' '} {name}", end=13)
        canvas.spans(15, stacked_bar([(value, glyphs.solid)], most / room, room, (), glyphs))
        canvas.right(width - 1, f"{value / 1e9:,.2f} GFLOP", bold=True)
        lines.append(canvas.line())
    return lines
