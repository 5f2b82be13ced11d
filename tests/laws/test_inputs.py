"""No input is ignored: every plan field moves the budgets that it decides, in every framework, where it matters.

The fields come from the schema, so that a new one fails here until it is said what it moves. What a field has to move is said
once for its table, and for the field where it differs. Fields that move no quantity have a finding, or a reason here.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import tomli_w
from pydantic import BaseModel

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.plan.describe import annotation_of, words_of
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Blocked, Choice

FRAMEWORKS: Final = ("megatron", "deepspeed", "torchtitan", "fsdp", "maxtext")

Edits = Mapping[str, Any]

KNOWN: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "inputs.toml").read_text(encoding="utf-8"))
SITUATIONS, WHERE, MOVES, VALUES, SAID, NO_FIGURE = (
    KNOWN[name] for name in ("situations", "where", "moves", "values", "said", "no_figure")
)

MEGATRON_ONLY: Final = ("parallelism.bucket_elements",)
"""FSDP and XLA reduce layer by layer: the field is said to have no effect there."""


def fields(kind: type[BaseModel] = Plan, above: str = "") -> Iterator[str]:
    """Paths of all fields of the schema; entries of a list under the list's own path."""
    for name, field in kind.model_fields.items():
        path = f"{above}{name}"
        inner = _table(field.annotation)
        if inner is None or path in ("data.stages", "batch.schedule", "pilot", "readiness"):
            yield path
        else:
            yield from fields(inner, f"{path}.")


def _table(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((found for one in get_args(annotation) if (found := _table(one)) is not None), None)


def nearest(table: Mapping[str, str], path: str) -> str | None:
    """What a table says of a path or of the nearest above it."""
    parts = path.split(".")
    return next((table[above] for end in range(len(parts), 0, -1) if (above := ".".join(parts[:end])) in table), None)


def edited(framework: str, *edits: Edits) -> dict[str, Any]:
    plan: dict[str, Any] = tomllib.loads(KNOWN["base"])
    for path, value in ((one, each[one]) for each in ({"training.framework": framework}, *edits) for one in each):
        *tables, last = path.split(".")
        table: Any = plan
        for name in tables:
            table = table.setdefault(name, {})
            table = table[0] if isinstance(table, list) else table
        table[last] = copy.deepcopy(value)
    return plan


def estimated(plan: dict[str, Any]) -> Estimate:
    return estimate(plan_of_text(tomli_w.dumps(plan), "plan.toml"))


@cache
def before(framework: str, situation: str) -> Estimate:
    return estimated(edited(framework, SITUATIONS[situation]))


def others(path: str, plan: dict[str, Any]) -> list[Any]:
    """Values that differ from the plan's: every other word, the other flag, another number."""
    if path in VALUES:
        return [VALUES[path]]
    if "bool" in str(annotation_of(path)):
        return [True, False]
    words = list(words_of(path))
    if words:
        return words
    here: Any = plan
    for name in path.split("."):
        here = here[0] if isinstance(here, list) else here
        here = None if here is None else here.get(name)
    if isinstance(here, int | float):
        return [here * 2 if here >= 1 else here / 2]
    return [here.replace(here[0], "3", 1)] if isinstance(here, str) and here[:1].isdigit() else [2]


def budget_of(key: str) -> str:
    step = key.startswith(("parallelism.predicted_step_time", "parallelism.waterfall"))
    return "step" if step else key.split(".", maxsplit=1)[0]


def value(item: Any) -> object:
    return item.code if isinstance(item, Blocked) else str(item) if isinstance(item, Choice) else float(item)


def moved(one: Estimate, other: Estimate) -> set[str]:
    """Budgets of which a quantity differs; a quantity that follows in one of them alone is not counted."""
    return {
        budget_of(key)
        for key, item in one.quantities.items()
        if key in other.quantities
        and not isinstance(item, Blocked)
        and not isinstance(other.quantities[key], Blocked)
        and value(item) != value(other.quantities[key])
    }


MOVING: Final = [path for path in fields() if path not in SAID and nearest(NO_FIGURE, path) is None]
LAYOUT: Final = ("model", "training", "parallelism", "batch")


@pytest.mark.parametrize("path", MOVING)
def test_a_field_moves_every_budget_that_it_decides(path: str) -> None:
    expected = nearest(MOVES, path)
    assert expected is not None, f"{path} is new: say under moves of inputs.toml what it moves, or why nothing"
    situation = nearest(WHERE, path) or "plain"
    some = FRAMEWORKS if path.startswith(LAYOUT) and path not in MEGATRON_ONLY else FRAMEWORKS[:1]
    for framework in some:
        start, plan = before(framework, situation), edited(framework, SITUATIONS[situation])
        found = set[str]()
        for other in others(path, plan):
            found |= moved(start, estimated(edited(framework, SITUATIONS[situation], {path: other})))
        assert found >= set(expected.split()), (framework, situation, sorted(set(expected.split()) - found))


@pytest.mark.parametrize("path", SAID)
def test_a_field_on_which_no_figure_rests_is_what_a_finding_stands_on(path: str) -> None:
    start = before("megatron", "plain")
    after = estimated(edited("megatron", {path: SAID[path]}))
    assert [str(one) for one in findings(start)] != [str(one) for one in findings(after)]
