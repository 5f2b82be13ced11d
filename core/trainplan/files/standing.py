"""Where a plan stands beside its files: record, evidence, what the program checks by itself, and the findings of all that.

`review` prints it and the report tells it, so that both say ready of the same. It reads files; the time is handed in.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from trainplan.estimation import Estimate
from trainplan.files.automatic import automatic_checks
from trainplan.files.evidence import FileCheck, checked_evidence, evidence_of
from trainplan.files.pilotlogs import pilot_runs
from trainplan.files.signoffs import recorded
from trainplan.finding import Finding
from trainplan.review.computed import Checked, computed_checks, is_ready
from trainplan.review.findings import review_findings
from trainplan.review.pilotruns import unlike_full_run
from trainplan.review.state import Review, review


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The review of a plan, evidence files against their hashes, the program's checks, and the findings of the review."""

    review: Review
    files: tuple[FileCheck, ...]
    checks: tuple[Checked, ...]
    findings: tuple[Finding, ...]

    @property
    def ready(self) -> bool:
        """Whether the full run may be submitted."""
        return is_ready(self.review, self.checks, self.findings)


def standing_of(path: Path, estimate: Estimate, now: dt.datetime) -> Standing:
    """The standing of the plan at `path`, whose estimate is at hand; `now` is UTC. Raises RecordError."""
    plan, quantities = estimate.plan, estimate.quantities
    record = recorded(path, now)
    files = checked_evidence(path.parent, evidence_of(record))
    broken = {one.file: one.message for one in files if one.verdict == "broken"}
    found = review(plan, quantities, record, now.date(), broken)
    runs = pilot_runs(path.parent, plan)
    told = (*review_findings(plan, found), *unlike_full_run(plan, quantities, runs))
    by_itself = computed_checks(plan, quantities, found, now.date())
    on_disk = automatic_checks(path.parent, plan, record=record, quantities=quantities, now=now)
    return Standing(found, files, (*by_itself, *on_disk), told)
