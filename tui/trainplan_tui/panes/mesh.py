"""Parallelism: the layout as fields, the mesh as a small map of nodes, and the decision walk as a second view."""

from __future__ import annotations

from trainplan.figure import Figure
from trainplan.ledgers import PARALLELISM as LEDGER
from trainplan_tui.panes.ledger import findings_of, ledger
from trainplan_tui.panes.names import BUDGETS, MESH
from trainplan_tui.panes.rows import BodyRow, note_row, rule_row
from trainplan_tui.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.frame import rule

AXES = ("t", "c", "d", "p")
"""Order of ranks, fastest first: tensor, context, data, pipeline, as Megatron numbers them."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """The layout with its map, or the questions of the walk with their answers."""
    if view == 1:
        return walk_rows(shown, width, glyphs)
    found = findings_of(shown, BUDGETS[MESH], width, glyphs)
    body = ledger(LEDGER, shown, width, height, glyphs, found)
    place = next((i for i, row in enumerate(body) if row.kind == "rule"), len(body))
    return [*body[:place], *map_rows(shown, width, glyphs), *body[place:]]


def views(shown: Shown) -> int:
    """Layout, and decision walk."""
    return 2


def map_rows(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """The first, second and last node with the place of every accelerator in them."""
    s, world = shown.estimate.situation, shown.estimate.mesh.world_size
    per, data = s["cluster.accelerators_per_node"], shown.estimate.mesh.data
    nodes = s["cluster.nodes"]
    if not all(isinstance(value, Figure) for value in (world, per, data, nodes)):
        return [rule_row("mesh: not whole yet", width, glyphs)]
    parallel = shown.plan.parallelism
    sizes = (int(parallel.tensor), int(parallel.context), int(data), int(parallel.pipeline))
    count, inside = int(nodes), int(per)
    found = [rule_row(f"mesh, {count:,} nodes x {inside}", width, glyphs)]
    for node in sorted({0, min(1, count - 1), count - 1}):
        found.append(note_row(f"node {node:<6}{_node(node, inside, sizes, width - 16)}", width, glyphs, "text"))
    return found


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
    """The questions in order, each with its numbers and its answer; the proposal last."""
    from trainplan.walk import walk

    told = walk(shown.estimate)
    found: list[BodyRow] = []
    for number, step in enumerate(told.steps, 1):
        canvas = Canvas(width, glyphs)
        canvas.put(2, f"{number}")
        canvas.put(4, step.question, end=width - 8)
        canvas.right(width - 2, step.answer, "warn" if step.answer == "YES" else "text", bold=step.answer == "YES")
        found.append(BodyRow(f"walk {number}", "figure", canvas.line()))
        found += [note_row(f"  {line}", width, glyphs) for line in step.numbers]
    return found


def side(shown: Shown, width: int, glyphs: Glyphs) -> list[Line]:
    """Replicas, microbatches and the bubble, as the layout gives them."""
    lines = [rule("what the layout gives", width, "", glyphs)]
    for key in ("parallelism.world_size", "parallelism.data", "tokens.microbatches", "parallelism.bubble"):
        value = shown.estimate.quantities.get(key)
        canvas = Canvas(width, glyphs)
        canvas.put(2, key.rsplit(".", 1)[-1].replace("_", " "))
        canvas.right(40, f"{float(value):,.4g}" if isinstance(value, Figure) else "?", bold=True)
        lines.append(canvas.line())
    return lines
