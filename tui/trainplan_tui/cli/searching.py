"""`search PLAN`: legal layouts, ranked, why others were rejected, and what other cluster sizes would take."""

from __future__ import annotations

from typing import Any, Final

from trainplan.alternatives.reverse import changed
from trainplan.estimation import estimate
from trainplan.plan.canonical import plan_hash
from trainplan.plan.plan import Plan
from trainplan.plan.read import Opened
from trainplan.quantity.figure import Blocked, Choice, Figure, Quantity
from trainplan.search.listing import own_layout
from trainplan.search.searching import Found, Search, searched
from trainplan.search.sizes import Size, sizes
from trainplan.search.space import own_fields
from trainplan.views import asjson
from trainplan_tui.cli.layout_lines import Told, column_lines, plain_lines
from trainplan_tui.cli.running import Options, Refused, name_of, opened, say, write_json
from trainplan_tui.text.glyphs import ASCII, UNICODE

MOST: Final = 1000
QUANTITIES: Final = (
    "parallelism.predicted_step_time",
    "parallelism.predicted_mean_step_time",
    "parallelism.predicted_compute_time",
    "parallelism.predicted_utilization",
    "parallelism.data",
    "parallelism.bubble",
    "tokens.microbatches",
    "memory.total",
    "memory.headroom",
    "memory.worst_rank",
    "communication.data",
    "communication.tensor",
    "communication.context",
    "communication.pipeline",
    "communication.expert",
    "communication.exposed_time",
    "communication.exposed_share",
)
"""What is told of each layout; `show` with its fields tells the rest."""


def run(options: Options) -> int:
    """Print the best layouts and the counts, or write them as JSON."""
    if not 1 <= options.top <= MOST:
        raise Refused(f"--top is {options.top}. From 1 to {MOST:,} is right")
    plan = opened(options.plan, options.set)
    found = searched(plan.plan, forks=options.forks)
    tried = tuple(sizes(plan.plan, forks=options.forks)) if options.nodes else None
    if options.json:
        write_json(as_json(plan, found, options.by, options.top, tried))
        return 0
    told = Told(name_of(plan), plan.plan, found, options.by, options.top, tried)
    for line in plain_lines(told) if options.plain else column_lines(told, ASCII if options.ascii else UNICODE):
        say(line)
    return 0


def as_json(plan: Opened, found: Search, by: str, top: int, tried: tuple[Size, ...] | None) -> dict[str, object]:
    """One object: counts, layouts best first, the front of time against memory, and cluster sizes where asked for."""
    own = own_fields(plan.plan)
    here = own_layout(plan.plan, own, found.target)
    near = found.layouts(found.nearest) if not found.fitting else ()
    return {
        "format": asjson.FORMAT,
        "plan": {"name": name_of(plan), "path": str(plan.source.path), "hash": plan_hash(plan.plan)},
        "considered": found.considered,
        "legal": found.legal,
        "fitting": found.fitting,
        "by": by,
        "usable": None if found.usable == float("inf") else int(found.usable),
        "target": None if found.target == float("inf") else int(found.target),
        "layouts": [_layout(plan.plan, one, own) for one in found.best(by, top)],
        "plan_layout": None if here is None else _layout(plan.plan, here.found, own),
        "front": [_layout(plan.plan, one, own) for one in found.layouts(found.front)],
        "nearest": [_layout(plan.plan, one, own) for one in near],
        "rejected": dict(found.rejected),
        **({"sizes": [_size(one) for one in tried]} if tried is not None else {}),
    }


def _layout(plan: Plan, one: Found, own: dict[str, Any]) -> dict[str, object]:
    other = changed(plan, dict(one.fields))
    told = estimate(other).quantities
    tables: dict[str, dict[str, Any]] = {"parallelism": {}, "batch": {}}
    for path, value in one.fields.items():
        table, field = path.split(".")
        if value is not None:
            tables[table][field] = value
    tables["batch"]["global_batch_sequences"] = whole_or_none(plan.batch.global_batch_sequences)
    return {
        **tables,
        "quantities": {key: _plain_value(told[key]) for key in QUANTITIES},
        "above_target": one.above_target,
        "is_plan": dict(one.fields) == own,
    }


def whole_or_none(value: float | None) -> int | None:
    """A count of the plan as a whole number."""
    return None if value is None else int(value)


def _plain_value(value: Quantity | Choice) -> object:
    return asjson.number(value) if isinstance(value, Figure) else None if isinstance(value, Blocked) else str(value)


def _size(one: Size) -> dict[str, object]:
    fields = {} if one.best is None else {path: value for path, value in one.best.fields.items() if value is not None}
    return {
        "nodes": one.nodes,
        "accelerators": one.accelerators,
        "considered": one.considered,
        "fitting": one.fitting,
        "fields": fields,
        "step_time": None if one.best is None else one.best.step,
        "wall_time": _plain_value(one.wall_time),
        "cost": _plain_value(one.cost),
        "in_time": one.in_time,
        "in_budget": one.in_budget,
        **({"why": one.why} if one.best is None else {}),
    }
