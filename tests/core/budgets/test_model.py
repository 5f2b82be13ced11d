"""Parameters of whole models: to the integer, by preset and by import, and part by part."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.budgets.model import ModelBudget, model_budget
from trainplan.budgets.situation import Situation
from trainplan.catalogue import entry, names
from trainplan.interop.huggingface.config import model_of_config
from trainplan.plan.plan import Plan
from trainplan.plan.shape import Mla, Model, Moe, Mtp
from trainplan.quantity.figure import Blocked


def budget(model: dict[str, Any], **tables: Any) -> ModelBudget:
    return model_budget(Situation(Plan.model_validate({"format": 1, "model": model, **tables})))


DENSE = {
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
DEEPSEEK = {
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "num_attention_heads": 128,
    "vocab_size": 129280,
    "moe": {
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 2048,
        "num_shared_experts": 1,
        "first_k_dense_replace": 3,
    },
    "mla": {
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    },
}


@pytest.mark.golden("params")
def test_preset_counts_to_the_integer(row: dict[str, Any]) -> None:
    found = budget({"preset": row["model"]})
    assert (found.parameters, found.active_parameters) == (row["total"], row["active"])


@pytest.mark.golden("params")
def test_import_counts_to_the_integer(row: dict[str, Any]) -> None:
    found = budget(model_of_config(row["config"]).model)
    assert (found.parameters, found.active_parameters) == (row["total"], row["active"])


@pytest.mark.golden("architectures")
def test_every_architecture_counts_to_the_integer(row: dict[str, Any]) -> None:
    found = budget(model_of_config(row["config"]).model)
    assert (found.parameters, found.active_parameters) == (row["total"], row["active"])


@pytest.mark.golden("published_params")
def test_what_publishers_count_is_counted(row: dict[str, Any]) -> None:
    """To the integer, but for what lies in a file and is not trained. No key of the file is left unread."""
    found = model_of_config(row["config"])
    assert (found.problems, found.unknown) == ((), ())
    assert not any("not known here" in note for note in found.notes)
    assert budget(found.model).parameters == row["total"] - row.get("untrained", 0)


@pytest.mark.golden("params")
def test_parts_are_those_of_the_modules(row: dict[str, Any]) -> None:
    found = budget({"preset": row["model"]})
    parts = {part.name: part.total or 0 for part in found.parts}
    router = found.router.parameters * found.shape.expert_layers if found.router and found.shape.expert_layers else 0
    counted = {
        "input_embedding": parts["embedding"],
        "position_embedding": parts.get("position", 0),
        "lm_head_untied": parts["head"],
        "routed_experts": parts.get("routed_experts", 0),
        "shared_experts": parts.get("shared_experts", 0),
        "router": router,
        "norm_params": parts.get("norms", 0),
    }
    assert counted == {name: row.get(name, value) for name, value in counted.items()}


def test_parts_sum_to_the_total() -> None:
    found = budget(DEEPSEEK)
    assert sum(part.total for part in found.parts if part.total is not None) == found.parameters
    assert sum(part.active for part in found.parts if part.active is not None) == found.active_parameters
    assert sum(part.matmul for part in found.parts if part.matmul is not None) == found.matmul_parameters


@pytest.mark.parametrize(
    ("model", "total", "active"),
    [
        ({"preset": "llama-3.1-8b"}, 8_030_261_248, 8_030_261_248),
        ({"preset": "llama-3.1-70b"}, 70_553_706_496, 70_553_706_496),
        ({"preset": "llama-3.1-405b"}, 405_853_388_800, 405_853_388_800),
        ({"preset": "mixtral-8x7b"}, 46_702_792_704, 12_879_925_248),
        (DEEPSEEK, 671_026_404_352, 37_552_282_624),
        ({"preset": "smollm3-3b"}, 3_075_098_624, 3_075_098_624),
    ],
)
def test_golden_vectors_of_the_domain_notes(model: dict[str, Any], total: int, active: int) -> None:
    found = budget(model)
    assert (found.parameters, found.active_parameters) == (total, active)


def test_matmul_parameters_leave_tables_norms_and_biases_out() -> None:
    assert budget(DENSE).matmul_parameters == 7_504_658_432


def test_tied_head_multiplies_and_adds_nothing() -> None:
    apart, tied = budget(DENSE), budget(DENSE | {"tie_word_embeddings": True})
    assert apart.parameters - tied.parameters == 4096 * 128256
    assert apart.matmul_parameters == tied.matmul_parameters


def test_nonembedding_parameters_are_those_of_one_token_without_tables_and_head() -> None:
    found = budget(DEEPSEEK)
    assert found.nonembedding_parameters == found.active_parameters - 2 * 7168 * 129280


def test_prediction_depth_adds_a_block_a_projection_three_norms_and_another_use_of_the_head() -> None:
    plain, deeper = budget(DEEPSEEK), budget(DEEPSEEK | {"mtp": {"num_nextn_predict_layers": 1}})
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    block = attention + 1536 + 512 + 2 * 7168 + 7168 * 256 + 257 * 3 * 7168 * 2048
    assert deeper.parameters - plain.parameters == block + 2 * 7168 * 7168 + 3 * 7168
    chosen = attention + 7168 * 256 + 9 * 3 * 7168 * 2048
    assert deeper.matmul_parameters - plain.matmul_parameters == chosen + 2 * 7168 * 7168 + 7168 * 129280


@pytest.mark.parametrize(
    ("framework", "tensor", "padded"),
    [
        ("megatron", 1, 50304),
        ("megatron", 8, 51200),
        ("deepspeed", 4, 50688),
        ("torchtitan", 8, 50257),
        ("fsdp", 8, 50257),
        ("maxtext", 8, 50257),
    ],
)
def test_vocabulary_is_padded_for_framework_and_layout(framework: str, tensor: int, padded: int) -> None:
    tables = {"training": {"framework": framework}, "parallelism": {"tensor": tensor}}
    found = budget({"preset": "gpt2"}, **tables)
    assert found.padded_vocabulary == padded
    assert found.parameters == 124_439_808


def test_field_overrides_the_preset_and_a_preset_pattern_follows_the_depth() -> None:
    found = budget({"preset": "gemma-2-9b", "num_hidden_layers": 3})
    per_layer = (9_241_705_984 - 256000 * 3584 - 3584) // 42
    assert found.parameters == 256000 * 3584 + 3584 + 3 * per_layer


@pytest.mark.parametrize("field", sorted(DENSE))
def test_missing_field_blocks_and_is_named(field: str) -> None:
    model = {key: value for key, value in DENSE.items() if key != field}
    found: Any = budget(model).parameters
    if field == "num_key_value_heads":
        assert found > 0
    else:
        assert isinstance(found, Blocked)
        assert found.code == f"missing:model.{field}"


@pytest.mark.parametrize("field", ["num_experts", "num_experts_per_tok", "moe_intermediate_size"])
def test_missing_field_of_experts_blocks(field: str) -> None:
    moe = {key: value for key, value in DEEPSEEK["moe"].items() if key != field}  # type: ignore[attr-defined]
    found: Any = budget(DEEPSEEK | {"moe": moe}).active_parameters
    assert isinstance(found, Blocked)
    assert found.code == f"missing:model.moe.{field}"


def test_empty_plan_is_blocked_not_an_error() -> None:
    found: Any = budget({})
    assert isinstance(found.parameters, Blocked)
    assert isinstance(found.matmul_parameters, Blocked)
    assert found.shape.sparse == ()


def test_heads_that_do_not_divide_block() -> None:
    found: Any = budget(DENSE | {"num_attention_heads": 33}).parameters
    assert isinstance(found, Blocked)
    assert found.code == "model-heads"


def test_list_of_the_wrong_length_blocks() -> None:
    found: Any = budget(DEEPSEEK | {"mlp_layer_types": ["dense", "sparse"]}).parameters
    assert isinstance(found, Blocked)
    assert found.code == "model-layer-types"


def test_list_of_mlp_kinds_says_the_same_as_frequency() -> None:
    words = ["sparse" if layer >= 3 else "dense" for layer in range(61)]
    assert budget(DEEPSEEK | {"mlp_layer_types": words}).parameters == budget(DEEPSEEK).parameters


def test_what_tensor_ranks_split_and_what_they_all_hold_is_the_whole_layer() -> None:
    for layer in (budget(DEEPSEEK).attention, budget({"preset": "gpt2"}).attention):
        split, held = layer.held(split=True), layer.held(split=False)
        assert split is not None
        assert held is not None
        assert split + held == layer.parameters


ROUTING = {"routing.groups", "routing.groups_per_token"}
"""How a published model routes: the plan format has no field for it, the transfers of experts need it."""


@pytest.mark.parametrize("name", names("models"))
def test_preset_holds_only_plan_fields_with_a_source(name: str) -> None:
    found = entry("models", name)
    assert found is not None
    known = set(Model.model_fields) | {
        f"{table}.{field}" for table, kind in (("moe", Moe), ("mla", Mla), ("mtp", Mtp)) for field in kind.model_fields
    }
    assert set(found.facts) <= known | ROUTING
    assert all(fact.source and fact.date for fact in found.facts.values())
    assert budget({"preset": name}).parameters > 1e8


def test_parameters_of_an_unverified_preset_are_not_verified() -> None:
    assert budget({"preset": "llama-3.1-8b"}).parameters.verified
    assert not budget({"preset": "glm-4.5-air"}).parameters.verified
