"""A plan in the middle of its review, for pictures: names, values and files are invented, and only pictures show them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

from trainplan.estimation import estimate
from trainplan.plan.edit import Edited
from trainplan.plan.read import open_plan
from trainplan.review import signing
from trainplan.review.items import BY_NAME
from trainplan.review.ladder import RUNGS, ladder
from trainplan.review.measuring import Measurement, with_checks
from trainplan.review.mirror import mirrored
from trainplan.review.record import Act, line_of, read_record, record_path
from trainplan.review.rungs import measurement
from trainplan.review.signing import Answers

SIGNED: Final = {
    "configs": "lee",
    "data-manifests": "osei",
    "tokenizer": "osei",
    "sample-batches": "osei",
    "dashboards": "diaz",
    "ownership": "lee",
    "cost": "roth",
}
AT: Final = dt.datetime(2026, 11, 26, 16, 0, tzinfo=dt.UTC)


def staged(plan: Path, folder: Path) -> Path:
    """A copy of a plan with four rungs measured and most items signed, its record beside it."""
    opened = open_plan(plan)
    after = Edited(opened.source.text, opened.plan)
    for rung in RUNGS[:4]:
        after = with_checks(after.text, after.plan, rung, _values(after, rung), plan.name)
    quantities = estimate(after.plan).quantities
    acts = [measurement(rung, after.plan, quantities, "kim", AT) for rung in ladder(after.plan)[:4]]
    return _written(folder / plan.name, after, acts)


def _values(now: Edited, rung: str) -> dict[str, Measurement]:
    """Every check at its threshold."""
    checks = next(one.checks for one in ladder(now.plan) if one.name == rung)
    return {check.metric: Measurement(float(check.pass_if.lstrip("<>= ")), f"logs/{rung}.log") for check in checks}


def _written(path: Path, after: Edited, acts: list[Act]) -> Path:
    quantities, record = estimate(after.plan, AT.date()).quantities, b""
    for act in acts:
        record += line_of(act, record)
    for name, signer in SIGNED.items():
        answers = Answers(signer, author="kim", note="seen", ticked=BY_NAME[name].attested)
        act = signing.sign_act(BY_NAME[name], answers, after.plan, quantities, read_record(record), AT)
        after, record = mirrored(after.text, after.plan, act, quantities, path.name), record + line_of(act, record)
    waiver = Answers("park", reason="gsm8k not checked", approver="roth", until="2026-12-10")
    item = BY_NAME["contamination"]
    act = signing.waive_act(item, waiver, after.plan, quantities, read_record(record), AT)
    after, record = mirrored(after.text, after.plan, act, quantities, path.name), record + line_of(act, record)
    path.write_text(after.text, encoding="utf-8")
    record_path(path).write_bytes(record)
    return path
