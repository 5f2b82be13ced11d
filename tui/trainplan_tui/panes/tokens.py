"""Tokens: the mixture, its passes and the sampler's contract."""

from __future__ import annotations

from trainplan.budgets.mixture import SourceBudget
from trainplan.labels.series import series
from trainplan.plan.tables import Stage
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount
from trainplan.rows.ledgers import TOKENS as LEDGER
from trainplan.rows.table import FieldRow, FigureRow
from trainplan_tui.panes import sources
from trainplan_tui.panes.ledger import drawn, findings_of, under_rule
from trainplan_tui.panes.names import BUDGETS, TOKENS
from trainplan_tui.panes.rows import BodyRow, rule_row
from trainplan_tui.panes.sources import PASSED, contract_rows, source_rows
from trainplan_tui.panes.stretches import batch_rows, stage_rows
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import passes_bar, stacked_bar
from trainplan_tui.widgets.frame import rule

STAGES, MOST = 8, 8
"""Stages and sources that the side draws at most."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """Fields, stages, sources, what follows, findings, the contract; in a low window the stages come after the figures."""
    found = findings_of(shown, BUDGETS[TOKENS], width, glyphs)
    fields = tuple(row for row in LEDGER.rows if isinstance(row, FieldRow))
    figures = tuple(row for row in LEDGER.rows if isinstance(row, FigureRow))
    low = height < 30
    first = tuple(row for row in fields if row.path in LEDGER.first) if low else fields
    top = tuple(row for row in figures if row.key in LEDGER.first) if low else figures
    rest = tuple(row for row in (*fields, *figures) if row not in first and row not in top)
    stages = [*stage_rows(shown, width, glyphs), *batch_rows(shown, width, glyphs)]
    return [
        *drawn(first, shown, width, glyphs),
        rule_row(_stages_title(shown), width, glyphs),
        *([] if low else stages),
        *source_rows(shown, view, width, glyphs),
        rule_row("", width, glyphs),
        *drawn(top, shown, width, glyphs),
        *(found if low else under_rule(found, width, glyphs)),
        *([rule_row("stages and batches", width, glyphs), *stages] if low and stages else []),
        *([rule_row("more", width, glyphs), *drawn(rest, shown, width, glyphs)] if rest else []),
        *contract_rows(shown, width, glyphs),
    ]


def _stages_title(shown: Shown) -> str:
    stages = shown.plan.data.stages
    if not stages:
        count = len(shown.plan.data.sources)
        return f"{count} source{'' if count == 1 else 's'}, one stage"
    ends = [f"stage {i + 1} {stage.name or ''} to {_end(stage)}" for i, stage in enumerate(stages[:3])]
    return series([*ends, *([f"and {len(stages) - 3} more"] if len(stages) > 3 else [])])


def _end(stage: Stage) -> str:
    return stage.until_tokens.text or amount(stage.until_tokens) if stage.until_tokens is not None else "the end"


def views(shown: Shown) -> int:
    """The ledger with its sources, and the views of sources and stages."""
    return sources.views(shown)


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """Weights of every stage as stacked bars, in the order of the table, and what is new and repeated.

    Bars of passes stand here where the table has none, or has them where the most repeated source is far down.
    """
    found = shown.estimate.mixture.rows
    if not found:
        return []
    signs = _signs(glyphs)
    named = len(found) if len(found) <= len(signs) else len(signs) - 1
    legend = [f"{sign} {row.name}" for sign, row in zip(signs, found[:named], strict=False)]
    legend += [f"{signs[-1]} {len(found) - named} more"] if len(found) > named else []
    lines = [rule("weights by stage", width, "", glyphs), *_wrapped(legend, width, glyphs)]
    stages = list(range(len(shown.plan.data.stages))) or [None]
    for stage in stages[:STAGES]:
        weights = [_weight(row, stage or 0) for row in found]
        whole = sum(weights) or 1.0
        parts = [*zip(weights[:named], signs, strict=False), (sum(weights[named:]), signs[-1])]
        canvas = Canvas(width, glyphs)
        canvas.put(2, "run" if stage is None else shown.plan.data.stages[stage].name or f"stage {stage + 1}", end=12)
        canvas.spans(14, stacked_bar(parts, whole / (width - 16), width - 16, (), glyphs))
        lines.append(canvas.line())
    if len(stages) > STAGES:
        lines.append(_text(f"and {len(stages) - STAGES} more stages", width, glyphs))
    told = view is None or sources.is_detailed(shown, view) or len(found) > MOST
    return [*lines, *_seen(shown, width, glyphs), *(_repeats(shown, width, glyphs) if told else [])]


def _signs(glyphs: Glyphs) -> tuple[str, ...]:
    """A glyph for each of the first sources; the last one for the rest where there are more."""
    return (glyphs.solid, glyphs.weights, glyphs.logits, glyphs.gradients, glyphs.optimizer, glyphs.rest)


def _weight(row: SourceBudget, stage: int) -> float:
    """The weight of a source in a stage; of a plan that gives none, what its sampler draws by."""
    weight = row.weights[stage] if stage < len(row.weights) else None
    return float(weight) if isinstance(weight, Figure) else 0.0


def _wrapped(words: list[str], width: int, glyphs: Glyphs) -> list[Line]:
    """Words in lines, three blanks between them, none of them parted."""
    lines = [""]
    for word in words:
        longer = f"{lines[-1]}   {word}".strip()
        if len(longer) > width - 2 and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return [_text(line, width, glyphs) for line in lines]


def _seen(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    mixture, train = shown.estimate.mixture, shown.estimate.tokens.train_tokens
    if not isinstance(mixture.unique_seen, Figure) or not isinstance(train, Figure):
        return []
    told = f"{amount(mixture.unique_seen)} new"
    room = width - 15 - len(told)
    parts = [(float(mixture.unique_seen), glyphs.solid), (float(train) - float(mixture.unique_seen), glyphs.rest)]
    canvas = Canvas(width, glyphs)
    canvas.put(2, "drawn")
    canvas.spans(14, stacked_bar(parts, float(train) / room, room, (), glyphs))
    canvas.right(width - 1, told, bold=True)
    title = f"tokens drawn   {glyphs.solid} new   {glyphs.rest} repeated"
    return [rule(title, width, "", glyphs), canvas.line()]


def _repeats(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """The sources read most often."""
    rows = [row for row in shown.estimate.mixture.rows if isinstance(row.passes, Figure)]
    rows.sort(key=lambda row: -float(row.passes))
    lines = [rule(f"passes, most first   {glyphs.mark} 1 first repeat   {glyphs.mark} limit", width, "", glyphs)]
    for row in rows[:MOST]:
        canvas = Canvas(width, glyphs)
        canvas.put(2, row.name, end=18)
        canvas.right(27, PASSED.text(row.passes), bold=True)
        if isinstance(row.limit, Figure):
            canvas.spans(30, passes_bar(row.passes, row.limit, glyphs))
        lines.append(canvas.line())
    return lines


def _text(text: str, width: int, glyphs: Glyphs) -> Line:
    canvas = Canvas(width, glyphs)
    canvas.put(2, text, "dim")
    return canvas.line()
