"""Peaks of public reports of 2025 and 2026, planned first and read afterwards: the rule that each found, or holds."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, made

GB = 1e9
MEGATRON = {"training__framework": "megatron", "data__sequence_length": 4096, "cluster__accelerators_per_node": 8}
DEEPSEEK_V3 = {
    **MEGATRON,
    "model": {"preset": "deepseek-v3"},
    "cluster__accelerator": "gb200-nvl72",
    "cluster__accelerators_per_node": 4,
    "cluster__nodes": 64,
    "batch__global_batch_sequences": 8192,
    "parallelism__pipeline": 4,
    "parallelism__virtual_pipeline": 4,
    "parallelism__schedule": "interleaved",
    "parallelism__expert": 64,
    "training__moe_imbalance": 1.0,
}


def allocated(**changes: Any) -> float:
    return float(made(**changes).memory.allocated)


def test_transformer_engine_keeps_inputs_of_products_in_fp8() -> None:
    """Megatron-Bridge 067f987 of DeepSeek-V3 on 256 accelerators, pipeline 4 x 4, EP 64: 16 GB less, 12 % of activations.

    TransformerEngine issue 1764 says why. Nothing is less where PyTorch's kernels keep the 16-bit input and cast it again.
    """
    saved = allocated(**DEEPSEEK_V3) - allocated(**DEEPSEEK_V3, training__precision="fp8-mixed")
    assert saved / GB == pytest.approx(16, rel=0.05)
    compiled = {**DEEPSEEK_V3, "training__kernels": "torch-compile"}
    assert allocated(**compiled) == allocated(**compiled, training__precision="fp8-mixed")


def test_the_band_of_latent_attention_holds_its_fused_rotation() -> None:
    """Megatron-Bridge 067f987: 199.5 GB of DeepSeek-V3 in bf16. Fused, neither queries before rotation nor projected keys stay."""
    memory = made(**DEEPSEEK_V3).memory
    lowest = float(memory.total_low / memory.total) * float(memory.allocated)
    assert lowest / GB < 199.5 < float(memory.allocated) / GB
    layers, flying, heads = 16, 4.75, 128
    unfused = heads * 2 * (192 + 128) * 4096 * layers * flying
    assert (float(memory.allocated) - unfused) / GB == pytest.approx(199.5, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "measured"),
    [
        ({}, 58.8),
        ({"parallelism__pipeline": 8}, 53.2),
        ({"parallelism__tensor": 8}, 50.2),
        ({"parallelism__virtual_pipeline": 10}, 60.2),
    ],
)
def test_finetuning_70_billion_parameters_in_fp8(changes: dict[str, int], measured: float) -> None:
    """Megatron-Bridge 067f987, skills/nemo-mbridge-perf-memory-tuning: Llama 3 70B on 32 H100, gradients in bf16, peaks in GB.

    With inputs in 16 bits the first reads 68.4 GiB. Weights in fp8 alone, which the recipe gathers, are 2 to 4 GiB less still.
    """
    laid = {"parallelism__tensor": 4, "parallelism__pipeline": 4, "parallelism__virtual_pipeline": 5, **changes}
    memory = made(
        **MEGATRON,
        **laid,
        model={"preset": "llama-3-70b"},
        cluster__accelerator="h100-sxm",
        cluster__nodes=4,
        batch__global_batch_sequences=32,
        parallelism__schedule="interleaved",
        parallelism__recompute="selective",
        training__precision="fp8-mixed",
        training__gradient_dtype="bf16",
    ).memory
    assert memory.total < memory.usable
    assert float(memory.allocated) / GIB == pytest.approx(measured, rel=0.12)


LONG = {
    "cluster__accelerator": "h100-sxm",
    "cluster__nodes": 1,
    "cluster__accelerators_per_node": 8,
    "training__framework": "fsdp",
    "training__kernels": "torch-eager",
    "training__loss": "chunked",
    "training__activation_offload": True,
    "parallelism__context": 8,
    "parallelism__recompute": "full",
    "batch__global_batch_sequences": 1,
}
PURE = {"training__precision": "bf16-pure", "training__moment_dtype": "bf16"}


def test_four_million_tokens_go_round_eight_accelerators() -> None:
    """huggingface/trl pull 6845: Qwen3-0.6B at 4 Mi tokens on 8 H100, 73.7 GB; it was told to need 123.8 GiB, and not to fit.

    TRL's chunks are 256 tokens at any length. PyTorch's ring gathers every rank's keys and values, and keeps gradients in fp32.
    """
    memory = made(model={"preset": "qwen3-0.6b"}, data__sequence_length=2**22, **LONG, **PURE).memory
    assert str(memory.worst_instant) == "attention of the first layer"
    assert memory.total < memory.usable
    assert memory.total_low <= 73.7 * GB <= memory.total_high


def test_a_million_tokens_of_eight_billion_parameters() -> None:
    """huggingface/trl pulls 6845 and 6846: Qwen3-8B at 1 Mi tokens on 8 H100, checkpoints on the host: 56.2 GB; out without."""
    plan = {"model": {"preset": "qwen3-8b"}, "data__sequence_length": 2**20, **LONG}
    assert allocated(**plan) / GB == pytest.approx(56.2, rel=0.02)
    kept = made(**{**plan, "training__activation_offload": False}).memory
    assert kept.total > kept.usable


def at_the_loss(framework: str, length: int, **changes: Any) -> float:
    """Bytes of logits and of the head's input gradient with a chunked loss: width 4,096, vocabulary 32,000."""
    laid = {"training__framework": framework, "training__loss": "chunked", "parallelism__sharding": "zero-3", **changes}
    instants = made(data__sequence_length=length, **laid).memory.table[0].instants
    return next(float(one.parts["logits"]) for one in instants if one.name == "loss")


