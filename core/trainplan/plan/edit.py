"""One edit: the text of a plan, a path as people write it and a typed value give the next text and the next plan.

The text is the state: only the edited value's span changes. What the edit would make unusable is said, and the old text stays.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any, Final, cast

from trainplan.frozen import record
from trainplan.plan.describe import annotation_of, is_text
from trainplan.plan.faults import known_fields, nearest_name, unknown_end
from trainplan.plan.literals import literal_of
from trainplan.plan.places import scan
from trainplan.plan.plan import Plan
from trainplan.plan.read import PlanError, UnknownPath, Unusable, dotted, plan_of_text
from trainplan.plan.splice import remove_value, set_value
from trainplan.plan.tree import SpliceError
from trainplan.quantity.unit import whole_number

PathOf = tuple[str | int, ...]

ENTRY_NAMES: Final = {
    "sources": "name",
    "stages": "name",
    "tasks": "task",
    "pilot": "rung",
    "readiness": "item",
    "checks": "metric",
}


@record
class Edited:
    """The text and the plan after an edit."""

    text: str
    plan: Plan


def literal_of_typed(typed: str) -> str:
    """TOML source for what a person typed: itself when it is TOML, else a string of it. `.18` is 0.18."""
    if re.fullmatch(r"\.\d+", typed.strip()):
        return f"0{typed.strip()}"
    try:
        parsed = tomllib.loads(f"x = {typed}")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return literal_of(typed)
    return typed.strip() if list(parsed) == ["x"] else literal_of(typed)


def resolve(path: str, plan: Plan) -> PathOf:
    """The keys and indices of a dotted path; list entries go by name, else by index from 0. Raises UnknownPath."""
    parts = path.split(".")
    found: list[str | int] = []
    value: Any = plan
    for depth, part in enumerate(parts):
        if isinstance(value, tuple):
            index = _entry(cast("tuple[Any, ...]", value), str(found[-1]), part)
            if index is None:
                raise UnknownPath(*_no_entry(cast("tuple[Any, ...]", value), str(found[-1]), part))
            found.append(index)
            value = cast("tuple[Any, ...]", value)[index]
            continue
        _known(found, part, parts, depth)
        found.append(part)
        value = getattr(value, part, None)
    return tuple(found)


def _known(found: Sequence[str | int], part: str, parts: Sequence[str], depth: int) -> None:
    if found and found[-1] in ("weights", "covers"):
        return
    known = known_fields(tuple(found))
    if part in known:
        return
    name = ".".join(parts[: depth + 1])
    nearest, end = unknown_end(part, tuple(found))
    raise UnknownPath(f"unknown field {name}{end}", nearest)


def _entry(entries: tuple[Any, ...], table: str, part: str) -> int | None:
    field = ENTRY_NAMES.get(table, "name")
    for index, entry in enumerate(entries):
        if getattr(entry, field, None) == part:
            return index
    place = whole_number(part)
    return place if place is not None and place < len(entries) else None


def _no_entry(entries: tuple[Any, ...], table: str, part: str) -> tuple[str, str]:
    names = [str(name) for name in (getattr(entry, ENTRY_NAMES.get(table, "name"), None) for entry in entries) if name]
    nearest = nearest_name(part, names)
    end = f". Nearest: {nearest}" if nearest else f". There are {len(entries)}"
    return f"no entry {part} in {table}{end}", nearest


def edited(text: str, plan: Plan, path: str, typed: str, file: str = "plan.toml") -> Edited:
    """The text and plan with a field's box filled with what was typed. Raises UnknownPath or Unusable."""
    return with_literal(text, resolve(path, plan), literal_for(path, typed), file)


def literal_for(path: str, typed: str) -> str:
    """TOML source for what was typed into the box of a field: text is text, `yes` is true, the rest as on the command line."""
    kind = annotation_of(path)
    if kind is bool and typed.strip().lower() in _FLAGS:
        return _FLAGS[typed.strip().lower()]
    if is_text(kind):
        return literal_of(typed)
    return literal_of_typed(typed)


_FLAGS: Final = {"yes": "true", "no": "false", "true": "true", "false": "false"}


def with_literal(text: str, path: PathOf, literal: str, file: str = "plan.toml") -> Edited:
    """The text and plan with the value at resolved keys set to TOML source. Raises Unusable."""
    after = _spliced(text, path, literal, file)
    return Edited(after, plan_of_text(after, file))


def _spliced(text: str, path: PathOf, literal: str, file: str) -> str:
    try:
        return set_value(text, path, literal)
    except SpliceError as error:
        raise Unusable((PlanError(file, 1, 1, dotted(path), str(error), ""),)) from None


def without(text: str, plan: Plan, path: str, file: str = "plan.toml") -> Edited:
    """The text and plan with the field taken out, so that its default holds again. Raises Unusable.

    They are the same where it is not written.
    """
    keys = resolve(path, plan)
    try:
        after = remove_value(text, keys)
    except SpliceError as error:
        if written_place(text, keys) is None:
            return Edited(text, plan)
        raise Unusable((PlanError(file, 1, 1, dotted(keys), str(error), ""),)) from None
    return Edited(after, plan_of_text(after, file))


def set_all(text: str, plan: Plan, assignments: Sequence[str], file: str = "plan.toml") -> Edited:
    """All of `PATH=VALUE` as one edit: only the last state has to be a usable plan. Raises Unusable placed at `--set:N:`."""
    after, errors = text, list[PlanError]()
    touched: dict[PathOf, int] = {}
    for number, assignment in enumerate(assignments, 1):
        path, equals, value = assignment.partition("=")
        if not equals:
            errors.append(_wrong(number, 1, path, "no '='. PATH=VALUE, such as parallelism.tensor=2"))
            continue
        if not path.strip():
            errors.append(_wrong(number, 1, path, "no field before '='. PATH=VALUE, such as parallelism.tensor=2"))
            continue
        try:
            keys = resolve(path.strip(), plan)
        except UnknownPath as error:
            errors.append(_wrong(number, 1, path, str(error), error.nearest))
            continue
        touched[keys] = number
        try:
            after = set_value(after, keys, literal_of_typed(value.strip()))
        except SpliceError as error:
            errors.append(_wrong(number, 1, path, str(error)))
    try:
        found = Edited(after, plan_of_text(after, file))
    except Unusable as error:
        errors += [_moved(item, touched, assignments) for item in error.errors]
    else:
        if not errors:
            return found
    raise Unusable(tuple(sorted(errors, key=_argument))) from None


def _argument(error: PlanError) -> tuple[int, int]:
    """Errors of arguments in their order, then those of the file."""
    return (0, error.line) if error.file == "--set" else (1, error.line)


def _wrong(number: int, column: int, path: str, message: str, fix: str = "") -> PlanError:
    return PlanError("--set", number, column, path.strip(), message, fix)


def _moved(error: PlanError, touched: dict[PathOf, int], assignments: Sequence[str]) -> PlanError:
    """An error inside a value that was set is placed at its `--set`, with the column in the argument."""
    for keys, number in touched.items():
        if error.path == dotted(keys) or error.path.startswith(dotted(keys) + "."):
            return _wrong(number, assignments[number - 1].index("=") + 2, error.path, error.message, error.fix)
    return error


def written_place(text: str, path: PathOf) -> int | None:
    """The line on which a field is written, from 1, or None when it is not."""
    places = scan(text)
    span = places.value(path)
    return places.place(span).line if span is not None else None
