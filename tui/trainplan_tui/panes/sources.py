"""The token budget: sources as a table edited in place, passes as bars, the sampler's contract in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trainplan.budgets.mixture import SourceBudget
from trainplan.finding import Finding
from trainplan.plan.entries import weight_path, weights_of
from trainplan.quantity.figure import Figure
from trainplan.quantity.numbers import Scale
from trainplan.quantity.unit import amount
from trainplan_tui.panes.rows import SIGNS, TABLE, BodyRow, Box, note_row, rule_row, table_rows
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas
from trainplan_tui.widgets.bars import passes_axis, passes_bar

NAME = 9
"""Last cell of the name of a source."""
UNIQUE = (11, 16)
WEIGHTS = ((20, 23), (27, 30))
DRAWN, PASSES, MOVED, BAR = 38, 44, 50, 52
WINDOW = len(WEIGHTS)
BARS = (NAME, 17, 24, 31, DRAWN, PASSES, *range(MOVED, 81))
DETAILS = (NAME, 17, 24, 31, DRAWN, PASSES, 51, 58, 66, 73, 80)
"""Where columns end; a bar may be cut anywhere."""


PASSED: Final = Scale(1, 2, "")
"""How passes are written: two digits, and `<0.01` for a source that is hardly touched."""


def views(shown: Shown) -> int:
    """Views of the pane: a window over the stages each, and one with what is seen and worth."""
    return max(1, -(-max(1, len(shown.plan.data.stages)) // WINDOW)) + 1


def is_detailed(shown: Shown, view: int) -> bool:
    """Whether a view says what is seen and worth in place of bars of passes."""
    return view >= views(shown) - 1


def source_rows(shown: Shown, view: int, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """One row a source under its heads; one sentence where there is none."""
    if not shown.plan.data.sources:
        empty = note_row("No sources. Passes, storage and manifests need them. enter adds one", width, glyphs, "warn")
        return [BodyRow("data.sources", "figure", empty.line)]
    detail = is_detailed(shown, view)
    columns = _columns(shown, view)
    whole = max(width, TABLE)
    head = _head(shown, columns, detail, whole, glyphs)
    rows = [
        _row(shown, place, source, columns, detail, whole, glyphs)
        for place, source in enumerate(shown.estimate.mixture.rows)
    ]
    return table_rows([head, *rows], DETAILS if detail else BARS, width)


def _columns(shown: Shown, view: int) -> list[int | None]:
    """The stages whose weights show; None is the sources' own weights."""
    stages = shown.plan.data.stages
    if not stages:
        return [None]
    windows = max(1, -(-len(stages) // WINDOW))
    begin = min(view, windows - 1) * WINDOW
    return list(range(begin, min(begin + WINDOW, len(stages))))


def _head(shown: Shown, columns: Sequence[int | None], detail: bool, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.put(4, "source", "dim")
    canvas.put(11, "unique", "dim")
    for (start, end), stage in zip(WEIGHTS, columns, strict=False):
        name = "weight" if stage is None else (shown.plan.data.stages[stage].name or f"st {stage + 1}")
        canvas.put(start - 1, name, "dim", end=end + 1)
    canvas.right(DRAWN - 1, "drawn", "dim")
    canvas.right(PASSES, "passes", "dim")
    if detail:
        for end, word in ((50, "share"), (56, "seen"), (66, "effective"), (73, "moved"), (80, "epochs")):
            canvas.right(end, word, "dim")
    else:
        canvas.right(MOVED, "moved", "dim")
        canvas.put(BAR, passes_axis(glyphs), "dim")
    return BodyRow("", "picture", canvas.line())


def _row(
    shown: Shown,
    place: int,
    source: SourceBudget,
    columns: Sequence[int | None],
    detail: bool,
    width: int,
    glyphs: Glyphs,
) -> BodyRow:
    canvas, name = Canvas(width, glyphs), source.name
    canvas.put(4, name, end=NAME)
    boxes = [boxed(canvas, f"data.sources.{name}.unique_tokens", *UNIQUE, *_unique(shown, place))]
    for (start, end), stage in zip(WEIGHTS, columns, strict=False):
        boxes.append(_weight_box(canvas, shown, stage, name, start, end))
    canvas.right(DRAWN, amount(source.drawn) if isinstance(source.drawn, Figure) else "?", start=33, bold=shown.valid)
    passes = PASSED.text(source.passes) if isinstance(source.passes, Figure) else "?"
    canvas.right(PASSES, passes, start=39, bold=shown.valid)
    moved = _moved(shown, source)
    if detail:
        _detail(canvas, source, moved)
    else:
        canvas.right(MOVED, moved, "moved", start=45)
        _bar(canvas, source, glyphs)
    worst = finding_of(shown, name)
    if worst is not None:
        canvas.put(2, *SIGNS[worst.severity])
    return BodyRow(f"data.sources.{name}", "field", canvas.line(), tuple(boxes))


def _unique(shown: Shown, place: int) -> tuple[str, str]:
    """How the unique tokens of a source are shown, and how an edit of them begins."""
    value = shown.plan.data.sources[place].unique_tokens
    if value is None:
        return "", ""
    return (value.text if value.text and len(value.text) <= 6 else amount(value)), value.text or f"{int(value)}"


def boxed(canvas: Canvas, path: str, start: int, end: int, shown: str, raw: str) -> Box:
    """A box of a row with several: its brackets stand outside `start` and `end`; an edit begins with `raw`."""
    canvas.put(start - 1, "[")
    canvas.put(end + 1, "]")
    canvas.right(end, shown, "edit", start=start)
    return Box(path, start, end, raw)


def _four_cells(weight: float) -> str:
    """A weight in four cells, rounded, never cut: `0.25`, `.017`, `2e-4`."""
    if round(weight, 2) == weight or not 0 < weight < 1:
        return f"{weight:.2f}"
    return f"{weight:.3f}"[1:] if 0.0005 <= weight < 0.9995 else re.sub("e-0", "e-", f"{weight:.0e}")


def _weight_box(canvas: Canvas, shown: Shown, stage: int | None, name: str, start: int, end: int) -> Box:
    weight = weights_of(shown.plan, stage).get(name)
    text = "" if weight is None else _four_cells(weight)
    raw = "" if weight is None else f"{weight:.12g}"
    return boxed(canvas, weight_path(shown.plan, stage, name), start, end, text, raw)


def _moved(shown: Shown, source: SourceBudget) -> str:
    before = shown.saved.quantities.get(f"tokens.sources.{source.name}.passes")
    if not isinstance(before, Figure) or not isinstance(source.passes, Figure):
        return ""
    return PASSED.moved(before, source.passes)


def _bar(canvas: Canvas, source: SourceBudget, glyphs: Glyphs) -> None:
    if isinstance(source.passes, Figure) and isinstance(source.limit, Figure):
        canvas.spans(BAR, passes_bar(source.passes, source.limit, glyphs))


def _detail(canvas: Canvas, source: SourceBudget, moved: str) -> None:
    share = "?"
    if isinstance(source.share, Figure):
        share = "100 %" if source.share >= 0.9995 else f"{source.share * 100:.1f} %"
    canvas.right(51, share, start=45)
    canvas.right(58, amount(source.seen) if isinstance(source.seen, Figure) else "?")
    canvas.right(66, amount(source.effective) if isinstance(source.effective, Figure) else "?")
    canvas.right(73, moved, "moved")
    epochs = source.epochs
    canvas.right(80, "-" if epochs is None else f"{epochs:.0f}" if isinstance(epochs, Figure) else "?")


def finding_of(shown: Shown, name: str) -> Finding | None:
    """The worst finding that a source decides."""
    return next((item for item in shown.findings if item.paths and _names(item.paths[0], name)), None)


def _names(path: str, name: str) -> bool:
    return (
        path.startswith(f"data.sources.{name}.") or path == f"data.sources.{name}" or path.endswith(f".weights.{name}")
    )


def contract_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """What the chosen sampler really does, in the words of the catalogue."""
    from trainplan_tui.text.folding import folded

    rule = shown.estimate.mixture.contract
    if rule is None:
        return [note_row("no sampler chosen: what is drawn, repeated and resumed is not known", width, glyphs, "warn")]
    told = [(word, rule.entry.get(key)) for key, word in _CONTRACT]
    rows = [rule_row(f"sampler contract: {rule.name}", width, glyphs)]
    for word, fact in told:
        if fact is None:
            continue
        mark = "" if fact.verified else " ?"
        for i, line in enumerate(folded(f"{fact.value}{mark}", width - 24)):
            canvas = Canvas(width, glyphs)
            canvas.put(4, word if i == 0 else "", "dim")
            canvas.put(23, line)
            rows.append(BodyRow("", "picture", canvas.line()))
    return rows


_CONTRACT = (
    ("unit", "draws"),
    ("selection", "across sources"),
    ("inside", "inside a source"),
    ("exhaustion", "on exhaustion"),
    ("epoch_boundary", "at an epoch's end"),
    ("resume", "resume state"),
    ("new_degree", "other replicas"),
)
