"""Peaks that torchtitan's commits print, reserved, with their commands: tensor ranks without recompute, and expert ranks."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, made, model

COMPILED_LOSS = {"training__framework": "torchtitan", "training__loss": "compiled"}


def on(part: str, count: int) -> dict[str, Any]:
    return {"cluster__nodes": 1, "cluster__accelerators_per_node": count, "cluster__accelerator": part}


def eight(**changes: Any) -> Any:
    """Llama 3.1 8B at 8,192 tokens over two tensor ranks, operators one by one: the backend is aot_eager."""
    return made(
        **COMPILED_LOSS,
        model={"preset": "llama-3.1-8b"},
        training__kernels="torch-eager",
        data__sequence_length=8192,
        parallelism__tensor=2,
        **changes,
    ).memory


@pytest.mark.parametrize(
    ("part", "count", "recompute", "peak"),
    [
        ("h100-96-hbm2e", 8, "none", 49.65),
        ("h100-96-hbm2e", 8, "selective", 28.54),
        ("b200-sxm", 4, "none", 67.19),
        ("b200-sxm", 4, "selective", 45.88),
    ],
)
def test_tensor_ranks_keep_the_tokens_they_gathered(part: str, count: int, recompute: str, peak: float) -> None:
    """pytorch/torchtitan pulls 2570 and 2377. Without gathered tokens, what is not computed again reads 8 % and 9 % too little."""
    laid = {**on(part, count), "parallelism__recompute": recompute, "batch__global_batch_sequences": count // 2}
    assert float(eight(**laid).reserved) / GIB == pytest.approx(peak, rel=0.06)


def kept(framework: str, **changes: Any) -> float:
    """Activations at the loss, GiB, of one sequence over two tensor ranks."""
    words = {"training__framework": framework, "parallelism__recompute": "none", **changes}
    memory = made(**words, model={"preset": "llama-3.1-8b"}, parallelism__tensor=2, **on("h100-sxm", 8)).memory
    return next(float(one.parts["activations"]) for one in memory.table[0].instants if one.name == "loss") / GIB


def test_megatron_gathers_them_again() -> None:
    """Of 32 layers the inputs of attention and of the MLP, half of 8,192 tokens of 4,096 elements in 2 bytes: 2 GiB."""
    words = {"data__sequence_length": 8192, "batch__global_batch_sequences": 4, "training__kernels": "torch-compile"}
    assert kept("torchtitan", **words) - kept("megatron", **words) == pytest.approx(
        2 * 32 * 4096 * 4096 * 2 / GIB, rel=0.001
    )
    split = {**words, "parallelism__sequence_parallel": False}
    assert kept("torchtitan", **split) == pytest.approx(kept("megatron", **split), rel=0.001)


@pytest.mark.parametrize(
    ("expert", "shared", "inputs"), [(1, 0, 2), (2, 0, 1), (2, 1, 2)], ids=["one rank", "routed alone", "with shared"]
)
def test_expert_ranks_route_the_tokens_that_they_have(expert: int, shared: int, inputs: int) -> None:
    """torchtitan b5bcd76, models/common/MOE_SHARDING.md: with expert ranks an input stays split, and shared experts gather it."""
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 512, "num_shared_experts": shared}
    words = {"parallelism__expert": expert, "parallelism__tensor": 2, "parallelism__recompute": "none"}
    words |= {"training__kernels": "torch-compile", "batch__global_batch_sequences": 4, "data__sequence_length": 8192}
    titan, megatron = (
        made(**words, training__framework=name, model=model(moe=experts), **on("h100-sxm", 8)).memory.table[0]
        for name in ("torchtitan", "megatron")
    )
    more = float(titan.instants[0].parts["activations"]) - float(megatron.instants[0].parts["activations"])
    assert more == pytest.approx(inputs * 32 * 8192 * 4096 * 2 / 2, rel=0.001)


def test_experts_on_four_ranks() -> None:
    """pytorch/torchtitan pulls 1672 and 3659: DeepSeek-V3-16B, EP 4: one sequence, and four with full recompute on HybridEP."""
    lite = {
        **COMPILED_LOSS,
        "model": {"preset": "deepseek-v2-lite"},
        "parallelism__expert": 4,
        "data__sequence_length": 4096,
    }
    one = {
        "training__kernels": "torch-eager",
        "parallelism__recompute": "selective",
        "batch__global_batch_sequences": 4,
    }
    assert float(made(**lite, **one, **on("h100-sxm", 4)).memory.reserved) / GIB == pytest.approx(74.53, rel=0.02)
    four = {"parallelism__recompute": "full", "batch__global_batch_sequences": 16, "batch__micro_batch_sequences": 4}
    assert float(made(**lite, **four, **on("b300-sxm", 4)).memory.reserved) / GIB == pytest.approx(74.71, rel=0.05)
