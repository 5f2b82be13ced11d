"""Bytes that each dimension sends, worked out by hand on a small plan, the links they take, and what stays in sight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainplan.budgets.kernels import conditions
from trainplan.budgets.situation import Situation
from trainplan.estimation import Estimate, estimate
from trainplan.formulas import communication_data as data
from trainplan.plan.read import open_plan
from trainplan.quantity.figure import Blocked, Figure

KIB = 1024.0
TOKENS, HIDDEN, LAYERS = 1024.0, 64.0, 2.0


def sent(found: Estimate, dimension: str) -> float:
    value = found.quantities[f"communication.{dimension}"]
    assert not isinstance(value, Blocked), value
    return float(value)  # type: ignore[arg-type]


def microbatches(found: Estimate) -> float:
    return float(found.tokens.microbatches)


def shown(found: Estimate) -> float:
    return float(found.communication.exposed["data"])


def test_nothing_is_sent_where_a_dimension_is_one(varied: Any) -> None:
    found = varied()
    assert [sent(found, name) for name in ("tensor", "context", "pipeline", "expert")] == [0.0] * 4


def test_tensor_is_four_all_reduces_a_layer_and_two_more_with_full_recompute(varied: Any) -> None:
    found = varied("parallelism.tensor=2")
    each = 2.0 * (2 - 1) / 2 * 2 * TOKENS * HIDDEN  # an all-reduce of 16-bit activations
    assert sent(found, "tensor") == pytest.approx(4 * each * LAYERS * microbatches(found))
    again = varied("parallelism.tensor=2", "parallelism.recompute=full")
    assert sent(again, "tensor") == pytest.approx(1.5 * sent(found, "tensor"))


def test_blocks_side_by_side_share_their_all_reduces(varied: Any) -> None:
    """One forward and one backward in the place of two each: GPT-NeoX, arXiv 2204.06745, section 2.1."""
    after, beside = (varied("parallelism.tensor=2", f"model.parallel_block={word}") for word in ("false", "true"))
    assert sent(beside, "tensor") == pytest.approx(sent(after, "tensor") / 2)
    assert float(beside.step.waterfall["tensor"]) == pytest.approx(float(after.step.waterfall["tensor"]) / 2)


def test_ring_sends_keys_and_values_three_times(varied: Any) -> None:
    found = varied("parallelism.context=2")
    shard = TOKENS / 2 * HIDDEN * 2 * 2  # keys and values of one rank, 16 bits
    assert sent(found, "context") == pytest.approx(3 * shard * LAYERS * microbatches(found))


def test_all_to_all_of_heads(varied: Any) -> None:
    """8 (c - 1)/c (s/c) b d (n_h + n_kv) bytes of a layer and microbatch."""
    found = varied("parallelism.context=2", "parallelism.context_type=all-to-all")
    each = 8 * 0.5 * (TOKENS / 2) * 16 * (4 + 4)
    assert sent(found, "context") == pytest.approx(each * LAYERS * microbatches(found))


def test_pipeline_sends_both_ways_over_each_border(varied: Any) -> None:
    found = varied("parallelism.pipeline=2")
    assert sent(found, "pipeline") == pytest.approx(2 * 1 * 2 * TOKENS * HIDDEN * microbatches(found) / 2)


def held_parameters(found: Estimate) -> float:
    """Parameters of one rank of the small plan with its padded table and head."""
    return float(found.model.parameters) + 2 * HIDDEN * (float(found.model.padded_vocabulary) - 1024)


@pytest.mark.parametrize(
    ("sharding", "bytes_each"),
    [("none", 2 * 4.0), ("zero-1", 4.0 + 2.0), ("zero-3", 4.0 + 2 * 2.0)],
)
def test_data_by_sharding(varied: Any, sharding: str, bytes_each: float) -> None:
    """Reduction in fp32, weights gathered in 16 bits: all-reduce, scatter and gather, two gathers and a scatter a microbatch."""
    found = varied(f"parallelism.sharding={sharding}")
    rounds = microbatches(found) if sharding == "zero-3" else 1.0
    assert sent(found, "data") == pytest.approx(15 / 16 * held_parameters(found) * bytes_each * rounds)


def test_zero_2_scatters_each_microbatch_and_gathers_once(varied: Any) -> None:
    found = varied("parallelism.sharding=zero-2")
    count = microbatches(found)
    assert sent(found, "data") == pytest.approx(15 / 16 * held_parameters(found) * (4 * count + 2))


def test_full_gradients_are_scattered_once_and_weights_are_gathered_each_microbatch(varied: Any) -> None:
    """FSDP reshards after backward in no_sync too; a pipeline stage of torchtitan keeps its weights until the step's end."""
    fields = ("training.framework=fsdp", "training.gradient_accumulation=full")
    found = varied(*fields, "parallelism.sharding=zero-3")
    parameters, share, rounds = held_parameters(found), 15 / 16, microbatches(found)
    assert rounds > 1
    assert sent(found, "data") == pytest.approx((4 * rounds + 4) * parameters * share)
    kept = varied(*fields, "parallelism.sharding=zero-3", "parallelism.reshard_after_forward=false")
    assert sent(kept, "data") == pytest.approx((2 * rounds + 4) * parameters * share)
    staged = varied("training.framework=torchtitan", "parallelism.pipeline=2")
    assert sent(staged, "data") == pytest.approx(6 * held_parameters(staged) / 2 * 7 / 8)


