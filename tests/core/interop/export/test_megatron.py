"""Megatron arguments parse back and say what the plan says; what they cannot say is refused by name."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.kinds import exported
from trainplan.interop.export.megatron import ExportError, megatron_arguments, megatron_text
from trainplan.interop.export.run import whole_run
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
    assert told.qk_layernorm, "without it the latent ranks have no norms, and 2,048 parameters a layer are missing"
    assert (told.moe_router_num_groups, told.moe_router_group_topk) == ("8", "4")
    assert not hasattr(parsed(estimated("llama-3.1-8b", "model.preset=mixtral-8x7b")), "moe_router_num_groups")


@pytest.mark.parametrize(("sharding", "strategy"), [("zero-2", "optim_grads"), ("zero-3", "optim_grads_params")])
def test_full_sharding_is_megatron_fsdp(sharding: str, strategy: str) -> None:
    told = parsed(estimated("llama-3.1-8b", f"parallelism.sharding={sharding}"))
    assert told.use_megatron_fsdp
    assert told.data_parallel_sharding_strategy == strategy


def test_hsdp_is_megatron_fsdp_in_groups() -> None:
    """A search offers it, so its text has to be there: 1,024 ranks in groups of 16 are 64 copies; context counts among them."""
    told = parsed(
        estimated("llama-3.1-8b", "parallelism.sharding=hsdp", "parallelism.shard_size=16", "parallelism.context=2")
    )
    assert told.use_megatron_fsdp
    assert told.data_parallel_sharding_strategy == "optim_grads_params"
    assert (told.outer_dp_sharding_strategy, told.num_distributed_optimizer_instances) == ("no_shard", "64")
    whole = whole_run(estimated("llama-3.1-8b", "parallelism.sharding=hsdp", "parallelism.shard_size=16"))
    assert "shard_size" not in megatron_text(whole)
    with pytest.raises(ExportError, match=r"parallelism\.shard_size is missing"):
        megatron_arguments(estimated("llama-3.1-8b", "parallelism.sharding=hsdp"))
    for size in (3, 8192):
        with pytest.raises(ExportError, match="do not divide 1,024 replicas"):
            megatron_arguments(estimated("llama-3.1-8b", "parallelism.sharding=hsdp", f"parallelism.shard_size={size}"))


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
    with pytest.raises(ExportError, match=r"model\.num_hidden_layers cannot be told: layers are missing"):
        megatron_arguments(empty)


def test_the_save_interval_is_the_plans_in_steps() -> None:
    found = estimated("llama-3.1-8b", "reliability.checkpoint_interval=1h")
    steps = int(parsed(found).save_interval)
    step = float(found.speed.step_time)
    assert steps * step <= 3600 < (steps + 1) * step


def test_a_batch_schedule_is_said_in_tokens_with_samples() -> None:
    edit = "batch.schedule=[{from_tokens=0,global_batch_sequences=512},{from_tokens='50B',global_batch_sequences=1024}]"
    text = (PLANS / "smollm2-135m.toml").read_text(encoding="utf-8").partition("[[data.stages]]")
    whole = text[0] + ("[batch]" + text[2].partition("[batch]")[2] if text[1] else "")
    plan = plan_of_text(whole, "plan.toml")
    found = estimate(set_all(whole, plan, [edit], "plan.toml").plan)
    told = parsed(found)
    assert told.step_batch_size_schedule == "0:512 50000000000:1024"
    assert not hasattr(told, "global_batch_size")
    assert not hasattr(told, "train_iters")
    samples = int(told.train_samples)
    assert samples * 2048 >= float(found.quantities["tokens.train_tokens"]) > (samples - 1024) * 2048  # type: ignore[arg-type]


def test_a_length_that_changes_is_refused() -> None:
    text = (PLANS / "smollm2-135m.toml").read_text(encoding="utf-8").partition("[[data.stages]]")[0]
    stages = '[[data.stages]]\nuntil_tokens = "50B"\n[[data.stages]]\nuntil_tokens = "100B"\nsequence_length = 8192\n'
    rest = (PLANS / "smollm2-135m.toml").read_text(encoding="utf-8").partition("[batch]")
    plan = plan_of_text(text.partition("[batch]")[0] + stages + rest[1] + rest[2], "plan.toml")
    with pytest.raises(ExportError, match="sequence length changes"):
        megatron_arguments(estimate(plan))


@pytest.mark.parametrize(
    ("edit", "flag", "value"),
    [
        ("training.dropout=0.1", "hidden_dropout", "0.1"),
        ("training.dropout=0", "attention_dropout", "0"),
        ("training.attention=eager", "attention_backend", "unfused"),
        ("training.moment_dtype=bf16", "exp_avg_dtype", "bf16"),
        ("training.optimizer_offload=true", "optimizer_cpu_offload", True),
        ("training.loss=fused-in-place", "cross_entropy_fusion_impl", "te"),
        ("training.kernels=torch-eager", "transformer_impl", "local"),
        ("training.cuda_graphs=full-iteration", "cuda_graph_impl", "full_iteration"),
        ("training.cuda_graphs=full-iteration", "moe_paged_stash", None),
        ("training.expert_kernels=fused", "use_transformer_engine_op_fuser", None),
        ("parallelism.bucket_elements=40M", "ddp_bucket_size", "40000000"),
        ("model.preset=deepseek-v3", "mtp_num_layers", None),
    ],
)
def test_a_field_has_its_argument(edit: str, flag: str, value: object) -> None:
    told = vars(parsed(estimated("llama-3.1-8b", edit)))
    assert told.get(flag) == value


def test_a_graph_of_a_step_with_experts_says_their_room_and_needs_them_fused() -> None:
    """Megatron-LM d98e8a6, docs/user-guide/features/paged_stash.md; room as Megatron-Bridge's recipes."""
    graph = ["parallelism.schedule=interleaved", "training.cuda_graphs=full-iteration"]
    fused = vars(parsed(estimated("deepseek-v3", *graph, "training.expert_kernels=fused")))
    assert (fused["use_transformer_engine_op_fuser"], fused["moe_grouped_gemm"]) == (True, True)
    assert (fused["fp8_format"], fused["fp8_recipe"], fused["moe_mlp_glu_interleave_size"]) == ("e4m3", "mxfp8", "32")
    assert fused["moe_flex_dispatcher_backend"] == "hybridep"
    assert (fused["moe_expert_rank_capacity_factor"], fused["moe_paged_stash"]) == ("1.5", True)
    wide = estimated("deepseek-v3", *graph, "training.expert_kernels=fused", "training.moe_imbalance=2")
    assert vars(parsed(wide))["moe_expert_rank_capacity_factor"] == "2"
    lines = megatron_text(whole_run(wide)).splitlines()
    assert "# in the environment: NVTE_CUTEDSL_FUSED_GROUPED_MLP=1" in lines
    grouped = vars(parsed(estimated("deepseek-v3", graph[0])))
    assert grouped["moe_grouped_gemm"] is True
    assert not {"fp8_recipe", "use_transformer_engine_op_fuser", "moe_paged_stash"} & grouped.keys()
    with pytest.raises(ExportError, match=r"training\.cuda_graphs full-iteration: .* expert_kernels fused"):
        megatron_arguments(estimated("deepseek-v3", *graph))


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ("model.parallel_block=true", r"model\.parallel_block"),
        ("model.post_norms=true", r"model\.post_norms"),
        ("model.attention_output_bias=true", r"model\.attention_output_bias"),
        ("training.activation_offload=true", r"training\.activation_offload"),
        ("training.attention_precision=fp8", r"training\.attention_precision"),
        ("training.head=gathered", r"training\.head"),
        ("training.loss=chunked", r"training\.loss"),
    ],
)
def test_a_field_without_an_argument_is_refused_by_name(edit: str, names: str) -> None:
    with pytest.raises(ExportError, match=names):
        megatron_arguments(estimated("llama-3.1-8b", edit))


