"""What a finding offers, tried before it is said: the changed plan is estimated and checked as the plan itself is.

A fix is text that can be typed, so what is tried is what is printed. A change holds if the finding goes or gets lighter and no
error comes that was not there; a warning that comes is named beside it. Where none holds, the one that comes nearest is named
with what stands in its way. Words without a value ("fewer microbatches") are kept as they are: they say a direction, and no plan.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final

from pydantic import BaseModel

from trainplan.alternatives.changes import Change, single_changes
from trainplan.alternatives.reverse import changed
from trainplan.alternatives.walk import walk
from trainplan.estimation import Estimate, estimate
from trainplan.finding import ORDER, Finding
from trainplan.frozen import record
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked
from trainplan.quantity.unit import parse

Judge = Callable[[Estimate], tuple[Finding, ...]]
"""All findings of an estimate, their fixes not tried."""

VALUE: Final = r'"[^"]*"|[\w.,-]*\w'
WRITTEN: Final = re.compile(rf"([a-z_.]+) = ({VALUE})((?: or (?:{VALUE})(?= |,|$)(?! =))*)")
COUNT: Final = r"\d[\d,]*(?:\.\d+)?[kMGBTP]?"
COUNTED: Final = re.compile(rf"({COUNT}(?: or {COUNT})*) (spare nodes?|nodes?|sequences|train tokens)(?=$|[ ,])")
COUNTS: Final = {
    "spare node": "reliability.spare_nodes",
    "node": "cluster.nodes",
    "sequence": "batch.global_batch_sequences",
    "train token": "data.train_tokens",
}
"""Fields that a fix names by what they count, an alternative that begins with the number: `9 or 12 nodes`."""
APART: Final = re.compile(r", or | or (?=[a-z_.]+ = )")
TABLES: Final = ("parallelism", "training", "batch", "model", "data")
"""Tables in which a field named by its last word is looked for first."""

JUDGED_BY: Final = {
    "memory": ("memory.total",),
    "parallelism": ("parallelism.predicted_step_time",),
    "compute": ("compute.wall_time", "parallelism.predicted_step_time"),
    "storage": ("storage.peak",),
    "reliability": ("reliability.goodput",),
    "evaluation": ("evaluation.accelerator_hours",),
}
"""What a budget's findings wait for: where one is blocked, nothing was judged and nothing that is found later is new."""

GONE: Final = ("C8", "C14")
"""Findings whose fix has to leave none of them: a deadline that is met at this rate and seldom kept is not met yet.
"""

MOST: Final = 3
"""Changes that M1 names at most, the cheapest in accelerator time."""


MOST_DOUBLINGS: Final = 4
"""Doublings of the nodes that are tried where no layout fits on those of the plan."""

NEAREST: Final = "nothing tried holds; nearest is "
"""How a fix begins that is none yet: the change after it brings an error."""


NONE: Final = "no single change that was tried makes it right"


