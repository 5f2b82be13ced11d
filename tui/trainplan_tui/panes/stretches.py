"""Stretches of the run as tables edited in place: stages, or the entries of a batch schedule; what adds the first of them."""

from __future__ import annotations

from typing import Final

from trainplan.plan.entries import weights_of
from trainplan.plan.tables import BatchChange, Stage
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import amount
from trainplan_tui.panes.rows import TABLE, BodyRow, note_row, table_rows
from trainplan_tui.panes.sources import boxed
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas

NAME = 14
"""Last cell of the name of a stage."""
STAGES = (NAME, 25, 35, 44, 56, 80)
BATCHES = (NAME, 25, 36, 50, 80)
"""Where columns end."""
EMPTY: Final = {
    "data.stages": "No stages: one mixture for the whole run. enter adds one",
    "batch.schedule": "No batch schedule: one batch for the whole run. enter adds an entry",
}


def _empty(id_: str, width: int, glyphs: Glyphs) -> BodyRow:
    return BodyRow(id_, "figure", note_row(EMPTY[id_], width, glyphs).line)


def stage_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """One row a stage: where it ends, its length, its batch, and what its weights leave over."""
    stages = shown.plan.data.stages
    if not stages:
        return [] if shown.plan.batch.schedule else [_empty("data.stages", width, glyphs)]
    whole = max(width, TABLE)
    canvas = Canvas(whole, glyphs)
    for column, word in (
        (4, "stage"),
        (17, "until"),
        (28, "length"),
        (37, "batch"),
        (50, "tokens"),
        (60, "weights sum to"),
    ):
        canvas.put(column, word, "dim")
    last = len(stages) - 1
    found = [_stage_row(shown, i, stage, i == last, whole, glyphs) for i, stage in enumerate(stages)]
    return table_rows([BodyRow("", "picture", canvas.line()), *found], STAGES, width)


def _stage_row(shown: Shown, place: int, stage: Stage, last: bool, width: int, glyphs: Glyphs) -> BodyRow:
    canvas, path = Canvas(width, glyphs), f"data.stages.{stage.name or place}"
    canvas.put(4, f"{place + 1} {stage.name or ''}", end=NAME)
    until = stage.until_tokens
    boxes = [boxed(canvas, f"{path}.until_tokens", 17, 24, _typed(until) or ("end" if last else ""), _typed(until))]
    boxes.append(
        boxed(canvas, f"{path}.sequence_length", 28, 34, _typed(stage.sequence_length), _typed(stage.sequence_length))
    )
    batch = stage.global_batch_sequences
    boxes.append(boxed(canvas, f"{path}.global_batch_sequences", 38, 43, _typed(batch), _typed(batch)))
    stretch = shown.estimate.tokens.stretches[place] if place < len(shown.estimate.tokens.stretches) else None
    if stretch is not None and isinstance(stretch.tokens, Figure):
        canvas.right(56, amount(stretch.tokens), bold=shown.valid)
    whole = sum(weights_of(shown.plan, place).values())
    off = abs(whole - 1) > 1e-6
    canvas.put(60, f"{whole:.7g}" + (f", {1 - whole:+.4g} to 1" if off else ""), "error" if off else "dim")
    return BodyRow(path, "field", canvas.line(), tuple(boxes))


def batch_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """One row an entry of the batch schedule: where it begins, its batch, its tokens; stages have a batch of their own."""
    schedule = shown.plan.batch.schedule
    if not schedule:
        return [] if shown.plan.data.stages else [_empty("batch.schedule", width, glyphs)]
    whole = max(width, TABLE)
    canvas = Canvas(whole, glyphs)
    for column, word in ((4, "batch"), (17, "from"), (28, "sequences"), (44, "tokens")):
        canvas.put(column, word, "dim")
    found = [_batch_row(shown, place, entry, whole, glyphs) for place, entry in enumerate(schedule)]
    return table_rows([BodyRow("", "picture", canvas.line()), *found], BATCHES, width)


def _batch_row(shown: Shown, place: int, entry: BatchChange, width: int, glyphs: Glyphs) -> BodyRow:
    canvas, path = Canvas(width, glyphs), f"batch.schedule.{place}"
    canvas.put(4, f"batch {place + 1}", end=NAME)
    begin, batch = _typed(entry.from_tokens), _typed(entry.global_batch_sequences)
    boxes = (
        boxed(canvas, f"{path}.from_tokens", 17, 24, begin, begin),
        boxed(canvas, f"{path}.global_batch_sequences", 28, 35, batch, batch),
    )
    stretches = shown.estimate.tokens.stretches
    if len(stretches) == len(shown.plan.batch.schedule) and isinstance(tokens := stretches[place].tokens, Figure):
        canvas.right(50, amount(tokens), bold=shown.valid)
    return BodyRow(path, "field", canvas.line(), boxes)


def _typed(value: float | None) -> str:
    text = getattr(value, "text", "")
    return "" if value is None else text or f"{int(value)}"
