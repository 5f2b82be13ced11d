"""What a fix names can be typed as it is printed, and the number that a broken rule names is legal by that rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from trainplan.alternatives.reverse import changed
from trainplan.budgets.layout import Broken, layout_of
from trainplan.budgets.legality.rules import broken_rules
from trainplan.budgets.model import model_budget
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import mesh_budget, token_budget
from trainplan.checks import findings
from trainplan.estimation import estimate
from trainplan.plan.edit import set_all
from trainplan.plan.plan import Plan
from trainplan.plan.read import open_plan

PLANS = Path(__file__).resolve().parents[2] / "plans"
WRITTEN = re.compile(r'([a-z_.]+) = ("[^"]*"|[\w.,-]*\w)((?: or "?[\w,-]+"?(?= |,|$))*)')
PREFERRED = ("parallelism", "training", "batch", "model", "data")
SETTINGS = settings(max_examples=150, suppress_health_check=list(HealthCheck))
MOE = "\n[model.moe]\nnum_experts = 12\nmoe_intermediate_size = 96\nnum_experts_per_tok = 2\n"

Planned = Callable[..., Plan]


def written(fix: str) -> list[list[str]]:
    """Assignments of each alternative of a fix, with every value that it offers."""
    found: list[list[str]] = []
    for part in re.split(r", or | or (?=[a-z_]+ = )", fix):
        offered = [
            [f"{path_of(name)}={value}" for value in (first, *re.findall(r' or ("?[\w,-]+"?)', others))]
            for name, first, others in WRITTEN.findall(part)
        ]
        found += [list(one) for one in product(*offered) if one]
    return found


def path_of(name: str) -> str:
    """The path of a field of which a fix writes the last word."""
    if "." in name:
        return name
    tables = {table: field.annotation for table, field in Plan.model_fields.items()}
    ordered = sorted(tables, key=lambda table: PREFERRED.index(table) if table in PREFERRED else len(PREFERRED))
    for table in ordered:
        kind = tables[table]
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            return f"{table}.{name}"
    raise AssertionError(f"{name} is no field of a plan")


def rules_broken(plan: Plan) -> list[Broken]:
    s = Situation(plan)
    model, mesh = model_budget(s), mesh_budget(s)
    return broken_rules(layout_of(s, model.shape, mesh, token_budget(s, model.active_parameters, mesh.data)))


def with_assigned(plan: Plan, assignments: list[str]) -> Plan:
    """The plan with values that a fix prints, without the way over its text."""
    pairs = [one.split("=", 1) for one in assignments]
    return changed(plan, {path: int(value) if value.isdigit() else value.strip('"') for path, value in pairs})


def test_assignments_are_found_in_a_fix() -> None:
    assert written("tensor = 4 or 8, or pipeline = 2 and context = 1") == [
        ["parallelism.tensor=4"],
        ["parallelism.tensor=8"],
        ["parallelism.pipeline=2", "parallelism.context=1"],
    ]
    assert written('loss = "fused" or "chunked"') == [['training.loss="fused"'], ['training.loss="chunked"']]
    assert written("a multiple of 4 microbatches") == []


DEGREES = st.sampled_from((1, 2, 3, 4, 5, 6, 8, 12, 16))
LAYOUTS = st.fixed_dictionaries(
    {
        "model.num_hidden_layers": st.sampled_from((2, 6, 14, 30, 46, 61, 126)),
        "model.num_attention_heads": st.sampled_from((4, 6, 12, 64)),
        "model.num_key_value_heads": st.sampled_from((1, 2, 3, 4)),
        "model.intermediate_size": st.sampled_from((96, 100, 256)),
        "cluster.nodes": st.sampled_from((1, 2, 3, 6, 12)),
        "parallelism.tensor": DEGREES,
        "parallelism.pipeline": DEGREES,
        "parallelism.virtual_pipeline": st.sampled_from((1, 1, 2, 3, 7)),
        "parallelism.context": st.sampled_from((1, 1, 2, 3)),
        "parallelism.expert": st.sampled_from((1, 1, 2, 5, 8)),
        "parallelism.expert_tensor": st.sampled_from((1, 1, 2, 3)),
        "parallelism.shard_size": st.sampled_from((1, 2, 3, 5)),
        "parallelism.sharding": st.sampled_from(("zero-1", "zero-2", "hsdp")),
        "parallelism.schedule": st.sampled_from(("1f1b", "interleaved", "dualpipe", "zb-v")),
        "parallelism.context_type": st.sampled_from(("ring", "all-to-all")),
        "training.framework": st.sampled_from(("megatron", "deepspeed", "torchtitan", "fsdp", "maxtext")),
        "batch.global_batch_sequences": st.sampled_from((96, 1024, 1440)),
    }
)
ENDS = st.fixed_dictionaries(
    {},
    optional={f"parallelism.{end}_stage_layers": st.sampled_from((1, 2, 5, 9)) for end in ("first", "last")},
)


@given(layout=LAYOUTS, ends=ENDS, more=st.sampled_from(("", MOE)))
@SETTINGS
def test_the_number_that_a_broken_rule_names_is_legal(
    planned: Planned, layout: dict[str, object], ends: dict[str, int], more: str
) -> None:
    plan = changed(planned(more=more), {**layout, **ends})
    for rule in rules_broken(plan):
        for assignments in written(rule.fix):
            left = {other.code for other in rules_broken(with_assigned(plan, assignments))}
            assert rule.code not in left, (rule.code, rule.message, rule.fix, assignments)


@pytest.mark.parametrize(
    ("name", "edits", "fix"),
    [
        ("llama-3.1-405b", ("parallelism.virtual_pipeline=7",), "virtual_pipeline = 4 or 8"),
        (
            "deepseek-v3",
            ("parallelism.schedule=interleaved", "parallelism.virtual_pipeline=2"),
            "virtual_pipeline = 1",
        ),
    ],
)
def test_virtual_stages_that_are_named_have_whole_chunks(name: str, edits: tuple[str, ...], fix: str) -> None:
    opened = open_plan(PLANS / f"{name}.toml")
    plan = set_all(opened.source.text, opened.plan, edits).plan
    (rule,) = [one for one in rules_broken(plan) if one.code == "G5"]
    assert rule.fix == fix
    for assignments in written(fix):
        assert "G5" not in {one.code for one in rules_broken(with_assigned(plan, assignments))}


EDITS = (
    (),
    ("training.framework=torchtitan", "parallelism.tensor=8"),
    ("training.framework=deepspeed", "parallelism.sharding=zero-2", "training.loss=plain"),
    ("training.framework=fsdp", "parallelism.sharding=zero-1", "training.loss=plain"),
    ("training.framework=maxtext", "data.sampler=webdataset"),
    ("data.sampler=mosaic-streaming", "training.precision=fp16-mixed"),
    ("parallelism.tensor=3", "parallelism.pipeline=7", "parallelism.context=3"),
    ("batch.micro_batch_sequences=8", "training.moe_imbalance=1"),
    ("parallelism.virtual_pipeline=7", "parallelism.schedule=dualpipe"),
    ("cluster.memory_per_accelerator=20GiB",),
)


@pytest.mark.parametrize("name", sorted(file.stem for file in PLANS.glob("*.toml")))
def test_what_a_fix_assigns_can_be_typed(name: str) -> None:
    opened, count = open_plan(PLANS / f"{name}.toml"), 0
    for edit in EDITS:
        changed = set_all(opened.source.text, opened.plan, edit)
        for finding in findings(estimate(changed.plan)):
            for assignments in written(finding.fix):
                set_all(changed.text, changed.plan, assignments)
                count += 1
    assert count


def test_a_number_with_commas_is_no_value_of_a_field(planned: Planned) -> None:
    plan = planned("training.framework=torchtitan", "parallelism.tensor=4", "model.vocab_size=50257")
    (finding,) = [one for one in findings(estimate(plan)) if one.code == "G14"]
    assert "vocab_size = 50688 " in finding.fix
    assert not [one for one in findings(estimate(planned("model.vocab_size=50688"))) if one.code == "G14"]
