"""Relations 11 and 22 to 25 on generated plans, and that volumes and times answer to the layout in one direction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.budgets.tokens import MeshBudget
from trainplan.estimation import Estimate, estimate
from trainplan.formulas import communication as c
from trainplan.formulas import communication_data as d
from trainplan.formulas import compute, pipeline
from trainplan.plan.read import plan_of_text
from trainplan.quantity.figure import Figure

PLAN = """format = 1
[model]
num_hidden_layers = {layers}
hidden_size = 1024
intermediate_size = 4096
num_attention_heads = 16
vocab_size = 32000
[data]
train_tokens = {tokens}
sequence_length = {length}
sampler = "megatron-blended"
[batch]
global_batch_sequences = {batch}
micro_batch_sequences = {micro}
[training]
framework = "{framework}"
[cluster]
accelerator = "{part}"
nodes = {nodes}
accelerators_per_node = 8
[parallelism]
tensor = {tensor}
pipeline = {pipeline}
sharding = "{sharding}"
recompute = "{recompute}"
[utilization]
value = 0.4
"""

SIZES = st.sampled_from([1, 2, 4, 8])
LAYOUTS = st.fixed_dictionaries(
    {
        "layers": st.sampled_from([8, 16, 24]),
        "tokens": st.sampled_from([10**9, 10**10]),
        "length": st.sampled_from([1024, 4096]),
        "batch": st.just(512),
        "micro": st.sampled_from([1, 2]),
        "framework": st.sampled_from(["megatron", "fsdp", "deepspeed", "maxtext"]),
        "part": st.sampled_from(["h100-sxm", "a100-sxm-80", "b200-sxm", "mi300x", "gaudi3"]),
        "nodes": st.sampled_from([4, 8]),
        "tensor": SIZES,
        "pipeline": st.sampled_from([1, 2, 4]),
        "sharding": st.sampled_from(["none", "zero-1", "zero-2", "zero-3"]),
        "recompute": st.sampled_from(["none", "selective", "full"]),
    }
)
FEW = settings(max_examples=25)


def made(layout: dict[str, Any], **changes: Any) -> Estimate:
    return estimate(plan_of_text(PLAN.format(**{**layout, **changes}), "plan.toml"))


def step(found: Estimate) -> float:
    assert isinstance(found.step.predicted_step_time, Figure), found.step.predicted_step_time
    return float(found.step.predicted_step_time)


@given(p=st.integers(1, 64), m=st.integers(1, 512), v=st.integers(1, 8))
def test_relation_11_share_of_the_bubble(p: int, m: int, v: int) -> None:
    plain = float(pipeline.fill_bubble(float(p), float(m)))
    assert plain / (1 + plain) == pytest.approx((p - 1) / (m + p - 1))
    folded = float(pipeline.interleaved_bubble(float(p), float(m), float(v)))
    assert folded / (1 + folded) == pytest.approx((p - 1) / (v * m + p - 1))
    assert pipeline.fill_bubble(1.0, float(m)) == 0
    assert pipeline.fill_bubble(float(p), float(m + 1)) <= plain


@FEW
@given(layout=LAYOUTS)
def test_relation_22_time_is_linear_in_tokens(layout: dict[str, Any]) -> None:
    one, two = made(layout, tokens=512 * 4096 * 100), made(layout, tokens=512 * 4096 * 200)
    assert step(one) == pytest.approx(step(two))
    assert float(two.speed.compute_time) == pytest.approx(2 * float(one.speed.compute_time))


@given(tokens=st.floats(1e3, 1e9), world=st.floats(1, 1e5), rate=st.floats(1, 1e6))
def test_relation_23_twice_the_accelerators_half_the_ideal_time(tokens: float, world: float, rate: float) -> None:
    assert compute.step_time(tokens, 2 * world, rate) == pytest.approx(compute.step_time(tokens, world, rate) / 2)


@FEW
@given(layout=LAYOUTS)
def test_relation_24_utilization_is_a_share_of_the_peak(layout: dict[str, Any]) -> None:
    found = made(layout)
    use = found.step.predicted_utilization
    assert isinstance(use, Figure)
    assert 0 < use <= 1


@FEW
@given(layout=LAYOUTS)
def test_relation_25_batch_is_microbatches_of_all_replicas(layout: dict[str, Any]) -> None:
    found = made(layout)
    mesh: MeshBudget = found.mesh
    assert float(found.tokens.microbatches) * layout["micro"] * float(mesh.data) == 512
    assert float(mesh.data) * layout["tensor"] * layout["pipeline"] == float(mesh.world_size)


@FEW
@given(layout=LAYOUTS)
def test_parts_sum_and_none_is_negative(layout: dict[str, Any]) -> None:
    found = made(layout)
    parts = [float(part) for part in found.step.waterfall.values()]
    assert sum(parts) == pytest.approx(step(found), rel=1e-12)
    assert min(parts) >= -1e-12
    assert float(found.communication.exposed_time) <= step(found)


@FEW
@given(layout=LAYOUTS)
def test_recompute_never_saves_time(layout: dict[str, Any]) -> None:
    times = [step(made(layout, recompute=word)) for word in ("none", "selective", "full")]
    slack = 1 + 1e-12  # the last bit of sums
    assert times[0] <= times[1] * slack
    assert times[1] <= times[2] * slack


@FEW
@given(layout=LAYOUTS)
def test_volumes_rise_with_their_degree_and_the_sharding(layout: dict[str, Any]) -> None:
    sent = [float(made(layout, tensor=t).communication.tensor) for t in (1, 2)]
    assert sent[0] == 0 < sent[1]
    ladder = [float(made(layout, sharding=word).communication.data) for word in ("zero-1", "zero-2", "zero-3")]
    assert ladder == sorted(ladder)


@given(n=st.integers(2, 4096), inside=st.integers(1, 8))
def test_a_larger_group_never_takes_less_time(n: int, inside: int) -> None:
    here = float(min(inside, n))
    small = d.group_time(d.ring_share(1e9, 2.0, float(n)), float(n), here, 3e11, 3e10)
    large = d.group_time(d.ring_share(1e9, 2.0, float(2 * n)), float(2 * n), here, 3e11, 3e10)
    assert small <= large * (1 + 1e-12)


@given(chosen=st.integers(1, 16), nodes=st.floats(1, 64))
def test_remote_copies_are_at_most_the_chosen_and_the_limit(chosen: int, nodes: float) -> None:
    found = c.remote_copies(float(chosen), 4.0, nodes)
    assert 0 <= found <= min(chosen, 4)


@given(groups=st.integers(1, 16), chosen=st.integers(1, 16), nodes=st.floats(1, 64))
def test_a_token_reaches_at_least_its_groups_and_more_where_groups_are_cut(
    groups: int, chosen: int, nodes: float
) -> None:
    found = c.node_limit(float(groups), float(chosen), nodes)
    assert found >= chosen
    assert found == chosen or nodes > groups


@given(
    parameters=st.floats(1e6, 1e12), bucket=st.floats(1e6, 1e9), ranks=st.integers(2, 4096), inside=st.integers(1, 8)
)
def test_smaller_messages_never_reach_a_higher_rate(parameters: float, bucket: float, ranks: int, inside: int) -> None:
    here = float(min(inside, ranks))
    start, moved = d.collective_start(float(ranks), here), 4.0 * parameters / 1e11
    small, large = (d.bucket_collectives(2.0, parameters, size) for size in (bucket, 2.0 * bucket))
    assert d.started_time(moved, small, start) >= d.started_time(moved, large, start) > moved


@given(ranks=st.integers(1, 4096), inside=st.integers(1, 8))
def test_a_collective_starts_slower_over_more_domains_and_not_at_all_alone(ranks: int, inside: int) -> None:
    here = float(min(inside, ranks))
    assert d.collective_start(1.0, 1.0) == 0.0
    assert 0.0 <= d.collective_start(float(ranks), here) <= d.collective_start(2.0 * ranks, here)