def test_reduction_in_16_bits_halves_the_gradients(varied: Any) -> None:
    full, half = (
        varied("parallelism.sharding=none"),
        varied("parallelism.sharding=none", "training.gradient_dtype=bf16"),
    )
    assert sent(half, "data") == pytest.approx(sent(full, "data") / 2)


def test_hsdp_reduces_shards_over_replicas(varied: Any) -> None:
    found = varied("parallelism.sharding=hsdp", "parallelism.shard_size=8")
    inside = 7 / 8 * held_parameters(found) * 8.0 * microbatches(found)
    over = 1 / 2 * held_parameters(found) / 8 * 2 * 4.0
    assert sent(found, "data") == pytest.approx(inside + over)


EXPERTS = "[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 64\n"


def test_experts_send_tokens_out_and_back_twice(varied: Any) -> None:
    found = varied("parallelism.expert=4", more=EXPERTS)
    each = 4 * 3 / 4 * TOKENS * 2 * HIDDEN * 2
    assert sent(found, "expert") == pytest.approx(each * LAYERS * microbatches(found))


def test_experts_across_domains_send_one_copy_to_each(varied: Any) -> None:
    found = varied("parallelism.expert=8", "cluster.scale_up_domain=4", more=EXPERTS)
    table = {one.link: one for one in found.communication.table if one.dimension == "expert"}
    far = table["fabric"]
    copies = 2 * (1 - (1 - 1 / 2) ** 2)
    assert float(far.bytes) == pytest.approx(4 / 2 * TOKENS * copies * HIDDEN * 2 * LAYERS * microbatches(found))
    assert sum(float(one.bytes) for one in table.values()) == pytest.approx(sent(found, "expert"))


def links(found: Estimate) -> dict[str, str]:
    return {one.dimension: one.link for one in found.communication.table}


def test_links_that_groups_cross(varied: Any) -> None:
    assert links(varied("parallelism.tensor=4"))["tensor"] == "scale-up"
    assert links(varied("parallelism.tensor=16"))["tensor"] == "fabric"
    assert links(varied("parallelism.tensor=8"))["data"] == "fabric"
    assert links(varied("cluster.nodes=1"))["data"] == "scale-up"


def test_whole_nodes_use_all_their_links(varied: Any) -> None:
    """16 ranks over two nodes leave the node by eight links; one rank of each node by one."""
    whole = varied("parallelism.sharding=zero-1")
    apart = varied("parallelism.sharding=zero-1", "cluster.scale_up_domain=1")

    def time(found: Estimate) -> float:
        return next(float(one.time) for one in found.communication.table if one.dimension == "data")

    assert time(apart) > 2 * time(whole)