def test_chunks_of_torchtitan_grow_with_the_length() -> None:
    """pytorch/torchtitan pull 4514: with eight chunks one has 40,960 of 327,680 tokens; it asks for a fixed length instead.

    Its GradAccumulator sums the gradient of every chunk's input in fp32, whole on each tensor rank.
    """
    for length in (8192, 32768):
        assert at_the_loss("torchtitan", length) == 12 * length / 8 * 32000 + 4 * length * 4096
        assert at_the_loss("fsdp", length) == 12 * 256 * 32000 + 2 * length * 4096
    halved = at_the_loss("torchtitan", 8192, parallelism__tensor=2)
    assert halved == 12 * 8192 / 8 * 32000 / 2 + 4 * 8192 * 4096


TITAN = {
    "training__framework": "torchtitan",
    "cluster__nodes": 1,
    "cluster__accelerators_per_node": 8,
    "parallelism__recompute": "selective",
}


def titan(preset: str, part: str, length: int, sequences: int, **changes: Any) -> Any:
    """The ledger of `sequences` on each of eight accelerators, or of as many as `changes` say."""
    fields = {**TITAN, **changes}
    ranks = fields["cluster__accelerators_per_node"] // fields.get("parallelism__context", 1)
    return made(
        model={"preset": preset},
        cluster__accelerator=part,
        data__sequence_length=length,
        batch__global_batch_sequences=sequences * ranks,
        batch__micro_batch_sequences=sequences,
        **fields,
    ).memory


EAGER = {"training__kernels": "torch-eager"}
FOUR = {"cluster__accelerators_per_node": 4}


@pytest.mark.parametrize(
    ("report", "model", "part", "length", "sequences", "changes", "reserved"),
    [
        ("pull 996", "llama-3.1-8b", "h100-96-hbm2e", 8192, 1, {**EAGER, "training__loss": "plain"}, 49.58),
        ("pull 996", "llama-3.1-8b", "h100-96-hbm2e", 8192, 1, {**EAGER, "training__loss": "chunked"}, 42.26),
        (
            "pull 1884",
            "llama-3.1-8b",
            "h100-96-hbm2e",
            8192,
            1,
            {
                **EAGER,
                **FOUR,
                "training__loss": "plain",
                "parallelism__context": 2,
                "parallelism__recompute": "full",
            },
            44.84,
        ),
        ("nvfp4.md", "llama-3.1-8b", "gb200-nvl72", 2048, 32, {**FOUR, "training__loss": "chunked"}, 174.49),
        ("nvfp4.md", "qwen3-8b", "gb200-nvl72", 2048, 16, {**FOUR, "training__loss": "chunked"}, 112.88),
    ],
)
def test_reserved_peaks_of_torchtitan(
    report: str, model: str, part: str, length: int, sequences: int, changes: dict[str, Any], reserved: float
) -> None:
    """pytorch/torchtitan b5bcd76: its pull requests, and components/quantization/nvfp4.md for bf16 on 4 accelerators (GiB)."""
    memory = titan(model, part, length, sequences, **changes)
    assert float(memory.reserved) / GIB == pytest.approx(reserved, rel=0.09), report
    assert memory.total_low <= reserved * GIB <= memory.total_high


