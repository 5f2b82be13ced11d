"""What the figures of a report rest on: defaults and values that nobody read again in their source, and where formulas are from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from trainplan.estimation import Estimate, Value
from trainplan.explain import readable
from trainplan.figure import Blocked, Card, Figure, Given
from trainplan.labels.names import field_label, quantity_label
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.rows.fields import field_row
from trainplan.rows.table import DEVICE, cells

JUDGED: Final = (
    "memory.total",
    "compute.wall_time",
    "compute.cost",
    "parallelism.predicted_step_time",
    "storage.peak",
    "evaluation.accelerator_hours",
)
"""Figures that a reader decides by: of each assumption it is said which of these rest on it."""

DEFINITION: Final = "definition"


def grounds(facts: Facts, pen: Markdown) -> list[str]:
    """Unverified defaults, other values that were not read again, sources of the formulas."""
    estimate = facts.estimate
    used = {key: _leaves(estimate.quantities[key]) for key in JUDGED}
    leaves = sorted(_leaves(*estimate.quantities.values()).values(), key=lambda one: _first(one, used))
    assumed = [_row(one, used, estimate) for one in leaves if _is_assumption(one)]
    others = [_row(one, used, estimate) for one in leaves if not one.origin.verified and not _is_assumption(one)]
    heads = ("assumption", "value", "rests on", "is in", "source")
    lines = [*pen.heading(2, "What the figures rest on"), *pen.heading(3, "Assumptions and unverified defaults")]
    lines += pen.paragraph(ASSUMED)
    lines += pen.table(heads, assumed) or pen.paragraph("None.")
    lines += pen.heading(3, "Other values that were not read again in their source")
    lines += pen.table(("value", "is", *heads[2:]), others) or pen.paragraph("None.")
    return [*lines, *_formulas(estimate, pen)]


def _is_assumption(one: Figure) -> bool:
    origin = one.origin
    return isinstance(origin, Given) and (
        origin.kind == "assumed" or (origin.kind == "default" and not origin.verified)
    )


def _first(one: Figure, used: Mapping[str, Mapping[str, Figure]]) -> int:
    """The place of the first figure that people decide by and that rests on a value."""
    return next((place for place, key in enumerate(used) if one.origin.name in used[key]), len(used))


def _inputs(value: Value) -> tuple[Figure, ...]:
    return () if isinstance(value, Blocked) else value.inputs


def _figures(values: Iterable[Value]) -> list[Figure]:
    """Every figure that values are made of, each once, themselves among them."""
    seen: set[int] = set()
    found: list[Figure] = []
    ahead = list(values)[::-1]
    while ahead:
        value = ahead.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        found += [value] if isinstance(value, Figure) else []
        ahead += reversed(_inputs(value))
    return found


def _leaves(*values: Value) -> Mapping[str, Figure]:
    """What values rest on in the end, by the name under which it was given."""
    return {one.origin.name: one for one in _figures(values) if isinstance(one.origin, Given)}


def _row(one: Figure, used: Mapping[str, Mapping[str, Figure]], estimate: Estimate) -> tuple[Inline, ...]:
    origin = one.origin
    assert isinstance(origin, Given)
    name: Inline = (f"{field_label(origin.name)}, ", Code(origin.name)) if origin.is_field else origin.name
    name = Code(origin.name) if origin.name.startswith("catalogue.") else name
    rests = origin.kind + ("" if origin.verified else " ?")
    return (name, _value(one, origin, estimate), rests, _judged(origin.name, used, estimate), origin.source)


def _value(one: Figure, origin: Given, estimate: Estimate) -> str:
    """A field as its box shows it, since its number may only stand for a word; another value with its unit."""
    if origin.is_field:
        told = cells(field_row(origin.name, estimate), estimate)
        if told.value:
            return f"{told.value} {told.unit}".strip()
    return readable(one, estimate, device=origin.name.startswith(DEVICE))


def _judged(name: str, used: Mapping[str, Mapping[str, Figure]], estimate: Estimate) -> str:
    """Figures that people decide by and that rest on a value; where none does, the first that do."""
    found = [_LABELS.get(key, quantity_label(key)) for key, leaves in used.items() if name in leaves]
    if name in DRAWN:
        found.insert(0, _LABELS["compute.wall_time"])
    return ", ".join(found or [quantity_label(key) for key in _resting(name, estimate)[:2]])


def _resting(name: str, estimate: Estimate) -> list[str]:
    return [key for key, value in estimate.quantities.items() if name in _leaves(value)]


DRAWN: Final = ("reliability.repair_time",)
"""What the histories of the forecast read and no formula of the finish does."""

_LABELS: Final = {
    "memory.total": "memory",
    "compute.wall_time": "finish",
    "compute.cost": "cost",
    "storage.peak": "storage",
    "evaluation.accelerator_hours": "evaluation",
}

ASSUMED: Final = (
    "Values of the program that stand where the plan says none and that were not read in a source, and what the plan itself calls "
    "assumed."
)


def _formulas(estimate: Estimate, pen: Markdown) -> list[str]:
    """Formulas by their source; those that were not read again are marked, and definitions are counted."""
    by_source: dict[str, dict[str, bool]] = {}
    for one in _figures(estimate.quantities.values()):
        if isinstance(one.origin, Card):
            by_source.setdefault(one.origin.source, {})[one.origin.name] = one.origin.verified
    defined = by_source.pop(DEFINITION, {})
    lines = pen.heading(3, "Sources of the formulas")
    told = f"{len(defined)} more formulas are definitions: sums, shares and rates of what stands in the tables."
    lines += pen.paragraph(f"{told} A ? marks a formula that was not read again in its source.")
    return [
        *lines,
        *pen.bullets([_source(*one) for one in sorted(by_source.items(), key=lambda one: one[0].casefold())]),
    ]


def _source(source: str, formulas: Mapping[str, bool]) -> Inline:
    pieces: list[str | Code] = [f"{source}: "]
    for name, verified in formulas.items():
        pieces += [Code(name), "" if verified else " ?", ", "]
    return tuple(pieces[:-1])
