"""The predicted step: its parts sum to it, it answers to the layout as it must, and it says what it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.budgets.kernels import family_of, stack_of
from trainplan.budgets.situation import Situation
from trainplan.estimation import Estimate
from trainplan.plan.plan import Plan
from trainplan.quantity.figure import Blocked, Figure


def step(found: Estimate) -> float:
    assert isinstance(found.step.predicted_step_time, Figure), found.step.predicted_step_time
    return float(found.step.predicted_step_time)


LAYOUTS = [
    (),
    ("parallelism.tensor=2",),
    ("parallelism.pipeline=2", "parallelism.schedule=zb-h1"),
    ("parallelism.context=2", "parallelism.recompute=full"),
    ("training.framework=fsdp", "parallelism.sharding=zero-3"),
    ("training.attention=eager",),
]


@pytest.mark.parametrize("changes", LAYOUTS, ids=str)
def test_parts_sum_to_the_step(varied: Any, changes: tuple[str, ...]) -> None:
    found = varied(*changes)
    parts = [float(part) for part in found.step.waterfall.values()]
    assert sum(parts) == pytest.approx(step(found), rel=1e-12)
    assert all(part >= 0 for part in parts), found.step.waterfall


def test_utilization_is_the_step_told_otherwise(varied: Any) -> None:
    found = varied()
    flops, tokens = float(found.speed.flops_per_token), float(found.tokens.global_batch_tokens)
    expected = flops * tokens / (16 * 1e15 * step(found))
    assert float(found.step.predicted_utilization) == pytest.approx(expected)


def test_range_holds_the_prediction(varied: Any) -> None:
    budget = varied().step
    assert budget.predicted_step_time_low < budget.predicted_step_time < budget.predicted_step_time_high
    assert budget.predicted_utilization_low < budget.predicted_utilization < budget.predicted_utilization_high


def test_models_with_experts_have_the_wider_range(varied: Any) -> None:
    more = "[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 64\n"
    dense, sparse = varied().step, varied(more=more).step
    wide = [float(one.predicted_step_time_high) / float(one.predicted_step_time) for one in (dense, sparse)]
    assert wide == pytest.approx([1.15, 1.6])


def test_recompute_costs_time(varied: Any) -> None:
    none, some, full = (step(varied(f"parallelism.recompute={word}")) for word in ("none", "selective", "full"))
    assert none < some < full


def test_a_faster_fabric_never_costs_time(varied: Any) -> None:
    slow, fast = (
        step(varied("parallelism.sharding=zero-1", f'cluster.scale_out_bandwidth="{rate}"'))
        for rate in ("1GB/s", "50GB/s")
    )
    assert fast < slow


def test_head_size_that_leaves_the_tensor_cores(varied: Any) -> None:
    """Materialised products over a head size of 15 run slower by far more than the size says."""
    even = varied("training.attention=eager").step.waterfall["attention"]
    odd = varied("training.attention=eager", "model.head_dim=15").step.waterfall["attention"]
    assert float(odd) > 1.5 * float(even)


@pytest.mark.parametrize("framework", ["megatron", "deepspeed", "torchtitan", "fsdp", "maxtext"])
def test_materialised_scores_cost_time_in_every_framework(varied: Any, framework: str) -> None:
    words = (f"training.framework={framework}", "parallelism.sharding=zero-3", "data.sequence_length=4096")
    flash, eager = (varied(*words, f"training.attention={kernel}") for kernel in ("flash", "eager"))
    assert float(eager.step.waterfall["attention"]) > 2 * float(flash.step.waterfall["attention"])


def test_stragglers_meet_over_all_that_reduce_a_gradient(varied: Any) -> None:
    """Context ranks share gradients with replicas: a context group in the place of replicas meets as many."""
    shares = [
        float(found.step.waterfall["stragglers"]) / step(found)
        for found in (varied(), varied("parallelism.context=2"), varied("parallelism.context=4"))
    ]
    assert shares[0] > 0
    assert shares == pytest.approx([shares[0]] * 3)


def test_uneven_ends_are_the_plans(varied: Any) -> None:
    even = varied("model.num_hidden_layers=8", "parallelism.pipeline=2")
    uneven = varied("model.num_hidden_layers=8", "parallelism.pipeline=2", "parallelism.first_stage_layers=6")
    assert float(uneven.step.waterfall["imbalance"]) > float(even.step.waterfall["imbalance"])


def test_fp8_speeds_up_products_only(varied: Any) -> None:
    left = ("cluster.peak_flops",)
    plain, low = (
        varied(left_out=left).step.waterfall,
        varied("training.precision=fp8-mixed", left_out=left).step.waterfall,
    )
    assert float(low["products"]) < float(plain["products"])
    assert float(low["attention"]) == pytest.approx(float(plain["attention"]))
    assert float(low["head"]) == pytest.approx(float(plain["head"]))


def test_a_part_without_a_bandwidth_blocks_the_step(varied: Any) -> None:
    found = varied("cluster.accelerator=trn3", "cluster.accelerators_per_node=8")
    value = found.step.predicted_step_time
    assert isinstance(value, Blocked) or value > 0


def test_more_stages_than_layers_block(varied: Any) -> None:
    value = varied("parallelism.pipeline=4").step.predicted_step_time
    assert isinstance(value, Blocked)
    assert value.code == "G4"


def test_a_pipeline_past_all_sense_blocks_at_once(varied: Any) -> None:
    found = varied(
        "model.num_hidden_layers=1000000000",
        "cluster.nodes=100000000",
        "batch.global_batch_sequences=1000000000",
        "parallelism.pipeline=100000000",
        "parallelism.first_stage_layers=1",
    )
    assert isinstance(found.step.predicted_step_time, Blocked)


def test_families_and_stacks() -> None:
    assert [family_of(name) for name in ("h200-sxm", "gb300-nvl72", "tpu-v6e", "gaudi3", None)] == [
        "hopper",
        "blackwell-ultra",
        "tpu-v6e",
        "other",
        "other",
    ]
    plan = Plan.model_validate({"format": 1, "training": {"framework": "maxtext"}})
    assert stack_of(Situation(plan)) == "xla"


def test_every_part_has_a_story(varied: Any) -> None:
    found = varied("parallelism.tensor=2")
    for name in ("products", "tensor", "data"):
        assert found.quantities[f"parallelism.waterfall.{name}"].rests_on
    assert "parallelism.predicted_step_time" in found.all_quantities


EXPERTS = "[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 64\n"


def test_gathered_logits_are_sent_and_lost_on_every_tensor_rank(varied: Any) -> None:
    """Of 2 ranks each sends half of its 1,024 columns' share: tokens x V x 2 bytes / 2; the loss reads all columns on both."""
    own, gathered = (varied("parallelism.tensor=2", f"training.head={word}") for word in ("vocab-parallel", "gathered"))
    sent = float(gathered.communication.tensor) - float(own.communication.tensor)
    tokens, columns = float(own.tokens.global_batch_tokens) / 8, float(own.model.padded_vocabulary)
    assert sent == pytest.approx(tokens * columns * 2 / 2)
    assert float(gathered.step.waterfall["head"]) > float(own.step.waterfall["head"])
    alone = [step(varied(f"training.head={word}")) for word in ("vocab-parallel", "gathered")]
    assert alone[0] == alone[1]


