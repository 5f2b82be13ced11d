"""What a field is, in its own sentence: for help, the inspector and the JSON Schema. Written once, in the tables."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

from trainplan.catalogue import names
from trainplan.plan.faults import table_in
from trainplan.plan.plan import Plan
from trainplan.plan.tables import Table


def sentence_of(path: str) -> str:
    """The sentence of the field at a dotted path; empty where there is none."""
    table: type[Table] | None = Plan
    sentence = ""
    for part in path.split("."):
        info = table.model_fields.get(part) if table is not None else None
        if info is None:
            continue
        sentence = info.description or ""
        table = table_in(info.annotation)
    return sentence


def annotation_of(path: str) -> Any:
    """What pydantic holds of the field at a dotted path, without `| None`; None where there is no such field."""
    table: type[Table] | None = Plan
    annotation: Any = None
    for part in path.split("."):
        info = table.model_fields.get(part) if table is not None else None
        if info is None:
            continue
        annotation, table = info.annotation, table_in(info.annotation)
    return _without_none(annotation)


def _without_none(annotation: Any) -> Any:
    inner = [part for part in get_args(annotation) if part is not type(None)]
    optional = get_origin(annotation) in (UnionType, Union) and len(inner) == 1
    return inner[0] if optional else annotation


def is_text(annotation: Any) -> bool:
    """Whether a field is text or one of some words."""
    if get_origin(annotation) is Annotated:
        return is_text(get_args(annotation)[0])
    return annotation is str or (get_origin(annotation) is Literal and isinstance(get_args(annotation)[0], str))


def words_of(path: str) -> tuple[str, ...]:
    """The words that a field may be, `yes` and `no` for a flag, empty where it is not a choice."""
    annotation = annotation_of(path)
    if annotation is bool:
        return ("yes", "no")
    if get_origin(annotation) is Literal:
        return tuple(str(word) for word in get_args(annotation))
    return ()


NAMED: Final = (
    ("Model", "preset", "models"),
    ("Cluster", "accelerator", "accelerators"),
    ("EvaluationTask", "task", "tasks"),
)
"""Fields that name an entry of the catalogue."""


def schema() -> dict[str, Any]:
    """JSON Schema of the plan file."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        """Writes a default that JSON can carry in place of our quantities."""

        def encode_default(self, dft: Any) -> Any:
            return _plain(dft) if isinstance(dft, float) else super().encode_default(dft)

    described = Plan.model_json_schema(schema_generator=Generator)
    for table, field, kind in NAMED:
        described["$defs"][table]["properties"][field]["anyOf"][0] = {"enum": list(names(kind))}
    described["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    described["title"] = "trainplan-tui plan, format 1"
    return cast("dict[str, Any]", _plain(described))


def _plain(value: Any) -> Any:
    """Defaults as plain numbers, so that JSON can carry them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return float(value) if isinstance(value, float) else value
