"""What the plan does not say and something needs, and what its numbers leave without a finite value."""

from __future__ import annotations

from typing import Final

from trainplan.budgets.shape import OWN_SIZES
from trainplan.estimation import Estimate
from trainplan.figure import Blocked
from trainplan.finding import Finding
from trainplan.labels.names import field_label, quantity_label

OPTIONAL: Final = (
    "schedule.start",
    "storage.write_bandwidth",
    "storage.read_bandwidth",
    "storage.capacity",
    "cluster.price_per_accelerator_hour",
)
"""Fields whose absence leaves a budget open without making the rest false: a warning."""

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
    whole = not estimate.plan.model.model_fields_set
    return [_finding(path, keys, whole=whole and path.startswith("model.")) for path, keys in blocked.items()]


def _needed(estimate: Estimate) -> list[str]:
    data = estimate.plan.data
    needed = [path for path in OWN_SIZES if isinstance(estimate.situation[path], Blocked)]
    needed += [] if data.sampler is not None else ["data.sampler"]
    return needed if data.sources else [*needed, "data.sources"]


def _finding(path: str, keys: list[str], *, whole: bool = False) -> Finding:
    """A field that is missing; `whole`: nothing of the model is known, and one preset would say all of it."""
    waits = (
        f"; {len(keys)} figures wait for it, {keys[0]} first" if len(keys) > 1 else f"; {keys[0]} waits" if keys else ""
    )
    if path.startswith("catalogue."):
        return _of_catalogue(path, keys, waits)
    severity = "warning" if path in OPTIONAL else "error"
    return Finding(
        f"missing:{path}",
        severity,
        _budget(path),
        f"{_said(field_label(path), _owner(path))} missing{waits}",
        f"give model.preset, or {path}" if whole else f"give {path}",
        (path,),
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


def _budget(path: str) -> str:
    table = path.split(".", maxsplit=1)[0]
    homes = {"data": "tokens", "batch": "tokens", "cluster": "compute", "utilization": "compute", "schedule": "compute"}
    return homes.get(table, table if table in ("model", "storage", "reliability", "evaluation") else "compute")


DECIDES: Final = {
    "model": "model.hidden_size",
    "tokens": "data.train_tokens",
    "compute": "utilization.value",
    "parallelism": "cluster.nodes",
    "storage": "storage.write_bandwidth",
    "reliability": "reliability.failures_per_node_day",
    "evaluation": "evaluation.interval_tokens",
}
"""The field to look at first where a budget's formula gives no finite value."""


def undefined_figures(estimate: Estimate) -> list[Finding]:
    """undefined:FORMULA: the numbers of the plan drive a formula past what can be written, or to a division by zero."""
    blocked: dict[str, list[str]] = {}
    for key, value in estimate.quantities.items():
        if isinstance(value, Blocked) and value.code.startswith("undefined:"):
            blocked.setdefault(value.code, []).append(key)
    return [_undefined(code, keys) for code, keys in blocked.items()]


def _undefined(code: str, keys: list[str]) -> Finding:
    budget = keys[0].split(".", maxsplit=1)[0]
    more = f"; {len(keys)} figures wait for it" if len(keys) > 1 else ""
    message = f"{quantity_label(keys[0])} has no finite value with these numbers{more}"
    return Finding(code, "error", budget, message, "numbers of a size that a run has", (DECIDES[budget],), len(keys))


MISSING_CHECKS: Final = (missing_fields, undefined_figures)
