"""Quantities, findings and trees as plain data for `--json`: the contract of product.md, base units, whole counts as integers."""

from __future__ import annotations

from typing import Any

from trainplan.estimation import Estimate, Value
from trainplan.finding import Finding
from trainplan.labels.names import quantity_label
from trainplan.quantity import cardtext
from trainplan.quantity.figure import Blocked, Choice, Figure, Given
from trainplan.views.explain import Node

FORMAT = 1


def number(value: Figure) -> float | int:
    """A value as JSON writes it: whole bytes, tokens and counts as integers."""
    plain = float(value)
    return int(plain) if value.unit in ("bytes", "tokens", "1") and plain.is_integer() else plain


def quantity(key: str, value: Value, estimate: Estimate) -> dict[str, Any]:
    """One quantity with its formula, inputs, source, and what it rests on."""
    head: dict[str, Any] = {"value": None, "unit": "1", "label": quantity_label(key), "formula": "", "inputs": {}}
    tail: dict[str, Any] = {"source": "", "rests_on": "missing", "verified": False}
    if isinstance(value, Blocked):
        return {**head, "unit": unit(value.unit, estimate), **tail, "blocked_by": value.code}
    if isinstance(value, Choice):
        words = {"source": value.source, "rests_on": value.kind, "verified": value.verified}
        return {**head, "value": str(value), "unit": "text", **words}
    return {
        **head,
        "value": number(value),
        "unit": unit(value.unit, estimate),
        "formula": "" if isinstance(value.origin, Given) else cardtext.text(value.origin),
        "inputs": inputs(value, estimate),
        "source": value.origin.source,
        "rests_on": value.rests_on,
        "verified": value.verified,
    }


def unit(told: str, estimate: Estimate) -> str:
    """A unit with the plan's currency in it."""
    return told.replace("currency", estimate.plan.cluster.currency)


def inputs(value: Figure, estimate: Estimate) -> dict[str, Any]:
    """What was put into a figure: keys, plan paths, catalogue names, or a number where there is neither."""
    if isinstance(value.origin, Given):
        return {"value": value.origin.name}
    return {name: _reference(item, estimate) for name, item in value.named_inputs()}


def _reference(item: Figure, estimate: Estimate) -> Any:
    if isinstance(item.origin, Given):
        return item.origin.name if item.origin.is_field or item.origin.name.startswith("catalogue.") else number(item)
    return estimate.all_keys_of[id(item)]


def finding(found: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "code": found.code,
        "severity": found.severity,
        "budget": found.budget,
        "message": found.message,
        "fix": found.fix,
        "paths": list(found.paths),
    }


def node(found: Node, estimate: Estimate) -> dict[str, Any]:
    """One node of an explanation with everything below it; `verified` says it of the whole tree under the node."""
    return {
        "name": found.name,
        "key": found.key,
        "value": number(found.value)
        if isinstance(found.value, Figure)
        else str(found.value)
        if isinstance(found.value, Choice)
        else None,
        "unit": unit(found.value.unit, estimate) if isinstance(found.value, Figure | Blocked) else "text",
        "formula": found.formula,
        "source": found.source,
        "rests_on": found.rests_on.removesuffix(" ?"),
        "verified": not isinstance(found.value, Blocked) and found.value.verified,
        "inputs": [node(child, estimate) for child in found.children],
        **({"shown_above": True} if found.seen else {}),
    }
