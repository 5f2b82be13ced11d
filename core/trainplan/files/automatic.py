"""What the program can check by itself on a login node, of what `[paths]` and the evidence name.

Read-only, each check with a time limit and all at once; what does not answer is unknown, which is neither passed nor failed. It
refuses to attest: what only a person can know is not here.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

from trainplan.files.bounded import TIME_LIMIT
from trainplan.files.checkout import code_looks
from trainplan.files.contamination import contamination_looks
from trainplan.files.drills import drill_looks
from trainplan.files.evidence import evidence_paths
from trainplan.files.looks import Asked, Checked, Found, Verdict, looked
from trainplan.files.manifested import manifest_looks
from trainplan.files.pilotlogs import log_looks
from trainplan.files.room import room_looks
from trainplan.files.samples import sample_looks
from trainplan.files.scripts import script_looks
from trainplan.files.sums import config_looks
from trainplan.files.tokenizing import tokenizer_looks
from trainplan.plan.plan import Plan
from trainplan.review.covers import Quantities
from trainplan.review.record import Record

__all__ = ["Checked", "Found", "Verdict", "automatic_checks"]

_LOOKS: Final = (
    code_looks,
    config_looks,
    script_looks,
    manifest_looks,
    tokenizer_looks,
    sample_looks,
    contamination_looks,
    log_looks,
    drill_looks,
    room_looks,
)


def automatic_checks(
    folder: Path,
    plan: Plan,
    limit: float = TIME_LIMIT,
    *,
    record: Record | None = None,
    quantities: Quantities | None = None,
    now: dt.datetime | None = None,
) -> tuple[Checked, ...]:
    """Every check whose path the plan or its evidence names; paths are relative to `folder`, the plan's.

    `record` adds evidence that the plan does not mirror, `quantities` sizes and rates to compare with, `now` ages.
    """
    asked = Asked(folder, plan, limit, evidence_paths(plan, record), now, quantities or {})
    return looked(folder, [one for looks in _LOOKS for one in looks(asked)], 2 * limit)
