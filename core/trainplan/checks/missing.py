"""What the plan does not say and something needs, and what its numbers leave without a finite value."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.shape import OWN_SIZES
from trainplan.estimation import Estimate
from trainplan.finding import Finding, budget_of
from trainplan.labels.names import field_label
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked

OPTIONAL: Final = (
    "schedule.start",
    "storage.write_bandwidth",
    "storage.read_bandwidth",
    "storage.capacity",
    "cluster.price_per_accelerator_hour",
)
"""Fields whose absence leaves a budget open without making the rest false: a warning."""

OF_A_PART: Final = (
    "cluster.accelerators_per_node",
    "cluster.memory_per_accelerator",
    "cluster.peak_flops",
    "cluster.scale_up_bandwidth",
    "cluster.scale_out_bandwidth",
)
"""Fields that the catalogue says of an accelerator."""

LISTS: Final = ("data.sources", "data.stages", "evaluation.tasks")
"""Lists of the plan whose entries have fields of their own."""

INSTEAD: Final = {"peak_flops": "cluster.peak_flops", "peak_flops_fp32": "cluster.peak_flops"}
"""Plan fields that stand for a fact of the catalogue, where one does."""


def missing_fields(estimate: Estimate) -> list[Finding]:
    """One finding for each field that blocks a quantity, with how many it blocks; and for the fields that a plan needs."""
    blocked: dict[str, list[str]] = {}
    for key, value in estimate.quantities.items():
        if isinstance(value, Blocked) and value.code.startswith("missing:"):
            blocked.setdefault(value.code.removeprefix("missing:"), []).append(key)
    for path in _needed(estimate):
        blocked.setdefault(path, [])
    return [_finding(path, keys, _says_all(estimate.plan, path)) for path, keys in blocked.items()]


def _says_all(plan: Plan, path: str) -> str:
    """The one field that would say this one and others with it, where the plan has none of them."""
    if path.startswith("model.") and not plan.model.model_fields_set:
        return "model.preset"
    return "cluster.accelerator" if path in OF_A_PART and plan.cluster.accelerator is None else ""


def _needed(estimate: Estimate) -> list[str]:
    data = estimate.plan.data
    needed = [path for path in OWN_SIZES if isinstance(estimate.situation[path], Blocked)]
    needed += [] if data.sampler is not None else ["data.sampler"]
    return needed if data.sources else [*needed, "data.sources"]


def _finding(path: str, keys: list[str], whole: str) -> Finding:
    """A field that is missing; `whole` is one that would say all of what is missing beside it."""
    waits = (
        f"; {len(keys)} figures wait for it, {keys[0]} first" if len(keys) > 1 else f"; {keys[0]} waits" if keys else ""
    )
    if path.startswith("catalogue."):
        return _of_catalogue(path, keys, waits)
    severity = "warning" if path in OPTIONAL else "error"
    return Finding(
        f"missing:{path}",
        severity,
        budget_of(path),
        f"{_said(field_label(path), _owner(path))} missing{waits}",
        f"give {whole}, or {path}" if whole and whole != path else f"give {path}",
        (whole, path) if whole and whole != path else (path,),
        len(keys),
    )


def _owner(path: str) -> str:
    """The entry of a list that lacks the field, by its name; empty for what stands in no list."""
    parts = path.split(".")
    return parts[2] if len(parts) == 4 and ".".join(parts[:2]) in LISTS else ""


def _said(label: str, owner: str) -> str:
    """`layers are`, `vocabulary is`, `weight of web is`."""
    head = label.partition(" per ")[0]
    are = "are" if head.endswith("s") and not head.endswith(("ss", "us", "is", "as")) else "is"
    return f"{label} of {owner} {are}" if owner else f"{label} {are}"


def _of_catalogue(path: str, keys: list[str], waits: str) -> Finding:
    """A gap of the catalogue, which nobody can fill in the plan but by a field that stands for it."""
    _, _, part, fact = path.split(".", maxsplit=3)
    field = INSTEAD.get(fact)
    return Finding(
        f"missing:{path}",
        "info" if field is None else "error",
        "compute",
        f"the catalogue has no {fact.replace('_', ' ')} of {part}{waits}",
        "" if field is None else f"give {field}",
        ("cluster.accelerator",) if field is None else (field, "cluster.accelerator"),
        len(keys),
    )


def undefined_figures(estimate: Estimate) -> list[Finding]:
    """undefined:FORMULA: the numbers of the plan drive a formula past what can be written, or to a division by zero."""
    values = estimate.quantities.values()
    if not any(isinstance(value, Blocked) and value.code.startswith("undefined:") for value in values):
        return []
    from trainplan.checks.undefined import culprits  # few plans come here

    return culprits(estimate)


MISSING_CHECKS: Final = (missing_fields, undefined_figures)
