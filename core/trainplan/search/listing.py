"""Layouts as cells of text, for the command line and the app: what each is, and what its own estimate says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from trainplan.alternatives.reverse import changed
from trainplan.budgets.communication import DIMENSIONS
from trainplan.estimation import Estimate, estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Figure, Quantity
from trainplan.quantity.unit import prefixed, whole
from trainplan.search.judging import MISSING, UNDEFINED
from trainplan.search.searching import Found, Search
from trainplan.search.space import (
    CONTEXT,
    EXPERT,
    EXPERT_TENSOR,
    MICRO,
    PIPELINE,
    SHARD,
    TENSOR,
    VIRTUAL,
)

GIB: Final = 2.0**30

SHORT: Final = {TENSOR: "t", PIPELINE: "p", VIRTUAL: "v", CONTEXT: "c", EXPERT: "e", EXPERT_TENSOR: "et", MICRO: "b"}
"""Heads of the degrees, as drawings and papers write them."""

ALWAYS: Final = (TENSOR, PIPELINE)
SOMETIMES: Final = (VIRTUAL, CONTEXT, EXPERT, EXPERT_TENSOR)
"""Degrees that have a column only where some layout has more than one."""


LAST_STRETCH: Final = "m, GB sent and exposed are those of the last stage; time and use are of the whole run"
"""What the columns of a run in stages are of."""


@dataclass(frozen=True, eq=False)
class Listed:
    """One layout of a list: its place from 1, whether the plan has it already, and its estimate."""

    place: int
    found: Found
    is_plan: bool
    estimate: Estimate

    @property
    def mark(self) -> str:
        """`=` the plan's own, `!` above the target of memory."""
        return "=" if self.is_plan else "!" if self.found.above_target else " "

    @cached_property
    def cost(self) -> Quantity:
        """What the run costs with it, at the utilization that the step model predicts."""
        return predicted(self.estimate.plan).money.cost


def predicted(plan: Plan) -> Estimate:
    """The estimate of a plan at the utilization that the step model predicts for it."""
    found = estimate(plan)
    use = found.step.predicted_utilization
    if not isinstance(use, Figure):
        return found
    return estimate(changed(plan, {"utilization.value": float(use)}))


def listed(plan: Plan, layouts: Sequence[Found], own: Mapping[str, Any], first: int = 1) -> list[Listed]:
    """Layouts with their estimates, a few milliseconds each."""
    return [
        Listed(first + place, one, dict(one.fields) == own, estimate(changed(plan, dict(one.fields))))
        for place, one in enumerate(layouts)
    ]


def own_layout(plan: Plan, own: Mapping[str, Any], target: float) -> Listed | None:
    """The plan's own layout as one of a list, in no place of it; None where its memory or step cannot be told."""
    told = estimate(plan)
    step, memory = told.step.predicted_mean_step_time, told.memory.total
    if not isinstance(step, Figure) or not isinstance(memory, Figure):
        return None
    sent = sum(float(getattr(told.communication, name)) for name in DIMENSIONS)
    found = Found(own, float(step), sent, float(memory), float(memory) > target)
    return Listed(0, found, True, told)


def table(rows: Sequence[Listed], order: str = "time") -> list[tuple[str, ...]]:
    """The heads and a row of cells for each layout; the cost of a run where they are ordered by it."""
    degrees = [*ALWAYS, *(path for path in SOMETIMES if any(row.found.fields[path] > 1 for row in rows))]
    heads = (
        "#",
        *(SHORT[path] for path in degrees),
        "D",
        "sharding",
        "recompute",
        "schedule",
        "b",
        "m",
        "GiB",
        "GB sent",
    )
    by_cost = order == "cost"
    last = ("mean s" if any(map(in_stages, rows)) else "step s", *(("cost",) if by_cost else ()), _use(rows), "expos")
    return [(*heads, *last), *(_cells(row, degrees, by_cost=by_cost) for row in rows)]


def in_stages(row: Listed) -> bool:
    """Whether length or batch change on the way: then the time of a layout is the mean of all steps of the run."""
    step = row.estimate.step
    return step.predicted_mean_step_time is not step.predicted_step_time


def batches_in_order(plan: Plan) -> list[float]:
    """Sequences of the global batch of each stretch of the run that says or inherits one."""
    found = (one.global_batch_sequences for one in estimate(plan).tokens.stretches)
    return [float(one) for one in found if isinstance(one, Figure)]


def _use(rows: Sequence[Listed]) -> str:
    """What the plan's convention counts: FLOP of the model, or of all that the hardware does, recompute with it."""
    hardware = any(row.estimate.plan.utilization.convention == "hardware" for row in rows)
    return "HFU" if hardware else "MFU"


def _cells(row: Listed, degrees: Sequence[str], *, by_cost: bool) -> tuple[str, ...]:
    fields, told = row.found.fields, row.estimate.quantities
    share = told["communication.exposed_share"]
    return (
        f"{row.mark}{row.place or ''}",
        *(f"{fields[path]}" for path in degrees),
        whole_text(row.estimate.mesh.data),
        sharding(fields),
        str(fields["parallelism.recompute"]),
        schedule(fields),
        f"{fields[MICRO]}",
        whole_text(row.estimate.tokens.microbatches),
        f"{row.found.memory / GIB:.1f}",
        f"{row.found.sent / 1e9:,.1f}",
        f"{row.found.step:,.3f}",
        *((_money(row.cost),) if by_cost else ()),
        _three(row.estimate.step.predicted_utilization),
        f"{100 * share:.1f}%" if isinstance(share, Figure) else "-",
    )


