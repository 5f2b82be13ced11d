"""The rules of [model]: heads that divide the width, and a word for each layer."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.finding import Finding
from trainplan.quantity.figure import Blocked


def all_of(found: Any, code: str) -> list[Finding]:
    return [item for item in findings(found) if item.code == code]


def test_heads_that_do_not_divide_the_width(varied: Any) -> None:
    found = varied("model.num_attention_heads=5")
    (finding,) = all_of(found, "model-heads")
    assert finding.message == "hidden_size 64 does not divide into 5 heads, and head_dim is not given"
    assert (finding.severity, finding.fix) == ("error", "num_attention_heads = 4 or 8, or head_dim")
    assert finding.paths[0] == "model.num_attention_heads"
    value = found.figure("model.parameters")
    assert isinstance(value, Blocked)
    assert value.code == "model-heads"


def test_each_fix_of_the_heads_is_one(varied: Any) -> None:
    for fix in ("model.num_attention_heads=4", "model.num_attention_heads=8", "model.head_dim=16"):
        assert not all_of(varied("model.num_attention_heads=5", fix), "model-heads")


def test_a_width_that_no_model_has_is_at_fault_itself(varied: Any) -> None:
    (finding,) = all_of(varied("model.hidden_size=67"), "model-heads")
    assert (finding.paths[0], finding.fix) == ("model.hidden_size", "hidden_size 64 or 68, or head_dim")


def test_more_heads_than_width_offers_only_fewer(varied: Any) -> None:
    (finding,) = all_of(varied("model.num_attention_heads=100"), "model-heads")
    assert finding.fix.startswith("num_attention_heads = 64")


def test_latent_attention_has_head_sizes_of_its_own(varied: Any) -> None:
    latent = "\n[model.mla]\nkv_lora_rank = 32\nqk_nope_head_dim = 16\nqk_rope_head_dim = 8\nv_head_dim = 16\n"
    assert not all_of(varied("model.num_attention_heads=5", more=latent), "model-heads")


def test_layer_types_of_another_length(varied: Any) -> None:
    found = varied('model.layer_types=["full_attention"]')
    (finding,) = all_of(found, "model-layer-types")
    assert finding.message == "layer_types has 1 entry, and num_hidden_layers is 2"
    assert (finding.severity, finding.fix) == ("error", "2 entries")
    assert finding.paths == ("model.layer_types", "model.num_hidden_layers")
    assert isinstance(found.figure("compute.flops_per_token_causal"), Blocked)
    two = 'model.layer_types=["full_attention", "sliding_attention"]'
    assert not all_of(varied(two, "model.sliding_window=256"), "model-layer-types")


def test_mlp_layer_types_of_another_length(varied: Any) -> None:
    experts = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = 2\nmoe_intermediate_size = 256\n"
    words = 'model.mlp_layer_types=["dense", "sparse", "sparse"]'
    (finding,) = all_of(varied(words, more=experts), "model-layer-types")
    assert finding.message == "mlp_layer_types has 3 entries, and num_hidden_layers is 2"
    assert not all_of(varied('model.mlp_layer_types=["dense", "sparse"]', more=experts), "model-layer-types")


def test_list_of_a_preset_follows_the_plans_own_depth(varied: Any) -> None:
    """A preset's list is cut or repeated; only the plan's own list can have another length."""
    assert not all_of(varied("model.preset=gemma-3-1b", "model.num_hidden_layers=7"), "model-layer-types")


def test_unknown_depth_is_missing_and_nothing_else(varied: Any) -> None:
    found = varied('model.layer_types=["full_attention"]', left_out=("model.num_hidden_layers",))
    assert not all_of(found, "model-layer-types")


POSITIONS = ("model.position_embedding=learned", "model.max_position_embeddings=1024")


def test_a_sequence_is_no_longer_than_the_table_of_positions(varied: Any) -> None:
    """transformers issue 125 and pull request 29600: past the table of positions there is nothing to look up."""
    (finding,) = all_of(varied(*POSITIONS, "data.sequence_length=2048"), "model-positions")
    assert finding.severity == "error"
    assert "2,048 tokens on a table of 1,024 learned positions" in finding.message
    assert finding.fix == "max_position_embeddings = 2048, or at most 1,024 tokens"
    assert not all_of(varied(*POSITIONS, "data.sequence_length=1024"), "model-positions")


def test_rotary_positions_are_only_what_a_configuration_says(varied: Any) -> None:
    rotary = ("model.max_position_embeddings=1024", "data.sequence_length=2048", "training.framework=fsdp")
    (finding,) = all_of(varied(*rotary), "model-positions")
    assert finding.severity == "info"
    assert not all_of(varied(*rotary, "model.position_embedding=alibi"), "model-positions")


def test_a_longer_stage_needs_its_positions_too(varied: Any) -> None:
    long = '\n[[data.stages]]\nname = "long"\nsequence_length = 2048\n'
    (finding,) = all_of(varied(*POSITIONS, "data.sequence_length=1024", more=long), "model-positions")
    assert finding.paths[0] == "data.stages.long.sequence_length"


@pytest.mark.parametrize(("heads", "keys", "near"), [(32, 5, "4 or 8"), (33, 2, "1 or 3"), (3, 2, "1 or 3")])
def test_query_heads_divide_into_key_heads(varied: Any, heads: int, keys: int, near: str) -> None:
    """flash-linear-attention issue 1029: 33 query heads on 2 key heads cover 32."""
    shape = (f"model.num_attention_heads={heads}", f"model.num_key_value_heads={keys}", "model.head_dim=64")
    (finding,) = all_of(varied(*shape), "model-groups")
    assert finding.severity == "error"
    assert finding.fix.startswith(f"num_key_value_heads = {near.split(maxsplit=1)[0]}")
    assert not all_of(varied(*shape[:1], "model.num_key_value_heads=1", shape[2]), "model-groups")


def test_a_token_goes_to_no_more_experts_than_there_are(varied: Any) -> None:
    """Diffulex pull request 37, review: a router that never compares the two fails inside its kernel."""
    some = "\n[model.moe]\nnum_experts = 8\nnum_experts_per_tok = {}\nmoe_intermediate_size = 128\n"
    (finding,) = all_of(varied(more=some.format(16)), "model-experts")
    assert (finding.severity, finding.message) == ("error", "a token goes to 16 experts, and a layer has 8")
    assert not all_of(varied(more=some.format(8)), "model-experts")


def test_counts_past_all_sense_are_judged_all_the_same(varied: Any) -> None:
    """Fixes come from divisors and not from counting up to the number, which would take minutes with a thousand million heads."""
    heads = varied("model.num_attention_heads=999999937", "model.num_key_value_heads=2", "model.head_dim=8")
    (finding,) = all_of(heads, "model-groups")
    assert finding.fix == "num_key_value_heads = 1 or 999999937"
    assert all_of(varied("batch.micro_batch_sequences=999999937"), "G2")
