"""What the plan does not say and something needs."""

from __future__ import annotations

from typing import Final

from trainplan.estimation import Estimate
from trainplan.figure import Blocked
from trainplan.finding import Finding
from trainplan.labels import field_label

OPTIONAL: Final = (
    "schedule.start",
    "storage.write_bandwidth",
    "storage.read_bandwidth",
    "cluster.price_per_accelerator_hour",
)
"""Fields whose absence leaves a budget open without making the rest false: a warning."""

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
    return [_finding(path, keys) for path, keys in blocked.items()]


def _needed(estimate: Estimate) -> list[str]:
    data = estimate.plan.data
    needed = [] if data.sampler is not None else ["data.sampler"]
    return needed if data.sources else [*needed, "data.sources"]


def _finding(path: str, keys: list[str]) -> Finding:
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
        f"{field_label(path)} is missing{waits}",
        f"give {path}",
        (path,),
        len(keys),
    )


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