def whole_text(value: Quantity) -> str:
    """A count, or a dash where it is blocked."""
    return whole(value) if isinstance(value, Figure) else "-"


def _money(value: Quantity) -> str:
    """An amount with four digits and a prefix."""
    return "".join(prefixed(float(value), 4)).replace("G", "B") if isinstance(value, Figure) else "-"


def _three(value: Quantity) -> str:
    return f"{value:.3f}" if isinstance(value, Figure) else "-"


def sharding(fields: Mapping[str, Any]) -> str:
    """The kind of sharding, hsdp with the size of its group."""
    kind, size = str(fields["parallelism.sharding"]), fields[SHARD]
    return kind if size is None else f"{kind} {size}"


def schedule(fields: Mapping[str, Any]) -> str:
    """The schedule, and the layers of the ends where they differ from the others."""
    first, last = fields["parallelism.first_stage_layers"], fields["parallelism.last_stage_layers"]
    ends = "" if first is None and last is None else f" {first or '-'}..{last or '-'}"
    return str(fields["parallelism.schedule"]) + ends


def in_words(fields: Mapping[str, Any]) -> str:
    """A layout in a few words: degrees above one, sharding, recompute, microbatch, schedule."""
    degrees = [f"{SHORT[path]} {fields[path]}" for path in (*ALWAYS, *SOMETIMES) if fields[path] > 1]
    words = [sharding(fields), f"recompute {fields['parallelism.recompute']}", f"b {fields[MICRO]}"]
    return ", ".join([*degrees, *words, *([schedule(fields)] if fields[PIPELINE] > 1 else [])])


def none_fit(found: Search) -> str:
    """Why there is no layout: what is missing, that none is legal, or which comes nearest."""
    unknown = next((one for one in found.rejected if one.endswith(MISSING) or one.startswith(UNDEFINED)), None)
    if unknown is not None:
        return f"nothing can be told of {found.legal:,} legal layouts: {unknown}"
    if not found.legal:
        return f"0 of {found.considered:,} layouts are legal"
    near = found.layouts(found.nearest)
    over = (
        f". Nearest: {in_words(near[0].fields)}, {(near[0].memory - found.usable) / GIB:.1f} GiB OVER" if near else ""
    )
    return f"0 of {found.legal:,} legal layouts fit{over}"


LEFT: Final = ("sharding", "shard", "recompute", "rec", "schedule")
"""Heads of the columns that are words: left, not right aligned."""

SHORTER: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "sharding": ("shard", str),
    "recompute": ("rec", lambda cell: cell[:4] if cell in ("none", "full") else cell[:3]),
    "schedule": ("schedule", lambda cell: SHORT_SCHEDULES.get(cell.split(" ")[0], cell.split(" ")[0])),
    "GB sent": ("sent", lambda cell: f"{float(cell.replace(',', '')):,.0f}" if len(cell) > 5 else cell),
    "MFU": ("MFU", lambda cell: cell.removeprefix("0")),
    "HFU": ("HFU", lambda cell: cell.removeprefix("0")),
    "expos": ("exp", lambda cell: cell.removesuffix("%")),
}
"""What a column is in a narrow window: its head, and its cells. The line of one layout says all of it in full."""

SHORT_SCHEDULES: Final = {"interleaved": "interl"}

DROPPED: Final = ("m", "sent", "D", "exp", "MFU", "HFU")
"""Columns that are left out, in this order, where even the short ones have no room."""


def aligned(rows: Sequence[tuple[str, ...]], room: int | None = None) -> list[str]:
    """Rows of cells as lines of aligned columns; where there is too little room they are shorter, then some are left out."""
    lines = _columns(rows, 2)
    if room is None or (len(lines[0]) <= room and max(map(len, lines)) <= room):
        return lines
    lines = _columns(rows, 1)
    if max(map(len, lines)) <= room:
        return lines
    short = _shortened(rows)
    for head in ("", *DROPPED):
        short = [tuple(cell for i, cell in enumerate(row) if short[0][i] != head) for row in short]
        lines = _columns(short, 1)
        if max(map(len, lines)) <= room:
            break
    return lines


def _columns(rows: Sequence[tuple[str, ...]], gap: int) -> list[str]:
    """Every column as wide as its widest cell."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    left = [head in LEFT for head in rows[0]]
    return [
        (" " * gap)
        .join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, width, words in zip(row, widths, left, strict=True)
        )
        .rstrip()
        for row in rows
    ]


def _shortened(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same with short heads and cells; hsdp keeps the size of its group."""
    heads = [SHORTER.get(head, (head, str)) for head in rows[0]]
    cells = (tuple(short(cell) for cell, (_, short) in zip(row, heads, strict=True)) for row in rows[1:])
    return [tuple(head for head, _ in heads), *cells]
