"""For every field of the plan: which readiness items its edit makes stale, held to a table written from the design notes."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

import pytest

from trainplan.estimation import estimate
from trainplan.plan.faults import table_in
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text
from trainplan.plan.tables import Table
from trainplan.quantity.unit import Quantity
from trainplan.review.items import ITEMS, item_covers
from trainplan.review.record import Act, Record
from trainplan.review.state import review

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = tomllib.loads((ROOT / "tests" / "golden" / "stale_fields.toml").read_text(encoding="utf-8"))
NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
TEXT = """format = 1
[model]
num_hidden_layers = 8
hidden_size = 1024
intermediate_size = 4096
num_attention_heads = 16
vocab_size = 32000
[model.moe]
num_experts = 8
num_experts_per_tok = 2
moe_intermediate_size = 512
[model.mla]
kv_lora_rank = 128
qk_nope_head_dim = 64
qk_rope_head_dim = 32
v_head_dim = 64
[model.mtp]
num_nextn_predict_layers = 1
[data]
train_tokens = "1T"
sequence_length = 4096
sampler = "megatron-blended"
[[data.sources]]
name = "web"
unique_tokens = "2T"
weight = 0.8
[[data.sources]]
name = "code"
unique_tokens = "1T"
weight = 0.2
[[data.stages]]
name = "main"
until_tokens = "0.9T"
[[data.stages]]
name = "anneal"
until_tokens = "1T"
weights = { web = 0.5, code = 0.5 }
[batch]
global_batch_sequences = 512
schedule = [{ from_tokens = 0, global_batch_sequences = 512 }]
[cluster]
accelerator = "h100-sxm"
nodes = 16
[evaluation]
interval_tokens = "100B"
[[evaluation.tasks]]
task = "mmlu"
"""
PLAN = plan_of_text(TEXT, "plan.toml")
QUANTITIES = estimate(PLAN).quantities


def fields(table: type[Table], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of the tables as a pattern, with its annotation."""
    for name, info in table.model_fields.items():
        place, inner = f"{path}.{name}" if path else name, table_in(info.annotation)
        if inner is None:
            yield place, info.annotation
        else:
            yield from fields(inner, f"{place}.*" if "tuple" in str(info.annotation) else place)


FIELDS = dict(fields(Plan))


def outside(path: str) -> bool:
    return path.split(".", maxsplit=1)[0] in GOLDEN["outside"]


def expected(path: str) -> set[str]:
    """The items of a field: its own line, else that of the nearest table above."""
    if outside(path):
        return set()
    table: dict[str, list[str]] = GOLDEN["fields"]
    parts = path.split(".")
    ways = [path, *(".".join([*parts[:length], "*"]) for length in range(len(parts) - 1, 0, -1))]
    line = next((table[way] for way in ways if way in table), None)
    assert line is not None, f"write {path} into tests/golden/stale_fields.toml"
    return {"configs", *line}


def another(annotation: Any, value: Any) -> Any:
    """A value of a field that is not the one it has."""
    words = [
        word for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal for word in get_args(part)
    ]
    if words:
        return next(word for word in words if word != value)
    if isinstance(value, bool) or "bool" in str(annotation):
        return not value
    if isinstance(value, dict) or "dict" in str(annotation):
        return {"web": Quantity(0.6, ""), "code": Quantity(0.4, "")}
    if value == "auto":
        return Quantity(3600.0, "1h")
    if "datetime.date" in str(annotation):
        return dt.date(2027, 2, 3)
    if isinstance(value, Quantity | float | int) or "Quantity" in str(annotation):
        return Quantity(float(value or 1) * 3 + 1, "")
    if "tuple" in str(annotation):
        return ("full_attention",) if "layer_types" in str(annotation) or not value else (*value, value[0])
    return f"{value or ''}other"


