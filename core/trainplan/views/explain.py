"""Why a number is what it is: the tree of a quantity down to plan fields and catalogue values, each quantity once."""

from __future__ import annotations

from collections.abc import Mapping

from trainplan.budgets.memory.layers import RECOMPUTE, selective_means
from trainplan.estimation import Estimate, Value
from trainplan.frozen import record
from trainplan.labels.names import quantity_label
from trainplan.plan.plan import Plan
from trainplan.quantity import cardtext, numbers
from trainplan.quantity.figure import Blocked, Card, Choice, Figure, Given
from trainplan.rows.table import DEVICE, blocked_by, rests, written


@record
class Node:
    """One number of the tree.

    `name` is what its parent calls it; `key` its quantity key or plan path; `seen` says that it stands above already.
    """

    name: str
    key: str
    value: Value
    shown: str
    formula: str
    put_in: str
    source: str
    rests_on: str
    verified: bool
    is_field: bool
    children: tuple[Node, ...]
    seen: bool = False


def tree(estimate: Estimate, key: str, depth: int = 99) -> Node:
    """The tree of a quantity. Raises KeyError where the estimate has no such quantity."""
    return tree_of(estimate, key, estimate.all_quantities[key], depth)


def tree_of(estimate: Estimate, key: str, value: Value, depth: int = 99) -> Node:
    """The tree of a value of the estimate that has no key of its own; `key` is what it is called."""
    return _node(estimate, key.rsplit(".", 1)[-1], value, depth, set(), key.startswith(DEVICE))


def _node(estimate: Estimate, name: str, value: Value, depth: int, above: set[int], device: bool) -> Node:
    if isinstance(value, Blocked):
        return Node(name, "", value, blocked_by(value.code) or "-", "", "", value.code, "missing", True, False, ())
    if isinstance(value, Choice):
        inner = _children(
            estimate, value.inputs, [f"input {i + 1}" for i in range(len(value.inputs))], depth, above, device
        )
        return Node(name, "", value, str(value), "", "", value.source, value.kind, value.verified, False, inner)
    shown = readable(value, estimate, device=device)
    if isinstance(value.origin, Given):
        origin = value.origin
        return Node(
            name, origin.name, value, shown, "", "", origin.source, rests(value), origin.verified, origin.is_field, ()
        )
    key = estimate.all_keys_of.get(id(value), "")
    seen = id(value) in above
    above.add(id(value))
    card = value.origin
    names = [name for name, _ in value.named_inputs()]
    children = () if seen or depth <= 0 else _children(estimate, value.inputs, names, depth, above, device)
    formula, filled = cardtext.text(card), put_in(card, value, estimate, device=device)
    return Node(
        name, key, value, shown, formula, filled, card.source, rests(value), card.verified, False, children, seen
    )


def _children(
    estimate: Estimate, inputs: tuple[Figure, ...], names: list[str], depth: int, above: set[int], device: bool
) -> tuple[Node, ...]:
    return tuple(
        _node(estimate, name, item, depth - 1, above, device) for name, item in zip(names, inputs, strict=True)
    )


def readable(value: Figure, estimate: Estimate, *, device: bool = False) -> str:
    """A figure with its unit, as the tables write it; bytes of a `device` in GiB, of disks and links in GB."""
    currency = estimate.plan.cluster.currency
    if value.unit == "currency":
        return f"{float(value):,.0f} {currency}"
    unit = value.unit.replace("currency", currency)
    style = numbers.memory_bytes if device and value.unit == "bytes" else numbers.BY_UNIT.get(value.unit)
    if style is None:
        return f"{numbers.count(float(value)).text(float(value))} {unit}"
    text, shown_unit = written(value, style)
    return f"{text} {shown_unit}".strip()


def put_in(card: Card, value: Figure, estimate: Estimate, *, device: bool = False) -> str:
    """The formula of a figure with its numbers put in, in one style; the parts of a sum on one scale."""
    device = device or estimate.keys_of.get(id(value), "").startswith(DEVICE)
    named = dict(value.named_inputs())
    if card.name in ("total", "largest") and named:
        scale = numbers.common(bare_style(value.unit, device), *map(float, named.values()))
        told = {name: _on(scale, item) for name, item in named.items()}
        shown = {name: bare(named[name], device=device) if "<" in text else text for name, text in told.items()}
        return cardtext.put_in(card, shown)
    return cardtext.put_in(card, _apart(named, {name: bare(item, device=device) for name, item in named.items()}))


def _apart(named: Mapping[str, Figure], told: Mapping[str, str]) -> dict[str, str]:
    """The texts, but whole numbers in full where two that differ would look the same."""
    alike = {text for one, text in told.items() for two in told if told[two] == text and named[one] != named[two]}
    return {name: f"{float(named[name]):,.0f}" if text in alike else text for name, text in told.items()}


def bare(value: Figure, *, device: bool = False) -> str:
    """A number for inside a formula, in base units below 1e9; larger ones, bytes and FLOP with prefix or unit."""
    return _on(bare_style(value.unit, device)(float(value)), value)


def _on(scale: numbers.Scale, value: Figure) -> str:
    return f"{scale.text(float(value))} {scale.unit}".strip()


def bare_style(unit: str, device: bool) -> numbers.Style:
    """How numbers of a unit stand inside formulas."""
    if unit == "bytes":
        return numbers.memory_bytes if device else numbers.disk_bytes
    return numbers.BY_UNIT[unit] if unit in ("bytes/s", "FLOP", "FLOP/s") else numbers.bare


def said(node: Node) -> str:
    """What a node is, in the words of the tree: a field, a catalogue value, or a formula."""
    if node.is_field:
        return f"[{node.key}] {node.rests_on}"
    return node.source if not node.formula else f"= {node.formula}"


def label_of(key: str) -> str:
    """The label of a quantity's key."""
    return quantity_label(key)


def meaning(path: str, plan: Plan) -> str:
    """What a field's words are with the plan's framework; empty where they are the same with all."""
    return selective_means(plan.training.framework) if path == RECOMPUTE else ""
