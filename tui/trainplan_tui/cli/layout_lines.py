"""A search as lines of text: the best layouts in columns or as sentences, counts of what was rejected, cluster sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainplan.budgets.released import LEFT_OUT
from trainplan.figure import Blocked, Figure, Quantity
from trainplan.plan.plan import Plan
from trainplan.search.listing import GIB, Listed, aligned, in_words, listed, own_layout, table
from trainplan.search.searching import Search
from trainplan.search.sizes import Size
from trainplan.search.space import own_fields
from trainplan.unit import duration, whole
from trainplan_tui.text.glyphs import Glyphs

ORDERED: Final = {
    "time": "predicted step, then bytes sent, then memory",
    "memory": "memory, then predicted step",
    "cost": "cost, which on one cluster is the order of the predicted step",
}
TOP_FRONT: Final = 8
"""Layouts of the front that are printed, spread over it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is printed of one search."""

    name: str
    plan: Plan
    search: Search
    by: str
    top: int
    tried: tuple[Size, ...]

    def rows(self) -> list[Listed]:
        """The best few with their estimates, and the plan's own layout where it is not among them."""
        own = own_fields(self.plan)
        rows = listed(self.plan, self.search.best(self.by, self.top), own)
        here = own_layout(self.plan, own, self.search.target) if rows and not any(row.is_plan for row in rows) else None
        return rows if here is None else [*rows, here]


def column_lines(told: Told, glyphs: Glyphs) -> list[str]:
    """Columns, then counts."""
    found, rows, rule = told.search, told.rows(), glyphs.rule * 2
    shown = f"{sum(row.place > 0 for row in rows)} of {found.fitting:,} layouts that fit, by {ORDERED[told.by]}"
    lines = [f"{told.name}: {shown if rows else _nearest(told)}", _kept(told.plan)]
    lines += [f"  {line}" for line in aligned(table(rows))] if rows else []
    if any(row.is_plan or row.found.above_target for row in rows):
        over = any(row.is_plan and row.found.memory > found.usable for row in rows)
        lines.append(f"  = the plan{', which does not fit' if over else ''}   ! above the memory target")
    if len(found.front):
        lines += ["", f"{rule} no other is both faster and leaner", *_front(told)]
    lines += ["", f"{rule} {_counts(found)}", *_rejected(found)]
    return lines + (["", f"{rule} cluster sizes, best layout of each", *_sizes(told)] if told.tried else [])


def plain_lines(told: Told) -> list[str]:
    """One fact a line."""
    found = told.search
    lines = [f"{told.name}, search by {ORDERED[told.by]}", _kept(told.plan), _counts(found)]
    for row in told.rows():
        name = f"layout {row.place}" if row.place else "not among them"
        own = ", the plan" if row.is_plan else ", above the memory target" if row.found.above_target else ""
        lines.append(f"{name}{own}: {in_words(row.found.fields)}: {_numbers(row)}")
    if not found.fitting:
        lines.append(_nearest(told))
    lines += [f"rejected: {count:,}, {_and_how(reason)}" for reason, count in _by_count(found)]
    return lines + [f"size {line.strip()}" for line in (_sizes(told) if told.tried else [])]


def _kept(plan: Plan) -> str:
    batch = plan.batch.global_batch_sequences
    return f"global batch kept: {whole(batch)} sequences" if batch else "global batch kept"


def _numbers(row: Listed) -> str:
    return f"step {row.found.step:,.4g} s, {row.found.memory / GIB:.1f} GiB, {row.found.sent / 1e9:,.1f} GB sent a step"


def _nearest(told: Told) -> str:
    """What comes nearest where nothing fits."""
    found = told.search
    begin = f"0 of {found.legal:,} legal layouts fit"
    if not len(found.nearest):
        return begin
    one = found.layouts(found.nearest)[0]
    return f"{begin}. Nearest: {in_words(one.fields)}, {(one.memory - found.usable) / GIB:.1f} GiB OVER"


def _counts(found: Search) -> str:
    return f"{found.considered:,} considered, {found.legal:,} legal, {found.fitting:,} fit"


def _by_count(found: Search) -> list[tuple[str, int]]:
    return sorted(found.rejected.items(), key=lambda one: -one[1])


def _rejected(found: Search) -> list[str]:
    return [f"  rejected {count:>14,}  {_and_how(reason)}" for reason, count in _by_count(found)]


def _and_how(reason: str) -> str:
    """A reason, and the option that lets such layouts in."""
    return f"{reason}; --forks lets them in" if reason.endswith(LEFT_OUT) else reason


def _front(told: Told) -> list[str]:
    """Layouts of the front, at most `TOP_FRONT`, from the fastest to the leanest."""
    layouts = told.search.layouts(told.search.front)
    step = max((len(layouts) - 1) / max(TOP_FRONT - 1, 1), 1.0)
    places = sorted({round(step * place) for place in range(TOP_FRONT) if round(step * place) < len(layouts)})
    shown = (layouts[place] for place in places)
    return [f"  {one.step:>10,.3f} s  {one.memory / GIB:>6.1f} GiB  {in_words(one.fields)}" for one in shown]


def _sizes(told: Told) -> list[str]:
    first = next((one for one in told.tried if one.meets), None)
    has_goal = any(one.in_time is not None or one.in_budget is not None for one in told.tried)
    currency = told.plan.cluster.currency
    lines = [_size(one, currency, "  > " if has_goal and one is first else "    ") for one in told.tried]
    if has_goal:
        goal = f"{first.nodes:,} nodes: the fewest that meet" if first is not None else "no size meets"
        lines.append(f"  {goal} the deadline and the budget, at the predicted utilization")
    return lines


def _size(one: Size, currency: str, begin: str) -> str:
    if one.best is None:
        return f"{begin}{one.nodes:>7,} nodes  no layout fits"
    late = "  too late" if one.in_time is False else ""
    dear = "  above the budget" if one.in_budget is False else ""
    time = " ".join(duration(float(one.wall_time))) if isinstance(one.wall_time, Figure) else _why(one.wall_time)
    cost = f"{whole(one.cost)} {currency}" if isinstance(one.cost, Figure) else _why(one.cost)
    numbers = f"{one.nodes:>7,} nodes  step {one.best.step:>9,.3f} s  {time:>10}  {cost:>14}"
    return f"{begin}{numbers}  {in_words(one.best.fields)}{late}{dear}"


def _why(value: Quantity) -> str:
    return value.code if isinstance(value, Blocked) else ""
