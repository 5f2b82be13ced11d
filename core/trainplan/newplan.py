"""The text of a new plan: what was answered, and in comments what every default means and what is still asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trainplan.plan.describe import sentence_of
from trainplan.plan.edit import literal_of_typed
from trainplan.plan.faults import table_in
from trainplan.plan.literals import literal_of
from trainplan.plan.plan import Plan
from trainplan.plan.skeleton import SOURCES, commented
from trainplan.quantity.unit import Quantity

if TYPE_CHECKING:
    from trainplan.interop.huggingface.config import Imported


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person said of a new plan; None is left open. Numbers are as typed."""

    name: str
    model: str | None = None
    accelerator: str | None = None
    nodes: str | None = None
    train_tokens: str | None = None
    sequence_length: str | None = None
    global_batch: str | None = None
    price: str | None = None


NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "schedule": ("start",),
    "data": ("train_tokens", "sequence_length", "sampler"),
    "batch": ("global_batch_sequences",),
    "cluster": ("accelerator", "nodes", "price_per_accelerator_hour"),
    "utilization": ("value",),
    "storage": ("capacity", "write_bandwidth", "read_bandwidth"),
}
"""Fields that have no default and without which something cannot be computed."""

TABLES: Final = (
    "schedule",
    "data",
    "batch",
    "training",
    "cluster",
    "parallelism",
    "utilization",
    "memory",
    "storage",
    "reliability",
)


def new_plan_text(answers: Answers) -> str:
    """A plan file of the answers. Every default in use, and what was not answered, stands as a comment that says what it is."""
    lines = [
        "# Written by trainplan-tui. A line that begins with # is a default, or a value that nobody has given yet:",
        "# without the # it is the plan's own. Panes and `trainplan-tui check` name what is missing.",
        "format = 1",
        f"name = {literal_of(answers.name)}",
        "",
        "[model]",
        _said("preset", _text(answers.model), "needed. A catalogue entry: trainplan-tui catalog models"),
    ]
    for name in TABLES:
        lines += ["", f"[{name}]", *_table(name, _given(answers).get(name, {}))]
        lines += ["", *SOURCES] if name == "data" else []
    return "\n".join([*lines, ""])


def _given(answers: Answers) -> Mapping[str, Mapping[str, str | None]]:
    """TOML source of the answers by table and field."""
    return {
        "data": {
            "train_tokens": _typed(answers.train_tokens),
            "sequence_length": _typed(answers.sequence_length),
        },
        "batch": {"global_batch_sequences": _typed(answers.global_batch)},
        "cluster": {
            "accelerator": _text(answers.accelerator),
            "nodes": _typed(answers.nodes),
            "price_per_accelerator_hour": _typed(answers.price),
        },
    }


def _table(name: str, given: Mapping[str, str | None]) -> list[str]:
    """What was given, then what is needed and open, then the defaults."""
    kind = table_in(Plan.model_fields[name].annotation)
    assert kind is not None
    lines: list[str] = []
    for field in NEEDED.get(name, ()):
        need = f"{_word(name)}. {sentence_of(f'{name}.{field}')}"
        lines.append(_said(field, given.get(field), need))
    for field, info in kind.model_fields.items():
        literal = _default_literal(info.default)
        if literal is not None and field not in NEEDED.get(name, ()):
            lines.append(commented(f"{field} = {literal}", f"default. {sentence_of(f'{name}.{field}')}"))
    return lines


def _word(table: str) -> str:
    return "optional" if table == "schedule" else "needed"


def _said(key: str, literal: str | None, sentence: str) -> str:
    return f"{key} = {literal}" if literal is not None else commented(f"{key} =", sentence)


def _default_literal(value: object) -> str | None:
    """A default as a plan file spells it; None for what has none, and for lists and tables."""
    if isinstance(value, Quantity):
        whole = int(value) if float(value).is_integer() else float(value)
        return literal_of(value.text) if value.text else literal_of(whole)
    return literal_of(value) if isinstance(value, str | bool | int | float) else None


def _text(value: str | None) -> str | None:
    return None if value is None else literal_of(value)


def _typed(value: str | None) -> str | None:
    return None if value is None else literal_of_typed(value)


def imported_plan_text(name: str, imported: Imported) -> str:
    """A plan file whose [model] is in full; the rest is for the person to say."""
    import tomli_w

    return tomli_w.dumps({"format": 1, "name": name, "model": dict(imported.model)})
