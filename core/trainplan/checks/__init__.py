"""Checks: each a small function from an estimate to findings; none raises, none changes anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trainplan.checks.compute import COMPUTE_CHECKS
from trainplan.checks.layout import LAYOUT_CHECKS
from trainplan.checks.memory import MEMORY_CHECKS
from trainplan.checks.missing import MISSING_CHECKS
from trainplan.checks.model import MODEL_CHECKS
from trainplan.checks.tokens import TOKEN_CHECKS
from trainplan.estimation import Estimate
from trainplan.finding import ORDER, Finding

Check = Callable[[Estimate], list[Finding]]

CHECKS: Final[tuple[Check, ...]] = (*MISSING_CHECKS, *MODEL_CHECKS, *LAYOUT_CHECKS, *MEMORY_CHECKS, *TOKEN_CHECKS, *COMPUTE_CHECKS)


def findings(estimate: Estimate) -> tuple[Finding, ...]:
    """Every finding, errors first, then by weight, then in the order of the panes."""
    found = [finding for check in CHECKS for finding in check(estimate)]
    return tuple(sorted(found, key=lambda finding: (ORDER[finding.severity], -finding.weight)))
