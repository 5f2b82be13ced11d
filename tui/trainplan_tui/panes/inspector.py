"""What the row under the cursor is, in two sentences, or in a column of its own where the window is wide."""

from __future__ import annotations

from trainplan.estimation import Estimate, Value
from trainplan.finding import Finding
from trainplan.labels.names import quantity_label
from trainplan.labels.series import series
from trainplan.plan.describe import annotation_of, sentence_of, words_of
from trainplan.plan.edit import resolve, written_place
from trainplan.plan.read import UnknownPath
from trainplan.quantity.cardtext import sentence
from trainplan.quantity.figure import Blocked, Card, Choice, Figure
from trainplan.quantity.unit import amount, numbered
from trainplan.rows.table import lacking, rests
from trainplan.views.explain import meaning, put_in, readable
from trainplan.views.moves import JUDGES, dependents
from trainplan_tui.panes.names import SENT, is_standing
from trainplan_tui.panes.rows import BodyRow
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.folding import folded
from trainplan_tui.text.glyphs import Glyphs

FORECAST_FIELDS = ("utilization.low", "utilization.high", "schedule.deadline", "schedule.budget")
"""Fields that only the forecast reads."""

EMPTY = {
    "data.sources": "What the run reads: a name, its unique tokens, its weight.",
    "data.stages": "A stretch of the run with its own mixture, length or batch: a name, the tokens at which it ends.",
    "batch.schedule": "Batches by train tokens: the tokens from which one holds, its sequences in a step.",
    "evaluation.tasks": "What checkpoints are scored on: a task of the catalogue, its shots.",
}
"""What the entries of an empty list say, by its row."""


def told(row: BodyRow, shown: Shown, cell: int = 0) -> tuple[str, list[str]]:
    """The key of a row for the rule, and its sentences, the most needed first; of two fields in a row, of that of the cell."""
    if row.kind == "finding":
        finding = shown.finding_at(row.id)
        return (
            ("", []) if finding is None else (finding.paths[0] if finding.paths else finding.code, _of_finding(finding))
        )
    if is_standing(row.id):
        from trainplan_tui.panes import standing

        return standing.told(row, shown)
    if row.kind == "field" and row.id.startswith("data.sources."):
        return row.id, _of_source(row.id, shown)
    if row.kind == "field" and row.id.startswith(("data.stages.", "batch.schedule.")):
        return row.id, [f"{box.path.rsplit('.', 1)[-1]}: {sentence_of(box.path)}" for box in row.boxes]
    if row.kind == "field":
        path = row.boxes[min(cell, len(row.boxes) - 1)].path if row.boxes else row.id
        return path, _of_field(path, shown)
    if row.id.startswith("claim "):
        from trainplan_tui.panes import claims

        return claims.told(row.id, shown)
    if row.id.startswith("walk "):
        return _of_walk(row.id, shown)
    if row.id in EMPTY:
        return row.id, [EMPTY[row.id], "enter adds one in one line."]
    value = value_of(row.id, shown.estimate)
    return row.id, [] if value is None else _of_figure(value, shown)


def _of_walk(id_: str, shown: Shown) -> tuple[str, list[str]]:
    """What the rule of a question rests on and the field that it leads to, or everything that the proposal would set."""
    if id_ != "walk proposal":
        from trainplan.alternatives.questions import BASES

        _, place, path = id_.split(" ", 2)
        asked = place.isdecimal()  # rows of other listings that lead to a field are no questions
        return path, [*([f"{BASES[path]}."] if asked else []), f"enter edits {path}"]
    from trainplan_tui.panes.mesh import proposed, untaken

    sets = proposed(shown.plan)
    return "decision walk", [
        f"enter sets, as one edit: {sets}" if sets else f"{untaken(shown.plan)}; enter sets nothing"
    ]


def value_of(id_: str, estimate: Estimate) -> Value | None:
    """The value of a row: a quantity, or the time of an operation that sends."""
    if not id_.startswith(SENT):
        return estimate.quantities.get(id_)
    from trainplan_tui.panes.mesh import sent_time

    return sent_time(id_, estimate)


def spoken(finding: Finding) -> str:
    """A finding in one sentence: its code where people know it by that, what is so, what would be right."""
    return finding.coded("; ".join(part for part in (finding.message, finding.fix) if part))


def _of_finding(finding: Finding) -> list[str]:
    fix = f"what would be right: {finding.fix}" if finding.fix else ""
    return [
        f"{finding.message}.",
        *([fix] if fix else []),
        f"enter goes to {finding.paths[0]}" if finding.paths else "",
    ]


def _of_field(path: str, shown: Shown) -> list[str]:
    sentences = [said for said in (sentence_of(path), meaning(path, shown.plan)) if said]
    moved = dependents(shown.estimate, path)
    if words_of(path) or path in ("model.preset", "cluster.accelerator"):
        return [*sentences, f"{_line(path, shown)}. enter shows what each choice would do"]
    if moved:
        names = series([*(quantity_label(key) for key in moved[:3]), *(["..."] if len(moved) > 3 else [])])
        does = f"Moves {numbered(len(moved), 'row')}: {names}"
    else:
        does = waiting(path, shown) or unmoving(path)
    return [*sentences, f"{_line(path, shown)}. {does}"]


def waiting(path: str, shown: Shown) -> str:
    """How much cannot be told before a field has a value; empty where nothing waits for it."""
    code = f"missing:{path}"
    count = sum(isinstance(value, Blocked) and value.code == code for value in shown.estimate.quantities.values())
    return f"{count} figure{'s wait' if count > 1 else ' waits'} for it" if count else ""


