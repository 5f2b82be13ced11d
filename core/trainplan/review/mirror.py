"""The plan file's own mirror of the record: `[[readiness]]` says of each item what the last line about it said.

The record rules; the mirror is for whoever reads the plan alone. It covers in few lines what the record covers field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainplan.plan.edit import Edited
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.plan.splice import append_entry, remove_value, set_value
from trainplan.plan.tables import ReadinessItem
from trainplan.review.covers import Quantities, Value, mirrored_covers
from trainplan.review.items import BY_NAME
from trainplan.review.record import Act

WORDS: Final = {"sign": "signed", "waive": "waived", "fail": "failed", "reopen": "open"}
"""The status that an act gives its item."""
WHOLE: Final = 2.0**53
_FIELDS: Final = ("status", "evidence", "signed_by", "author", "signed_at", "note", "waiver_reason", "waiver_until")


def mirrored(text: str, plan: Plan, act: Act, quantities: Quantities, file: str, status: str = "") -> Edited:
    """The text with an act about an item in it; owner and comments stay. The same text for an act that decides nothing.

    `status` is where the item stands after the act, where that is not what the act says: open, signed by its author alone.

    Raises SpliceError where the text cannot take it and Unusable where the result is no plan.
    """
    if act.kind not in WORDS or act.subject not in BY_NAME:
        return Edited(text, plan)
    fields = _fields(act) | ({"status": status} if status else {})
    place = next(
        (index for index, entry in enumerate(plan.readiness) if entry.item == act.subject), len(plan.readiness)
    )
    if place == len(plan.readiness):
        items = {"item": act.subject, **fields}
        text = append_entry(text, ("readiness",), {name: literal_of(value) for name, value in items.items()})
    else:
        text = _replaced(text, plan, place, fields)
    if act.kind in ("sign", "waive"):
        text = _covering(text, place, mirrored_covers(plan, quantities, BY_NAME[act.subject].fields, _figures(act)))
    return Edited(text, plan_of_text(text, file))


def unsigned(text: str, plan: Plan, file: str) -> Edited:
    """The text with every item open, for a plan that goes on under another name: its record stays beside the old one.

    Who owns an item stays. Raises SpliceError where the text cannot take it and Unusable where the result is no plan.
    """
    for place, entry in enumerate(plan.readiness):
        if mirrors(entry):
            text = _replaced(text, plan, place, {"status": "open"})
    return Edited(text, plan_of_text(text, file))


def mirrors(entry: ReadinessItem) -> bool:
    """Whether an item says anything of the record: a state, who signed, over what."""
    return entry.status != "open" or bool({*_FIELDS[1:], "covers"} & entry.model_fields_set)


def _replaced(text: str, plan: Plan, place: int, fields: Mapping[str, Any]) -> str:
    written = plan.readiness[place].model_fields_set
    if "covers" in written:
        text = remove_value(text, ("readiness", place, "covers"))
    for name in _FIELDS:
        path = ("readiness", place, name)
        if name in fields:
            text = set_value(text, path, literal_of(fields[name]))
        elif name in written:
            text = remove_value(text, path)
    return text


def _covering(text: str, place: int, covers: Mapping[str, Value]) -> str:
    """The covers as a table of its own, a line each: they are read in differences of versions."""
    for path, value in covers.items():
        number = isinstance(value, float) and value.is_integer() and abs(value) < WHOLE
        text = set_value(text, ("readiness", place, "covers", path), literal_of(int(value) if number else value))
    return text


def _figures(act: Act) -> tuple[str, ...]:
    return tuple(BY_NAME[act.subject].figures)


def _fields(act: Act) -> dict[str, Any]:
    found: dict[str, Any] = {"status": WORDS[act.kind]}
    if act.evidence:
        found["evidence"] = [{"path": file.path, "sha256": file.sha256} for file in act.evidence]
    if act.kind in ("sign", "waive"):
        found |= {"signed_by": act.signer, "signed_at": act.at}
    found |= {"author": act.author} if act.author else {}
    found |= {"note": act.note} if act.note else {}
    if act.kind == "waive":
        found |= {"waiver_reason": act.reason, "waiver_until": act.until}
    return found