def test_exposed_time_is_the_sum_of_the_dimensions(varied: Any) -> None:
    found = varied("parallelism.tensor=2", "parallelism.pipeline=2")
    parts = found.communication.exposed
    assert float(found.communication.exposed_time) == pytest.approx(sum(float(part) for part in parts.values()))
    assert set(parts) == {"data", "tensor", "context", "pipeline", "expert"}


def test_overlap_that_the_plan_says_is_used(varied: Any) -> None:
    shown = varied("parallelism.tensor=2", "parallelism.overlap_tensor=0.0").communication.exposed["tensor"]
    hidden = varied("parallelism.tensor=2", "parallelism.overlap_tensor=1.0").communication.exposed["tensor"]
    assert float(hidden) < float(shown)


@pytest.mark.parametrize(
    ("changes", "collectives", "hidden", "again"),
    [
        (("parallelism.sequence_parallel=false",), 4, 2, 0),
        (("parallelism.sequence_parallel=false", "parallelism.recompute=full"), 6, 2, 0),
        (("parallelism.sequence_parallel=true",), 4, 1, 1),
        (("parallelism.sequence_parallel=true", "parallelism.recompute=full"), 6, 1, 1),
    ],
    ids=str,
)
def test_backward_of_megatron_hides_gradients_of_inputs(
    planned: Any, changes: tuple[str, ...], collectives: int, hidden: int, again: int
) -> None:
    """Both all-reduces, or both reduce-scatters, which are half of them: arXiv 2205.05198, section 4.2.2; `x` of these shows.

    So it is with the two gathers of inputs that sequence parallelism adds, half an all-reduce each: Megatron-LM
    core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication.backward.
    """
    known = conditions(Situation(planned("parallelism.tensor=2", "training.attention=eager", *changes)))
    x = float(known.numbers["tensor_exposed"])
    assert float(known.tensor_exposed) == pytest.approx((collectives - hidden + (hidden + again) * x) / collectives)


def test_torch_hides_nothing_of_tensor_parallelism(planned: Any) -> None:
    known = conditions(Situation(planned("parallelism.tensor=2", "training.framework=torchtitan")))
    assert float(known.tensor_exposed) == 1.0


@pytest.mark.parametrize(
    ("time", "chunks", "ranks", "shown"),
    [(3.0, 1, 4, 2.0), (3.0, 2, 4, 1.0), (3.0, 4, 4, 0.5), (9.0, 2, 4, 6.5), (0.5, 4, 4, 0.0), (3.0, 1, 1, 2.0)],
)
def test_gradients_of_a_chunk_hide_behind_the_chunks_after_it(
    time: float, chunks: int, ranks: int, shown: float
) -> None:
    """A microbatch of 1 s on each rank: each chunk's share has `ranks` / `chunks` s before the next, the last 1 / `chunks` s."""
    each, free, end = time / chunks, 0.0, 0.0
    for chunk in range(chunks):
        begin = max(free, chunk * ranks / chunks)
        free, end = begin + each, (chunk * ranks + 1) / chunks
    assert free - end == pytest.approx(shown) or (free < end and shown == 0.0)
    assert data.exposed_by_chunks(time, 0.0, 1.0, float(chunks), float(ranks)) == pytest.approx(shown)


def test_interleaved_chunks_show_less_of_the_reduction(varied: Any) -> None:
    """Only what Megatron reduces once a step: FSDP reduces every layer, whatever its chunks."""
    slow = ("model.num_hidden_layers=8", "parallelism.pipeline=2", "cluster.scale_up_bandwidth=1e6")
    more = (*slow, "parallelism.virtual_pipeline=2", "parallelism.schedule=interleaved")
    assert shown(varied(*more)) < shown(varied(*slow))
    layerwise = ("training.framework=torchtitan",)
    assert shown(varied(*more, *layerwise)) >= shown(varied(*slow, *layerwise))


