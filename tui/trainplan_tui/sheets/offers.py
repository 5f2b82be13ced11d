"""What the start screen offers to open: recent plans and examples, each with a few words that are cheap to have.

It stops estimating after a twentieth of a second: a start screen that waits for plans is worse than one without dates.
"""

from __future__ import annotations

import datetime as dt
import os
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainplan.estimation import Estimate, estimate
from trainplan.files.beside import recounted_beside
from trainplan.files.folders import recovery_folder
from trainplan.files.recovery import Lost, lost_sessions
from trainplan.plan.read import Unusable, open_plan
from trainplan.quantity.figure import Figure
from trainplan_tui.sheets.beginning import examples
from trainplan_tui.sheets.verdict import cost, date, room
from trainplan_tui.state.keeping import MOST_RECENT, Recent, host_name, recent

BUDGET = 0.05
"""Seconds for all estimates of the start screen."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan that can be opened: `words` are fit, date, cost, items signed, day; examples are opened as a copy."""

    path: Path
    words: tuple[str, ...]
    name: str = ""
    example: bool = False
    gone: bool = False


def recent_offers(today: dt.date) -> list[Offer]:
    """The recent plans; those that are gone are said."""
    end = time.monotonic() + BUDGET
    return [_recent(item, today, end) for item in recent()]


def _recent(item: Recent, today: dt.date, end: float) -> Offer:
    day = _day(item.at, today)
    if not os.path.isfile(item.path):
        return Offer(item.path, ("gone", "", "", "", day), gone=True)
    if time.monotonic() > end:
        return Offer(item.path, ("", "", "", "", day))
    try:
        plan = open_plan(item.path).plan
    except Unusable as error:
        count = len(error.errors)
        return Offer(item.path, (f"{count} error{'' if count == 1 else 's'}", "", "", "", day), str(error.errors[0]))
    figures = recounted_beside(item.path, estimate(plan, today), dt.datetime.now(dt.UTC))
    told = (room(figures).partition(" ")[0].rstrip(","), date(figures, short=True) or "-", cost(figures, 3) or "-")
    return Offer(item.path, (*told, _signed(figures), day), plan.name or item.path.stem)


def _signed(figures: Estimate) -> str:
    """Items signed, by the record beside the plan."""
    count = figures.quantities.get("readiness.signed")
    return f"signed {int(count)}/10" if isinstance(count, Figure) else ""


def _day(at: str, today: dt.date) -> str:
    """`today 09:12`, `yesterday`, or the date."""
    try:
        moment = dt.datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return ""
    days = (today - moment.date()).days
    return f"today {moment:%H:%M}" if days == 0 else "yesterday" if days == 1 else f"{moment:%Y-%m-%d}"


def example_offers() -> list[Offer]:
    """The examples, with their machine."""
    return [_example(path) for path in examples()]


def _example(path: Path) -> Offer:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Offer(path, ("",), path.stem, example=True)
    cluster: dict[str, Any] = data.get("cluster", {})
    nodes, each = cluster.get("nodes"), cluster.get("accelerators_per_node", 8)
    count = f"{nodes * each:,} " if isinstance(nodes, int) and isinstance(each, int) else ""
    machine = str(cluster.get("accelerator", ""))
    return Offer(path, (f"{count}{machine}",), str(data.get("name", path.stem)), example=True)


def lost_plans() -> list[Lost]:
    """Edits of lost sessions, newest first, of plans that are still there."""
    found = [lost for lost in lost_sessions(recovery_folder(os.environ), host_name()) if os.path.isfile(lost.path)]
    return sorted(found, key=lambda lost: lost.at, reverse=True)


__all__ = ["MOST_RECENT", "Offer", "example_offers", "lost_plans", "recent_offers"]
