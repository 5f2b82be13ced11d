"""The first page of a report: which plan it is, whether it fits, when it ends, what it costs, and what stands against it."""

from __future__ import annotations

import math

from trainplan.estimation import Estimate
from trainplan.finding import counted
from trainplan.forecast.finish import QUANTILES
from trainplan.forecast.spread import Driver
from trainplan.forecast.words import chance_said, cost_said, days_said, finish_said, point_said
from trainplan.plan.canonical import plan_hash
from trainplan.quantity import numbers
from trainplan.quantity.figure import Blocked, Figure
from trainplan.quantity.unit import numbered
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.report.words import because
from trainplan.rows.fields import field_row
from trainplan.rows.table import FigureRow, cells


def head(facts: Facts, pen: Markdown) -> list[str]:
    """The plan's name and description, and what tells this report from another one."""
    plan, today = facts.estimate.plan, facts.estimate.today
    rows: list[tuple[str, Inline]] = [("plan file", Code(facts.file)), ("plan hash", Code(plan_hash(plan)))]
    rows += [("changed for this report, not in the file", Code(one)) for one in facts.changed]
    rows += [("date of this report", today.isoformat())] if today else []
    rows += [("written by", f"trainplan-tui {facts.version}")]
    name = facts.name if facts.name.strip() else facts.file
    return [*pen.heading(1, name), *pen.paragraph(plan.description or ""), *pen.table(("this report", ""), rows)]


def answer(facts: Facts, pen: Markdown) -> list[str]:
    """The answer in a table, then finish and cost."""
    rows: list[tuple[str, Inline]] = [("fits", _fits(facts.estimate)), *_middle(facts), *_limits(facts)]
    rows += [("findings", counted(facts.findings)), ("readiness", _ready(facts)), ("pilot", _pilot(facts))]
    return [*pen.heading(2, "Answer"), *pen.table(("question", "answer"), rows), *_finish(facts, pen)]


def _fits(estimate: Estimate) -> Inline:
    memory = estimate.memory
    room, total, usable = memory.headroom, memory.total, memory.usable
    if not isinstance(room, Figure) or not isinstance(total, Figure) or not isinstance(usable, Figure):
        stop = next(one for one in (total, usable, room) if isinstance(one, Blocked))
        return ("cannot be told: ", *_pieces(because(stop)))
    free, of = (_amount(key, estimate) for key in ("memory.headroom", "memory.usable"))
    full = numbers.percent(total / usable)
    rank, instant = (_amount(f"memory.worst_{name}", estimate) for name in ("rank", "instant"))
    where = f"on rank {rank} at its worst instant, {instant}"
    share = f"it holds {full.text(total / usable)} {full.unit} of {of} usable"
    if room < 0:
        return f"no: {free.removeprefix('-')} over {where}; {share}"
    return f"yes: {free} free {where}; {share}"


def _amount(key: str, estimate: Estimate) -> str:
    """A quantity of the memory ledger as it stands there."""
    style = numbers.device_bytes if getattr(estimate.quantities[key], "unit", "") == "bytes" else None
    told = cells(FigureRow(key, style), estimate)
    return f"{told.value} {told.unit}".strip()


def _pieces(told: Inline) -> tuple[str | Code, ...]:
    return told if isinstance(told, tuple) else (told,)


def _middle(facts: Facts) -> list[tuple[str, Inline]]:
    found = facts.forecast.quantities
    finish, cost = found["forecast.finish.p50"], found["forecast.cost.p50"]
    told: list[tuple[str, Inline]] = []
    for what, value, said in (("finish, P50", finish, finish_said), ("cost, P50", cost, cost_said)):
        stop = ("cannot be told: ", *_pieces(because(value))) if isinstance(value, Blocked) else ()
        told.append((what, stop or said(value, facts.estimate)))
    return told


def _limits(facts: Facts) -> list[tuple[str, Inline]]:
    """Deadline and budget with the share of histories that keep them; nothing for what the plan does not say."""
    told: list[tuple[str, Inline]] = []
    for what in ("deadline", "budget"):
        path = f"schedule.{what}"
        row = cells(field_row(path, facts.estimate), facts.estimate)
        if not row.value:
            continue
        chance = facts.forecast.quantities[f"forecast.chance_{what}"]
        kept = (
            f"kept in {chance_said(chance)} of the histories"
            if isinstance(chance, Figure)
            else "the chance cannot be told"
        )
        currency = f" {facts.estimate.plan.cluster.currency}" if what == "budget" else ""
        told.append((what, f"{row.value}{currency}: {kept}"))
    return told


def _ready(facts: Facts) -> str:
    standing, review = facts.standing, facts.standing.review
    told = [f"{review.count('signed')}/{len(review.items)} items signed"]
    told += [f"{count} {state}" for state in ("waived", "stale", "failed") if (count := review.count(state))]
    return f"{'ready' if standing.ready else 'not ready'}: {', '.join(told)}"


def _pilot(facts: Facts) -> str:
    rungs = [one for one in facts.standing.review.rungs if not one.rung.own]
    return f"{sum(one.state == 'passed' for one in rungs)}/{len(rungs)} rungs passed"


def _finish(facts: Facts, pen: Markdown) -> list[str]:
    """Quantiles, what moves them, and what the histories assume."""
    found, estimate = facts.forecast, facts.estimate
    lines = pen.heading(3, "Finish and cost")
    stop = found.quantities["forecast.finish.p50"]
    if isinstance(stop, Blocked):
        return [*lines, *pen.paragraph(("No finish can be told: ", *_pieces(because(stop)), "."))]
    rows = [(name.upper(), *_quantile(name, facts)) for name, _ in QUANTILES]
    lines += pen.table(("quantile", "finish", "cost"), rows, right=("finish", "cost"))
    point = point_said(estimate, found)
    start = estimate.plan.schedule.start
    since = f"from {start}" if start else "from a start that the plan does not say"
    told = f"{numbered(found.draws, 'simulated history').replace('historys', 'histories')}, seed {found.seed}, {since}"
    lines += pen.paragraph(f"{told}; {point}." if point else f"{told}.")
    if found.drivers:
        lines += pen.paragraph("One input at both ends of its range, and the finish there:")
        heads = ("input", "field", "early at", "early finish", "late at", "late finish")
        lines += pen.table(heads, [_driver(one) for one in found.drivers], right=heads[2:])
    return [*lines, *pen.bullets(found.assumptions)]


def _quantile(name: str, facts: Facts) -> tuple[Inline, Inline]:
    finish, cost = (facts.forecast.quantities[f"forecast.{kind}.{name}"] for kind in ("finish", "cost"))
    stop = because(cost) if isinstance(cost, Blocked) else None
    return finish_said(finish, facts.estimate), stop or cost_said(cost, facts.estimate)


def _driver(one: Driver) -> tuple[Inline, ...]:
    low, high = (days_said(time) if math.isfinite(time) else "never" for time in (one.low_finish, one.high_finish))
    return (one.name, Code(one.path), one.low, low, one.high, high)
