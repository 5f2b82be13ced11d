"""Number types, kernels and heads that a part or a kernel does not take."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.finding import Finding


def all_of(found: Any, code: str) -> list[Finding]:
    return [item for item in findings(found) if item.code == code]


V100 = ("cluster.accelerator=v100-sxm2-32", "cluster.peak_flops=125T", "parallelism.tensor=1")


@pytest.mark.parametrize("precision", ["bf16-mixed", "bf16-pure"])
def test_a_v100_has_no_bf16(varied: Any, precision: str) -> None:
    """stanford_alpaca issue 133, dolly issue 11: eight V100, and the trainer refuses bf16."""
    (finding,) = all_of(varied(*V100, f"training.precision={precision}"), "C18")
    assert finding.severity == "error"
    assert finding.fix.startswith('precision = "fp16-mixed"')
    assert not all_of(varied(f"training.precision={precision}"), "C18")


@pytest.mark.parametrize("precision", ["fp16-mixed", "fp32"])
def test_a_v100_has_fp16(varied: Any, precision: str) -> None:
    assert not all_of(varied(*V100, f"training.precision={precision}"), "C18")


def test_flash_attention_has_no_kernel_for_it(varied: Any) -> None:
    """LlamaFactory issue 3508: only Ampere or newer."""
    (finding,) = all_of(varied(*V100, "training.precision=fp16-mixed"), "C19")
    assert finding.severity == "warning"
    assert not all_of(varied(*V100, "training.attention=eager"), "C19")
    assert not all_of(varied("cluster.accelerator=a100-sxm-80", "cluster.peak_flops=312T"), "C19")


def test_megatron_s_own_layers_have_none(varied: Any) -> None:
    """Megatron-LM gpt_layer_specs.py, get_gpt_layer_local_spec: DotProductAttention, which keeps every score."""
    own, fused = varied("training.kernels=torch-eager"), varied("training.kernels=megatron-te")
    eager = varied("training.kernels=torch-eager", "training.attention=eager")
    (finding,) = all_of(own, "C19")
    assert finding.fix.startswith('kernels = "megatron-te"')
    assert float(own.memory.total) == float(eager.memory.total) > float(fused.memory.total)
    assert not all_of(fused, "C19")
    assert not all_of(eager, "C19")
    assert not all_of(varied("training.kernels=torch-eager", "training.framework=torchtitan"), "C19")


@pytest.mark.parametrize(("size", "said"), [(512, True), (256, False), (264, True)])
def test_flash_attention_takes_heads_of_256(varied: Any, size: int, said: bool) -> None:
    """flash-attention issue 277: every head size to 256 from version 2 on; 512 was asked for in issue 801."""
    assert bool(all_of(varied(f"model.head_dim={size}"), "P14")) is said
    assert not all_of(varied(f"model.head_dim={size}", "training.attention=eager"), "P14")


FP8 = ("training.precision=fp8-mixed", "parallelism.tensor=1")


def test_sides_of_fp8_products_are_multiples_of_16(varied: Any) -> None:
    """NeMo pull request 8869: dims [5504, 184] refused, height by 8 and width by 16."""
    titan = (*FP8, "training.framework=torchtitan")
    (finding,) = all_of(varied(*titan, "data.sequence_length=184"), "C20")
    assert finding.severity == "warning"
    assert finding.message.startswith("184 tokens of a context rank")
    assert finding.fix.startswith("sequence_length = 176, or ")
    assert not all_of(varied(*titan, "data.sequence_length=192"), "C20")
    assert not all_of(varied("training.framework=torchtitan", "data.sequence_length=184"), "C20")
    assert all_of(varied(*titan, "data.sequence_length=192", "parallelism.context=8"), "C20")
    assert not all_of(varied(*FP8, "data.sequence_length=184"), "C20")
