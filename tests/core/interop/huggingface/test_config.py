"""config.json as a plan: what is read, what is listed, and what is said of a file that contradicts itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainplan.interop.huggingface.config import model_of_config
from trainplan.interop.huggingface.layers import spacing
from trainplan.plan.plan import Plan

ROWS = tomllib.loads((Path(__file__).parents[3] / "golden" / "architectures.toml").read_text(encoding="utf-8"))["row"]
LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "vocab_size": 100,
}


@pytest.mark.golden("params")
def test_published_files_are_consistent_and_read_in_full(row: dict[str, Any]) -> None:
    found = model_of_config(row["config"])
    assert (found.problems, found.unknown) == ((), ())
    assert "preset" not in found.model
    Plan.model_validate({"format": 1, "model": found.model})


@pytest.mark.golden("architectures")
def test_no_key_of_an_architecture_is_left_unread(row: dict[str, Any]) -> None:
    assert model_of_config(row["config"]).unknown == ()


def test_unknown_keys_are_listed_and_those_that_change_no_shape_are_not() -> None:
    found = model_of_config(LLAMA | {"torch_dtype": "bfloat16", "rope_theta": 5e5, "memory_tokens": 16, "off": False})
    assert found.unknown == ("memory_tokens",)


def test_unknown_architecture_is_read_as_llama_and_says_so() -> None:
    found = model_of_config(LLAMA | {"model_type": "brandnew"})
    assert any("brandnew" in note and "Llama" in note for note in found.notes)
    assert found.problems == ()


def test_layers_that_are_not_attention_are_refused_in_words() -> None:
    found = model_of_config(LLAMA | {"model_type": "hybrid", "mamba_d_state": 16})
    assert "mamba_d_state" in found.problems[0]
    found = model_of_config(LLAMA | {"layer_types": ["linear_attention"] * 4})
    assert "linear_attention" in found.problems[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_encoder_decoder": True}, "an encoder stands beside the decoder"),
        ({"model_type": "bert", "type_vocab_size": 2}, "there are token types"),
        ({"block_configs": [{}]}, "layers have shapes of their own"),
        ({"model_type": "hunyuan_v1_dense", "use_cla": True}, "layers share keys and values"),
        ({"model_type": "longcat_flash"}, "model_type longcat_flash has two attentions"),
        ({"num_key_value_heads": [4, 2, 4, 4]}, "num_key_value_heads differs between layers: 4"),
        ({"num_key_value_heads": [4, True]}, "num_key_value_heads differs between layers: 4"),
    ],
)
def test_what_no_plan_can_say_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    (problem,) = model_of_config(LLAMA | change).problems
    assert words in problem
    off = {key: None if isinstance(value, list) else value for key, value in change.items()}
    if off != change:
        assert model_of_config(LLAMA | off).problems == ()


def test_a_list_that_says_one_number_is_that_number() -> None:
    """Hunyuan-A13B's config.json says experts so."""
    config = LLAMA | {
        "model_type": "hunyuan_v1_moe",
        "num_experts": 8,
        "moe_topk": [2] * 4,
        "num_shared_expert": [1] * 4,
    }
    moe = model_of_config(config | {"moe_intermediate_size": [96] * 4}).model["moe"]
    assert (moe["num_experts_per_tok"], moe["num_shared_experts"], moe["moe_intermediate_size"]) == (2, 1, 96)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"model_type": "qwen", "no_bias": False}, {"attention_output_bias": True, "mlp_bias": True}),
        ({"model_type": "qwen", "intermediate_size": 96}, {"intermediate_size": 48, "attention_bias": True}),
        ({"model_type": "chatglm", "add_bias_linear": True, "rmsnorm": False}, {"mlp_bias": True, "norm": "layernorm"}),
        ({"model_type": "chatglm", "post_layer_norm": False}, {"final_norm": False, "num_key_value_heads": 4}),
        ({"model_type": "baichuan"}, {"position_embedding": "alibi"}),
        ({"model_type": "internlm"}, {"attention_bias": True, "attention_output_bias": True}),
        ({"model_type": "bailing_moe", "use_bias": True}, {"attention_bias": True, "mlp_bias": True}),
        ({"model_type": "stablelm_epoch"}, {"norm": "layernorm"}),
        (
            {"model_type": "mixformer-sequential", "intermediate_size": None},
            {"intermediate_size": 256, "head_bias": True},
        ),
    ],
)
def test_architectures_whose_modules_are_elsewhere(change: dict[str, Any], fields: dict[str, Any]) -> None:
    found = model_of_config(LLAMA | change)
    assert found.problems == ()
    assert {key: found.model.get(key) for key in fields} == fields


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_attention_heads": 5}, "hidden_size 64 is not a multiple of num_attention_heads 5"),
        ({"num_key_value_heads": 3}, "num_attention_heads 4 is not a multiple of num_key_value_heads 3"),
        ({"hidden_size": None}, "There is no hidden_size"),
        ({"hidden_size": "wide"}, "hidden_size is 'wide'"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"vocab_size": 1.5}, "vocab_size is 1.5"),
        ({"attention_bias": "yes"}, "attention_bias is 'yes'"),
        ({"layer_types": ["full_attention"]}, "layer_types has 1 entries"),
    ],
)
def test_contradictions_are_said_in_words(change: dict[str, Any], words: str) -> None:
    found = model_of_config(LLAMA | change)
    assert any(words in problem for problem in found.problems)