def unmoving(path: str) -> str:
    """What a field does that no figure rests on by its number."""
    if path in FORECAST_FIELDS:
        return "Moves the forecast"
    if path in JUDGES:
        return f"Moves no row: {JUDGES[path]}"
    return (
        "Chooses how figures are made"
        if words_of(path) or "bool" in str(annotation_of(path))
        else "Nothing rests on its number as it stands"
    )


def _of_source(id_: str, shown: Shown) -> list[str]:
    """How often a source is read, from what, and how much of it is seen and worth."""
    name = id_.removeprefix("data.sources.")
    source = next((one for one in shown.estimate.mixture.rows if one.name == name), None)
    if source is None or not isinstance(source.passes, Figure) or not isinstance(source.passes.origin, Card):
        return [f"{name}: passes cannot be told; {rests(source.passes) if source else 'no such source'}"]
    filled = put_in(source.passes.origin, source.passes, shown.estimate)
    limit = f", limit {float(source.limit):g}" if isinstance(source.limit, Figure) else ""
    drawn = source.drawn
    made = f"drawn = {put_in(drawn.origin, drawn, shown.estimate)}" if isinstance(drawn.origin, Card) else ""
    kept = [
        f"{word} {amount(value)}"
        for word, value in (("seen", source.seen), ("effective", source.effective))
        if isinstance(value, Figure)
    ]
    epochs = f"; {numbered(round(source.epochs), 'epoch')} built" if isinstance(source.epochs, Figure) else ""
    return [f"passes = {filled} = {source.passes:.4g}{limit}", f"{made}; {', '.join(kept)}{epochs}"]


def _line(path: str, shown: Shown) -> str:
    """Where a field is written, and what the saved plan says there where it is edited: first, so that no edge cuts it."""
    place = _place(path, shown)
    written = f"{shown.file}:{place}" if place else "not in the file"
    saved, now = (_typed(estimate, path) for estimate in (shown.saved, shown.estimate))
    return written if saved == now else f"{written}, saved {saved or 'empty'}"


def _typed(estimate: Estimate, path: str) -> str:
    from trainplan.plan.leaves import typed_at

    return typed_at(estimate.plan, path)


def _place(path: str, shown: Shown) -> int | None:
    try:
        return written_place(shown.text, resolve(path, shown.plan))
    except UnknownPath:
        return None


def _of_figure(value: Value, shown: Shown) -> list[str]:
    if isinstance(value, Blocked):
        path = deciding(value.code, shown)
        return [f"{untold(value.code, shown)}.", *([f"x explains it; enter there goes to {path}"] if path else [])]
    if isinstance(value, Choice):
        return [value.source]
    if isinstance(value.origin, Card):
        return [
            f"= {put_in(value.origin, value, shown.estimate)}",
            sentence(value.origin),
            f"source: {value.origin.source}",
        ]
    return [f"{value.origin.name}: {value.origin.source}"]


def untold(code: str, shown: Shown) -> str:
    """Why a value cannot be told, in a sentence: the field that is missing, or the finding that blocks it."""
    why = shown.why(code)
    if code.startswith("missing:") or why is None:
        return f"cannot be told: {lacking(code)}" if code != "none" else "does not apply"
    return f"cannot be told: {why.coded(why.message)}"


def deciding(code: str, shown: Shown) -> str:
    """The field that leads out of a blocked value; empty where none does."""
    why, path = shown.why(code), code.removeprefix("missing:")
    if why is not None and why.paths:
        return why.paths[0]
    return path if path != code and not path.startswith("catalogue.") else ""


def side(row: BodyRow, shown: Shown, width: int, cell: int, glyphs: Glyphs) -> list[str]:
    """The lines of the right side: the row in full, its inputs, and what moved against the saved plan."""
    if is_standing(row.id):
        from trainplan_tui.panes import standing

        return [piece for text in standing.side(row, shown, glyphs) for piece in _indented(text, width)]
    key, sentences = told(row, shown, cell)
    lines = [key, *(piece for text in sentences for piece in folded(text, width))]
    value = value_of(row.id, shown.estimate)
    if isinstance(value, Figure) and isinstance(value.origin, Card):
        lines += [
            "",
            *(
                f"{name.replace('_', ' '):<24.24} {readable(item, shown.estimate, device=row.id.startswith('memory.'))}"[
                    :width
                ]
                for name, item in value.named_inputs()
            ),
        ]
        exact = f"{float(value):,.15g} {value.unit.replace('currency', shown.plan.cluster.currency)}"
        lines += ["", f"exactly {exact}", f"rests on {value.rests_on}{'' if value.verified else ', not verified'}"]
    return lines


def moves(shown: Shown, width: int, most: int) -> list[str]:
    """What an unsaved edit moved, the largest share first."""
    if not shown.edits:
        return []
    from trainplan.views.compare import differences

    found = differences(shown.saved, shown.estimate)
    lines = [f"{path:<30.30} {before:>18.18} to {after}"[:width] for path, before, after in found.fields[:4]]
    for move in found.moves[: max(0, most - len(lines))]:
        lines.append(f"{move.label:<30.30}{move.before:>13} to {move.after:>12} {move.share}"[:width])
    return lines


def _indented(text: str, width: int) -> list[str]:
    return folded(text, width, len(text) - len(text.lstrip()) + 2)
