"""Step times that public reports print, against the predicted step's own 80 % range, and causes that they found."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import found, made

QWEN3_30B, QWEN3_235B = ({"preset": f"qwen3-{name}"} for name in ("30b-a3b", "235b-a22b"))


def on(nodes: int, part: str, **changes: Any) -> dict[str, Any]:
    return {
        "cluster__nodes": nodes,
        "cluster__accelerators_per_node": 8,
        "cluster__accelerator": part,
        "training__moe_imbalance": 1.0,
        "utilization__value": 0.4,
        **changes,
    }


STAGES = {
    "parallelism__pipeline": 32,
    "parallelism__virtual_pipeline": 3,
    "parallelism__schedule": "interleaved",
    "parallelism__first_stage_layers": 2,
    "parallelism__last_stage_layers": 2,
    "parallelism__expert": 8,
    "data__sequence_length": 4096,
}
SMALL = {"data__sequence_length": 8192}
TITAN = {"training__framework": "torchtitan", "parallelism__expert": 8, "parallelism__recompute": "full"}


@pytest.mark.parametrize(
    ("shape", "laid", "sequences", "seconds"),
    [
        (QWEN3_30B, on(2, "h800-sxm", **SMALL, parallelism__pipeline=2, parallelism__expert=8), 128, 10.361),
        (QWEN3_30B, on(2, "h800-sxm", **SMALL, parallelism__pipeline=4, parallelism__expert=4), 256, 20.992),
        (
            QWEN3_235B,
            on(32, "h800-sxm", **STAGES, batch__micro_batch_sequences=4, parallelism__recompute="full"),
            4096,
            42.537,
        ),
        (
            QWEN3_235B,
            on(
                32,
                "h800-sxm",
                **STAGES,
                batch__micro_batch_sequences=4,
                parallelism__tensor=2,
                parallelism__recompute="full",
            ),
            4096,
            43.495,
        ),
        (QWEN3_30B, on(1, "b200-sxm", **TITAN, data__sequence_length=4096, batch__micro_batch_sequences=8), 64, 2.215),
        (
            QWEN3_30B,
            on(16, "b200-sxm", **TITAN, data__sequence_length=4096, batch__micro_batch_sequences=8),
            1024,
            2.365,
        ),
    ],
    ids=["pai-643-ep8", "pai-643-ep4", "pai-658-tp1", "pai-658-tp2", "titan-19-1-node", "titan-19-16-nodes"],
)
def test_steps_of_routed_models_are_inside_the_range(
    shape: dict[str, Any], laid: dict[str, Any], sequences: int, seconds: float
) -> None:
    """Pai-Megatron-Patch issues 643 and 658 print the seconds; NousResearch/torchtitan pull 19 tokens/s: 14,796 and 13,856."""
    step = made(model=shape, **laid, batch__global_batch_sequences=sequences).step
    assert step.predicted_step_time_low <= seconds <= step.predicted_step_time_high


def sharded(nodes: int, fabric: str | None) -> Any:
    link = {} if fabric is None else {"cluster__scale_out_bandwidth": fabric}
    return made(
        model={"preset": "llama-3.1-8b"},
        **on(nodes, "a100-sxm-80", **link),
        data__sequence_length=4096,
        batch__global_batch_sequences=8 * nodes,
        training__framework="deepspeed",
        parallelism__sharding="zero-3",
        parallelism__recompute="full",
    )


def test_two_nodes_on_a_slow_fabric_are_slower_than_one_and_the_cause_is_named() -> None:
    """deepspeedai/DeepSpeed issues 7019 and 5770: stage 3 over a fabric below 100 Gb/s, two nodes slower than one."""
    slow, one_node = sharded(2, "10Gb/s"), sharded(1, None)
    assert slow.step.predicted_step_time > 2.0 * one_node.step.predicted_step_time
    (finding,) = found(slow, "P2")
    assert finding.severity == "error"
    assert "data parallelism" in finding.message
    assert not found(one_node, "P2")
