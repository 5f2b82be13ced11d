"""Edits of the ladder in a plan's text: a measured value, its evidence, another threshold, a waiver; each one edit.

A rung that the plan leaves out is written with its default checks first, so that nothing it asked for is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainplan.plan.edit import Edited
from trainplan.plan.faults import nearest_name
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.read import PlanError, UnknownPath, Unusable, plan_of_text
from trainplan.plan.splice import append_entry, remove_entry, remove_value, set_value
from trainplan.plan.tree import SpliceError
from trainplan.quantity.unit import UnitError, parse
from trainplan.review.ladder import RUNGS, CheckState, ladder, rung_names, threshold

FIELDS: Final = ("measured", "pass_if", "evidence")
"""Fields of a check that a person fills in."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is written into one check: a value, the file that shows it, or another threshold; None leaves it alone."""

    measured: float | None = None
    evidence: str | None = None
    pass_if: str | None = None


def is_check(path: str) -> bool:
    """Whether a plan path is a field of a rung's check: `pilot.one-node.checks.bus_bandwidth_ratio.measured`."""
    parts = path.split(".")
    return len(parts) == 5 and parts[0] == "pilot" and parts[2] == "checks" and parts[4] in FIELDS


def edited_check(text: str, plan: Plan, path: str, typed: str, file: str) -> Edited:
    """The text with a field of a check filled with what was typed; empty takes it out. Raises Unusable or UnknownPath."""
    _, rung, _, metric, field = path.split(".")
    if not typed.strip() and field != "pass_if":
        return _without(text, plan, rung, metric, field, file)
    if not typed.strip():
        one = _check_of(plan, rung, metric)
        return with_checks(text, plan, rung, {metric: Measurement(pass_if=one.default or one.pass_if)}, file)
    return with_checks(text, plan, rung, {metric: _measurement(path, field, typed.strip(), file)}, file)


def _measurement(path: str, field: str, typed: str, file: str) -> Measurement:
    if field == "evidence":
        return Measurement(evidence=typed)
    if field == "measured":
        return Measurement(measured=_number(path, typed, file))
    if threshold(typed) is None:
        raise _unusable(file, path, f'"{typed}" is no threshold. A sign and a number: <= 0.10, >= 95 % or = 0')
    return Measurement(pass_if=typed)


def _number(path: str, typed: str, file: str) -> float:
    share = typed.endswith("%")
    try:
        return parse(typed.rstrip("% "), "1") / (100.0 if share else 1.0)
    except UnitError:
        raise _unusable(file, path, f'"{typed}" is no measured value. A number, such as 0.97 or 97 %') from None


def with_checks(text: str, plan: Plan, rung: str, found: Mapping[str, Measurement], file: str) -> Edited:
    """The text with values of several checks of one rung. Raises Unusable, and UnknownPath for a rung or check there is not."""
    checks = _checks_of(plan, rung)
    metrics = [check.metric for check in checks]
    for metric in found:
        if metric not in metrics:
            nearest = nearest_name(metric, metrics)
            raise UnknownPath(f"{rung} has no check {metric}" + (f". Nearest: {nearest}" if nearest else ""), nearest)
    try:
        text, place = _with_rung(text, plan, rung, checks)
        for metric, one in found.items():
            text = _with_fields(text, ("pilot", place, "checks", metrics.index(metric)), one)
    except SpliceError as error:
        raise _unusable(file, f"pilot.{rung}", str(error)) from None
    return Edited(text, plan_of_text(text, file))


def _with_fields(text: str, path: tuple[str | int, ...], one: Measurement) -> str:
    for field in FIELDS:
        value = getattr(one, field)
        if value is not None:
            text = set_value(text, (*path, field), literal_of(_plain(value)))
    return text


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _with_rung(text: str, plan: Plan, rung: str, checks: Sequence[CheckState]) -> tuple[str, int]:
    """The text with the rung and all its checks in it, and the rung's place in the list."""
    place = next((index for index, entry in enumerate(plan.pilot) if entry.rung == rung), None)
    if place is None:
        text, place = append_entry(text, ("pilot",), {"rung": literal_of(rung)}), len(plan.pilot)
    elif plan.pilot[place].checks:
        return text, place
    for check in checks:
        items = {"metric": literal_of(check.metric), "pass_if": literal_of(check.pass_if)}
        text = append_entry(text, ("pilot", place, "checks"), items)
    return text, place


