"""Megatron arguments parse back and say what the plan says; what they cannot say is refused by name."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.megatron import ExportError, megatron_arguments
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text

PLANS = Path(__file__).resolve().parents[4] / "plans"


def estimated(name: str, *edits: str) -> Estimate:
    text = (PLANS / f"{name}.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, list(edits), "plan.toml").plan if edits else plan)


def parsed(found: Estimate) -> argparse.Namespace:
    """The arguments through a parser that knows names and whether each takes a value; an unknown one fails."""
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    arguments = megatron_arguments(found)
    names = [name for name, _ in arguments]
    assert len(names) == len(set(names)), "each argument once"
    for name, value in arguments:
        parser.add_argument(name, **({} if value else {"action": "store_true"}))  # type: ignore[arg-type]
    return parser.parse_args([word for pair in arguments for word in pair if word])


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt3-175b", "smollm2-135m"])
def test_arguments_say_what_the_plan_says(name: str) -> None:
    found = estimated(name)
    told, s = parsed(found), found.situation
    for argument, path in {
        "num_layers": "model.num_hidden_layers",
        "hidden_size": "model.hidden_size",
        "ffn_hidden_size": "model.intermediate_size",
        "num_attention_heads": "model.num_attention_heads",
        "vocab_size": "model.vocab_size",
        "seq_length": "data.sequence_length",
        "micro_batch_size": "batch.micro_batch_sequences",
        "global_batch_size": "batch.global_batch_sequences",
        "tensor_model_parallel_size": "parallelism.tensor",
        "pipeline_model_parallel_size": "parallelism.pipeline",
        "context_parallel_size": "parallelism.context",
    }.items():
        assert float(getattr(told, argument)) == float(s[path]), path
    assert float(told.train_iters) == float(found.tokens.steps)
    assert hasattr(told, "untie_embeddings_and_output_weights") is not s.flag("model.tie_word_embeddings")
    assert hasattr(told, "swiglu") is s.flag("model.gated_mlp")


def test_grouped_queries_and_head_size() -> None:
    told = parsed(estimated("llama-3.1-8b"))
    assert told.num_query_groups == "8"
    assert not hasattr(told, "kv_channels")
    assert parsed(estimated("llama-3.1-8b", "model.head_dim=64")).kv_channels == "64"


def test_experts_and_latent_attention() -> None:
    told = parsed(estimated("llama-3.1-8b", "model.preset=deepseek-v3"))
    assert (told.num_experts, told.moe_router_topk, told.moe_ffn_hidden_size) == ("256", "8", "2048")
    assert told.moe_layer_freq == "([0]*3+[1]*58)"
    assert (told.kv_lora_rank, told.q_lora_rank, told.qk_head_dim) == ("512", "1536", "128")
    assert (told.qk_pos_emb_head_dim, told.v_head_dim) == ("64", "128")


@pytest.mark.parametrize(("sharding", "strategy"), [("zero-2", "optim_grads"), ("zero-3", "optim_grads_params")])
def test_full_sharding_is_megatron_fsdp(sharding: str, strategy: str) -> None:
    told = parsed(estimated("llama-3.1-8b", f"parallelism.sharding={sharding}"))
    assert told.use_megatron_fsdp
    assert told.data_parallel_sharding_strategy == strategy


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ("training.framework=torchtitan", "training.framework"),
        ("training.optimizer=muon", "training.optimizer"),
        ("parallelism.schedule=dualpipe", "parallelism.schedule"),
        ("model.position_embedding=alibi", "model.position_embedding"),
        ("model.sliding_window=4096", "model.layer_types"),
        ("training.precision=bf16-pure", "training.precision"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(edit: str, names: str) -> None:
    with pytest.raises(ExportError, match=names):
        megatron_arguments(estimated("llama-3.1-8b", edit))


def test_a_missing_field_is_refused_by_name() -> None:
    empty = estimate(plan_of_text("format = 1\n", "plan.toml"))
    with pytest.raises(ExportError, match=r"missing:model\.num_hidden_layers"):
        megatron_arguments(empty)


def test_the_save_interval_is_the_plans_in_steps() -> None:
    found = estimated("llama-3.1-8b", "reliability.checkpoint_interval=1h")
    steps = int(parsed(found).save_interval)
    step = float(found.speed.step_time)
    assert steps * step <= 3600 < (steps + 1) * step
