"""What lies beside a plan: the record of its sign-offs, the evidence named there, and what the program checks on the disk.

The record is read when panes need it; evidence and paths are checked on a thread, because a dead mount answers late or never.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from trainplan.estimation import Estimate
from trainplan.files.beside import recounted
from trainplan.files.pilotlogs import pilot_runs
from trainplan.files.signoffs import RecordError, recorded
from trainplan.finding import Finding
from trainplan.review.computed import Checked, computed_checks, is_ready
from trainplan.review.findings import review_findings
from trainplan.review.pilotruns import PilotRun, unlike_full_run
from trainplan.review.record import EvidenceHash, Record
from trainplan.review.state import Review, review


@dataclass(frozen=True, slots=True, eq=False)
class Dossier:
    """The record, what is wrong with its evidence, and what was checked when (UTC). `at` is None until the checks answered."""

    record: Record = field(default_factory=Record)
    problem: str = ""
    broken: Mapping[EvidenceHash, str] = field(default_factory=dict[EvidenceHash, str])
    looked: tuple[Checked, ...] = ()
    runs: tuple[PilotRun, ...] = ()
    at: dt.datetime | None = None

    def recounted(self, figures: Estimate) -> Estimate:
        """The estimate with the items counted as signed that the record has as signed."""
        return recounted(figures, self.record, self.broken)


NOTHING: Final = Dossier()
"""Of a plan whose record nobody read yet."""


@dataclass(frozen=True, slots=True, eq=False)
class Reviewed:
    """A plan's review now and as it is saved, with the program's checks of each item and the findings."""

    now: Review
    saved: Review
    checks: tuple[Checked, ...]
    findings: tuple[Finding, ...]

    @property
    def ready(self) -> bool:
        """Whether the full run may be submitted."""
        return is_ready(self.now, self.checks, self.findings)

    def checks_of(self, item: str) -> tuple[Checked, ...]:
        """What the program checked for one item."""
        return tuple(one for one in self.checks if one.item == item)

    def conditional(self, item: str) -> bool:
        """Whether an item is stale only by the unsaved edit."""
        states = [next(one.state for one in each.items if one.item.name == item) for each in (self.now, self.saved)]
        return states[0] == "stale" and states[1] != "stale"


def read_dossier(plan: Path, before: Dossier, now: dt.datetime) -> Dossier:
    """The record as it is on the disk now; what was checked before stays until it is checked again."""
    try:
        return replace(before, record=recorded(plan, now), problem="")
    except RecordError as error:
        return replace(before, problem=str(error))


def checked_dossier(folder: Path, figures: Estimate, before: Dossier, now: dt.datetime) -> Dossier:
    """The dossier with evidence and paths checked; slow, and limited in time."""
    from trainplan.files.automatic import automatic_checks
    from trainplan.files.evidence import checked_evidence, evidence_of

    files = checked_evidence(folder, evidence_of(before.record))
    broken = {one.file: one.message for one in files if one.verdict == "broken"}
    looked = automatic_checks(folder, figures.plan, record=before.record, quantities=figures.quantities, now=now)
    return replace(before, broken=broken, looked=looked, runs=pilot_runs(folder, figures.plan), at=now)


_LAST: list[tuple[Estimate, Estimate, Dossier, Reviewed]] = []
"""The review shown last: moving the cursor reviews nothing."""


def reviewed(now: Estimate, saved: Estimate, dossier: Dossier) -> Reviewed:
    """The review of a plan against its dossier, made once for each state that is shown."""
    if not (_LAST and _LAST[0][0] is now and _LAST[0][1] is saved and _LAST[0][2] is dossier):
        today = now.today or dt.datetime.now(dt.UTC).date()
        _LAST[:] = [(now, saved, dossier, _reviewed(now, saved, dossier, today))]
    return _LAST[0][3]


def _reviewed(now: Estimate, saved: Estimate, dossier: Dossier, today: dt.date) -> Reviewed:
    found, before = (review(one.plan, one.quantities, dossier.record, today, dossier.broken) for one in (now, saved))
    checks = (*computed_checks(now.plan, now.quantities, found, today), *dossier.looked)
    unlike = unlike_full_run(now.plan, now.quantities, dossier.runs)
    return Reviewed(found, before, checks, (*review_findings(now.plan, found), *unlike))
