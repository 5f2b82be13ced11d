"""What the figures of a report rest on: defaults and values that nobody read again in their source, and where formulas are from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Final, TypeAlias

from trainplan.budgets.defaults import DEFAULTS
from trainplan.budgets.framework_defaults import framework_default
from trainplan.estimation import Estimate, Value
from trainplan.labels.names import field_label, quantity_label
from trainplan.quantity.figure import Blocked, Card, Figure, Given
from trainplan.report.decisions import scalar_paths
from trainplan.report.facts import Facts
from trainplan.report.markdown import Code, Inline, Markdown
from trainplan.rows.fields import field_row
from trainplan.rows.table import DEVICE, cells
from trainplan.views.explain import readable
from trainplan.views.moves import JUDGES

JUDGED: Final = {
    "memory.headroom": "fit",
    "compute.wall_time": "finish",
    "compute.cost": "cost",
    "parallelism.predicted_step_time": "predicted step",
    "storage.peak": "storage",
    "evaluation.accelerator_hours": "evaluation",
}
"""Figures that a reader decides by, and their words: of each assumption it is said which of these rest on it."""

DRAWN: Final = {"reliability.repair_time": "compute.wall_time"}
"""What the histories of the forecast read and no formula of the finish does."""

ASSUMED: Final = (
    "Values of the program that stand where the plan says none and that were not read in a source, and what the plan itself calls "
    "assumed."
)

DEFINITION: Final = "definition"

Used: TypeAlias = "Mapping[str, Mapping[str, Figure]]"
"""Of each figure that people decide by, what it rests on in the end."""


def grounds(facts: Facts, pen: Markdown) -> list[str]:
    """Unverified defaults, other values that were not read again, sources of the formulas."""
    estimate = facts.estimate
    used = {key: _leaves(estimate.quantities[key]) for key in JUDGED}
    leaves = sorted(_leaves(*estimate.quantities.values()).values(), key=lambda one: _rank(one.origin.name, used))
    assumed = [_row(one, used, estimate) for one in leaves if _is_assumption(one)]
    assumed += _no_leaves({one.origin.name for one in leaves}, estimate)
    others = [_row(one, used, estimate) for one in leaves if not one.origin.verified and not _is_assumption(one)]
    heads = ("assumption", "value", "rests on", "bears on", "source")
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


def _rank(name: str, used: Used) -> int:
    """The place of the first figure that a value bears on: what decides most comes first."""
    return min((list(used).index(key) for key in _bears_on(name, used)), default=len(used))


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


def _row(one: Figure, used: Used, estimate: Estimate) -> tuple[Inline, ...]:
    origin = one.origin
    assert isinstance(origin, Given)
    name: Inline = (f"{field_label(origin.name)}, ", Code(origin.name)) if origin.is_field else origin.name
    name = Code(origin.name) if origin.name.startswith("catalogue.") else name
    rests = origin.kind + ("" if origin.verified else " ?")
    return (name, _value(one, origin, estimate), rests, _told(origin.name, used, estimate), origin.source)


def _value(one: Figure, origin: Given, estimate: Estimate) -> str:
    """A field as its box shows it, since its number may only stand for a word; another value with its unit."""
    if origin.is_field:
        told = cells(field_row(origin.name, estimate), estimate)
        if told.value:
            return f"{told.value} {told.unit}".strip()
    return readable(one, estimate, device=origin.name.startswith(DEVICE))


def _no_leaves(told: Collection[str], estimate: Estimate) -> list[tuple[Inline, ...]]:
    """Unverified defaults that are no input of a figure: words, and numbers that findings hold figures to."""
    found: list[tuple[Inline, ...]] = []
    for path in scalar_paths(estimate):
        default = DEFAULTS.get(path) or framework_default(path, estimate.plan)
        if path in told or default is None or estimate.situation.origin(path) != ("default", False):
            continue
        row = cells(field_row(path, estimate), estimate)
        bears_on = (
            "which formulas hold" if isinstance(default.value, str) else JUDGES.get(path, "no figure of this plan")
        )
        found.append(((f"{row.label}, ", Code(path)), row.value, row.rests_on, bears_on, default.source))
    return found


def _bears_on(name: str, used: Used) -> list[str]:
    """Keys of the figures that people decide by and that rest on a value."""
    return [key for key, leaves in used.items() if name in leaves or DRAWN.get(name) == key]


def _told(name: str, used: Used, estimate: Estimate) -> str:
    """What a value bears on; where it is nothing that people decide by, the first figures that rest on it."""
    found = [JUDGED[key] for key in _bears_on(name, used)]
    resting = (key for key, value in estimate.quantities.items() if name in _leaves(value))
    return ", ".join(found or [quantity_label(key) for key in islice(resting, 2)])


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