@record
class Outcome:
    """What came of a change: whether its finding is lighter, and the findings that came with it, the worst first."""

    text: str
    helps: bool
    brought: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether it may be offered."""
        return self.helps and not any(one.severity == "error" for one in self.brought)

    @property
    def said(self) -> str:
        """The change, with the warnings that come with it."""
        codes = ", ".join(dict.fromkeys(one.code for one in self.brought))
        return f"{self.text}, which brings {codes}" if codes else self.text


def names_a_value(fix: str) -> bool:
    """Whether a fix names a value that can be tried."""
    return WRITTEN.search(fix) is not None or any(COUNTED.match(part) for part in APART.split(fix))


def tried_fix(finding: Finding, here: Estimate, found: tuple[Finding, ...], judge: Judge) -> Finding:
    """The finding with what holds of its fix. `found` are the findings of the estimate `here`, their fixes not tried.

    Where the fix of M1 is another field than the one that holds the most, that field decides: it stands first in `paths`.
    """
    if not finding.untried:
        return finding
    attempts = _Attempts(finding, here, found, judge)
    if finding.code != "M1":
        return replace(finding, fix=_parts_that_hold(attempts, finding.untried), untried="")
    fix, decides = _changes_that_fit(attempts)
    return replace(finding, fix=fix, untried="", paths=tuple(dict.fromkeys((*decides, *finding.paths))))


@record
class _Attempts:
    """One finding of one plan, whose changes are asked about."""

    finding: Finding
    here: Estimate
    found: tuple[Finding, ...]
    judge: Judge

    def of(self, text: str, fields: dict[str, Any]) -> Outcome:
        """What comes of some fields set together."""
        after = self.judge(estimate(changed(self.here.plan, fields), self.here.today))
        return Outcome(text, self._lighter(after), tuple(self._brought(after)))

    def _lighter(self, after: tuple[Finding, ...]) -> bool:
        same = [one for one in after if one.code == self.finding.code and one.paths == self.finding.paths]
        if self.finding.code in GONE:
            return not same
        return all(_heaviness(one) < _heaviness(self.finding) for one in same)

    def _brought(self, after: tuple[Finding, ...]) -> Iterator[Finding]:
        """Errors and warnings that the plan had not, or had more lightly, in budgets that could be judged before."""
        known = _worst(self.found)
        for one in after:
            if one.severity == "info" or ORDER[one.severity] >= known.get(one.code, len(ORDER)):
                continue
            keys = JUDGED_BY.get(one.budget, ())
            if not any(isinstance(self.here.quantities.get(key), Blocked) for key in keys):
                yield one


def _heaviness(finding: Finding) -> tuple[int, float]:
    return -ORDER[finding.severity], finding.weight


def _worst(found: tuple[Finding, ...]) -> dict[str, int]:
    """The severity of each code; findings come with the worst first."""
    worst: dict[str, int] = {}
    for one in found:
        worst.setdefault(one.code, ORDER[one.severity])
    return worst


def _changes_that_fit(attempts: _Attempts) -> tuple[str, tuple[str, ...]]:
    """M1: the least costly single changes that fit and hold, by how much each makes a step longer, and the field of the first."""
    here, over = attempts.here, attempts.finding.severity == "error"
    outcomes: list[Outcome] = []
    decides: tuple[str, ...] = ()
    for change in single_changes(here.plan, 1.0 if over else float(here.situation["memory.target_fraction"])):
        first = not any(one.holds for one in outcomes)
        outcomes.append(attempts.of(what_it_costs(change, first), {change.path: change.value}))
        decides = decides or ((change.path,) if outcomes[-1].holds else ())
        if sum(one.holds for one in outcomes) == MOST:
            break
    if not outcomes:
        return _layout_that_fits(attempts), ()
    holding = [one.said for one in outcomes if one.holds]
    return "fits with " + " or ".join(holding) if holding else _nearest(outcomes), decides


def _layout_that_fits(attempts: _Attempts) -> str:
    """The layout of the decision flow, where no single change fits: on the plan's nodes, else on the fewest doublings of them."""
    plan = attempts.here.plan
    for doublings in range(MOST_DOUBLINGS + 1):
        more: dict[str, Any] = {"cluster.nodes": int(plan.cluster.nodes or 1) * 2**doublings} if doublings else {}
        laid = changed(plan, more)
        proposed = walk(laid)
        if proposed is None or proposed.trial is None:
            continue
        fields = {**more, **proposed.differs(laid)}
        text = " and ".join(f"{path.rsplit('.', 1)[-1]} = {_written(value)}" for path, value in fields.items())
        outcome = attempts.of(f"{text} ({(proposed.trial.total or 0.0) / 2**30:,.1f} GiB)", fields)
        return (
            f"no single change fits; the walk fits with {outcome.said}"
            if outcome.holds
            else _nearest([outcome]) or NONE
        )
    return f"no single change fits, and no layout of the walk does on {2**MOST_DOUBLINGS} times the nodes"


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def what_it_costs(change: Change, first: bool) -> str:
    """A change with what the worst rank holds then and what a step costs more; the first one says of what."""
    what = " accelerator time" if first else ""
    cost = f"the same{what}" if change.costs_nothing else f"{100 * change.cost:+.0f} %{what}"
    return f"{change.text} ({change.total / 2**30:,.1f} GiB, {cost})"