def test_a_layer_waits_for_its_fullest_expert_rank(varied: Any) -> None:
    even, uneven = (varied("parallelism.expert=2", f"training.moe_imbalance={one}", more=EXPERTS) for one in (1, 2))
    assert float(uneven.step.waterfall["products"]) > float(even.step.waterfall["products"])
    assert float(uneven.step.waterfall["expert"]) > float(even.step.waterfall["expert"])
    assert float(uneven.communication.expert) == float(even.communication.expert), "the mean over accelerators stays"
    usual = varied("parallelism.expert=2", more=EXPERTS)
    assert step(even) == step(usual) < step(uneven), "what is usual is in the fitted numbers"
    alone = [step(varied(f"training.moe_imbalance={one}", more=EXPERTS)) for one in (1, 2)]
    assert alone[0] == alone[1], "a rank with all experts computes its own tokens"


def test_dualpipe_hides_what_experts_send_behind_stages_alone(varied: Any) -> None:
    one = [
        step(varied("parallelism.expert=2", f"parallelism.schedule={word}", more=EXPERTS))
        for word in ("1f1b", "dualpipe")
    ]
    assert one[0] == one[1]


def test_one_node_of_cards_needs_no_fabric(varied: Any) -> None:
    """An RTX 4090 has no usual network; one node of them crosses none, and two do."""
    cards = (
        "cluster.accelerator=rtx-4090",
        "cluster.peak_flops=165T",
        "parallelism.tensor=1",
        "cluster.accelerators_per_node=4",
    )
    alone = varied(*cards, "cluster.nodes=1")
    assert float(alone.quantities["parallelism.predicted_step_time"]) > 0
    pair = varied(*cards, "cluster.nodes=2")
    assert pair.quantities["parallelism.predicted_step_time"].code == "missing:cluster.scale_out_bandwidth"