def _without(text: str, plan: Plan, rung: str, metric: str, field: str, file: str) -> Edited:
    place = next((index for index, entry in enumerate(plan.pilot) if entry.rung == rung), None)
    own = plan.pilot[place].checks if place is not None else ()
    number = next((index for index, check in enumerate(own) if check.metric == metric), None)
    if number is None or field not in own[number].model_fields_set:
        return Edited(text, plan)
    after = remove_value(text, ("pilot", place or 0, "checks", number, field))
    return Edited(after, plan_of_text(after, file))


def with_check(text: str, plan: Plan, rung: str, metric: str, pass_if: str, file: str) -> Edited:
    """The text with one more check of a rung. Raises Unusable or UnknownPath."""
    checks, path = _checks_of(plan, rung), f"pilot.{rung}.checks.{metric}"
    if not re.fullmatch(r"[a-z0-9_]{1,60}", metric):
        raise _unusable(
            file, path, f'"{metric}" is no name of a check. Small letters, digits and _, such as gradient_spikes'
        )
    if metric in {check.metric for check in checks}:
        raise _unusable(file, path, f"{rung} has a check {metric}")
    if threshold(pass_if) is None:
        raise _unusable(file, path, f'"{pass_if}" is no threshold. A sign and a number: <= 0.10, >= 95 % or = 0')
    text, place = _with_rung(text, plan, rung, checks)
    items = {"metric": literal_of(metric), "pass_if": literal_of(pass_if.strip())}
    after = append_entry(text, ("pilot", place, "checks"), items)
    return Edited(after, plan_of_text(after, file))


def with_rung(text: str, plan: Plan, rung: str, after: str, question: str, check: tuple[str, str], file: str) -> Edited:
    """The text with a rung of the team's own that comes after another, and its first check. Raises Unusable."""
    if rung in rung_names(plan):
        raise _unusable(file, f"pilot.{rung}", f"there is a rung {rung}")
    if after not in RUNGS:
        raise _unusable(file, f"pilot.{rung}", f'"{after}" is none of the seven rungs: {", ".join(RUNGS)}')
    items = {"rung": literal_of(rung), "after": literal_of(after)}
    items |= {"question": literal_of(question)} if question else {}
    try:
        text = append_entry(text, ("pilot",), items)
    except SpliceError as error:
        raise _unusable(file, f"pilot.{rung}", str(error)) from None
    return with_check(text, plan_of_text(text, file), rung, *check, file)


def without_check(text: str, plan: Plan, rung: str, metric: str, file: str) -> Edited:
    """The text without a check of a rung; the last one stays, because a rung without checks has its default ones."""
    checks = _checks_of(plan, rung)
    metrics = [check.metric for check in checks]
    if metrics == [metric]:
        raise _unusable(
            file, f"pilot.{rung}", f"{metric} is the only check of {rung}: without it the defaults come back. W waives"
        )
    if metric not in metrics:
        raise UnknownPath(f"{rung} has no check {metric}", nearest_name(metric, metrics))
    text, place = _with_rung(text, plan, rung, checks)
    after = remove_entry(text, ("pilot", place, "checks", metrics.index(metric)))
    return Edited(after, plan_of_text(after, file))


def with_status(text: str, plan: Plan, rung: str, status: str, reason: str, file: str) -> Edited:
    """The text with a rung waived for a reason, or open again. Raises Unusable or UnknownPath."""
    _checks_of(plan, rung)
    try:
        text, place = _with_rung(text, plan, rung, ())
        text = set_value(text, ("pilot", place, "status"), literal_of(status))
        if reason:
            text = set_value(text, ("pilot", place, "reason"), literal_of(reason))
        elif place < len(plan.pilot) and plan.pilot[place].reason:
            text = remove_value(text, ("pilot", place, "reason"))
    except SpliceError as error:
        raise _unusable(file, f"pilot.{rung}", str(error)) from None
    return Edited(text, plan_of_text(text, file))


def _checks_of(plan: Plan, rung: str) -> tuple[CheckState, ...]:
    known = rung_names(plan)
    if rung not in known:
        raise UnknownPath(f"no rung {rung}. One of {', '.join(known)}", nearest_name(rung, known))
    return next(one.checks for one in ladder(plan) if one.name == rung)


def _check_of(plan: Plan, rung: str, metric: str) -> CheckState:
    found = next((check for check in _checks_of(plan, rung) if check.metric == metric), None)
    if found is None:
        raise UnknownPath(f"{rung} has no check {metric}", "")
    return found


def _unusable(file: str, path: str, message: str) -> Unusable:
    return Unusable((PlanError(file, 1, 1, path, message, ""),))
