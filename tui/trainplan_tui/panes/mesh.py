"""Parallelism: the layout as fields, the mesh as a small map of nodes, and the decision walk as a second view."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from trainplan.estimation import Estimate, Value
from trainplan.plan.plan import Plan
from trainplan.quantity import numbers
from trainplan.quantity.figure import Blocked, Figure
from trainplan.rows.step import PARALLELISM as LEDGER
from trainplan.rows.step import WATERFALL
from trainplan.rows.table import Cells, FieldRow, FigureRow, cells
from trainplan.views.listings import one_step, transfers
from trainplan_tui.panes.ledger import drawn, findings_of, under_rule
from trainplan_tui.panes.listed import listing_rows
from trainplan_tui.panes.names import BUDGETS, MESH, SENT
from trainplan_tui.panes.rows import SIGNS, BodyRow, Box, is_low, note_row, rule_row, windowed
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.folding import folded
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import total_bar, waterfall
from trainplan_tui.widgets.frame import rule

if TYPE_CHECKING:
    from trainplan.alternatives.walk import Walk

WATER = "parallelism.waterfall."
GONE = Blocked("none")
"""The time of an operation that an edit took out of the layout."""
MOST = 2
"""Findings of a low window that stand above the figures that it has no room for."""
LEAST = 4
"""Cells of a bar; where there are fewer, its number stands alone."""
CAUTION = "a proposal only: 3B on 384 H100 was fastest with tensor 2 and no sharding (SmolLM3)"
NODES, ENDS = 4, 3
"""Nodes up to which the map has all, and how many of more; a low window has what leaves the step in sight, one at least."""
AXES = ("t", "c", "d", "p")
"""Order of ranks, fastest first: tensor, context, data, pipeline, as Megatron numbers them."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The layout with its map and the predicted step, or what is sent, or the questions of the walk."""
    if view == 1:
        return sent_rows(shown, width, glyphs)
    if view == 2:
        return walk_rows(shown, width, glyphs)
    found = findings_of(shown, BUDGETS[MESH], width, glyphs)
    fields = [row for row in LEDGER.rows if isinstance(row, FieldRow)]
    figures = [row for row in LEDGER.rows if isinstance(row, FigureRow) and not row.key.startswith(WATER)]
    low = is_low(width, height)
    top = _grid(shown, width, glyphs) if low else drawn(tuple(fields), shown, width, glyphs)
    inside = {path for row in GRID for path in row[:2]}
    rest = [row for row in fields if row.path not in inside] if low else []
    step = waterfall_rows(shown, width, glyphs)
    first = (MOST if step else len(found)) if low else 0
    return [
        *top,
        *map_rows(shown, width, glyphs, height - len(top) - 1 - len(step) - len(found[:first]) if low else NODES),
        *step,
        *found[:first],
        *under_rule(found[first:], width, glyphs),
        rule_row("more", width, glyphs),
        *drawn((*rest, *figures), shown, width, glyphs),
    ]


GRID = (
    ("parallelism.tensor", "parallelism.sharding", "parallelism.data"),
    ("parallelism.pipeline", "parallelism.schedule", "tokens.microbatches"),
    ("parallelism.context", "parallelism.recompute", "parallelism.world_size"),
    ("parallelism.virtual_pipeline", "batch.micro_batch_sequences", "parallelism.bubble"),
)
"""Rows of a low window: two fields and what follows from the layout."""

SHORTER = {"parallelism.predicted_utilization": "predicted MFU"}
"""Labels that a row of the grid has no room for."""
EXPERTS = ("parallelism.expert", "parallelism.expert_tensor", "parallelism.predicted_utilization")


