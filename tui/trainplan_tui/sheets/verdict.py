"""What a plan is worth in a few words, for sheets that offer one text of it in place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainplan.checks import findings_at_once
from trainplan.estimation import Estimate
from trainplan.quantity.figure import Figure
from trainplan_tui.screens.words import finish
from trainplan_tui.text.dates import money

if TYPE_CHECKING:
    from trainplan_tui.state.session import Session

GIB = 2**30

PLACES = 6
"""Changed lines that are named."""


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


def signed(session: Session, figures: Estimate) -> str:
    """`signed 5/10, stale: configs, cost`: items as the record has them with that plan; empty where nobody signed one."""
    from trainplan.review.state import review

    beside = session.dossier
    if beside is None or not beside.record.acts:
        return ""
    found = review(figures.plan, figures.quantities, beside.record, session.today, beside.broken)
    stale = [one.item.name for one in found.items if one.state == "stale"]
    told = f", stale: {', '.join(stale)}" if stale else ""
    return f"signed {found.count('signed')}/{len(found.items)}{told}"


def lines_changed(before: str, after: str) -> str:
    """How many lines of a file a text changes, and which: `lines changed in the file: 1 (line 14)`."""
    from difflib import SequenceMatcher

    old, new = before.splitlines(), after.splitlines()
    found = [block for block in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if block[0] != "equal"]
    count = sum(max(there - here, upto - begin) for _, here, there, begin, upto in found)
    if not count:
        return "no line of the file changes"
    places = [f"{here + 1}" if there - here < 2 else f"{here + 1}-{there}" for _, here, there, _, _ in found]
    told = ", ".join(places[:PLACES]) + (", ..." if len(places) > PLACES else "")
    return f"lines changed in the file: {count} (line {told}); comments and layout stay"