def test_what_is_not_said_is_named_in_the_text() -> None:

    lines = megatron_text(whole_run(estimated("llama-3.1-8b", "training.gradient_accumulation=full"))).splitlines()
    (line,) = [line for line in lines if "not said here" in line]
    assert "training.gradient_accumulation = full" in line
    assert "model." not in line


@pytest.mark.parametrize(("size", "backend"), [(128, "flash"), (132, "unfused"), (264, "unfused")])
def test_heads_that_are_not_fused_name_the_backend_that_runs(size: int, backend: str) -> None:
    """Megatron-LM d98e8a6 sets NVTE_UNFUSED_ATTN to 0 with flash, and TransformerEngine then has no backend for such heads."""
    told = parsed(estimated("llama-3.1-8b", "training.framework=megatron", f"model.head_dim={size}"))
    assert told.attention_backend == backend


def test_what_a_finding_blocks_is_refused_in_its_sentence() -> None:
    """A code alone says nothing; the words of its finding do."""
    found = estimated("llama-3.1-8b", "batch.schedule=[{ from_tokens = 0, global_batch_sequences = 1024 }]")
    for kind in ("megatron", "slurm"):
        with pytest.raises(ExportError, match=r"cannot be told: D22: stages and batch\.schedule are both given"):
            exported(kind, found)


STAGES = """
[[data.stages]]
name = "main"
until_tokens = "9T"
[[data.stages]]
name = "long"
sequence_length = 32768
global_batch_sequences = 256
weights = { web = 1.0 }
"""


def test_a_run_of_several_lengths_says_the_plans_that_have_a_text(varied: Any) -> None:
    """The copy that is named for a stage is a plan of just that stage, and Megatron has arguments for it."""
    text = STAGES.replace("9T", "600M")
    with pytest.raises(ExportError) as refused:
        exported("megatron", varied("training.framework=megatron", more=text))
    said = str(refused.value)
    assert "the sequence length changes during the run" in said
    assert "without data.stages" in said
    named = "data.sequence_length = 32768, batch.global_batch_sequences = 256, data.train_tokens = 448576000 and its weights"
    assert f"long: {named}" in said
    fields = [
        f"{path}={value}"
        for path, value in (pair.split(" = ") for pair in named.removesuffix(" and its weights").split(", "))
    ]
    assert "--seq-length 32768" in exported("megatron", varied("training.framework=megatron", *fields))


def test_stages_alike_are_exported_as_they_are(varied: Any) -> None:
    """Both say 2,048 tokens and 256 sequences, the tables 1,024 of each."""
    own = "sequence_length = 2048\nglobal_batch_sequences = 256\n"
    stages = f'\n[[data.stages]]\nname = "a"\nuntil_tokens = "500M"\n{own}[[data.stages]]\nname = "b"\n{own}'
    told = exported("megatron", varied("training.framework=megatron", more=stages))
    for argument in ("--seq-length 2048", "--global-batch-size 256", "--max-position-embeddings 2048"):
        assert argument in told
