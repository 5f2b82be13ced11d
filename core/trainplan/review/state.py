"""Where the review of a plan stands: each item and rung from the plan, its record and what follows from the plan now.

Ready is the worst item, never a share. A sign-off of the only author of the evidence does not sign a blocking item, unless
one-person mode is on, which every summary says. It refuses to read files and a clock: both are handed in.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from trainplan.plan.plan import Plan
from trainplan.review.covers import Change, Quantities, changes
from trainplan.review.items import ITEMS, LASTING, Item
from trainplan.review.ladder import ladder
from trainplan.review.record import Act, EvidenceHash, Record
from trainplan.review.rungs import RungReview, rung_review

__all__ = ["ORDER", "ItemState", "Review", "RungReview", "State", "review", "signed_by_another", "waiver_refusal"]

State = Literal["failed", "open", "stale", "waived", "signed"]

ORDER: Final[tuple[State, ...]] = ("failed", "open", "stale", "waived", "signed")
"""Worst first: the overall state is the worst of the items."""


@dataclass(frozen=True, slots=True)
class ItemState:
    """One item: its state and why, who acted last, what moved since, when it lapses, what is wrong with its evidence."""

    item: Item
    state: State
    why: str = ""
    owner: str = ""
    last: Act | None = None
    changed: tuple[Change, ...] = ()
    lapses: dt.date | None = None
    broken: str = ""

    @property
    def done(self) -> bool:
        return self.state in ("signed", "waived")


@dataclass(frozen=True, slots=True)
class Review:
    """The whole of it. `unmirrored` are items that the plan mirrors otherwise than the record says."""

    items: tuple[ItemState, ...]
    rungs: tuple[RungReview, ...]
    record: Record
    unmirrored: tuple[str, ...]

    @property
    def overall(self) -> State:
        """The worst state of an item."""
        return ORDER[min(ORDER.index(item.state) for item in self.items)]

    @property
    def ready(self) -> bool:
        """Whether every item is signed, or waived where it may be, over an unharmed record."""
        return all(item.done for item in self.items) and not self.record.harms

    def count(self, state: State) -> int:
        """How many items are in a state."""
        return sum(item.state == state for item in self.items)


def review(
    plan: Plan,
    quantities: Quantities,
    record: Record,
    today: dt.date,
    broken: Mapping[EvidenceHash, str] | None = None,
) -> Review:
    """Every item and rung of a plan. `quantities` are the estimate's, by key; `today` ends waivers and sign-offs.

    `broken` is evidence that is not what was signed over, with a sentence for each.
    """
    items = item_states(plan, quantities, record, today, broken)
    rungs = tuple(rung_review(rung, plan, quantities, record, today, broken) for rung in ladder(plan))
    return Review(items, rungs, record, tuple(_unmirrored(plan, record, items)))


def item_states(
    plan: Plan,
    quantities: Quantities,
    record: Record,
    today: dt.date,
    broken: Mapping[EvidenceHash, str] | None = None,
) -> tuple[ItemState, ...]:
    """The ten items, as `review` has them."""
    return tuple(_without(_item_state(item, plan, quantities, record, today), broken or {}) for item in ITEMS)


def _without(one: ItemState, broken: Mapping[EvidenceHash, str]) -> ItemState:
    """The item, stale where a file that it stands on is missing or another one now."""
    told = [broken[file] for file in one.last.evidence if file in broken] if one.last and one.done else []
    return replace(one, state="stale", why=told[0], broken=told[0]) if told else one


def _acts(record: Record, subject: str) -> list[Act]:
    return [act for act in record.acts if act.subject == subject and act.kind not in ("note", "mode", "loosen")]


def _item_state(item: Item, plan: Plan, quantities: Quantities, record: Record, today: dt.date) -> ItemState:
    acts = _acts(record, item.name)
    owner = next((entry.owner or "" for entry in plan.readiness if entry.item == item.name), "")
    deciding = [act for act in acts if act.kind != "attach"]
    if not deciding:
        return ItemState(item, "open", "nobody signed", owner)
    last = deciding[-1]
    if last.kind in ("fail", "reopen"):
        state: State = "failed" if last.kind == "fail" else "open"
        return ItemState(item, state, last.reason or last.note, owner, last)
    moved = changes(last.covers, plan, quantities, item.figures)
    if last.kind == "waive":
        return _waived(item, last, owner, moved, today)
    return _signed(item, last, acts, owner, moved, today, one_person=record.one_person)


def _waived(item: Item, last: Act, owner: str, moved: tuple[Change, ...], today: dt.date) -> ItemState:
    refusal = waiver_refusal(item, last)
    if refusal:
        return ItemState(item, "open", refusal, owner, last)
    assert last.until is not None
    if last.until < today:
        return ItemState(item, "open", f"the waiver of {last.signer} ended on {last.until}", owner, last)
    if moved:
        return ItemState(item, "stale", f"waived before {moved[0]}", owner, last, moved, last.until)
    return ItemState(item, "waived", last.reason, owner, last, lapses=last.until)


def waiver_refusal(item: Item, act: Act) -> str:
    """Why a waiver does not hold; empty where it does."""
    if item.blocking:
        return f"{item.name} is blocking: it cannot be waived"
    for name, there in (("a reason", act.reason), ("an end", act.until), ("an approver", act.approver)):
        if not there:
            return f"a waiver needs {name}"
    assert act.until is not None
    if act.until > act.at.date() + dt.timedelta(days=item.waivable):
        return f"a waiver of {item.name} holds {item.waivable} days at most"
    return ""


def _signed(
    item: Item,
    last: Act,
    acts: list[Act],
    owner: str,
    moved: tuple[Change, ...],
    today: dt.date,
    *,
    one_person: bool,
) -> ItemState:
    lapses = last.at.date() + dt.timedelta(days=LASTING)
    if moved:
        return ItemState(item, "stale", f"signed before {moved[0]}", owner, last, moved, lapses)
    if lapses < today:
        return ItemState(item, "stale", f"signed on {last.at.date()}, over {LASTING} days ago", owner, last, (), lapses)
    if last.verdict == "fail":
        return ItemState(item, "failed", last.note or last.reason, owner, last)
    if item.blocking and not one_person and not signed_by_another(acts, last):
        why = f"{last.signer} made the evidence: another person has to sign"
        return ItemState(item, "open", why, owner, last)
    return ItemState(item, "signed", last.note, owner, last, lapses=lapses)


def signed_by_another(acts: list[Act], last: Act) -> bool:
    """Whether one of those who signed over the same evidence and values is none of its authors."""
    authors = {_person(act.author) for act in acts if act.author}
    authors |= {_person(act.signer) for act in acts if act.kind == "attach" and not act.author}
    same = [act for act in acts if act.kind == "sign" and act.covers == last.covers and act.evidence == last.evidence]
    return any(_person(act.signer) not in authors for act in same)


def _person(name: str) -> str:
    return " ".join(name.casefold().split())


def _unmirrored(plan: Plan, record: Record, items: tuple[ItemState, ...]) -> list[str]:
    """Items whose status in the plan file is not what the last deciding act says."""
    found: list[str] = []
    for one in items:
        status = next((entry.status for entry in plan.readiness if entry.item == one.item.name), None)
        told = told_status(record, one)
        if status is not None and status != told:
            found.append(f"{one.item.name} is {status} in the plan and {told} in the record")
    return found


def told_status(record: Record, one: ItemState) -> str:
    """The status that the record gives an item: what its last deciding act says, open where that does not count."""
    words = {"sign": "signed", "waive": "waived", "fail": "failed", "reopen": "open"}
    acts = [act for act in _acts(record, one.item.name) if act.kind in words]
    return words[acts[-1].kind] if acts and one.state != "open" else "open"
