"""The record beside a plan, for whoever needs its count alone: how many items are signed is the record's to say.

A plan without a record that mirrors no item is asked for nothing more than whether the file is there.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure
from trainplan.review.record import record_path

if TYPE_CHECKING:
    from trainplan.finding import Finding
    from trainplan.review.record import EvidenceHash, Record


def is_claimed(path: Path, figures: Estimate) -> bool:
    """Whether there is anything to count: a record beside the plan, or items that the plan mirrors."""
    return bool(figures.plan.readiness) or os.path.lexists(record_path(path))


def recounted(figures: Estimate, record: Record, broken: Mapping[EvidenceHash, str] | None = None) -> Estimate:
    """The estimate with `readiness.signed` as the record says it; the same one where the mirror counts as much."""
    from trainplan.review.quantities import signed_by_record

    key, now = "readiness.signed", figures.quantities
    count = signed_by_record(figures.plan, now, figures.today or dt.date.min, record, broken or {})
    counted = now[key]
    if isinstance(counted, Figure) and [one.origin for one in counted.inputs] == [one.origin for one in count.inputs]:
        return figures
    return replace(figures, quantities={**now, key: count})


def recounted_beside(path: Path, figures: Estimate, now: dt.datetime) -> Estimate:
    """The same, of the record and the evidence on the disk now; a record that cannot be read signs nothing."""
    if not is_claimed(path, figures):
        return figures
    from trainplan.files.evidence import checked_evidence, evidence_of
    from trainplan.files.signoffs import RecordError, recorded
    from trainplan.review.record import Record

    try:
        record = recorded(path, now)
    except RecordError:
        record = Record()
    files = checked_evidence(path.parent, evidence_of(record))
    return recounted(figures, record, {one.file: one.message for one in files if one.verdict == "broken"})


def claims_beside(path: Path, figures: Estimate, now: dt.datetime) -> tuple[Finding, ...]:
    """What a plan claims and its record has not, and what is wrong with the record itself. Raises RecordError."""
    if not is_claimed(path, figures):
        return ()
    from trainplan.files.signoffs import recorded
    from trainplan.review.findings import claims
    from trainplan.review.state import review

    return claims(review(figures.plan, figures.quantities, recorded(path, now), now.date()))