def test_more_experts_of_a_token_than_there_are_is_a_problem() -> None:
    config = LLAMA | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 8}
    assert any("num_experts_per_tok 8" in problem for problem in model_of_config(config).problems)


def test_own_head_size_needs_no_division() -> None:
    assert model_of_config(LLAMA | {"num_attention_heads": 5, "head_dim": 16}).problems == ()


def test_missing_sizes_are_all_named_at_once() -> None:
    problems = model_of_config({"model_type": "llama"}).problems
    assert len(problems) == 4


def test_text_model_inside_is_read() -> None:
    outer = {"model_type": "gemma3", "vision_config": {"hidden_size": 9}, "text_config": LLAMA}
    found = model_of_config(outer)
    assert found.model["hidden_size"] == 64
    assert any("text_config" in note for note in found.notes)


def test_inner_text_model_without_a_type_takes_that_of_the_outer() -> None:
    inner = {key: value for key, value in LLAMA.items() if key != "model_type"}
    found = model_of_config({"model_type": "gemma3", "text_config": inner | {"head_dim": 16}})
    assert found.model["post_norms"] is True
    assert found.model["sliding_window"] == 4096


def test_null_in_the_file_is_not_the_default_of_the_class() -> None:
    absent = model_of_config(LLAMA | {"model_type": "mistral"})
    null = model_of_config(LLAMA | {"model_type": "mistral", "sliding_window": None, "num_key_value_heads": None})
    assert absent.model["sliding_window"] == 4096
    assert "sliding_window" not in null.model
    assert "num_key_value_heads" not in null.model


def test_query_rank_null_means_a_full_projection() -> None:
    latent = {"kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8}
    base = LLAMA | {"model_type": "deepseek_v3", **latent}
    assert "q_lora_rank" not in model_of_config(base | {"q_lora_rank": None}).model["mla"]
    assert model_of_config(base).model["mla"]["q_lora_rank"] == 1536


def test_prediction_depths_are_read_and_noted() -> None:
    found = model_of_config(LLAMA | {"num_nextn_predict_layers": 1})
    assert found.model["mtp"] == {"num_nextn_predict_layers": 1}
    assert found.notes


def test_an_indexer_is_noted() -> None:
    found = model_of_config(LLAMA | {"index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048})
    assert any("indexer" in note for note in found.notes)
    assert (found.problems, found.unknown) == ((), ())


def test_window_rules() -> None:
    def words(**change: Any) -> list[str]:
        return [word[0] for word in model_of_config(LLAMA | change).model.get("layer_types", [])]

    assert words(model_type="gemma2") == ["s", "f", "s", "f"]
    assert words(model_type="gemma3_text", sliding_window_pattern=3) == ["s", "s", "f", "s"]
    assert words(model_type="qwen2", use_sliding_window=True, sliding_window=8, max_window_layers=3) == list("fffs")
    assert words(model_type="qwen2", use_sliding_window=False, sliding_window=8) == []
    assert words(model_type="exaone4", sliding_window=8, sliding_window_pattern="LLLG") == ["s", "s", "s", "f"]
    assert words(model_type="llama4_text", no_rope_layers=[1, 1, 1, 0]) == ["c", "c", "c", "f"]
    assert words(model_type="gpt_neo", attention_types=[[["global", "local"], 2]]) == ["f", "s", "f", "s"]


@pytest.mark.parametrize(
    ("flags", "pair"),
    [
        ("1111", (0, 1)),
        ("0011", (2, 1)),
        ("1010", (0, 2)),
        ("0101", None),
        ("0000", None),
        ("001010", (2, 2)),
    ],
)
def test_spacing_of_expert_layers(flags: str, pair: tuple[int, int] | None) -> None:
    assert spacing(tuple(flag == "1" for flag in flags)) == pair


def test_spacing_that_a_pair_cannot_say_becomes_a_list() -> None:
    config = LLAMA | {"model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2, "decoder_sparse_step": 2}
    assert model_of_config(config).model["mlp_layer_types"] == ["dense", "sparse", "dense", "sparse"]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(ROWS), st.data())
@settings(max_examples=400)
def test_no_file_raises_and_what_has_no_problem_is_a_plan(row: dict[str, Any], data: st.DataObject) -> None:
    config = dict(row["config"])
    keys = sorted({*config, "layer_types", "text_config", "moe_layer_freq", "mlp_layer_types", "sliding_window"})
    for key in data.draw(st.lists(st.sampled_from(keys), max_size=3)):
        config[key] = data.draw(JUNK)
    found = model_of_config(config)
    if not found.problems:
        Plan.model_validate({"format": 1, "model": found.model})
