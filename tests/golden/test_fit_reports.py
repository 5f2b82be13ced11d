"""What a plan that does not fit is told, against public reports of what made such a run fit: what is named is set, and fits."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, found, made, one

from trainplan.alternatives.reverse import changed
from trainplan.checks.remedies import ways
from trainplan.estimation import estimate


@pytest.mark.parametrize(
    ("laid", "begins"),
    [
        ({"training__framework": "fsdp", "parallelism__recompute": "full"}, "fits with optimizer_offload = true"),
        ({"training__framework": "megatron"}, "no single change fits; the walk fits with nodes = 4 and "),
        (
            {"training__framework": "megatron", "cluster__nodes": 8, "parallelism__sharding": "none"},
            "no single change fits; the walk",
        ),
    ],
)
def test_a_model_of_70_billion_on_eight_accelerators_is_told_what_fits(laid: dict[str, Any], begins: str) -> None:
    """huggingface/trl issue 2294: 90B on 8 x 80 GB, 16 bytes a parameter: offload, or more accelerators.

    What is named fits when it is set.
    """
    fields = {"cluster__nodes": 1, "cluster__accelerators_per_node": 8, "batch__global_batch_sequences": 64, **laid}
    plan = made(
        model={"preset": "llama-3.1-70b"}, cluster__accelerator="h100-sxm", data__sequence_length=8192, **fields
    )
    finding = one(plan, "M1")
    assert finding.severity == "error"
    assert finding.fix.startswith(begins)
    first = finding.fix.split("fits with ")[1].split(" (")[0]
    ((_, change),) = ways(first, finding.paths)
    after = estimate(changed(plan.plan, change))
    assert after.memory.total <= after.memory.usable


def test_expert_ranks_are_named_where_experts_do_not_fit() -> None:
    """Megatron-Bridge pull 3744: expert ranks divide experts. On two, Mixtral fits."""
    plan = made(
        training__framework="megatron",
        data__sequence_length=4096,
        cluster__accelerators_per_node=8,
        model={"preset": "mixtral-8x7b"},
        cluster__accelerator="h100-sxm",
        cluster__nodes=8,
        batch__global_batch_sequences=1024,
        parallelism__pipeline=4,
        parallelism__sharding="zero-1",
        parallelism__recompute="full",
    )
    assert "fits with expert = 2 (" in one(plan, "M1").fix
    after = estimate(changed(plan.plan, {"parallelism.expert": 2}))
    assert after.memory.total <= after.memory.usable


def test_dropping_weights_after_forward_is_named_where_they_are_kept() -> None:
    """pytorch/torchtitan pull 822: reshard_after_forward can be never; then whole weights wait for backward, 15 GiB of 8B."""
    kept = {"parallelism__recompute": "full", "parallelism__reshard_after_forward": False}
    plan = made(
        **kept,
        model={"preset": "llama-3.1-8b"},
        training__framework="torchtitan",
        cluster__nodes=1,
        cluster__accelerators_per_node=4,
        cluster__accelerator="a100-sxm-80",
        data__sequence_length=8192,
        batch__global_batch_sequences=64,
        batch__micro_batch_sequences=4,
    )
    finding = one(plan, "M1")
    assert finding.fix.startswith("fits with reshard_after_forward = true")
    after = estimate(changed(plan.plan, {"parallelism.reshard_after_forward": True}))
    assert plan.memory.total - after.memory.total > 12 * GIB
    assert not found(after, "M1")
