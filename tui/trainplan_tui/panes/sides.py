"""What stands right of the ledger where the window is wide: pictures of what the rows say in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainplan.explain import put_in, readable
from trainplan.figure import Card, Figure
from trainplan_tui.panes.tokens import short
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import passes_bar, stacked_bar
from trainplan_tui.widgets.frame import rule

Side = Callable[[Shown, int, Glyphs], list[Line]]

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


def overview(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The chain from tokens to the cost, each figure with its numbers put in."""
    from trainplan.labels import quantity_label

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
    return lines


def tokens(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """Weights of every stage as stacked bars, in the order of the table, and what is new and repeated."""
    from trainplan.plan.entries import weights_of

    names = [source.name for source in shown.estimate.mixture.rows]
    if not names:
        return []
    signs = (glyphs.solid, glyphs.weights, glyphs.logits, glyphs.rest)
    legend = "   ".join(f"{signs[i % len(signs)]} {name}" for i, name in enumerate(names[:6]))
    more = f"   and {len(names) - 6} more" if len(names) > 6 else ""
    lines = [rule("weights by stage", width, "", glyphs), _text(f"{legend}{more}", width, glyphs)]
    stages = list(range(len(shown.plan.data.stages))) or [None]
    for stage in stages[:8]:
        weights = weights_of(shown.plan, stage)
        whole = sum(weights.values()) or 1.0
        parts = [(weights.get(name, 0.0), signs[i % len(signs)]) for i, name in enumerate(names)]
        canvas = Canvas(width, glyphs)
        canvas.put(2, "run" if stage is None else shown.plan.data.stages[stage].name or f"stage {stage + 1}", end=12)
        canvas.spans(14, stacked_bar(parts, whole / (width - 16), width - 16, (), glyphs))
        lines.append(canvas.line())
    return [*lines, *_seen(shown, width, glyphs), *_repeats(shown, width, glyphs)]


def _seen(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    mixture, train = shown.estimate.mixture, shown.estimate.tokens.train_tokens
    if not isinstance(mixture.unique_seen, Figure) or not isinstance(train, Figure):
        return []
    room = width - 24
    parts = [(float(mixture.unique_seen), glyphs.solid), (float(train) - float(mixture.unique_seen), glyphs.rest)]
    canvas = Canvas(width, glyphs)
    canvas.put(2, "drawn")
    canvas.spans(14, stacked_bar(parts, float(train) / room, room, (), glyphs))
    canvas.right(width - 1, f"{short(mixture.unique_seen)} new", bold=True)
    title = f"tokens drawn   {glyphs.solid} new   {glyphs.rest} repeated"
    return [rule(title, width, "", glyphs), canvas.line()]


def _repeats(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The sources read most often."""
    rows = [row for row in shown.estimate.mixture.rows if isinstance(row.passes, Figure)]
    rows.sort(key=lambda row: -float(row.passes))
    lines = [rule(f"passes, most first   {glyphs.mark} 1 first repeat   {glyphs.mark} limit", width, "", glyphs)]
    for row in rows[:8]:
        canvas = Canvas(width, glyphs)
        canvas.put(2, row.name, end=18)
        canvas.right(27, f"{row.passes:.2f}", bold=True)
        if isinstance(row.limit, Figure):
            canvas.spans(30, passes_bar(row.passes, row.limit, glyphs))
        lines.append(canvas.line())
    return lines


def compute(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
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


def _text(text: str, width: int, glyphs: Glyphs) -> Line:
    canvas = Canvas(width, glyphs)
    canvas.put(2, text, "dim")
    return canvas.line()