def _grid(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Two fields a row and one figure; a dense model has no fields for experts."""
    experts = shown.estimate.situation.value("model.moe.num_experts") is not None
    return [_grid_row(row, shown, width, glyphs) for row in (*GRID, *((EXPERTS,) if experts else ()))]


def _grid_row(row: tuple[str, str, str], shown: Shown, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    boxes = [
        _grid_box(canvas, cells(FieldRow(path), shown.estimate), column, glyphs)
        for path, column in zip(row[:2], (4, 31), strict=True)
    ]
    told = cells(FigureRow(row[2], numbers.percent if row[2].endswith("bubble") else None), shown.estimate)
    canvas.put(59, SHORTER.get(row[2], told.label), "dim", end=72)
    canvas.right(width - 1, f"{told.value} {told.unit}".strip(), bold=shown.valid)
    found = [finding for path in row[:2] if (finding := shown.finding_of(path)) is not None]
    if found:
        canvas.put(2, *SIGNS[min((finding.severity for finding in found), key=list(SIGNS).index)])
    return BodyRow(row[0], "field", canvas.line(), tuple(boxes))


def _grid_box(canvas: Canvas, told: Cells, column: int, glyphs: Glyphs) -> Box:
    start = column + 15
    end = start + (8 if column < 20 else 10)
    canvas.put(column, told.label, end=start - 2)
    canvas.put(start - 1, "[")
    canvas.put(end + 1, "]")
    if told.choices:
        canvas.put(end, glyphs.choice, "edit")
    canvas.right(end - (2 if told.choices else 0), told.value, "edit", start=start)
    return Box(told.id, start, end, told.raw, told.choices)


def waterfall_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """Where a step's time goes: each part begins where the last ended; then predicted and planned on the same axis."""
    quantities = shown.estimate.quantities
    parts = [(part, quantities.get(WATER + part)) for part in WATERFALL]
    known = [(part, float(value)) for part, value in parts if isinstance(value, Figure)]
    predicted, planned = quantities.get("parallelism.predicted_step_time"), quantities.get("compute.step_time")
    if not known or not isinstance(predicted, Figure):
        return []
    most = max(float(predicted), float(planned) if isinstance(planned, Figure) else 0.0)
    room, places = max(width - 48, LEAST), min(max(3 - floor(log10(most)), 0), 6)  # four digits of the longest
    told = f", {float(planned):.4g} s planned" if isinstance(planned, Figure) else ""
    found = [rule_row(f"{one_step(shown.estimate)}, {float(predicted):.4g} s predicted{told}", width, glyphs)]
    for (part, value), line in zip(
        known, waterfall([value for _, value in known], most / room, room, glyphs), strict=True
    ):
        if value > 0.001 * most:
            found.append(_timed(part, value, line, WATER + part, places, width, glyphs))
    for label, value, key in (
        ("predicted", predicted, "parallelism.predicted_step_time"),
        ("planned", planned, "compute.step_time"),
    ):
        if isinstance(value, Figure):
            found.append(
                _timed(
                    label, float(value), total_bar(float(value), most / room, room, glyphs), key, places, width, glyphs
                )
            )
    return found


def _timed(label: str, seconds: float, bar: Line, key: str, places: int, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.put(4, label, end=24)
    canvas.right(35, f"{seconds:.{places}f} s", bold=True)
    if width >= 48 + LEAST:
        canvas.spans(38, bar, end=width - 9)
    return BodyRow(key, "figure", canvas.line())


def sent_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """What is sent by dimension and operation: bytes, link, time, what compute cannot hide."""
    listing = transfers(shown.estimate)
    if not listing.rows:
        return [note_row("nothing is sent: one accelerator, or a layout that is not whole", width, glyphs)]
    ids = [f"{SENT}{row[0]}: {row[1]}" for row in listing.rows]
    found = listing_rows(listing, width, glyphs, reach="sent", ids=ids)
    sending = {row[0] for row in listing.rows}
    silent = [one.dimension for one in shown.estimate.communication.table if one.dimension not in sending]
    if silent:
        found.append(note_row(f"nothing is sent by {', '.join(dict.fromkeys(silent))}", width, glyphs))
    return found


def sent_time(id_: str, estimate: Estimate) -> Value:
    """The time of the operation of a row of what is sent. It has no key: only what of it stays in sight is a quantity."""
    return next((one.time for one in estimate.communication.table if id_ == f"{SENT}{one.dimension}: {one.name}"), GONE)


def views(shown: Shown) -> int:
    """Layout and step, communication, decision walk."""
    return 3


def map_rows(shown: Shown, width: int, glyphs: Glyphs, most: int = NODES) -> list[BodyRow]:
    """All of a few nodes, else the first, last and second, as many as there is room for, with every accelerator's place."""
    s, world = shown.estimate.situation, shown.estimate.mesh.world_size
    per, data = s["cluster.accelerators_per_node"], shown.estimate.mesh.data
    nodes = s["cluster.nodes"]
    if not all(isinstance(value, Figure) for value in (world, per, data, nodes)):
        return [rule_row("mesh: not whole yet", width, glyphs)]
    parallel = shown.plan.parallelism
    sizes = (int(parallel.tensor), int(parallel.context), int(data), int(parallel.pipeline))
    count, inside = int(nodes), int(per)
    shown_nodes = _nodes(count, max(1, most))
    told = f"mesh, {count:,} node{'' if count == 1 else 's'} x {inside}"
    part = f", {len(shown_nodes)} of them here" if len(shown_nodes) < count else ""
    found = [rule_row(f"{told}{part}", width, glyphs)]
    for node in shown_nodes:
        found.append(note_row(f"node {node:<6}{_node(node, inside, sizes, width - 16)}", width, glyphs, "text"))
    return found


def _nodes(count: int, most: int) -> list[int]:
    """The nodes of the map, rising."""
    if count <= min(NODES, most):
        return list(range(count))
    return sorted((0, count - 1, 1)[: min(ENDS, most)])


def _node(node: int, inside: int, sizes: tuple[int, ...], room: int) -> str:
    """Coordinates of a node's accelerators; axes of size 1 are left out."""
    cells = [_coordinates(node * inside + local, sizes) for local in range(inside)]
    whole = f"[{' '.join(cells)}]"
    return whole if len(whole) <= room else f"[{cells[0]} {cells[1]} .. {cells[-1]}]"


def _coordinates(rank: int, sizes: tuple[int, ...]) -> str:
    told: list[str] = []
    for axis, size in zip(AXES, sizes, strict=True):
        rank, place = divmod(rank, size)
        if size > 1:
            told.append(f"{axis}{place}")
    return "".join(told) or "0"


def walk_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """The questions in order, each with its numbers and its answer; then the proposal, and last the row where `enter` takes it.

    What it would set stands above that row: with the cursor on it both are in the window.
    """
    told = _walk(shown.plan)
    if told is None:
        return [note_row("the walk needs a model, a batch and accelerators", width, glyphs, "warn")]
    found: list[BodyRow] = []
    for place, step in enumerate(told.questions):
        canvas = Canvas(width, glyphs)
        canvas.put(2, f"{step.number} {step.text}", end=width - 8)
        decided = step.answer == "YES"
        canvas.right(width - 2, step.answer, "warn" if decided else "text", bold=decided)
        found.append(BodyRow(f"walk {place} {step.path}", "figure", canvas.line()))
        found += [note_row(f"  {line}", width, glyphs) for line in folded(step.numbers, width - 10)]
    found.append(rule_row("proposal", width, glyphs))
    canvas = Canvas(width, glyphs)
    canvas.put(4, "enter takes it as one edit" if proposal(shown.plan) else untaken(shown.plan))
    return [
        *found,
        *(note_row(line, width, glyphs, "text") for line in folded(proposed(shown.plan), width - 8)),
        *(note_row(line, width, glyphs, "text") for line in folded(_walked(shown.plan)[1], width - 8)),
        *(note_row(line, width, glyphs) for line in folded(CAUTION, width - 8)),
        BodyRow("walk proposal", "figure", canvas.line()),
    ]


_LAST: list[tuple[Plan, Walk | None, str]] = []
"""The walk of the plan drawn last, and the pace of its proposal: moving the cursor walks nothing."""


def _walk(plan: Plan) -> Walk | None:
    return _walked(plan)[0]


def _walked(plan: Plan) -> tuple[Walk | None, str]:
    from trainplan.alternatives.pace import pace
    from trainplan.alternatives.walk import walk

    if not _LAST or _LAST[0][0] is not plan:
        told = walk(plan)
        _LAST[:] = [(plan, told, "" if told is None else pace(plan, told.differs(plan)))]
    return _LAST[0][1:]


def proposal(plan: Plan) -> dict[str, object]:
    """What the walk would change in a plan: path to value."""
    told = _walk(plan)
    return {} if told is None else dict(told.differs(plan))


def untaken(plan: Plan) -> str:
    """Why the proposal sets nothing, where it sets nothing."""
    told = _walk(plan)
    return "the plan has it" if told is not None and told.proposal else "nothing fits"


def proposed(plan: Plan) -> str:
    """What `enter` on the proposal would set, in words; empty where the plan has it or nothing fits."""
    return ", ".join(
        f"{path.rsplit('.', 1)[-1]} {'left out' if value is None else value}" for path, value in proposal(plan).items()
    )


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """What the layout gives; then what the view at the left leaves out: what is sent, or the mesh and the step."""
    lines = [rule("what the layout gives", width, "", glyphs)]
    for key in ("parallelism.world_size", "parallelism.data", "tokens.microbatches", "parallelism.bubble"):
        told = cells(FigureRow(key, numbers.percent if key.endswith("bubble") else None), shown.estimate)
        canvas = Canvas(width, glyphs)
        canvas.put(4, told.label)
        canvas.right(40, f"{told.value} {told.unit}".strip(), bold=True)
        lines.append(canvas.line())
    drawings = [*map_rows(shown, width, glyphs), *waterfall_rows(shown, width, glyphs)] if view != 0 else []
    sent = sent_rows(shown, width, glyphs) if view != 1 else []
    return [*lines, *windowed([*drawings, *sent], glyphs)]