def changed(value: Any, parts: list[str], annotation: Any) -> Any:
    """The table with the field at a pattern changed; in a list, that of the first entry."""
    if not parts:
        return another(annotation, value)
    if parts[0] == "*":
        return (changed(value[0], parts[1:], annotation), *value[1:])
    if value is None:
        raise LookupError
    return value.model_copy(update={parts[0]: changed(getattr(value, parts[0]), parts[1:], annotation)})


ALL = tuple(Act("sign", item.name, "osei", NOW, "kim", covers=item_covers(item, PLAN, QUANTITIES)) for item in ITEMS)


def stale(plan: Plan) -> set[str]:
    found = review(plan, QUANTITIES, Record(ALL), NOW.date())
    return {one.item.name for one in found.items if one.state == "stale"}


@pytest.mark.parametrize("path", [path for path in FIELDS if not outside(path)])
def test_an_edit_of_a_field_makes_exactly_its_items_stale(path: str) -> None:
    plan = changed(PLAN, path.split("."), FIELDS[path])
    assert plan != PLAN
    assert stale(plan) == expected(path)


def test_what_the_review_writes_and_names_make_nothing_stale() -> None:
    mirrored = '[[pilot]]\nrung = "unit"\nstatus = "failed"\n[[readiness]]\nitem = "cost"\nowner = "kim"\n'
    text = TEXT.replace("format = 1", 'format = 1\nname = "other"\ndescription = "other"') + mirrored
    assert stale(plan_of_text(text, "plan.toml")) == set()


def test_the_table_names_no_field_that_is_gone() -> None:
    for path in GOLDEN["fields"]:
        start = path.removesuffix(".*")
        assert any(field == path or field.startswith(f"{start}.") for field in FIELDS), path


BEFORE = MappingProxyType(
    {
        "[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 512\n": {"measured"},
        "[model.mtp]\nnum_nextn_predict_layers = 1\n": {"measured"},
        "[model.mla]\nkv_lora_rank = 128\nqk_nope_head_dim = 64\nqk_rope_head_dim = 32\nv_head_dim = 64\n": {
            "measured"
        },
    }
)


@pytest.mark.parametrize("table", BEFORE)
def test_a_table_that_is_added_or_removed_is_a_change(table: str) -> None:
    without = plan_of_text(TEXT.replace(table, ""), "plan.toml")
    assert stale(without) == {"configs", *BEFORE[table]}
    acts = tuple(
        Act("sign", item.name, "osei", NOW, "kim", covers=item_covers(item, without, QUANTITIES)) for item in ITEMS
    )
    found = review(PLAN, QUANTITIES, Record(acts), NOW.date())
    assert {one.item.name for one in found.items if one.state == "stale"} == {"configs", *BEFORE[table]}
    (configs,) = [one for one in found.items if one.item.name == "configs"]
    assert [(change.old, change.new) for change in configs.changed] == [("-", "set")]


def test_a_source_that_is_drawn_from_anew_is_another_set_of_sources() -> None:
    def weighed(web: float, code: float) -> Plan:
        text = TEXT.replace("weights = { web = 0.5, code = 0.5 }\n", "")
        return plan_of_text(
            text.replace("weight = 0.8", f"weight = {web}").replace("weight = 0.2", f"weight = {code}"), "plan.toml"
        )

    before = weighed(1.0, 0.0)
    acts = tuple(
        Act("sign", item.name, "osei", NOW, "kim", covers=item_covers(item, before, QUANTITIES)) for item in ITEMS
    )
    found = review(weighed(0.9, 0.1), QUANTITIES, Record(acts), NOW.date())
    told = {one.item.name: [str(change) for change in one.changed] for one in found.items if one.state == "stale"}
    assert set(told) == {"configs", "data-manifests", "sample-batches", "contamination"}
    assert told["data-manifests"] == ["data.drawn web to web, code"]
    still = review(weighed(0.8, 0.2), QUANTITIES, Record(ALL), NOW.date())
    assert not [one for one in still.items if one.item.name == "data-manifests" and one.state == "stale"]
