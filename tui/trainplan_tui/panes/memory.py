"""Memory: the ledger of the worst rank at its worst instant, every rank as a bar, and the same plan one step away."""

from __future__ import annotations

from trainplan.budgets.memory.budget import MemoryBudget, RankMemory
from trainplan.estimation import Estimate, Value, estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure
from trainplan.quantity.numbers import device_bytes
from trainplan.rows.ledgers import MEMORY as LEDGER
from trainplan.rows.table import FieldRow, FigureRow, Row, RuleRow
from trainplan.views.listings import Listing
from trainplan_tui.panes.ledger import LOW, drawn, findings_of, under_rule
from trainplan_tui.panes.listed import listing_rows
from trainplan_tui.panes.names import BUDGETS, MEMORY
from trainplan_tui.panes.rows import BodyRow, columns, note_row, rule_row
from trainplan_tui.state.shown import Shown
from trainplan_tui.text.glyphs import Glyphs
from trainplan_tui.text.spans import Canvas, Line
from trainplan_tui.widgets.bars import MemoryParts, memory_bar
from trainplan_tui.widgets.frame import rule

GIB = 2.0**30
BAR = 19
STEPS: tuple[tuple[str, str, str, str], ...] = (
    ("zero-1", "parallelism", "sharding", "zero-1"),
    ("zero-2", "parallelism", "sharding", "zero-2"),
    ("zero-3", "parallelism", "sharding", "zero-3"),
    ("recompute full", "parallelism", "recompute", "full"),
    ("recompute none", "parallelism", "recompute", "none"),
    ("loss chunked", "training", "loss", "chunked"),
)
"""Single changes that people try first: what it is called, table, field, value."""


def rows(shown: Shown, width: int, height: int, glyphs: Glyphs, view: int) -> list[BodyRow]:
    """Fields, the categories with the glyphs of the bars, bars of ranks, findings, the rest; or ranks and answers in reverse."""
    if view > 0:
        return _asked(shown.estimate, view, width, glyphs)
    table = LEDGER.rows
    first = [row for row in table if _id(row) in LEDGER.first]
    fields = tuple(row for row in first if isinstance(row, FieldRow))
    figures = [row for row in first if isinstance(row, FigureRow)]
    if height < LOW:
        figures[-1] = FigureRow("memory.total", figures[-1].style, label=_total(shown.estimate.memory.usable, width))
    rest = tuple(row for row in table if row not in first)
    found = findings_of(shown, BUDGETS[MEMORY], width, glyphs)
    return [
        *drawn(fields, shown, width, glyphs),
        rule_row(_title(shown.estimate.memory), width, glyphs),
        *[_signed(row, shown, width, glyphs) for row in figures],
        *bars(shown, width, glyphs),
        *under_rule(found, width, glyphs),
        *drawn(_tidy(rest), shown, width, glyphs),
    ]


def views(shown: Shown) -> int:
    """Ledger; ranks and what fits; commands of the framework's dry runs."""
    return 3


_ASKED: list[tuple[Plan, int, list[Listing]]] = []
"""The listings drawn last: a key that moves only the cursor asks nothing anew."""


def _asked(estimate: Estimate, view: int, width: int, glyphs: Glyphs) -> list[BodyRow]:
    from trainplan.views import listings

    if not _ASKED or _ASKED[0][:2] != (estimate.plan, view):
        makers = (listings.ranks, listings.answers, listings.changes) if view == 1 else (listings.commands,)
        _ASKED[:] = [(estimate.plan, view, [make(estimate) for make in makers])]
    told = _ASKED[0][2]
    if view > 1 and not any(one.rows for one in told):
        framework = estimate.plan.training.framework
        none = f"No dry run of {framework} is known here; C in 9 Pilot shows the launch text of a rung"
        return [rule_row(told[0].title, width, glyphs), note_row(none, width, glyphs)]
    return [
        row
        for place, one in enumerate(told)
        for row in listing_rows(one, width, glyphs, reach=f"m{place}.", ids=_totals(one, estimate))
    ]


