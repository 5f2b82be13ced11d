"""Cluster sizes as lines of text: the best layout of each, what the run takes and costs, and the fewest that meet the goal."""

from __future__ import annotations

from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure, Quantity
from trainplan.quantity.unit import time_said, whole
from trainplan.search.listing import in_words
from trainplan.search.sizes import Size

NO_NODES = "cluster.nodes is missing, so no other size is told"


def size_columns(plan: Plan, tried: tuple[Size, ...]) -> list[str]:
    """A row for each size, `>` before the fewest nodes that meet the goal, and the answer."""
    if not tried:
        return [f"  {NO_NODES}"]
    goal, first = _goal(tried), _first(tried)
    lines = [_row(one, plan.cluster.currency, "  > " if goal and one is first else "    ") for one in tried]
    return [*lines, f"  {_answer(first, goal)}"] if goal else lines


def size_sentences(plan: Plan, tried: tuple[Size, ...]) -> list[str]:
    """A sentence for each size, and the answer."""
    if not tried:
        return [f"sizes: {NO_NODES}"]
    goal, lines = _goal(tried), [f"size: {_sentence(one, plan.cluster.currency)}" for one in tried]
    return [*lines, f"answer: {_answer(_first(tried), goal)}"] if goal else lines


def _goal(tried: tuple[Size, ...]) -> str:
    """What the plan asks for, of what can be told."""
    time = any(one.in_time is not None for one in tried)
    money = any(one.in_budget is not None for one in tried)
    return " and ".join([*(["the deadline"] if time else []), *(["the budget"] if money else [])])


def _first(tried: tuple[Size, ...]) -> Size | None:
    return next((one for one in tried if one.meets), None)


def _answer(first: Size | None, goal: str) -> str:
    begin = "no size tried meets" if first is None else f"{_nodes(first.nodes)}: the fewest that meet"
    return f"{begin} {goal}, at the predicted utilization"


def _row(one: Size, currency: str, begin: str) -> str:
    if one.best is None:
        return f"{begin}{_nodes(one.nodes):>13}  {one.why}"
    time, cost = _time(one.wall_time), _cost(one.cost, currency)
    numbers = f"{_nodes(one.nodes):>13}  step {one.best.step:>9,.3f} s  {time:>10}  {cost:>14}"
    return f"{begin}{numbers}  {in_words(one.best.fields)}{''.join(f'  {miss}' for miss in _misses(one))}"


def _sentence(one: Size, currency: str) -> str:
    if one.best is None:
        return f"{_nodes(one.nodes)}: {one.why}"
    told = [f"step {one.best.step:,.4g} s", _time(one.wall_time), _cost(one.cost, currency), *_misses(one)]
    return f"{_nodes(one.nodes)}: {', '.join(told)}: {in_words(one.best.fields)}"


def _misses(one: Size) -> list[str]:
    """What of the goal the size misses."""
    return [*(["too late"] if one.in_time is False else []), *(["above the budget"] if one.in_budget is False else [])]


def _time(time: Quantity) -> str:
    return time_said(float(time)) if isinstance(time, Figure) else _why(time)


def _cost(cost: Quantity, currency: str) -> str:
    return f"{whole(cost)} {currency}" if isinstance(cost, Figure) else _why(cost)


def _why(value: Quantity) -> str:
    return value.code if isinstance(value, Blocked) else ""


def _nodes(count: int) -> str:
    return f"{count:,} node{'' if count == 1 else 's'}"