@pytest.mark.parametrize(
    ("length", "sequences", "share"),
    [(4096, 4, 2 / 3), (4096, 6, None), (6144, 4, 0.88), (4096, 8, 1.0), (8192, 4, 1.0)],
)
def test_sixteen_billion_parameters_of_experts_without_recompute(
    length: int, sequences: int, share: float | None
) -> None:
    """pytorch/torchtitan pull 1993: DeepSeek-V3-16B on 8 B200, EP 1: 8 x 4,096 tokens and 4 x 8,192 run out, fewer do not."""
    memory = titan("deepseek-v2-lite", "b200-sxm", length, sequences, parallelism__recompute="none")
    assert (memory.total > memory.usable) is (share == 1.0)
    if share is not None and share < 1.0:
        assert float(memory.reserved / memory.usable) == pytest.approx(share, rel=0.08)


@pytest.mark.parametrize(("recompute", "fits"), [("selective", False), ("full", True)])
def test_fourteen_billion_parameters_want_full_recompute(recompute: str, fits: bool) -> None:
    """pytorch/torchtitan pull 2461: Qwen3-14B, 4 x 4,096 tokens on 8 x 96 GB: selective ran out, full did not."""
    memory = titan("qwen3-14b", "h100-96-hbm2e", 4096, 4, **EAGER, parallelism__recompute=recompute)
    assert (memory.total <= memory.usable) is fits


MOONLIGHT = {
    "num_hidden_layers": 27,
    "hidden_size": 2048,
    "intermediate_size": 11264,
    "num_attention_heads": 16,
    "vocab_size": 163840,
    "moe": {
        "num_experts": 64,
        "num_experts_per_tok": 6,
        "moe_intermediate_size": 1408,
        "num_shared_experts": 2,
        "first_k_dense_replace": 1,
    },
    "mla": {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
}


def test_latent_attention_with_16_bit_gradients_and_moments() -> None:
    """Megatron-Bridge 067f987, skills/nemo-mbridge-perf-activation-recompute: Moonlight 16B on 8 H100, 36.618 GB.

    Recompute of the attention core took 4 MB of it away.
    """
    laid = {"parallelism__tensor": 2, "parallelism__expert": 8, "batch__global_batch_sequences": 4}
    dtypes = {"training__gradient_dtype": "bf16", "training__moment_dtype": "bf16"}
    held = [
        allocated(
            **MEGATRON,
            **laid,
            **dtypes,
            model=MOONLIGHT,
            cluster__accelerator="h100-sxm",
            cluster__nodes=1,
            parallelism__recompute=recompute,
        )
        for recompute in ("none", "selective")
    ]
    assert [one / GB for one in held] == pytest.approx([36.618, 36.614], rel=0.03)


def test_experts_of_30_billion_on_sixteen_accelerators() -> None:
    """Megatron-Bridge 067f987, skills/nemo-mbridge-perf-expert-parallel-overlap: Qwen3 30B-A3B, EP 16: 62.166 GiB on rank 0.

    Gradients are in bf16 and routing is forced to be even; all-to-all alone held 61.351 GB.
    """
    held = allocated(
        **MEGATRON,
        model={"preset": "qwen3-30b-a3b"},
        cluster__accelerator="h100-sxm",
        cluster__nodes=2,
        batch__global_batch_sequences=1024,
        parallelism__expert=16,
        training__gradient_dtype="bf16",
        training__moe_imbalance=1.0,
    )
    assert 61.351 * GB < held < 62.166 * GIB
