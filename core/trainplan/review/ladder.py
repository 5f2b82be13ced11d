"""The seven rungs of the pilot: thresholds, verdicts from what was measured, and who waits for whom.

A status that somebody typed proves nothing: a rung has passed when each of its checks has a measured value that meets its
threshold and every rung before it has passed or is waived. It refuses to read logs and to know what moved since.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, cast

from trainplan.catalogue import Entry, entry
from trainplan.frozen import frozen
from trainplan.plan.fields import RUNGS
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Check, Rung

__all__ = [
    "RUNGS",
    "CheckState",
    "RungState",
    "Threshold",
    "check_verdict",
    "ladder",
    "rung_names",
    "rung_verdicts",
    "threshold",
]

Verdict = Literal["open", "passed", "failed", "waived", "waiting"]

_THRESHOLD = r"^\s*(<=|>=|==|=|<|>)\s*([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*$"


@frozen
class Threshold:
    """A comparison that passes: its sign and its number."""

    sign: str
    limit: float

    def met(self, measured: float) -> bool:
        """Whether a measured value passes."""
        if self.sign in ("=", "=="):
            return measured == self.limit
        below = measured < self.limit if self.sign in ("<", "<=") else measured > self.limit
        return below or (self.sign in ("<=", ">=") and measured == self.limit)

    def looser_than(self, other: Threshold) -> bool:
        """Whether it lets pass what the other does not; thresholds of different direction are not compared."""
        if self.sign[0] != other.sign[0]:
            return self.sign[0] != "=" and other.sign[0] == "="
        if self.sign[0] == "=":
            return self.limit != other.limit
        past = self.limit > other.limit if self.sign[0] == "<" else self.limit < other.limit
        return past or (self.limit == other.limit and len(self.sign) > len(other.sign))


def threshold(text: str | None) -> Threshold | None:
    """`<= 0.10`, `>= 95 %` or `= 0` as a threshold; None where the text names no number."""
    found = re.match(_THRESHOLD, text or "")
    if found is None:
        return None
    number = float(found[2].replace(",", "").replace("_", ""))
    return Threshold(found[1], number / 100 if found[3] else number)


@frozen
class CheckState:
    """One check: what passes, what was measured, the default threshold with its origin, and the verdict.

    `taken` says that what passes is the default, because the plan's own check leaves its threshold out.
    """

    metric: str
    pass_if: str
    measured: float | None
    evidence: str
    default: str
    origin: str
    meaning: str
    verdict: Literal["open", "passed", "failed"]
    taken: bool = False

    @property
    def passes_at(self) -> str:
        """The threshold in words, marked where it is the default that the check took."""
        return f"{self.pass_if} (default)" if self.taken else self.pass_if

    @property
    def loosened(self) -> bool:
        """Whether its threshold lets pass what the default does not."""
        own, default = threshold(self.pass_if), threshold(self.default)
        return own is not None and default is not None and own.looser_than(default)


@frozen
class RungState:
    """One rung: its place from 1, what it asks, what it feeds, its checks and the verdict; `waits_for` names a rung or ""."""

    name: str
    number: int
    title: str
    question: str
    feeds: str
    covers: tuple[str, ...]
    checks: tuple[CheckState, ...]
    claimed: str
    reason: str
    verdict: Verdict
    waits_for: str = ""
    left_out: tuple[str, ...] = ()
    own: bool = False


def ladder(plan: Plan) -> tuple[RungState, ...]:
    """The seven rungs of a plan in order, and after each those of the team's own that come after it.

    A rung that the plan leaves out is open with its default checks; `left_out` are default checks that its own list drops.
    """
    verdicts = rung_verdicts(plan)
    return tuple(_rung_state(name, _given(plan).get(name), verdicts) for name in rung_names(plan))


def rung_names(plan: Plan) -> tuple[str, ...]:
    """Names of all rungs in order."""
    own = [(rung.rung, rung.after) for rung in plan.pilot if rung.rung is not None and rung.rung not in RUNGS]
    return tuple(one for name in RUNGS for one in (name, *(other for other, after in own if after == name)))


def _given(plan: Plan) -> dict[str, Rung]:
    return {rung.rung: rung for rung in plan.pilot if rung.rung is not None}


def rung_verdicts(plan: Plan) -> dict[str, Verdict]:
    """The verdict of each rung from the plan's own checks; the catalogue is read where one of them leaves its threshold out."""
    given, blocking = _given(plan), ""
    found: dict[str, Verdict] = {}
    for name in rung_names(plan):
        own = _verdict(given.get(name))
        found[name] = "waiting" if own == "passed" and blocking else own
        blocking = blocking or ("" if found[name] in ("passed", "waived") else name)
    return found


