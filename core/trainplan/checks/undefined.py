"""What the numbers of a plan leave without a finite value, and which field of it is at fault.

A formula that fails keeps its inputs. The fields under them are tried, the one farthest from a usual size first: with a usual
number in its place, the figure has a value or it has none. The first that brings the value back is the one that is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, log10
from typing import Any, Final, cast

from trainplan.budgets.defaults import DEFAULTS
from trainplan.estimation import Estimate, estimate
from trainplan.finding import Finding, budget_of
from trainplan.labels.names import field_label, quantity_label
from trainplan.plan.edit import resolve
from trainplan.plan.leaves import leaves, values
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table
from trainplan.quantity.figure import Blocked, Figure, Given
from trainplan.quantity.unit import Quantity

PREFIX: Final = "undefined:"

CALENDAR: Final = "undefined:date"
"""A day that no calendar has."""

USUAL: Final[dict[str, float]] = {"tokens": 1e12, "bytes/s": 1e11, "bytes": 1e12, "s": 60.0, "FLOP/s": 1e15, "1": 1.0}
"""A number of a usual size by unit: no estimate of anything, only far from every end of what can be written."""
SIZES: Final[dict[str, float]] = {
    "sequence_length": 4096.0,
    "mean_document_tokens": 1e3,
    "global_batch_sequences": 1024.0,
    "nodes": 128.0,
    "accelerators_per_node": 8.0,
    "num_hidden_layers": 32.0,
    "hidden_size": 4096.0,
    "intermediate_size": 16384.0,
    "moe_intermediate_size": 2048.0,
    "num_attention_heads": 32.0,
    "num_key_value_heads": 8.0,
    "head_dim": 128.0,
    "vocab_size": 131072.0,
}
"""The same by the last word of a path, where its unit says too little."""
MOST_TRIED: Final = 8
"""Fields that are tried at most; where none of them alone is at fault, the one farthest from a usual size is named."""


def culprits(estimate: Estimate) -> list[Finding]:
    """A finding for each formula that has no finite value, with the field at fault."""
    found = _undefined(estimate)
    told, tried = dict(_numbers(estimate.plan)), dict[str, frozenset[str]]()
    return [_finding(estimate, code, waiting, told, tried) for code, waiting in found.items()]


def _undefined(estimate: Estimate) -> dict[str, list[tuple[str, Blocked]]]:
    """The figures without a finite value, with their keys, by the code of the formula that failed."""
    found: dict[str, list[tuple[str, Blocked]]] = {}
    for key, value in estimate.quantities.items():
        if isinstance(value, Blocked) and value.code.startswith(PREFIX):
            found.setdefault(value.code, []).append((key, value))
    return found


def _finding(
    estimate: Estimate,
    code: str,
    waiting: list[tuple[str, Blocked]],
    told: Mapping[str, float],
    tried: dict[str, frozenset[str]],
) -> Finding:
    keys = [key for key, _ in waiting]
    more = f"; {len(keys)} figures wait for it" if len(keys) > 1 else ""
    near = dict.fromkeys(path for _, value in waiting for path in _fields(value))
    path, alone = _culprit(estimate, code, near, told, tried)
    by = f"with {field_label(path)} {_said(estimate.plan, path)}" if alone else "with these numbers"
    what = "is past the year 9999" if code == CALENDAR else "has no finite value"
    message = f"{quantity_label(keys[0])} {what} {by}{more}"
    fix = f"{path} of a size that a run has" if alone else "numbers of a size that a run has"
    return Finding(code, "error", budget_of(path), message, fix, (path,) if path else (), len(keys))


def _fields(value: Blocked) -> Iterator[str]:
    """The plan paths under a formula that failed."""
    seen, left = set[int](), list[Any](value.inputs)
    while left:
        one = left.pop()
        if id(one) in seen or not isinstance(one, Figure):
            continue
        seen.add(id(one))
        if isinstance(one.origin, Given):
            if one.origin.is_field:
                yield one.origin.name
        else:
            left.extend(one.inputs)


def _numbers(plan: Plan) -> Iterator[tuple[str, float]]:
    """Every number that the plan decides; a measured one or a sign-off drives no formula."""
    for path, value in values(plan, ""):
        told = isinstance(value, int | float) and not isinstance(value, bool)
        if told and not path.startswith(("format", "pilot.", "readiness.")):
            yield path, float(value)


def _culprit(
    here: Estimate, code: str, near: Mapping[str, None], told: Mapping[str, float], tried: dict[str, frozenset[str]]
) -> tuple[str, bool]:
    """The field at fault, and whether it is so alone: fields under the formula before all others."""
    order = sorted(told, key=lambda path: (path not in near, -_distance(here, path, told[path])))
    for path in order[:MOST_TRIED]:
        if path not in tried:
            tried[path] = frozenset(_undefined(estimate(_with(here.plan, path, _usual(here, path)), here.today)))
        if code not in tried[path]:
            return path, True
    return (order[0] if order else ""), False


def _distance(here: Estimate, path: str, value: float) -> float:
    """Powers of ten between a number and a usual one; nothing is farther away than 0."""
    return abs(log10(value) - log10(_usual(here, path))) if value > 0 else inf


def _usual(here: Estimate, path: str) -> float:
    default = DEFAULTS.get(path)
    if default is not None and isinstance(default.value, int | float) and default.value > 0:
        return float(default.value)
    return SIZES.get(path.rsplit(".", 1)[-1]) or USUAL.get(_unit(here, path), 1.0)


def _unit(here: Estimate, path: str) -> str:
    found = here.situation.get(path)
    if isinstance(found, Figure):
        return found.unit
    return "tokens" if path.endswith("_tokens") else "1"


def _with(plan: Plan, path: str, value: float) -> Plan:
    """The plan with another number at a path; entries of lists go by their name."""
    return cast("Plan", _set(plan, resolve(path, plan), value))


def _set(inner: Any, path: tuple[str | int, ...], value: float) -> Any:
    if not path:
        return Quantity(value) if isinstance(inner, float) else int(value)
    head, rest = path[0], path[1:]
    if isinstance(inner, Table):
        return inner.model_copy(update={str(head): _set(getattr(inner, str(head)), rest, value)})
    if isinstance(inner, tuple):
        items = cast("tuple[Any, ...]", inner)
        return tuple(_set(one, rest, value) if place == head else one for place, one in enumerate(items))
    return {**inner, head: _set(inner[head], rest, value)}


def _said(plan: Plan, path: str) -> str:
    """The value of a field as the file has it."""
    return dict(leaves(plan, "")).get(path, "")