def test_full_recompute_of_pytorch_leaves_the_last_product_of_a_dense_block_out(varied: Any) -> None:
    """Its checkpoint stops early by default and torchtitan's is told not to; a block of experts needs its last product."""

    def again(framework: str, more: str = "") -> float:
        changes = (f"training.framework={framework}", "batch.micro_batch_sequences=1")
        full, none = (varied(*changes, f"parallelism.recompute={word}", more=more) for word in ("full", "none"))
        return float(full.step.waterfall["products"]) - float(none.step.waterfall["products"])

    assert 0.6 < again("fsdp") / again("torchtitan") < 0.8
    experts = "[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 64\n"
    assert again("fsdp", experts) == pytest.approx(again("torchtitan", experts))


def test_attention_kernels_of_pytorch_lag_on_hopper(varied: Any) -> None:
    """FlashAttention-3 is 1.5 to 2.0 times FlashAttention-2 there, arXiv 2407.08608; which one runs is not known, so half of it."""

    def share(framework: str, part: str) -> float:
        found = varied(f"training.framework={framework}", f"cluster.accelerator={part}")
        return float(found.step.waterfall["attention"])

    shares = [share("torchtitan", part) / share("megatron", part) for part in ("h100-sxm", "a100-sxm-80")]
    assert shares[0] / shares[1] == pytest.approx(1 / 0.75, rel=1e-6)


def test_a_part_that_is_another_but_for_its_links_has_its_family() -> None:
    """A800 and H800 are A100 and H100 with slower links: what was fitted on those holds."""
    assert [family_of(part) for part in ("a800-sxm-80", "h800-sxm")] == ["a100", "hopper"]


@pytest.mark.parametrize("pipeline", [30, 31, 32])
def test_torchtitan_has_stages_of_the_embedding_and_of_the_loss(varied: Any, pipeline: int) -> None:
    """As many as layers + 2 are legal there (its pull request 1103), so memory and time are told of them too."""
    changes = ("training.framework=torchtitan", "model.num_hidden_layers=30", f"parallelism.pipeline={pipeline}")
    found = varied(
        *changes, f"cluster.nodes={pipeline}", "batch.global_batch_sequences=960", "batch.micro_batch_sequences=1"
    )
    assert isinstance(found.figure("memory.total"), Figure)
    assert isinstance(found.step.predicted_step_time, Figure)


def test_split_backward_waits_for_recompute_and_torchtitans_v_has_both_ends_on_one_rank(varied: Any) -> None:
    """arXiv 2401.10241, table 2; pytorch/torchtitan issue 773: zero bubble with full recompute gained nothing."""
    stages = ("parallelism.pipeline=2", "parallelism.tensor=1", "training.framework=torchtitan")
    bubbles = {
        (schedule, again): float(
            varied(*stages, f"parallelism.schedule={schedule}", f"parallelism.recompute={again}").step.waterfall[
                "bubble"
            ]
        )
        for schedule in ("zb-v", "1f1b")
        for again in ("none", "full")
    }
    assert bubbles["zb-v", "none"] == 0.0
    assert 0.0 < bubbles["zb-v", "full"] < bubbles["1f1b", "full"]
