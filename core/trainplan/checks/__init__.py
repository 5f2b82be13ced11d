"""Checks: each a small function from an estimate to findings; none raises, none changes anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from trainplan.checks.calendar import CALENDAR_CHECKS
from trainplan.checks.communication import COMMUNICATION_CHECKS
from trainplan.checks.compute import COMPUTE_CHECKS
from trainplan.checks.dates import DATE_CHECKS
from trainplan.checks.evaluation import EVALUATION_CHECKS
from trainplan.checks.evidence import above_published, against_step_model
from trainplan.checks.layout import LAYOUT_CHECKS
from trainplan.checks.memory import MEMORY_CHECKS
from trainplan.checks.missing import MISSING_CHECKS
from trainplan.checks.model import MODEL_CHECKS
from trainplan.checks.moved import moved_layout
from trainplan.checks.newer import NEWER_CHECKS
from trainplan.checks.reliability import RELIABILITY_CHECKS
from trainplan.checks.remedies import names_a_value, tried_fix
from trainplan.checks.storage import STORAGE_CHECKS
from trainplan.checks.supported import SUPPORTED_CHECKS
from trainplan.checks.tokens import TOKEN_CHECKS
from trainplan.checks.unheard import UNHEARD_CHECKS
from trainplan.estimation import Estimate
from trainplan.evidence.published import Run
from trainplan.finding import ORDER, Finding

Check = Callable[[Estimate], list[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    *MISSING_CHECKS,
    *MODEL_CHECKS,
    *LAYOUT_CHECKS,
    *MEMORY_CHECKS,
    *TOKEN_CHECKS,
    *COMPUTE_CHECKS,
    *CALENDAR_CHECKS,
    *SUPPORTED_CHECKS,
    *NEWER_CHECKS,
    *COMMUNICATION_CHECKS,
    *UNHEARD_CHECKS,
    *STORAGE_CHECKS,
    *RELIABILITY_CHECKS,
    *EVALUATION_CHECKS,
    *DATE_CHECKS,
    moved_layout,
)


def findings_at_once(estimate: Estimate, runs: Sequence[Run] = ()) -> tuple[Finding, ...]:
    """Every finding, errors first, then by weight, then in the order of the panes; C12 looks at the published runs handed in.

    A fix that names values is not tried yet and stands apart, in `untried`: trying one takes as long as an edit does.
    """
    found = [_set_apart(finding) for check in CHECKS for finding in check(estimate)]
    found.extend(above_published(estimate, runs))
    found.extend(against_step_model(estimate))
    return tuple(sorted(found, key=lambda finding: (ORDER[finding.severity], -finding.weight)))


def _set_apart(finding: Finding) -> Finding:
    return replace(finding, fix="", untried=finding.fix) if names_a_value(finding.fix) else finding


def findings(estimate: Estimate, runs: Sequence[Run] = ()) -> tuple[Finding, ...]:
    """The same with every fix tried: what is offered holds on this plan."""
    return tried_fixes(estimate, findings_at_once(estimate, runs), runs)


def tried_fixes(
    estimate: Estimate,
    found: tuple[Finding, ...],
    runs: Sequence[Run] = (),
    wanted: Callable[[], bool] = lambda: True,
) -> tuple[Finding, ...]:
    """Findings that came at once, with every fix tried on the plan; from when it is wanted no longer, as they came."""

    def judge(other: Estimate) -> tuple[Finding, ...]:
        return findings_at_once(other, runs)

    return tuple(
        tried_fix(finding, estimate, found, judge) if finding.untried and wanted() else finding for finding in found
    )
