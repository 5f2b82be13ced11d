"""What a plan is worth in a few words, for sheets that offer one text of it in place of another."""

from __future__ import annotations

from trainplan.checks import findings_at_once
from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure
from trainplan_tui.screens.words import finish
from trainplan_tui.text.dates import money

GIB = 2**30


def room(figures: Estimate) -> str:
    """`fits, 16.6 GiB free` or `OVER by 13.3 GiB`; empty where memory is not known."""
    headroom = figures.quantities.get("memory.headroom")
    if not isinstance(headroom, Figure):
        return ""
    size = f"{abs(float(headroom)) / GIB:,.1f} GiB"
    return f"fits, {size} free" if headroom >= 0 else f"OVER by {size}"


def date(figures: Estimate, *, short: bool = False) -> str:
    """The day or the duration, empty where there is none."""
    told = finish(figures)
    return told.short if short else told.long


def cost(figures: Estimate, digits: int = 4) -> str:
    """The cost at this rate, empty where there is none."""
    value = figures.money.cost
    return f"~{money(float(value), figures.plan.cluster.currency, digits)}" if isinstance(value, Figure) else ""


def counted(figures: Estimate) -> str:
    """`0 errors 3 warnings`."""
    found = [item.severity for item in findings_at_once(figures)]
    errors, warnings = found.count("error"), found.count("warning")
    return f"{errors} error{_plural(errors)} {warnings} warning{_plural(warnings)}"


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def sentences(figures: Estimate, before: Estimate | None = None) -> tuple[str, str]:
    """Two lines: memory, date and cost; errors and warnings with what came and went against another estimate."""
    parts = (room(figures), date(figures) or "no date", f"cost {cost(figures)}" if cost(figures) else "no cost")
    return "    ".join(filter(None, parts)), f"{counted(figures)}{_changes(figures, before)}"


def _changes(figures: Estimate, before: Estimate | None) -> str:
    if before is None:
        return ""
    old, new = ({item.code for item in findings_at_once(each)} for each in (before, figures))
    told = [("new", sorted(new - old)), ("cleared", sorted(old - new))]
    words = [f"{word}: {', '.join(codes[:3])}{', ...' if len(codes) > 3 else ''}" for word, codes in told if codes]
    return f"   ({'; '.join(words)})" if words else ""