def test_blocked_where_the_mesh_does_not_divide(varied: Any) -> None:
    found = varied("parallelism.tensor=3")
    value = found.quantities["communication.data"]
    assert isinstance(value, Blocked)
    assert value.code == "G1"


def test_split_experts_gather_routed_tokens_and_scatter_their_outputs(varied: Any) -> None:
    """Megatron-LM token_dispatcher.py: gathered over expert tensor ranks after dispatch, scattered before combine."""
    one, two = varied(more=EXPERTS), varied("parallelism.expert_tensor=2", more=EXPERTS)
    assert "rows of split experts" not in [operation.name for operation in one.communication.table]
    added = next(item for item in two.communication.table if item.name == "rows of split experts")
    each = 4 * (2 - 1) * TOKENS * 2 * HIDDEN * 2
    assert float(added.bytes) == each * LAYERS * microbatches(two)
    assert sent(two, "expert") == sent(one, "expert") + float(added.bytes)
    assert float(two.step.predicted_step_time) > float(one.step.predicted_step_time)


def transfers_time(found: Estimate, name: str) -> float:
    return float(next(one.time for one in found.communication.table if one.name == name))


def test_many_small_buckets_take_longer_than_one(varied: Any) -> None:
    """60 us x log2(2 x 4 domains) for each of both collectives of a bucket, where four nodes meet."""
    one = varied("cluster.nodes=4", "parallelism.bucket_elements=1e9")
    many = varied("cluster.nodes=4", "parallelism.bucket_elements=1000")
    name = "gradients and weights"
    assert sent(one, "data") == sent(many, "data")
    buckets = held_parameters(one) / 1000.0
    added = 2.0 * (buckets - 1.0) * 60e-6 * 3.0
    assert transfers_time(many, name) - transfers_time(one, name) == pytest.approx(added, rel=1e-6)


def test_experts_reach_four_nodes_where_the_preset_routes_so() -> None:
    """DeepSeek-V3, arXiv 2412.19437: 8 of 256 experts in at most 4 of 8 groups; 64 expert ranks lie in 8 nodes."""
    plan = open_plan(Path(__file__).resolve().parents[3] / "plans" / "deepseek-v3.toml").plan
    found = estimate(plan)
    far = next(one.bytes for one in found.communication.table if one.name == "all-to-all, far")
    routed = float(found.communication.expert)
    assert float(far) / routed == pytest.approx((7 / 8 * 4) / (63 / 64 * 8), rel=1e-12)


def test_data_time_is_that_of_the_fullest_rank_where_the_plan_says_its_ends() -> None:
    """Llama 3.1 405B, 126 layers on 16 stages with 7 at both ends: 8 layers of 3,188,006,912 / 8 parameters / tensor 8 between."""
    found = estimate(open_plan(Path(__file__).resolve().parents[3] / "plans" / "llama-3.1-405b.toml").plan)
    layer = (16384 * 16384 * 2 + 16384 * 1024 * 2 + 3 * 16384 * 53248) / 8 + 2 * 16384
    told = explained(found.quantities["parallelism.waterfall.data"], "parameters")
    assert told == pytest.approx(8 * layer, rel=1e-9)


def explained(figure: Any, name: str) -> float:
    """The first input of that name below a figure."""
    for key, one in figure.named_inputs():
        if key == name:
            return float(one)
        below = explained(one, name) if isinstance(one, Figure) else float("nan")
        if below == below:
            return below
    return float("nan")


def test_dualpipe_reduces_both_stages_that_a_rank_holds(varied: Any) -> None:
    one, two = (varied("parallelism.pipeline=2", f"parallelism.schedule={word}") for word in ("1f1b", "dualpipe"))
    assert sent(two, "data") == pytest.approx(2.0 * sent(one, "data"), rel=1e-12)
    alone = [varied(f"parallelism.schedule={word}") for word in ("1f1b", "dualpipe")]
    assert sent(alone[0], "data") == sent(alone[1], "data")
