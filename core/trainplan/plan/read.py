"""From the text of a plan file to a Plan, or to every error at once with its place and what would be right.

Only what makes a file unusable is an error here: syntax, type, range, unknown fields and names, two sources of one name. What
relates two fields is a finding elsewhere, so that half-made plans open.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trainplan.frozen import frozen, record
from trainplan.plan.faults import Fault, faults_of, reference_faults
from trainplan.plan.plan import Plan
from trainplan.plan.source import PlanSource, SourceError, parse_source, placed, read_source

if TYPE_CHECKING:
    from trainplan.plan.places import Places


@frozen
class PlanError:
    """One error of a file: where, what is wrong with what would be right, and the nearest fix (may be empty).

    Line and column count from 1; they are 0 where no file was read.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{placed(self.file, self.line, self.column)}: {self.message}"


class Unusable(Exception):
    """A file that cannot be used, with all its errors in file order."""

    def __init__(self, errors: tuple[PlanError, ...]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = errors


class UnknownPath(ValueError):
    """A path that names no field of the plan; `nearest` is the nearest that does, or empty."""

    def __init__(self, message: str, nearest: str) -> None:
        super().__init__(message)
        self.nearest = nearest


@record
class Opened:
    """A plan with the text it was read from."""

    plan: Plan
    source: PlanSource


def open_plan(path: Path) -> Opened:
    """Read and validate a plan file. Raises Unusable."""
    try:
        source = read_source(path)
    except SourceError as error:
        raise Unusable((_sourced(error),)) from None
    return Opened(plan_of_text(source.text, str(path)), source)


def plan_of_text(text: str, file: str) -> Plan:
    """The plan that a text says. Raises Unusable with every error and its place in `file`."""
    try:
        data = parse_source(text)
    except SourceError as error:
        fault = _sourced(error)
        raise Unusable((PlanError(file, fault.line, fault.column, "", fault.message, fault.fix),)) from None
    plan, faults = validated(data)
    if plan is None or faults:
        from trainplan.plan.places import scan

        places = scan(text)
        errors = (_placed(fault, places, file) for fault in faults)
        raise Unusable(tuple(sorted(errors, key=lambda error: (error.line, error.column))))
    return plan


def validated(data: Mapping[str, Any]) -> tuple[Plan | None, tuple[Fault, ...]]:
    """The plan of parsed TOML, and every fault with its path; the plan is None when a field itself is wrong."""
    from pydantic import ValidationError

    try:
        plan = Plan.model_validate(data)
    except ValidationError as error:
        faults = faults_of(error, data)
        return None, (*faults, *_besides(data, faults))
    return plan, reference_faults(plan)


def _besides(data: Mapping[str, Any], faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Faults of names in what is left of a plan without its wrong fields, so that all come at once."""
    from copy import deepcopy

    from pydantic import ValidationError

    left = deepcopy(dict(data))
    for fault in faults:
        _leave_out(left, fault.path)
    try:
        plan = Plan.model_validate({**left, "format": 1})
    except ValidationError:  # a wrong field that cannot be left out
        return ()
    nameless = any(_names_a_source(fault.path) for fault in faults)
    return tuple(fault for fault in reference_faults(plan) if not (nameless and "weights" in fault.path))


def _leave_out(data: dict[str, Any], path: tuple[str | int, ...]) -> None:
    """Delete a field in place; a wrong item takes its list along, so that the places of the others stay true."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    table: Any = data
    for part in path[:-1]:
        inside = isinstance(table, list) if isinstance(part, int) else isinstance(table, dict) and part in table
        if not inside:
            return
        table = table[part]
    if path and isinstance(table, dict):
        cast("dict[str, Any]", table).pop(str(path[-1]), None)


def _names_a_source(path: tuple[str | int, ...]) -> bool:
    """Whether without the field the names of all sources are no longer known."""
    return path[:1] == ("data",) and (
        len(path) == 1 or (path[1] == "sources" and path[-1] in ("sources", "name", *path[2:3]))
    )


def _sourced(error: SourceError) -> PlanError:
    return PlanError(str(error.path), error.line, error.column, "", error.message, error.fix)


def _placed(fault: Fault, places: Places, file: str) -> PlanError:
    span = places.key(fault.path) if fault.at == "key" else None
    if span is None and fault.at != "header":
        span = places.value(fault.path)
    if span is None:
        span = places.key(fault.path) or places.header(fault.path)
    place = places.place(span) if span is not None else None
    line, column = (place.line, place.column) if place is not None else (1, 1)
    return PlanError(file, line, column, dotted(fault.path), fault.message, fault.fix)


def dotted(path: tuple[str | int, ...]) -> str:
    """A path as people write it."""
    return ".".join(str(part) for part in path)
