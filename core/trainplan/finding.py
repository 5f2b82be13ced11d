"""A finding: what is so, what would be right, and the plan field that decides it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from trainplan.frozen import frozen

Severity = Literal["error", "warning", "info"]

ORDER: Final = {"error": 0, "warning": 1, "info": 2}


@frozen
class Finding:
    """One finding. `paths` has the field that decides first; `fix` may be empty; `weight` orders within a severity.

    `untried` is a fix that names values and was not tried on the plan yet: nothing that a person is shown.
    """

    code: str
    severity: Severity
    budget: str
    message: str
    fix: str
    paths: tuple[str, ...]
    weight: float = 0.0
    untried: str = ""

    def coded(self, told: str) -> str:
        """A sentence of it behind its code. What is missing has no code but its own path, and that says nothing more."""
        return told if ":" in self.code else f"{self.code}: {told}"


WORDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}
"""What a finding of a severity is called."""


def counted(found: Iterable[Finding]) -> str:
    """`1 error, 5 warnings, 2 notes`."""
    told = [item.severity for item in found]
    counts = [(told.count(severity), word) for severity, word in WORDS.items()]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)


HOMES: Final = {
    "data": "tokens",
    "batch": "tokens",
    "model": "model",
    "memory": "memory",
    "parallelism": "parallelism",
    "storage": "storage",
    "reliability": "reliability",
    "evaluation": "evaluation",
    "pilot": "pilot",
    "readiness": "readiness",
}
"""Budgets by the tables of the plan that belong to them; all others belong to compute."""


def budget_of(path: str) -> str:
    """The budget in which a field of the plan is decided."""
    return HOMES.get(path.split(".", maxsplit=1)[0], "compute")
