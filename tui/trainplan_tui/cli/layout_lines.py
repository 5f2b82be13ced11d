"""A search as lines of text: the best layouts in columns or as sentences, counts of what was rejected, cluster sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainplan.budgets.legality.frameworks import LEFT_OUT
from trainplan.plan.plan import Plan
from trainplan.quantity.unit import whole
from trainplan.search.listing import (
    GIB,
    LAST_STRETCH,
    Listed,
    aligned,
    batches_in_order,
    in_stages,
    in_words,
    listed,
    none_fit,
    own_layout,
    table,
)
from trainplan.search.searching import Search
from trainplan.search.sizes import Size
from trainplan.search.space import own_fields
from trainplan_tui.cli.running import room
from trainplan_tui.cli.size_lines import size_columns, size_sentences
from trainplan_tui.text.glyphs import Glyphs

ORDERED: Final = {
    "time": "predicted step, those within the memory target first",
    "memory": "memory, then predicted step",
    "cost": "cost at the predicted utilization, on one cluster as by predicted step, those within the memory target first",
}
TOP_FRONT: Final = 8
"""Layouts of the front that are printed, spread over it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is printed of one search; `tried` is None where no cluster sizes were asked for."""

    name: str
    plan: Plan
    search: Search
    by: str
    top: int
    tried: tuple[Size, ...] | None

    def rows(self) -> list[Listed]:
        """The best few with their estimates, and the plan's own layout where it is not among them."""
        own = own_fields(self.plan)
        rows = listed(self.plan, self.search.best(self.by, self.top), own)
        here = own_layout(self.plan, own, self.search.target) if rows and not any(row.is_plan for row in rows) else None
        return rows if here is None else [*rows, here]


UNLISTED: Final = "not listed: c and b with a common divisor, the same cut as with fewer of both"
"""What `search.judging` ranks nowhere, though it is legal and counted."""


def column_lines(told: Told, glyphs: Glyphs) -> list[str]:
    """Columns, then counts."""
    found, rows, rule = told.search, told.rows(), glyphs.rule * 2
    shown = f"{sum(row.place > 0 for row in rows)} of {found.fitting:,} layouts that fit, by {ORDERED[told.by]}"
    lines = [f"{told.name}: {shown if rows else none_fit(found)}", _kept(told.plan)]
    lines += [f"  {line}" for line in aligned(table(rows, told.by), room(2))] if rows else []
    if rows:
        lines += [f"  {LAST_STRETCH}"] if any(map(in_stages, rows)) else []
        lines.append(f"  {UNLISTED}")
    if any(row.is_plan or row.found.above_target for row in rows):
        over = any(row.is_plan and row.found.memory > found.usable for row in rows)
        lines.append(f"  = the plan{', which does not fit' if over else ''}   ! above the memory target")
    if len(found.front):
        lines += ["", f"{rule} no other is both faster and leaner", *_front(told)]
    lines += ["", f"{rule} {_counts(found)}", *_rejected(found)]
    title = f"{rule} cluster sizes, best layout of each"
    return lines + (["", title, *size_columns(told.plan, told.tried)] if told.tried is not None else [])


def plain_lines(told: Told) -> list[str]:
    """One fact a line."""
    found = told.search
    lines = [f"{told.name}, search by {ORDERED[told.by]}", _kept(told.plan), _counts(found)]
    for row in told.rows():
        name = f"layout {row.place}" if row.place else "not among them"
        own = ", the plan" if row.is_plan else ", above the memory target" if row.found.above_target else ""
        lines.append(f"{name}{own}: {in_words(row.found.fields)}: {_numbers(row)}")
    if not found.fitting:
        lines.append(none_fit(found))
    lines += [f"rejected: {count:,}, {_and_how(reason)}" for reason, count in _by_count(found)]
    return lines + (size_sentences(told.plan, told.tried) if told.tried is not None else [])


def _kept(plan: Plan) -> str:
    told = list(dict.fromkeys(whole(batch) for batch in batches_in_order(plan)))
    if not told:
        return "global batch kept"
    return f"global batch{'' if len(told) == 1 else 'es'} kept: {', then '.join(told)} sequences"


def _numbers(row: Listed) -> str:
    step = "mean step of the run" if in_stages(row) else "step"
    return (
        f"{step} {row.found.step:,.4g} s, {row.found.memory / GIB:.1f} GiB, {row.found.sent / 1e9:,.1f} GB sent a step"
    )


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
