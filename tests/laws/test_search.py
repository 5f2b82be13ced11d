"""A search agrees with the estimate of every layout, bit for bit, and its counts are whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.laws.test_absurd_plans import WHOLE, absurd

from trainplan.alternatives.reverse import changed
from trainplan.budgets.legality import rules as legality
from trainplan.checks.layout import batch_divides, mesh_divides
from trainplan.checks.legality import bubble, legal_layout
from trainplan.estimation import Estimate, estimate
from trainplan.plan.plan import Plan
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.quantity.figure import Figure
from trainplan.search import cutting, pieces, rules, searching
from trainplan.search.columns import chunk
from trainplan.search.pieces import NUMBERS
from trainplan.search.space import RECOMPUTE, SHARD, fields_of, own_fields, space

PUBLISHED = sorted((Path(__file__).resolve().parents[2] / "plans").glob("*.toml"))

PLAN = """format = 1
[model]
num_hidden_layers = {layers}
hidden_size = 1024
intermediate_size = 4096
num_attention_heads = 16
num_key_value_heads = 8
vocab_size = 32000
{tables}
[data]
train_tokens = "10B"
sequence_length = {length}
sampler = "megatron-blended"
[batch]
global_batch_sequences = {batch}
[training]
framework = "{framework}"
attention = "{attention}"
{newer}
[cluster]
accelerator = "{part}"
nodes = {nodes}
accelerators_per_node = 8
[parallelism]
context_type = "{context}"
sequence_parallel = {sequence}
[utilization]
value = 0.4
evidence = "{evidence}"
"""

MOE = """[model.moe]
num_experts = 16
num_experts_per_tok = 2
moe_intermediate_size = 512
num_shared_experts = 1
first_k_dense_replace = 1
"""
MLA = """[model.mla]
q_lora_rank = 384
kv_lora_rank = 128
qk_nope_head_dim = 64
qk_rope_head_dim = 32
v_head_dim = 64
"""
NEWER = 'precision = "fp8-mixed"\nexpert_kernels = "fused"\ncuda_graphs = "full-iteration"\nattention_precision = "fp8"'
MTP = "[model.mtp]\nnum_nextn_predict_layers = 1\n"

PLANS = st.fixed_dictionaries(
    {
        "layers": st.sampled_from([8, 14, 24]),
        "tables": st.sampled_from(["", "tie_word_embeddings = true\n", MOE, MOE + MLA, MOE + MLA + MTP]),
        "length": st.sampled_from([1024, 8192]),
        "batch": st.sampled_from([96, 512]),
        "framework": st.sampled_from(["megatron", "deepspeed", "torchtitan", "fsdp", "maxtext"]),
        "attention": st.sampled_from(["flash", "flash", "eager"]),
        "newer": st.sampled_from(["", "", NEWER]),
        "part": st.sampled_from(["h100-sxm", "a100-sxm-80", "b200-sxm"]),
        "nodes": st.sampled_from([1, 2, 6]),
        "context": st.sampled_from(["ring", "all-to-all"]),
        "sequence": st.sampled_from(["true", "false"]),
        "evidence": st.sampled_from(["assumed", "published", "measured-here"]),
    }
)
SENT = ("data", "tensor", "context", "pipeline", "expert")


def plan_of(told: dict[str, Any]) -> Plan:
    return plan_of_text(PLAN.format(**{"newer": "", **told}), "generated.toml")


def number(value: object) -> float:
    assert isinstance(value, Figure), value
    return float(value)


def errors(found: Estimate) -> list[str]:
    checks = (mesh_divides, batch_divides, legal_layout, bubble)
    return [finding.code for check in checks for finding in check(found) if finding.severity == "error"]


def hold_to_estimates(plan: Plan, chosen: random.Random, pieces_tried: int = 6) -> None:
    """Some layouts of some pieces against the estimates of their plans."""
    found = list(searching.legal_pieces(plan, {}, forks=True))
    for words, piece in chosen.sample(found, min(pieces_tried, len(found))):
        here, shape = chunk(words, piece.columns()), piece.alive.shape
        with np.errstate(all="ignore"):
            memory, (step, sent), idle = here.memory(), here.step(), here.bubble()
        rows = np.flatnonzero(piece.alive)
        for row in chosen.sample(range(len(rows)), min(3, len(rows))):
            place = np.unravel_index(rows[row], shape)
            fields = fields_of(words, dict(zip(NUMBERS, piece.at(rows[row : row + 1])[0].tolist(), strict=True)))
            told = estimate(changed(plan, fields))
            assert number(told.memory.total) == np.broadcast_to(memory.total, shape)[place], fields
            assert number(told.step.predicted_mean_step_time) == np.broadcast_to(step, shape)[place], fields
            parts = [number(getattr(told.communication, name)) for name in SENT]
            assert sum(parts, 0.0) == np.broadcast_to(sent, shape)[place], fields
            assert number(told.bubble) == np.broadcast_to(idle, shape)[place], fields
            assert errors(told) == [], fields


@pytest.mark.parametrize("framework", ["fsdp", "torchtitan"])
def test_attention_wider_than_the_mlp_in_a_ring_is_the_same_in_a_search(framework: str) -> None:
    """Rows with one context rank stand in the same columns as rings, and hold nothing of one."""
    text = PLAN.format(
        layers=24,
        tables="",
        length=8192,
        batch=512,
        framework=framework,
        attention="flash",
        newer="",
        part="h100-sxm",
        nodes=2,
        context="ring",
        sequence="true",
        evidence="assumed",
    )
    for before, after in (
        ("intermediate_size = 4096", "intermediate_size = 512\nhead_dim = 256"),
        ("num_attention_heads = 16", "num_attention_heads = 32"),
        ("num_key_value_heads = 8", "num_key_value_heads = 2"),
    ):
        assert before in text
        text = text.replace(before, after)
    hold_to_estimates(plan_of_text(text, "plan.toml"), random.Random(1), 60)


@settings(max_examples=20)
@given(told=PLANS, seed=st.integers(0, 2**32))
def test_an_element_of_a_search_equals_the_estimate_of_its_plan_to_the_last_bit(
    told: dict[str, Any], seed: int
) -> None:
    hold_to_estimates(plan_of(told), random.Random(seed))


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_elements_of_published_plans_equal_their_estimates(path: Path) -> None:
    hold_to_estimates(open_plan(path).plan, random.Random(7), pieces_tried=8)


def test_a_split_backward_that_recompute_keeps_waiting_is_idle_in_a_search_too() -> None:
    """zb-h1 of 8 stages with 12 microbatches waits 19.4 % with nothing computed again, and 29.2 % with full recompute."""
    told = {"layers": 8, "tables": "", "length": 1024, "framework": "megatron", "attention": "flash"}
    more = {"part": "h100-sxm", "nodes": 1, "context": "ring", "sequence": "true", "evidence": "assumed", "batch": 12}
    plan = plan_of({**told, **more})
    deep = [fields for fields in legal_fields(plan, forks=True) if fields["parallelism.schedule"] == "zb-h1"]
    kinds = {fields["parallelism.recompute"] for fields in deep if fields["parallelism.pipeline"] == 8}
    assert kinds == {"none", "selective"}
    found = searching.searched(plan, forks=True)
    assert sum(found.rejected.values()) + found.fitting == found.considered


@settings(max_examples=25)
@given(told=absurd, whole=st.booleans())
def test_an_absurd_plan_is_searched_or_says_what_is_missing(told: dict[str, Any], whole: bool) -> None:
    tables = (WHOLE if whole else {}) | {
        name: {**WHOLE.get(name, {}), **table} if whole and isinstance(table, dict) else table
        for name, table in told.items()
    }
    try:
        plan = Plan.model_validate(tables)
    except ValidationError:
        return
    found = searching.searched(plan)
    assert sum(found.rejected.values()) + found.fitting == found.considered == found.settled
    assert len(found.best(count=3)) == min(3, found.fitting)


@settings(max_examples=8)
@given(told=PLANS, seed=st.integers(0, 2**32), forks=st.booleans(), own=st.sampled_from(["", "zb-h1", "1f1b"]))
def test_what_the_rules_reject_is_an_error_of_the_plan_or_another_layout_of_the_space(
    told: dict[str, Any], seed: int, forks: bool, own: str
) -> None:
    plan, chosen = plan_of(told), random.Random(seed)
    if own:
        plan = changed(plan, {"parallelism.pipeline": 2, "parallelism.schedule": own})
    whole = space(plan)
    legal = {key_of(fields) for fields in legal_fields(plan, forks=forks)}
    for _ in range(30):
        stages = chosen.choice(whole.stages)
        words = {
            "sharding": chosen.choice(["none", "zero-1", "zero-2", "zero-3", "hsdp"]),
            "schedule": chosen.choice(["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"]),
        }
        numbers = {path: chosen.choice(values) for path, values in whole.axes.items()}
        numbers |= {
            "parallelism.pipeline": chosen.choice(stages.pipelines),
            SHARD: chosen.choice(whole.shard_sizes or (1,)),
        }
        numbers[RECOMPUTE] = chosen.randrange(3)
        fields = fields_of(whole.of_words(stages, **words, deep=True), numbers)
        told_of = estimate(changed(plan, fields))
        found, twin = errors(told_of), _twin(fields, told_of)
        found += [] if forks else left_out(told_of, own)
        assert (key_of(fields) in legal) == (not found and not twin), (fields, found)


def left_out(found: Estimate, own: str) -> list[str]:
    """Warnings that only a fork does away with, but for a schedule that the plan already had; its sharding is the default."""
    mine = own == found.plan.parallelism.schedule
    codes = ("G12", "G20", "G22") if mine else ("G12", "G15", "G20", "G22")
    return [one.code for one in legal_layout(found) if one.code in codes]


def key_of(fields: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(fields.values())


def legal_fields(plan: Plan, *, forks: bool = False) -> Iterator[dict[str, Any]]:
    """Every layout that the rules leave."""
    for words, piece in searching.legal_pieces(plan, {}, forks=forks):
        for numbers in piece.at(np.flatnonzero(piece.alive)).tolist():
            yield fields_of(words, dict(zip(NUMBERS, numbers, strict=True)))


def _twin(fields: dict[str, Any], found: Estimate) -> bool:
    """Whether the layout counts under another name."""
    data, hsdp = found.mesh.data, fields["parallelism.sharding"] == "hsdp"
    if hsdp and isinstance(data, Figure) and fields[SHARD] == data * fields["parallelism.context"]:
        return True
    schedule, pipeline = fields["parallelism.schedule"], fields["parallelism.pipeline"]
    if found.plan.training.framework == "torchtitan" and pipeline > 1 and fields["parallelism.sharding"] == "zero-3":
        return True
    virtual = fields["parallelism.virtual_pipeline"]
    return (pipeline == 1 and schedule != "1f1b") or (virtual > 1) != (schedule == "interleaved")


@settings(max_examples=10)
@given(told=PLANS, recompute=st.sampled_from(["none", "selective", "full"]))
def test_fewer_context_ranks_and_a_smaller_micro_batch_hold_the_same_and_are_no_slower(
    told: dict[str, Any], recompute: str
) -> None:
    both, fewer = (
        estimate(
            changed(
                plan_of(told),
                {
                    "parallelism.context": count,
                    "batch.micro_batch_sequences": count,
                    "parallelism.recompute": recompute,
                },
            )
        )
        for count in (2, 1)
    )
    if errors(both) or errors(fewer):
        return
    assert number(both.memory.total) == pytest.approx(number(fewer.memory.total), rel=1e-9)
    assert number(both.step.predicted_step_time) >= number(fewer.step.predicted_step_time) * (1 - 1e-9)


def test_torchtitans_zero_3_over_a_pipeline_is_its_zero_2() -> None:
    told = {"layers": 8, "tables": "", "length": 1024, "batch": 512, "framework": "torchtitan", "attention": "flash"}
    told |= {"part": "h100-sxm", "nodes": 2, "context": "ring", "sequence": "true", "evidence": "published"}
    one, other = (
        changed(plan_of(told), {"parallelism.pipeline": 2, "parallelism.sharding": word})
        for word in ("zero-3", "zero-2")
    )
    assert own_fields(one) == own_fields(other)
    for key, value in estimate(one).quantities.items():
        if isinstance(value, Figure):
            assert float(value) == number(estimate(other).quantities[key]), key


@settings(max_examples=6)
@given(told=PLANS, forks=st.booleans())
def test_rejected_and_fitting_are_all_that_was_considered(told: dict[str, Any], forks: bool) -> None:
    plan = plan_of(told)
    states = list(searching.searching(plan, forks=forks))
    last = states[-1]
    assert sum(last.rejected.values()) + last.fitting == last.considered == last.settled
    assert last.considered == space(plan).considered
    assert [one.settled for one in states] == sorted(one.settled for one in states)
    assert last.fitting <= last.legal <= last.considered


@settings(max_examples=15)
@given(told=PLANS, tensor=st.sampled_from([1, 2, 4]), context=st.sampled_from([1, 2]))
def test_hsdp_of_one_group_is_zero_3(told: dict[str, Any], tensor: int, context: int) -> None:
    plan = changed(plan_of(told), {"parallelism.tensor": tensor, "parallelism.context": context})
    ranks = int(number(estimate(plan).mesh.data)) * context
    whole = changed(plan, {"parallelism.sharding": "zero-3"})
    group = changed(plan, {"parallelism.sharding": "hsdp", SHARD: ranks})
    assert own_fields(group) == own_fields(whole)
    told_of_whole, told_of_group = (
        [(key, repr(value)) for key, value in estimate(one).quantities.items()] for one in (whole, group)
    )
    assert told_of_whole == told_of_group


OFFERED = {
    "megatron": {"1f1b", "interleaved"},
    "deepspeed": {"1f1b"},
    "torchtitan": {"gpipe", "1f1b", "interleaved", "zb-v"},
    "fsdp": set[str](),
    "maxtext": {"gpipe", "interleaved"},
}
"""Schedules of a pipeline in released code, read where `budgets/released` says."""


@pytest.mark.parametrize("framework", OFFERED)
def test_a_search_offers_schedules_that_the_framework_has_and_the_plans_own(framework: str) -> None:
    told = {"layers": 8, "tables": "", "length": 1024, "batch": 512, "framework": framework, "attention": "flash"}
    told |= {"part": "h100-sxm", "nodes": 2, "context": "ring", "sequence": "true", "evidence": "published"}
    plan = plan_of(told)
    own = changed(plan, {"parallelism.pipeline": 2, "parallelism.schedule": "zb-h2"})
    assert deep_schedules(plan, forks=False) == OFFERED[framework]
    assert deep_schedules(own, forks=False) == OFFERED[framework] | {"zb-h2"}
    assert deep_schedules(plan, forks=True) == {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"}


def deep_schedules(plan: Plan, *, forks: bool) -> set[str]:
    """Schedules of the layouts with a pipeline that the rules leave."""
    fields = legal_fields(plan, forks=forks)
    return {one["parallelism.schedule"] for one in fields if one["parallelism.pipeline"] > 1}


def test_every_rule_is_asked_once() -> None:
    groups = (rules.OF_NUMBERS, rules.OF_MESH, rules.OF_STAGES, rules.OF_SCHEDULE, rules.OF_SHARDING)
    asked = [rule for group in groups for rule in group]
    assert sorted(rule.__name__ for rule in asked) == sorted(rule.__name__ for rule in legality.RULES)


@pytest.mark.parametrize(
    "missing", ["num_hidden_layers", "hidden_size", "accelerator", "nodes", "global_batch_sequences"]
)
def test_a_missing_field_rejects_everything_by_its_name(missing: str) -> None:
    told = {"layers": 8, "tables": "", "length": 1024, "batch": 64, "framework": "megatron", "attention": "flash"}
    told |= {"part": "h100-sxm", "nodes": 1, "context": "ring", "sequence": "true", "evidence": "published"}
    lines = [line for line in PLAN.format(newer="", **told).splitlines() if not line.startswith(missing)]
    found = searching.searched(plan_of_text("\n".join(lines), "generated.toml"))
    assert found.fitting == 0
    assert sum(found.rejected.values()) == found.considered
    assert any("missing" in reason for reason in found.rejected), found.rejected
    assert isinstance(found.best(), tuple)
    assert not found.best()


@settings(max_examples=4)
@given(told=PLANS)
def test_pieces_hold_every_legal_layout_once_however_small_they_are(told: dict[str, Any]) -> None:
    keys = [key_of(fields) for fields in legal_fields(plan_of(told), forks=True)]
    assert len(set(keys)) == len(keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "ROWS", 512)
        patch.setattr(cutting, "EACH", 64)
        patch.setattr(pieces, "EACH", 64)
        cut = [piece.alive.size for _, piece in searching.legal_pieces(plan_of(told), {}, forks=True)]
        assert max(cut, default=0) <= 512
        assert sorted(map(repr, keys)) == sorted(
            repr(key_of(fields)) for fields in legal_fields(plan_of(told), forks=True)
        )