def _totals(listing: Listing, estimate: Estimate) -> list[str]:
    """What the rows of the table of ranks are explained by: the total of the first rank of each."""
    if listing.heads[0] != "rank":
        return []
    keys = [f"memory.ranks.{row[0].split(' ')[0]}.total" for row in listing.rows]
    return [key if key in estimate.quantities else "" for key in keys]


def _tidy(rest: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rules without rows under them say nothing."""
    return tuple(
        row
        for i, row in enumerate(rest)
        if not isinstance(row, RuleRow) or (i + 1 < len(rest) and not isinstance(rest[i + 1], RuleRow))
    )


def _id(row: Row) -> str:
    return row.path if isinstance(row, FieldRow) else row.key if isinstance(row, FigureRow) else ""


def _title(memory: MemoryBudget) -> str:
    if not isinstance(memory.worst_rank, Figure):
        return "memory cannot be told yet"
    count = len(memory.table)
    return f"rank {int(memory.worst_rank)} of {count} is the worst, at {memory.worst_instant}"


def _signed(row: FigureRow, shown: Shown, width: int, glyphs: Glyphs) -> BodyRow:
    """A category with its glyph in front: the ledger is the legend of the bars."""
    body = drawn((row,), shown, width, glyphs)[0]
    sign = _glyph(row.key.removeprefix("memory."), glyphs)
    if not sign:
        return body
    canvas = Canvas(width, glyphs)
    canvas.spans(1, body.line)
    canvas.put(2, sign)
    return BodyRow(body.id, body.kind, canvas.line(), body.boxes)


def _total(usable: Value, width: int) -> str:
    """The label of the total with what is usable, where the row that says so is out of view; empty where it has no room."""
    said = f"total, of {float(usable) / GIB:,.1f} usable" if isinstance(usable, Figure) else ""
    return said if len(said) <= columns(width).label_end - 3 else ""


def _glyph(category: str, glyphs: Glyphs) -> str:
    own = {
        "activations": glyphs.activations,
        "weights": glyphs.weights,
        "logits": glyphs.logits,
        "gradients": glyphs.gradients,
        "optimizer_states": glyphs.optimizer,
    }
    rest = ("attention_temporaries", "communication_buffers", "fragmentation_runtime")
    return own.get(category, glyphs.rest if category in rest else "")


def bars(shown: Shown, width: int, glyphs: Glyphs) -> list[BodyRow]:
    """One bar a rank, equal neighbours folded, then the plan one step away."""
    memory = shown.estimate.memory
    usable = memory.usable
    if not isinstance(usable, Figure) or not memory.table:
        return []
    target = float(usable) * float(shown.estimate.situation["memory.target_fraction"])
    found = [_bar(name, rank, float(usable), target, width, glyphs) for name, rank in _folded(memory.table)]
    for name, other in _neighbours(shown.estimate):
        if isinstance(other.memory.total, Figure) and other.memory.table:
            worst = other.memory.table[int(other.memory.worst_rank)]
            found.append(_bar(name, worst, float(usable), target, width, glyphs))
    return found


def _folded(table: tuple[RankMemory, ...]) -> list[tuple[str, RankMemory]]:
    found: list[tuple[int, int, RankMemory]] = []
    for place, rank in enumerate(table):
        if not isinstance(rank.total, Figure):
            continue
        if found and abs(float(found[-1][2].total) - float(rank.total)) < GIB / 100:
            found[-1] = (found[-1][0], place, found[-1][2])
        else:
            found.append((place, place, rank))
    return [(f"rank {a}" if a == b else f"rank {a}-{b}", rank) for a, b, rank in found]


_LAST: list[tuple[Plan, list[tuple[str, Estimate]]]] = []
"""The neighbours of the plan drawn last: a key that moves only the cursor estimates nothing."""


def _neighbours(here: Estimate) -> list[tuple[str, Estimate]]:
    """The plan with one field changed, for at most three changes that move its memory."""
    if not _LAST or _LAST[0][0] is not here.plan:
        _LAST[:] = [(here.plan, _changed(here))]
    return _LAST[0][1]


def _changed(here: Estimate) -> list[tuple[str, Estimate]]:
    plan = here.plan
    found: list[tuple[str, Estimate]] = []
    for name, table, field, value in STEPS:
        changed = getattr(plan, table).model_copy(update={field: value})
        other = estimate(plan.model_copy(update={table: changed}))
        before, after = here.memory.total, other.memory.total
        if isinstance(before, Figure) and isinstance(after, Figure) and abs(before - after) > GIB / 100:
            found.append((name, other))
        if len(found) == 3:
            break
    return found


def _bar(name: str, rank: RankMemory, usable: float, target: float, width: int, glyphs: Glyphs) -> BodyRow:
    canvas = Canvas(width, glyphs)
    canvas.put(4, name, end=BAR - 1)
    if not isinstance(rank.total, Figure):
        return BodyRow("", "picture", canvas.line())
    canvas.spans(BAR, memory_bar(_parts(rank), usable, target, glyphs), end=width - 18)
    free = (usable - float(rank.total)) / GIB
    canvas.right(width - 12, f"{float(rank.total) / GIB:.1f}", bold=True)
    canvas.right(
        width - 1, f"fits {free:5.1f}" if free >= 0 else f"OVER {-free:5.1f}", "text" if free >= 0 else "error"
    )
    return BodyRow("", "picture", canvas.line())


def _parts(rank: RankMemory) -> MemoryParts:
    told = {name: float(value) for name, value in rank.worst.parts.items() if isinstance(value, Figure)}
    named = ("activations", "weights", "logits", "gradients", "optimizer_states")
    rest = float(rank.total) - sum(told.get(name, 0.0) for name in named)
    activations, weights, logits, gradients, states = (told.get(name, 0.0) for name in named)
    return MemoryParts(activations, weights, logits, gradients, states, max(0.0, rest))


def side(shown: Shown, width: int, glyphs: Glyphs, view: int | None) -> list[Line]:
    """Every instant of the worst rank, and a restore, which is no part of the peak: what each holds."""
    memory = shown.estimate.memory
    if not isinstance(memory.worst_rank, Figure):
        return []
    worst = memory.table[int(memory.worst_rank)]
    lines = [rule(f"instants of rank {worst.rank}, GiB in tensors", width, "", glyphs)]
    for instant in (*worst.instants, worst.restoring):
        canvas = Canvas(width, glyphs)
        mark = "" if instant.allocated.verified else " ?"
        canvas.put(2, f"{'>' if instant is worst.worst else ' '} {instant.name}{mark}", end=34)
        if isinstance(instant.allocated, Figure):
            canvas.right(44, f"{float(instant.allocated) / GIB:.2f}", bold=instant is worst.worst)
        lines.append(canvas.line())
    lines += _highest_restore(memory, width, glyphs)
    lines.append(rule("of the worst instant", width, "", glyphs))
    for name, value in worst.worst.parts.items():
        if isinstance(value, Figure):
            canvas = Canvas(width, glyphs)
            canvas.put(2, f"{_glyph(name, glyphs) or ' '} {name.replace('_', ' ')}", end=34)
            canvas.right(44, device_bytes(float(value)).text(float(value)))
            lines.append(canvas.line())
    return lines


def _highest_restore(memory: MemoryBudget, width: int, glyphs: Glyphs) -> list[Line]:
    """The restore of the ledger: on the rank where it is highest, with what the driver shows above the tensors."""
    if not isinstance(memory.restore, Figure):
        return []
    rank = next((one.rank for one in memory.table if float(one.restore) == float(memory.restore)), 0)
    canvas = Canvas(width, glyphs)
    canvas.put(4, f"restore, rank {rank}, with overhead", end=min(36, width - 8))
    canvas.right(44, f"{float(memory.restore) / GIB:.2f}")
    return [canvas.line()]
