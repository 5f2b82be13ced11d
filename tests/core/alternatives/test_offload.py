"""What host memory and smaller moments cost in time: bytes over a link, Adam on the host, and what the device no longer does."""

from __future__ import annotations

import pytest
from tests.core.alternatives.test_reverse import MODEL, Planned

from trainplan.alternatives.changes import single_changes
from trainplan.alternatives.offload import (
    Step,
    activations_on_host,
    grown,
    moments_in_bf16,
    optimizer_on_host,
    step_of,
)
from trainplan.alternatives.reverse import tried
from trainplan.budgets.host import HOST_ADAM, LINK


def plain(step: Step, seconds: float) -> float:
    """Seconds added without the allowance for stragglers."""
    waterfall, whole = step.budget.waterfall, float(step.budget.predicted_step_time)
    return seconds * (whole - float(waterfall["stragglers"])) / whole


def test_an_optimizer_on_the_host_sends_gradients_and_weights_and_updates_there(planned: Planned) -> None:
    """16 ranks share the states: each sends 4 + 2 bytes of a sixteenth of the parameters, and 8 of them share a host."""
    step = step_of(planned(*MODEL))
    parameters = float(step.model.parameters) / 16
    added = optimizer_on_host(step)
    link = 63e9 * 0.8
    expected = 6.0 * parameters / link + 8 * parameters / 2e9 - float(step.budget.waterfall["optimizer"])
    assert plain(step, float(added.seconds)) == pytest.approx(expected, rel=2e-3)  # padded rows of the tables
    assert added.says.startswith("includes copies ")
    assert "excludes overlap" in added.says
    assert not added.seconds.verified


def test_the_link_is_the_parts_own_or_a_default_that_says_so(planned: Planned) -> None:
    """Where the catalogue has none, copies go at the default; Grace's link makes them a seventh."""
    seconds = {}
    for part in ("gb200-nvl72", "h200-sxm", "v100-sxm2-32"):
        plan = planned(*MODEL, f"cluster.accelerator={part}", "cluster.accelerators_per_node=8")
        copies = next(one for one in optimizer_on_host(step_of(plan)).seconds.inputs[0].inputs if one.unit == "s")
        seconds[part] = float(copies)
    assert seconds["h200-sxm"] / seconds["gb200-nvl72"] == pytest.approx(450 / 63, rel=1e-6)
    assert seconds["v100-sxm2-32"] / seconds["h200-sxm"] == pytest.approx(0.8 * 63e9 / float(LINK), rel=1e-6)
    assert not LINK.verified
    assert not HOST_ADAM.verified
    assert LINK.rests_on == HOST_ADAM.rests_on == "default"


def test_moments_of_half_the_bytes_save_a_share_of_the_optimizer(planned: Planned) -> None:
    """Of 30 bytes a parameter, 16 are moments: read and written, they are 8 fewer."""
    step = step_of(planned(*MODEL))
    added = moments_in_bf16(step)
    assert plain(step, float(added.seconds)) == pytest.approx(
        -8.0 / 30.0 * float(step.budget.waterfall["optimizer"]), rel=1e-9
    )
    assert "excludes what rounding costs" in added.says


def test_activations_on_the_host_cost_what_compute_does_not_cover(planned: Planned) -> None:
    plan = planned(*MODEL)
    step, here = step_of(plan), tried(plan)
    loss = next(one for one in here.memory.table[0].instants if one.name == "loss")
    kept = loss.parts["activations"]
    copied = float(kept) * float(step.tokens.microbatches) / (63e9 * 0.8)
    compute = sum(
        float(step.budget.waterfall[name]) for name in ("products", "attention", "elementwise", "host", "head")
    )
    expected = max(0.0, copied - compute / 3) + max(0.0, copied - 2 * compute / 3)
    added = activations_on_host(step, kept)
    assert plain(step, float(added.seconds)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert float(activations_on_host(step, kept).seconds) >= 0.0


def test_the_ranking_uses_what_was_computed(planned: Planned) -> None:
    plan = planned(*MODEL, "parallelism.recompute=full", "data.sequence_length=2048", "cluster.nodes=1")
    step = step_of(plan)
    found = {change.path: change for change in single_changes(plan)}
    offload = found["training.optimizer_offload"]
    assert step.seconds is not None
    assert offload.cost == float(optimizer_on_host(step).seconds) / float(step.seconds)
    assert offload.reason == optimizer_on_host(step).says


def test_what_the_framework_refuses_is_not_proposed(planned: Planned) -> None:
    """Megatron-LM moves the states of its distributed optimizer alone."""
    plan = planned(*MODEL, "parallelism.sharding=none", "parallelism.recompute=full", "data.sequence_length=2048")
    assert "training.optimizer_offload" not in {change.path for change in single_changes(plan)}


def test_a_cost_names_the_part_of_the_step_that_grows_most(planned: Planned) -> None:
    """Full recompute adds a forward of three in products; a change that costs less than a hundredth names nothing."""
    before, after = step_of(planned(*MODEL)), step_of(planned(*MODEL, "parallelism.recompute=full"))
    added = float(after.budget.waterfall["products"]) - float(before.budget.waterfall["products"])
    assert grown(before, after) == f"matrix products +{100 * added / float(before.budget.predicted_step_time):.0f} %"
    assert grown(before, before) == grown(after, before) == ""
    assert any(one.reason.startswith("matrix products +") for one in single_changes(planned(*MODEL)))


def test_without_a_step_a_cost_is_what_was_judged(planned: Planned) -> None:
    """A part whose memory bandwidth nobody knows has no predicted step, and a change is still ranked."""
    own = ("parallelism.recompute=full", "data.sequence_length=2048", "cluster.nodes=1")
    plan = planned(*MODEL, *own, "cluster.memory_per_accelerator=79GiB", "cluster.accelerators_per_node=8")
    blind = plan.model_copy(update={"cluster": plan.cluster.model_copy(update={"accelerator": None})})
    assert step_of(blind).work is None
    offload = next(change for change in single_changes(blind) if change.path == "training.optimizer_offload")
    assert offload.cost == 0.5
    assert "includes" not in offload.reason


def test_a_plan_whose_optimizer_is_on_the_host_is_predicted_with_it(planned: Planned) -> None:
    """What the change was said to cost is what the changed plan's own step is longer by."""
    before, after = step_of(planned(*MODEL)), step_of(planned(*MODEL, "training.optimizer_offload=true"))
    assert before.seconds is not None
    assert after.seconds is not None
    told = float(optimizer_on_host(before).seconds)
    assert float(after.seconds) - float(before.seconds) == pytest.approx(told, rel=1e-9)
    assert float(after.budget.waterfall["optimizer"]) > float(before.budget.waterfall["optimizer"])