def _parts_that_hold(attempts: _Attempts, fix: str) -> str:
    kept: list[str] = []
    failed: list[Outcome] = []
    for part in APART.split(fix):
        outcomes = [attempts.of(text, fields) for text, fields in ways(part, attempts.finding.paths)]
        good = [one for one in outcomes if one.holds]
        failed += [one for one in outcomes if not one.holds and one.helps]
        if not outcomes or (len(good) == len(outcomes) and not any(one.brought for one in good)):
            kept.append(part)
        else:
            kept += [one.said for one in good]
    return ", or ".join(kept) or _nearest(failed) or NONE


def _nearest(outcomes: list[Outcome]) -> str:
    """The change with the fewest and lightest errors, and what would have to be solved with it."""
    helping = [one for one in outcomes if one.helps]
    if not helping:
        return ""
    best = min(helping, key=lambda one: [_heaviness(each) for each in one.brought if each.severity == "error"])
    error = next(one for one in best.brought if one.severity == "error")
    return f"{NEAREST}{best.text}, but then {error.code}: {error.message}"


def ways(part: str, paths: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each combination of the values that one alternative names: as it is typed, and by path."""
    counted = COUNTED.match(part)
    if counted is not None:
        for count in counted[1].split(" or "):
            path = COUNTS[counted[2].removesuffix("s")]
            own = next((one for one in paths if one.rsplit(".", 1)[-1] == path.rsplit(".", 1)[-1]), path)
            yield f"{count} {counted[2]}", {own: _number(count)}
        return
    offered: list[list[tuple[str, str]]] = []
    for name, first, others in WRITTEN.findall(part):
        offered.append([(name, value) for value in (first, *re.findall(rf" or ({VALUE})", others))])
    for one in product(*offered) if offered else ():
        fields = _fields(one, paths)
        if fields:
            yield " and ".join(f"{name} = {value}" for name, value in one), fields


def _fields(written: tuple[tuple[str, str], ...], paths: tuple[str, ...]) -> dict[str, Any]:
    """The values that a combination names, by path; empty where one of them is no value of its field: nothing is tried then."""
    found: dict[str, Any] = {}
    for name, text in written:
        try:
            path = path_of(name, paths)
        except LookupError:
            return {}
        found[path] = _valid(path, text)
    return {} if None in found.values() else found


def _valid(path: str, text: str) -> Any:
    """The value of a field of a table as the plan format reads it; None where it is none, and then nothing is tried."""
    table, _, field = path.partition(".")
    kind = Plan.model_fields[table].annotation
    if "." in field or not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return None
    try:
        return getattr(kind.model_validate({field: _value(text)}), field)
    except ValueError:  # what is no value, and what the table refuses
        return None


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return dt.date.fromisoformat(text)
    return text.strip('"') if text.startswith('"') else _number(text)


def _number(text: str) -> float:
    """A number as a fix prints it, with commas or a prefix; whole ones are whole."""
    value = parse(text.replace(",", ""), "tokens")
    return int(value) if value.is_integer() else value


def path_of(name: str, paths: tuple[str, ...] = ()) -> str:
    """The path of a field of which a fix writes the last word. Raises LookupError."""
    if "." in name:
        return name
    own = next((path for path in paths if path.rsplit(".", 1)[-1] == name), None)
    if own is not None:
        return own
    tables = sorted(Plan.model_fields, key=lambda table: TABLES.index(table) if table in TABLES else len(TABLES))
    for table in tables:
        kind = Plan.model_fields[table].annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            return f"{table}.{name}"
    raise LookupError(f"{name} is no field of a plan")
