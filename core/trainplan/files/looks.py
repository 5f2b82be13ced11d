"""One automatic check as a value: what it is for, what it looks at, and the work that finds out.

All looks run at once, each on a thread that is left behind when its time is over, so that ten dead mounts take no longer than
one. It refuses to know any check.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from trainplan.files.bounded import Unread, leads_out, told
from trainplan.plan.plan import Plan
from trainplan.review.computed import Checked, Found, Verdict
from trainplan.review.covers import Quantities

__all__ = ["Asked", "Checked", "Found", "Look", "Verdict", "looked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the checks may look at: the plan and its folder, evidence paths by item, the time, and the estimate's quantities.

    `limit` is seconds for one program or file; without `now` and `quantities` what needs them is left out.
    """

    folder: Path
    plan: Plan
    limit: float
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    now: dt.datetime | None = None
    quantities: Quantities = field(default_factory=dict)

    def path(self, named: str) -> Path:
        """A path of the plan, from the plan's folder."""
        return self.folder / named

    def files(self, item: str, *suffixes: str) -> list[str]:
        """Evidence of an item with one of these suffixes."""
        return [path for path in self.evidence.get(item, ()) if path.lower().endswith(suffixes)]


@dataclass(frozen=True, slots=True)
class Look:
    """A check to be made; `named` is the path that it looks at, relative to the plan, or "". None is nothing to say."""

    item: str
    check: str
    named: str
    work: Callable[[], Found | None]


def looked(folder: Path, looks: Iterable[Look], limit: float) -> tuple[Checked, ...]:
    """Every look in order; what does not answer within `limit` seconds of the start is unknown."""
    started = [(one, _start(folder, one)) for one in looks]
    end, found = monotonic() + limit, list[Checked]()
    for one, (thread, answer) in started:
        thread.join(max(0.0, end - monotonic()))
        told = answer[0] if answer else ("unknown", f"no answer within {limit:g} s")
        if told is not None:
            found.append(Checked(one.item, one.check, *told))
    return tuple(found)


def _start(folder: Path, one: Look) -> tuple[threading.Thread, list[Found | None]]:
    answer: list[Found | None] = []
    thread = threading.Thread(target=lambda: answer.append(_safe(folder, one)), daemon=True)
    thread.start()
    return thread, answer


def _safe(folder: Path, one: Look) -> Found | None:
    try:
        answer = one.work()
        out = leads_out(folder, folder / one.named) if one.named else ""
    except Unread as error:
        return error.verdict, error.sentence
    except (OSError, ValueError, RecursionError) as error:
        return "unknown", told(error) or type(error).__name__
    return (answer[0], f"{answer[1]}; a link leads out of the plan's folder, to {out}") if answer and out else answer
