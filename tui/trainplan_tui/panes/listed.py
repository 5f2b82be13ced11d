"""A listing as rows of a pane: the first column left, numbers right, words that are too long wrapped under their row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from textwrap import wrap

from trainplan.views.listings import Listing
from trainplan_tui.panes.rows import TABLE, BodyRow, note_row, rule_row, table_rows
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.printable import cells
from trainplan_tui.text.spans import Canvas, Line, Role

GAP = 2
START = 4
"""Where the first column begins, counted from one."""
LONG = 30
"""Cells above which a last column is wrapped under its row instead of standing in it."""


def listing_rows(listing: Listing, width: int, glyphs: Glyphs, *, reach: str, ids: Sequence[str] = ()) -> list[BodyRow]:
    """Title, heads, rows. A row with a path leads to its field by `enter`; `reach` makes the ids of rows unique.

    `ids` are those of rows that lead to no field but can be explained, in their order.

    Columns that do not fit scroll behind the first; those for which there is no room in `TABLE` are left out from the right, whole.
    """
    title = rule_row(listing.title, width, glyphs)
    if not listing.rows:
        return [title, note_row("none", width, glyphs)]
    long = len(listing.heads) > 1 and max(cells(row[-1]) for row in listing.rows) > LONG
    whole = max(width, TABLE)
    kept = _columns(listing, len(listing.heads) - long, whole)
    found, edges = [title], tuple(accumulate((room + GAP for room, _ in kept), initial=START - 1 - GAP))[1:]
    if not long or len(kept) > 1:
        heads = BodyRow("", "picture", _line(listing.heads, kept, whole, glyphs, role="dim"))
        found += table_rows([heads], edges, width)
    for place, row in enumerate(listing.rows):
        path = listing.paths[place] if place < len(listing.paths) else ""
        id_ = f"walk {reach}{place} {path}" if path else "".join(ids[place : place + 1])
        found += table_rows(
            [BodyRow(id_, "figure" if id_ else "picture", _line(row, kept, whole, glyphs))], edges, width
        )
        if long:
            found += [note_row(f"  {line}", width, glyphs) for line in wrap(row[-1], width - 8, break_on_hyphens=False)]
    return found


def _columns(listing: Listing, count: int, width: int) -> list[tuple[int, bool]]:
    """Cells of each column that fits, and whether it holds numbers; at least the first."""
    kept: list[tuple[int, bool]] = []
    used = START - 1
    for place in range(count):
        texts = [row[place] for row in listing.rows]
        room = max(cells(text) for text in (listing.heads[place], *texts))
        used += room + GAP
        if place and used - GAP > width:
            break
        kept.append((room, place > 0 and all(text[:1].isdigit() or text[:1] in "+-?<" for text in texts)))
    return kept


def _line(
    texts: tuple[str, ...], kept: list[tuple[int, bool]], width: int, glyphs: Glyphs, role: Role = "text"
) -> Line:
    canvas, column = Canvas(width, glyphs), START
    for text, (room, numeric) in zip(texts, kept, strict=False):
        if numeric:
            canvas.right(column + room - 1, text, role)
        else:
            canvas.put(column, text, role, end=column + room - 1)
        column += room + GAP
    return canvas.line()
