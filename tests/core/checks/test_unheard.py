"""A field without effect is said, with the reason; what the prediction leaves out is said too, with its size."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Varied

from trainplan.checks import findings
from trainplan.checks.unheard import DEAF
from trainplan.plan.describe import sentence_of

MOE = "\n[model.moe]\nnum_experts = 8\nmoe_intermediate_size = 96\nnum_experts_per_tok = 2\n"
MLA = "\n[model.mla]\nkv_lora_rank = 32\nqk_nope_head_dim = 16\nqk_rope_head_dim = 8\nv_head_dim = 16\n"


def found(one: Any, code: str) -> list[Any]:
    return [hit for hit in findings(one) if hit.code == code]


@pytest.mark.parametrize("path", DEAF)
def test_every_field_that_some_layouts_do_not_hear_is_one(path: str) -> None:
    assert sentence_of(path)


@pytest.mark.parametrize(
    ("field", "hears", "more"),
    [
        ("parallelism.shard_size=8", "parallelism.sharding=hsdp", ""),
        ("parallelism.bucket_elements=1000000", "training.framework=deepspeed", ""),
        ("parallelism.reshard_after_forward=false", "parallelism.sharding=zero-3", ""),
        ("parallelism.context_type=all-to-all", "parallelism.context=2", ""),
        ("parallelism.schedule=gpipe", "parallelism.pipeline=2", ""),
        ("parallelism.first_stage_layers=1", "parallelism.pipeline=2", ""),
        ("parallelism.overlap_tensor=0.5", "parallelism.tensor=2", ""),
        ("parallelism.overlap_expert=0.5", "parallelism.expert=2", MOE),
        ("training.head=gathered", "parallelism.tensor=2", ""),
        ("training.gradient_accumulation=full", "parallelism.sharding=zero-2", ""),
        ("training.moment_dtype=bf16", "training.optimizer=adamw", ""),
        ("model.sliding_window=128", 'model.layer_types=["sliding_attention","full_attention"]', ""),
    ],
)
def test_a_field_without_effect_is_said_where_it_has_none(varied: Varied, field: str, hears: str, more: str) -> None:
    path = field.split("=", maxsplit=1)[0]
    deaf = {
        "training.moment_dtype": ("training.optimizer=adamw-8bit",),
        "parallelism.bucket_elements": ("training.framework=fsdp",),
    }
    (hit,) = found(varied(field, *deaf.get(path, ()), more=more), "P12")
    assert (hit.severity, hit.paths) == ("info", (path,))
    assert not found(varied(field, hears, more=more), "P12")


def test_what_is_the_default_is_not_told(varied: Varied) -> None:
    assert not found(varied("parallelism.schedule=1f1b", "parallelism.context_type=ring"), "P12")


def test_latent_attention_hears_no_head_size(varied: Varied) -> None:
    assert found(varied("model.head_dim=32", more=MLA), "P12")


def test_imbalance_is_for_experts(varied: Varied) -> None:
    assert found(varied("training.moe_imbalance=1.5"), "P12")
    assert found(varied("training.moe_imbalance=1.5", more=MOE), "P12")
    assert not found(varied("training.moe_imbalance=1.5", "parallelism.expert=2", more=MOE), "P12")


def test_copies_of_activations_are_told_with_what_they_add(varied: Varied) -> None:
    (hit,) = found(varied("training.activation_offload=true"), "P13")
    assert "includes copies" in hit.message
    assert not found(varied(), "P13")