def _verdict(rung: Rung | None) -> Verdict:
    if rung is None:
        return "open"
    bare = rung.rung in RUNGS and any(check.pass_if is None and check.measured is not None for check in rung.checks)
    about = entry("rungs", rung.rung or "") if bare else None
    verdicts = [check_verdict(check, default_limit(about, check.metric)) for check in rung.checks]
    if "failed" in verdicts or rung.status == "failed":
        return "failed"
    if rung.status == "waived":
        return "waived" if rung.reason else "open"
    return "passed" if verdicts and set(verdicts) == {"passed"} else "open"


def default_limit(about: Entry | None, metric: str | None) -> str:
    """The threshold that a rung has for a metric where the plan gives none; empty where it has none either."""
    fact = about.get(f"checks.{metric}") if about else None
    return str(fact.value) if fact else ""


def check_verdict(check: Check, default: str = "") -> Literal["open", "passed", "failed"]:
    """Measured against its threshold, or the default where it gives none; open without either."""
    limit = threshold(default if check.pass_if is None else check.pass_if)
    if limit is None or check.measured is None:
        return "open"
    return "passed" if limit.met(check.measured) else "failed"


def _rung_state(name: str, rung: Rung | None, verdicts: Mapping[str, Verdict]) -> RungState:
    own = name not in RUNGS
    about = cast("Entry", entry("rungs", rung.after or "" if own and rung else name))
    checks, left_out = _checks(None if own else about, rung)
    return RungState(
        name,
        int(about["number"].value),
        name if own else about.title,
        (rung.question if rung and own else None) or ("" if own else about.note),
        "" if own else str(about["feeds"].value),
        tuple(about["covers"].value),
        checks,
        rung.status if rung else "open",
        (rung.reason if rung else None) or "",
        verdicts[name],
        _waits_for(name, verdicts),
        left_out,
        own,
    )


def _waits_for(name: str, verdicts: Mapping[str, Verdict]) -> str:
    """The first rung before this one that has not passed; empty where there is none."""
    names = list(verdicts)
    return next((one for one in names[: names.index(name)] if verdicts[one] not in ("passed", "waived")), "")


def _checks(about: Entry | None, rung: Rung | None) -> tuple[tuple[CheckState, ...], tuple[str, ...]]:
    """The checks of a rung, and the default ones that its own list leaves out."""
    facts = about.facts if about else {}
    defaults = {
        key.removeprefix("checks."): str(fact.value) for key, fact in facts.items() if key.startswith("checks.")
    }
    own = rung.checks if rung else ()
    checks = own or tuple(Check(metric=name, pass_if=text) for name, text in defaults.items())
    metrics = {check.metric for check in checks}
    return tuple(_check_state(about, check) for check in checks), tuple(
        name for name in defaults if name not in metrics
    )


def _check_state(about: Entry | None, check: Check) -> CheckState:
    metric = check.metric or ""
    fact, meaning = (about.get(f"{kind}.{metric}") if about else None for kind in ("checks", "meaning"))
    default = default_limit(about, metric)
    return CheckState(
        metric,
        check.pass_if or ("" if check.pass_if is not None else default),
        check.measured,
        check.evidence or "",
        default,
        fact.source if fact else "",
        str(meaning.value) if meaning else "",
        check_verdict(check, default),
        check.pass_if is None and bool(default),
    )
