"""`pilot.passed` and `readiness.signed`: what the plan's own tables say, as figures for every table and export.

They come from the plan alone, so that an estimate needs no other file. Where the record beside the plan is at hand it rules:
whoever shows an estimate puts its count in place of the mirror's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from trainplan.plan.plan import Plan
from trainplan.plan.tables import ReadinessItem
from trainplan.quantity.figure import Figure, given, total
from trainplan.review.covers import Quantities, changes
from trainplan.review.items import BY_NAME, LASTING
from trainplan.review.ladder import RUNGS, rung_verdicts

if TYPE_CHECKING:
    from trainplan.review.record import EvidenceHash, Record

_ABSENT: Final = "absent from the plan file: open"


def _open(table: str, names: tuple[str, ...]) -> dict[str, Figure]:
    return {name.replace("-", "_"): given(f"{table}.{name}", 0.0, "1", _ABSENT, kind="default") for name in names}


_RUNGS: Final = _open("pilot", RUNGS)
_ITEMS: Final = _open("readiness", tuple(BY_NAME))
_NONE_PASSED: Final = total(**_RUNGS)
_NONE_SIGNED: Final = total(**_ITEMS)


def pilot_passed(plan: Plan) -> Figure:
    """Rungs of seven whose measured values meet their thresholds, after every rung before has passed or is waived."""
    if not plan.pilot:
        return _NONE_PASSED
    verdicts = rung_verdicts(plan)
    told = {rung.rung for rung in plan.pilot}
    return total(**{key: _rung(key, verdicts, told) for key in _RUNGS})


def _rung(key: str, verdicts: Mapping[str, str], told: set[str | None]) -> Figure:
    name = key.replace("_", "-")
    if name not in told:
        return _RUNGS[key]
    passed = verdicts[name] == "passed"
    return given(f"pilot.{name}", float(passed), "1", f"checks of the plan file: {verdicts[name]}", kind="file")


def readiness_signed(plan: Plan, quantities: Quantities, today: dt.date | None) -> Figure:
    """Items of ten that the plan mirrors as signed and that nothing since made stale; waived ones do not count."""
    if not plan.readiness:
        return _NONE_SIGNED
    entries = {entry.item: entry for entry in plan.readiness}
    parts = dict(_ITEMS)
    for item in BY_NAME.values():
        entry = entries.get(item.name)
        if entry is not None:
            told = mirror_state(entry, plan, quantities, today)
            key = item.name.replace("-", "_")
            parts[key] = given(f"readiness.{item.name}", float(told == "signed"), "1", told, kind="file")
    return total(**parts)


def signed_by_record(
    plan: Plan, quantities: Quantities, today: dt.date, record: Record, broken: Mapping[EvidenceHash, str]
) -> Figure:
    """Items of ten that the record has as signed, not stale and over evidence that is what it was; what the plan claims is none."""
    from trainplan.review.state import item_states

    parts = dict(_ITEMS)
    mirrored = {entry.item for entry in plan.readiness}
    for one in item_states(plan, quantities, record, today, broken):
        name = one.item.name
        if one.last is not None or name in mirrored:
            told = one.state if one.state == "signed" or not one.why else f"{one.state}: {one.why}"
            signed = float(one.state == "signed")
            parts[name.replace("-", "_")] = given(f"readiness.{name}", signed, "1", told, kind="file")
    return total(**parts)


def item_words(signed: Figure) -> Mapping[str, str]:
    """What `readiness.signed` counts of each item: `signed`, or its state and why."""
    return {
        name.replace("_", "-"): "open" if (told := item.origin.source) == _ABSENT else told
        for name, item in signed.named_inputs()
    }


def mirror_state(entry: ReadinessItem, plan: Plan, quantities: Quantities, today: dt.date | None) -> str:
    """What a mirrored item says, or that it is stale: a covered value moved, or it was signed too long ago."""
    if entry.status != "signed" or entry.item is None:
        return entry.status
    moved = changes(entry.covers or {}, plan, quantities, BY_NAME[entry.item].figures)
    if moved:
        return f"stale: {moved[0]}"
    lapsed = entry.signed_at is not None and today is not None and (today - entry.signed_at.date()).days > LASTING
    return f"stale: signed on {entry.signed_at:%Y-%m-%d}" if lapsed else "signed"
