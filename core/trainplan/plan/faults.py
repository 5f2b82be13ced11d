"""What is wrong with parsed TOML, in our words: one fault for each error, with the nearest known name or fix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from trainplan.catalogue import names
from trainplan.frozen import frozen
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

PathOf = tuple[str | int, ...]


@frozen
class Fault:
    """One thing that makes a plan unusable: its path, the sentence, the nearest fix, and what its place is."""

    path: PathOf
    message: str
    fix: str
    at: Literal["key", "value", "header"] = "value"


def faults_of(error: ValidationError, data: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Every fault of a validation, in our words."""
    return tuple(_fault(item, data) for item in error.errors(include_url=False))


def _fault(item: ErrorDetails, data: Mapping[str, Any]) -> Fault:
    path: PathOf = tuple(part for part in item["loc"] if part != "[key]")
    kind, context = item["type"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(path)
    field = str(path[-1]) if path else "plan"
    if path and isinstance(path[-1], int):
        field = f"{path[-2]}[{path[-1]}]"
    elif len(path) > 1 and path[-2] == "weights":
        field = f"weight of {field}"
    elif len(path) > 1 and field in _SHORT:
        field = f"{path[-2]}.{field}"
    if kind == "missing":
        return Fault(path, f"{field} is missing. format = 1 is the first line of a plan", "format = 1", "header")
    if kind == "refused":
        return _said(path, field, item["input"], str(context["wanted"]), str(context["nearest"]))
    if kind == "literal_error":
        return _choice(path, field, item["input"], str(context["expected"]))
    return _said(path, field, item["input"], _WANTED.get(kind, _wanted(kind, context)), "")


_SHORT: Final = ("value", "low", "high", "source", "date", "start", "budget", "schedule", "optimizer", "mode")
"""Names that say nothing without their table."""

_WANTED: Final = {
    "string_type": "Text in quotes",
    "bool_type": "Only true or false",
    "date_type": "A date such as 2026-12-07",
    "date_from_datetime_inexact": "A date such as 2026-12-07",
    "datetime_type": "A time with an offset such as 2026-12-07T10:00:00Z",
    "model_type": "A table",
    "dict_type": "A table",
    "tuple_type": "A list",
    "float_type": "A number",
    "finite_number": "A finite number",
}

_PATTERNS: Final = {
    "name": "A name without dot, quote or control character",
    "currency": "A word of letters such as USD",
    "sha256": "64 hexadecimal digits",
    "tokenizer_sha256": "64 hexadecimal digits",
    "pass_if": "A comparison such as <= 0.10",
}


def _wanted(kind: str, context: Mapping[str, Any]) -> str:
    if kind == "string_too_short":
        return "A text that is not empty"
    if kind == "string_too_long":
        return f"A text of at most {context['max_length']} characters"
    return ""


def _said(path: PathOf, field: str, found: Any, wanted: str, nearest: str) -> Fault:
    wanted = wanted or _PATTERNS.get(field, "Another value")
    end = f"; nearest: {nearest}" if nearest else ""
    return Fault(path, f"{field} is {shown(found)}{_join(wanted)}{end}", nearest)


def _join(wanted: str) -> str:
    """`not a whole number. ...` goes on after a comma, a sentence of its own after a full stop."""
    return f", {wanted}" if wanted[:1].islower() else f". {wanted}"


def _choice(path: PathOf, field: str, found: Any, expected: str) -> Fault:
    known = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
    nearest = nearest_name(str(found), known) if isinstance(found, str) else ""
    end = f"; nearest: {nearest}" if nearest else ""
    one = f"One of {', '.join(known)}" if len(known) > 1 else f"Only {known[0]}"
    return Fault(path, f"{field} is {shown(found)}. {one}{end}", nearest)


def _unknown(path: PathOf) -> Fault:
    nearest, end = unknown_end(str(path[-1]), path[:-1])
    name = ".".join(str(part) for part in path)
    what = "table" if len(path) == 1 and nearest in known_tables() else "field"
    return Fault(path, f"unknown {what} {name}{end}", nearest, "key")


def unknown_end(name: str, table: PathOf) -> tuple[str, str]:
    """The nearest field of a name that a table has not, and how the sentence on it ends."""
    from trainplan.plan.othernames import TOLD

    path, told = TOLD.get(_word(name), ("", ""))
    nearest = _from(table, path) if told else nearest_field(name, table)
    return nearest, (f". {told}" if told else "") + (_known_end(nearest, table) if nearest or not told else "")


def _known_end(nearest: str, table: PathOf) -> str:
    """The nearest name; else all tables, or the first fields and how many more."""
    listed = _listed(known_fields(table), FIELDS) if table else _listed(known_tables())
    return f". Nearest: {nearest}" if nearest else listed


def _listed(known: tuple[str, ...], most: int | None = None) -> str:
    """The first of what is known, and how many more."""
    more = f" and {len(known) - most} more" if most and len(known) > most else ""
    return f". Known here: {', '.join(known[:most])}{more}" if known else ""


FIELDS: Final = 12
"""Fields of a table that a sentence lists."""


def known_tables() -> tuple[str, ...]:
    """Names of the plan's tables."""
    return tuple(name for name, info in Plan.model_fields.items() if table_in(info.annotation) is not None)


def known_fields(path: PathOf) -> tuple[str, ...]:
    """Fields of the table at a path; empty where there is no table."""
    table: type[Table] | None = Plan
    for part in path:
        if isinstance(part, int) or table is None:
            continue
        info = table.model_fields.get(part)
        table = table_in(info.annotation) if info is not None else None
    return tuple(table.model_fields) if table is not None else ()


def table_in(annotation: Any) -> type[Table] | None:
    """The table that an annotation holds, or None."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    for part in get_args(annotation):
        found = table_in(part)
        if found is not None:
            return found
    return None


def nearest_field(name: str, table: PathOf) -> str:
    """This table's field by another program's name, another table's by its own or another program's, or the closest here."""
    from trainplan.plan.othernames import ALIASES, HERE

    others, known = (*ALIASES.get(_word(name), ()), HERE.get(_word(name), "")), known_fields(table) or known_tables()
    said = next((here for path in others if (here := _from(table, path)) != path), "")
    alike = (one for one in known if len(one) == len(name) and sum(a != b for a, b in zip(one, name, strict=True)) == 1)
    slip = "" if _word(name) in ALIASES else next(alike, "")
    return said or slip or _elsewhere(name) or nearest_name(name, known)


def _elsewhere(name: str) -> str:
    """`data.sequence_length` for a `sequence_length` written in another table, by its own name or another program's."""
    from trainplan.plan.othernames import ALIASES

    tables = [(table,) for table in known_tables()]
    tables += [("model", inner) for inner in known_fields(("model",)) if known_fields(("model", inner))]
    paths = {path for table in tables for path in (".".join((*table, field)) for field in known_fields(table))}
    same = [path for path in sorted(paths) if path.rpartition(".")[2] == name]
    return next((path for path in (*same, *ALIASES.get(_word(name), ())) if path in paths), "")


def _from(table: PathOf, path: str) -> str:
    """A field's path as it is told inside a table: its name alone where it stands there."""
    home = ".".join(str(part) for part in table if not isinstance(part, int))
    return path.rpartition(".")[2] if path.rpartition(".")[0] == home else path


def nearest_name(found: str, known: Iterable[str]) -> str:
    """The one known name that is close to what was found, or empty; hyphen and underscore count as the same."""
    from difflib import get_close_matches

    from trainplan.plan.othernames import ALIASES

    plain = {name.lower().replace("_", "-"): name for name in known}
    others = (path.rpartition(".")[2] for path in ALIASES.get(_word(found), ()))
    said = next((one for one in others if one in plain.values()), "")
    if said:
        return said
    same = [name for name in plain if _parts(name) == _parts(found.lower().replace("_", "-").replace(" ", "-"))]
    if same:
        return plain[same[0]]
    wanted = found.lower().replace("_", "-")
    match = get_close_matches(wanted, list(plain), n=1, cutoff=0.55)
    longer = sorted(name for name in plain if name.startswith(f"{wanted}-"))
    if longer and not (match and match[0].startswith(wanted)):  # `h200` is an h200-sxm sooner than an h20
        return plain[longer[-1]]
    return plain[match[0]] if match else ""


def _word(name: str) -> str:
    return name.lower().replace("-", "_")


def _parts(name: str) -> frozenset[str]:
    """Words of a name in any order, sizes without their unit: an A100-SXM4-80GB is an a100-sxm-80."""
    words = (word.rstrip("gb") if word[:1].isdigit() else word for word in name.split("-"))
    return frozenset("sxm" if word.startswith("sxm") else word for word in words if word != "nvidia")


def shown(value: Any) -> str:
    """A found value as TOML writes it, cut to a line's worth."""
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else _plain(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(cast('list[Any]', value))}"
    return str(value)


def reference_faults(plan: Plan) -> tuple[Fault, ...]:
    """Names that the plan refers to and nothing has: catalogue entries, sources of stages; and names used twice."""
    return (*_catalogue_faults(plan), *_twice(plan), *_weight_faults(plan))


def _catalogue_faults(plan: Plan) -> list[Fault]:
    named: list[tuple[PathOf, str, str | None]] = [
        (("model", "preset"), "models", plan.model.preset),
        (("cluster", "accelerator"), "accelerators", plan.cluster.accelerator),
    ]
    tasks = ((("evaluation", "tasks", i, "task"), "tasks", task.task) for i, task in enumerate(plan.evaluation.tasks))
    return [
        _no_entry(path, kind, name)
        for path, kind, name in (*named, *tasks)
        if name is not None and name not in names(kind)
    ]


def _no_entry(path: PathOf, kind: str, name: str) -> Fault:
    nearest = nearest_name(name, names(kind))
    end = f". Nearest: {nearest}" if nearest else _listed(names(kind), FIELDS)
    return Fault(path, f'{path[-1]} is "{name}", not in the catalogue of {kind}{end}', nearest)


def _twice(plan: Plan) -> list[Fault]:
    faults: list[Fault] = []
    lists: tuple[tuple[PathOf, str, list[str | None]], ...] = (
        (("data", "sources"), "name", [source.name for source in plan.data.sources]),
        (("data", "stages"), "name", [stage.name for stage in plan.data.stages]),
        (("pilot",), "rung", [rung.rung for rung in plan.pilot]),
        (("readiness",), "item", [item.item for item in plan.readiness]),
    )
    for path, field, found in lists:
        for index, name in enumerate(found):
            if name is not None and name in found[:index]:
                noun = str(path[-1]).removesuffix("s") if path[0] == "data" else path[0]
                faults.append(
                    Fault((*path, index, field), f'two {noun} entries are called "{name}". Names are unique', "")
                )
    return faults


def _weight_faults(plan: Plan) -> list[Fault]:
    known = [source.name for source in plan.data.sources if source.name is not None]
    faults: list[Fault] = []
    for index, stage in enumerate(plan.data.stages):
        for name in stage.weights or {}:
            if name not in known:
                nearest = nearest_name(name, known)
                end = f". Nearest: {nearest}" if nearest else ". No source has that name"
                path: PathOf = ("data", "stages", index, "weights", name)
                faults.append(
                    Fault(
                        path,
                        f"unknown source {name} in the weights of stage {stage.name or index}{end}",
                        nearest,
                        "key",
                    )
                )
    return faults
