"""Findings P2, P5, P7, P9, P10 and P11: each appears where it must and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.estimation import Estimate, estimate
from trainplan.finding import Finding
from trainplan.plan.read import open_plan

PLANS = Path(__file__).resolve().parents[3] / "plans"


def found(estimate: Estimate, code: str) -> list[Finding]:
    return [item for item in findings(estimate) if item.code == code]


def test_p2_and_p5_of_a_slow_fabric(varied: Any) -> None:
    slow = varied("parallelism.sharding=zero-3", 'cluster.scale_out_bandwidth="1MB/s"')
    (finding,) = found(slow, "P2")
    assert finding.severity == "error"
    assert "data parallelism" in finding.message
    assert finding.paths[0] == "parallelism.sharding"
    assert not found(slow, "P5"), "the fabric is the plan's own"
    default = estimate(open_plan(PLANS / "llama-3.1-405b.toml").plan)
    assert [item.severity for item in found(default, "P5")] == ["info"]
    assert not found(varied("cluster.nodes=1"), "P5")


def test_p2_is_silent_where_little_is_seen(varied: Any) -> None:
    quiet = varied("cluster.nodes=1", "parallelism.sharding=zero-1", "batch.micro_batch_sequences=8")
    assert not found(quiet, "P2")


def test_p7_of_the_only_copy(varied: Any) -> None:
    (finding,) = found(varied("cluster.nodes_per_failure_domain=1", "parallelism.sharding=zero-3"), "P7")
    assert "16 ranks" in finding.message
    assert not found(varied("cluster.nodes_per_failure_domain=1", "parallelism.sharding=none"), "P7")
    assert not found(varied("parallelism.sharding=zero-3"), "P7")


@pytest.mark.parametrize(("size", "right"), [("4", False), ("8", True)])
def test_p9_of_a_shard_group(varied: Any, size: str, right: bool) -> None:
    item = found(varied("parallelism.sharding=hsdp", f"parallelism.shard_size={size}"), "P9")
    assert bool(item) is not right
    if item:
        assert item[0].fix == "shard_size = 8"


def test_p10_of_accumulation(varied: Any) -> None:
    (finding,) = found(varied("parallelism.sharding=zero-3"), "P10")
    assert "64 microbatches" in finding.message
    assert not found(varied("parallelism.sharding=zero-3", "batch.micro_batch_sequences=64"), "P10")
    assert not found(varied("parallelism.sharding=zero-1"), "P10")
    full = ("training.framework=fsdp", "training.gradient_accumulation=full")
    assert found(varied(*full), "P10")
    assert not found(varied("training.framework=torchtitan", "parallelism.pipeline=2"), "P10")


def test_p11_of_heads_that_leave_the_tensor_cores(varied: Any) -> None:
    (finding,) = found(varied("model.head_dim=108"), "P11")
    assert finding.fix == "104 or 112"
    assert not found(varied("model.head_dim=128"), "P11")
