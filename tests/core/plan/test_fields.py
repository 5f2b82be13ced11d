"""Quantities as people write them, in every dimension, and what each kind of field refuses."""

from __future__ import annotations

from typing import Any, Final

import pytest

from trainplan.plan.edit import resolve
from trainplan.plan.faults import known_fields, known_tables
from trainplan.plan.othernames import ALIASES, HERE, TOLD
from trainplan.plan.read import PlanError, UnknownPath, Unusable, plan_of_text
from trainplan.quantity.unit import Quantity, UnitError, numbered, parse


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("15.6T", "tokens", 15.6e12),
        ("8_192", "tokens", 8192),
        ("2.4e12", "tokens", 2.4e12),
        ("4Mi", "tokens", 4 * 2**20),
        ("8Ki", "1", 8192),
        ("1.5k", "1", 1500),
        ("2B", "1", 2e9),
        ("1.8M", "money", 1.8e6),
        ("80GiB", "bytes", 80 * 2**30),
        ("1.5TB", "bytes", 1.5e12),
        ("60 TB", "bytes", 60e12),
        ("512kB", "bytes", 512e3),
        ("2PiB", "bytes", 2 * 2**50),
        ("400Gb/s", "bytes/s", 50e9),
        ("50GB/s", "bytes/s", 50e9),
        ("1GiB/s", "bytes/s", 2**30),
        ("989T", "FLOP/s", 989e12),
        ("1.979PFLOP/s", "FLOP/s", 1.979e15),
        ("3d 4h", "s", 3 * 86400 + 4 * 3600),
        ("11min 23s", "s", 683),
        ("2w", "s", 14 * 86400),
        ("250ms", "s", 0.25),
        ("1.5h", "s", 5400),
        ("90", "s", 90),
        ("0.40", "share", 0.4),
    ],
)
def test_units_of_every_dimension(text: str, dimension: str, value: float) -> None:
    assert parse(text, dimension) == value


@pytest.mark.parametrize(
    ("text", "dimension", "nearest"),
    [
        ("0,41", "share", "0.41"),
        ("1,024", "1", "1024"),
        ("8,5T", "tokens", "8.5T"),
        ("15.6t", "tokens", "15.6T"),
        ("15.6 trillion", "tokens", "15.6T"),
        ("15,600,000", "tokens", "15600000"),
        ("1m", "1", "1M"),
        ("80G", "bytes", "80GB"),
        ("80gib", "bytes", "80GiB"),
        ("400Gbps", "bytes/s", "400Gb/s"),
        ("40%", "share", "0.4"),
        ("7H", "s", "7h"),
        ("3m", "s", ""),
        ("abc", "tokens", ""),
    ],
)
def test_what_is_no_quantity_names_the_nearest(text: str, dimension: str, nearest: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse(text, dimension)
    assert caught.value.nearest == nearest


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("", "tokens"), ("   ", "s"), ("T", "tokens"), ("1__0", "1"), ("10_", "1"), ("1.2.3", "1"), ("3d 4", "s"),
        ("3d4x", "s"), ("4h 3d 2", "s"), ("0x10", "1"), ("1e", "1"), ("--3", "1"), ("3 4", "tokens"), ("nan", "1"),
        ("inf", "s"), ("50GB", "bytes/s"), ("50GB/s", "bytes"), ("5s", "tokens"), ("1T", "s"), ("１５T", "tokens"), ("٣d", "s"),
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused(text: str, dimension: str) -> None:
    with pytest.raises(UnitError):
        parse(text, dimension)


def test_case_counts() -> None:
    assert parse("1M", "1") == 1e6
    with pytest.raises(UnitError):
        parse("1K", "1")


def test_spelling_is_kept() -> None:
    plan = plan_of_text('format = 1\n[data]\ntrain_tokens = "15.6T"\nsequence_length = 8_192\n', "plan.toml")
    tokens, length = plan.data.train_tokens, plan.data.sequence_length
    assert isinstance(tokens, Quantity)
    assert isinstance(length, Quantity)
    assert (float(tokens), tokens.text) == (15.6e12, "15.6T")
    assert (float(length), length.text) == (8192, "")


@pytest.mark.parametrize(
    ("table", "field", "inside", "outside"),
    [
        ("data", "train_tokens", ["1", "1e17", '"100P"'], ["0", "1.0000001e17", "0.5", '"101P"']),
        ("data", "sequence_length", ["1", "1e9"], ["0", "1_000_000_001", "2.5"]),
        ("batch", "micro_batch_sequences", ["1"], ["0", "-1"]),
        ("cluster", "nodes", ["1", "1_000_000_000"], ["0", "1.5"]),
        ("cluster", "price_per_accelerator_hour", ["0", "2.50", '"1M"'], ["-0.01", "1e16"]),
        ("cluster", "pue", ["1", "1.2"], ["0.99"]),
        ("cluster", "peak_flops", ['"989T"', "1e15"], ["0", "-1"]),
        ("cluster", "memory_per_accelerator", ['"80GiB"'], ["0"]),
        ("cluster", "scale_out_bandwidth", ['"400Gb/s"'], ["0"]),
        ("utilization", "value", ["0.0001", "1"], ["0", "1.0001", "-0.4"]),
        ("memory", "fragmentation", ["0", "1"], ["-0.01", "1.01"]),
        ("memory", "runtime_overhead", ["0", '"2.5GiB"'], ["-1"]),
        ("storage", "processed_copies", ["0", "3"], ["-1", "0.5"]),
        ("storage", "checkpoint_floor", ["0", '"5s"'], ["-1", '"-5s"']),
        ("storage", "restore_drill_days", ["0.5", "30"], ["0"]),
        ("reliability", "failures_per_node_day", ["0", "0.0065"], ["-0.1"]),
        ("reliability", "job_time_limit", ['"2d"'], ["0"]),
        ("training", "moe_imbalance", ["1"], ["0.9"]),
        ("training", "dropout", ["0", "1"], ["1.1"]),
    ],
)
def test_bounds(table: str, field: str, inside: list[str], outside: list[str]) -> None:
    for literal in inside:
        assert plan_of_text(f"format = 1\n[{table}]\n{field} = {literal}\n", "plan.toml")
    for literal in outside:
        with pytest.raises(Unusable):
            plan_of_text(f"format = 1\n[{table}]\n{field} = {literal}\n", "plan.toml")


def test_interval_is_auto_or_a_time() -> None:
    def interval(literal: str) -> Any:
        return plan_of_text(
            f"format = 1\n[reliability]\ncheckpoint_interval = {literal}\n", "p"
        ).reliability.checkpoint_interval

    assert interval('"auto"') == "auto"
    assert interval('"2h 30min"') == 9000
    for literal in ('"Auto"', "0", "true", '"-1h"'):
        with pytest.raises(Unusable):
            interval(literal)


@pytest.mark.parametrize("literal", ["true", "false", "[]", "{}", "2026-12-07", "10:00:00", "[1, 2]", "{ a = 1 }"])
def test_what_is_no_number_is_no_quantity(literal: str) -> None:
    with pytest.raises(Unusable):
        plan_of_text(f"format = 1\n[cluster]\nnodes = {literal}\n", "plan.toml")


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("model.layers", "num_hidden_layers"),
        ("model.heads", "num_attention_heads"),
        ("model.kv_heads", "num_key_value_heads"),
        ("model.ffn_hidden_size", "intermediate_size"),
        ("model.name", "preset"),
        ("data.seq_len", "sequence_length"),
        ("batch.gbs", "global_batch_sequences"),
        ("parallelism.tp", "tensor"),
        ("parallelism.zero_stage", "sharding"),
        ("utilization.mfu", "value"),
        ("cluster.price", "price_per_accelerator_hour"),
        ("model.seq_length", "data.sequence_length"),
    ],
)
def test_words_of_other_programs_lead_to_the_field(word: str, field: str) -> None:
    table, name = word.split(".")
    with pytest.raises(Unusable) as caught:
        plan_of_text(f"format = 1\n[{table}]\n{name} = 1\n", "plan.toml")
    assert f"unknown field {word}. Nearest: {field}" in [one.message for one in caught.value.errors]


def test_a_share_in_percent_is_told_as_a_share() -> None:
    with pytest.raises(Unusable) as caught:
        plan_of_text("format = 1\n[utilization]\nvalue = 41\n", "plan.toml")
    assert caught.value.errors[0].fix == "0.41"


def test_every_word_of_other_programs_is_none_of_ours() -> None:
    """A word leads to a path that exists, and no table has a field of the word's name beside the one it leads to."""
    every = _paths()
    words = {**ALIASES, **{word: (path,) for word, path in HERE.items()}}
    words |= {word: (path,) for word, (path, _) in TOLD.items() if path}
    for word, paths in words.items():
        assert set(paths) <= every | {"accelerators"}, word
        assert not {f"{path.rpartition('.')[0]}.{word}" for path in paths} & every, word
    assert not set(ALIASES) & set(TOLD)
    assert not set(HERE) & {*ALIASES, *TOLD}


def _paths() -> set[str]:
    """Every field of every table, entries of lists with the name of their list."""
    tables = [(table,) for table in known_tables()]
    found = set[str]()
    while tables:
        table = tables.pop()
        for field in known_fields(table):
            found.add(".".join((*table, field)))
            tables += [(*table, field)] if known_fields((*table, field)) else []
    return found


COMMON: Final = """
num_layers n_layer model.num_hidden_layers | hidden_dim d_model n_embd dim model.hidden_size
ffn_hidden_size model.intermediate_size | num_heads n_heads model.num_attention_heads
num_query_groups n_kv_heads model.num_key_value_heads | kv_channels model.head_dim | swiglu model.gated_mlp
untie_embeddings_and_output_weights model.tie_word_embeddings | normalization model.norm
num_moe_experts num_local_experts model.moe.num_experts | moe_router_topk model.moe.num_experts_per_tok
moe_ffn_hidden_size model.moe.moe_intermediate_size | seq_length seq_len max_seq_length block_size data.sequence_length
total_tokens data.train_tokens | global_batch_size train_batch_size gbs batch.global_batch_sequences
micro_batch_size per_device_train_batch_size train_micro_batch_size_per_gpu local_batch_size batch.micro_batch_sequences
rampup_batch_size batch.schedule | bf16 fp16 fp8_format mixed_precision dtype torch_dtype training.precision
optim training.optimizer | accumulate_allreduce_grads_in_fp32 training.gradient_dtype
attn_implementation attention_backend use_flash_attn training.attention | hidden_dropout training.dropout
cpu_offload offload_optimizer training.optimizer_offload | torch_compile transformer_impl training.kernels
tensor_model_parallel_size tensor_parallel_degree tp parallelism.tensor | etp parallelism.expert_tensor
pipeline_model_parallel_size pipeline_parallel_degree pp parallelism.pipeline
num_layers_per_virtual_pipeline_stage vpp parallelism.virtual_pipeline
pipeline_schedule pipeline_parallel_schedule parallelism.schedule
context_parallel_size context_parallel_degree cp parallelism.context
expert_model_parallel_size expert_parallel_degree ep parallelism.expert
expert_tensor_parallel_size parallelism.expert_tensor
zero_stage zero_optimization fsdp sharding_strategy use_distributed_optimizer parallelism.sharding
data_parallel_shard_degree parallelism.shard_size | fsdp_reshard_after_forward parallelism.reshard_after_forward
recompute_granularity gradient_checkpointing activation_checkpointing activation_checkpoint parallelism.recompute
overlap_grad_reduce overlap_comm parallelism.overlap_data | tp_comm_overlap parallelism.overlap_tensor
reduce_bucket_size ddp_bucket_size parallelism.bucket_elements | num_nodes nnodes cluster.nodes
nproc_per_node gpus_per_node ntasks_per_node cluster.accelerators_per_node | gpu_type cluster.accelerator
save_interval save_steps reliability.checkpoint_interval | eval_interval evaluation.interval_tokens
gpus num_gpus world_size cluster.nodes | train_iters max_steps train_samples data.train_tokens
"""
"""Arguments of Megatron-LM, DeepSpeed, torchtitan, NeMo, TrainingArguments and accelerate, and the field that each leads to."""


def common() -> list[tuple[str, str]]:
    groups = [group.split() for line in COMMON.split("\n") for group in line.split("|")]
    return [(word, path) for *words, path in filter(None, groups) for word in words]


def refused(text: str) -> PlanError:
    with pytest.raises(Unusable) as caught:
        plan_of_text(text, "plan.toml")
    return caught.value.errors[0]


@pytest.mark.parametrize(("word", "path"), common())
def test_an_argument_of_another_program_leads_to_the_field_from_everywhere(word: str, path: str) -> None:
    """As a line of its own, in its table and in another; `--set` asks the same."""
    table, _, field = path.rpartition(".")
    for home in ("", "model", "training", "parallelism", "cluster", "batch", "data", table):
        told = refused(f"format = 1\n{f'[{home}]' if home else ''}\n{word} = 1\n")
        assert told.fix == (field if home == table else path), (home, told.message)
        assert told.message.endswith(f"Nearest: {told.fix}")
    with pytest.raises(UnknownPath) as caught:
        resolve(word, plan_of_text("format = 1\n", "plan.toml"))
    assert caught.value.nearest == path


@pytest.mark.parametrize(
    ("name", "path"), [("nodes", "cluster.nodes"), ("train_tokens", "data.train_tokens"), ("stages", "data.stages")]
)
def test_a_field_without_its_table_is_no_table_that_looks_alike(name: str, path: str) -> None:
    """nodes led to model, and train_tokens to training."""
    assert refused(f"format = 1\n{name} = 1\n").fix == path


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[cluster]\ngpus = 512", "All accelerators are nodes x accelerators_per_node. Nearest: nodes"),
        ("[parallelism]\ndata_parallel_size = 8", "Replicas follow: accelerators over tensor x pipeline x context"),
        ("[training]\ngradient_accumulation_steps = 8", "Microbatches follow"),
        ("[training]\nlearning_rate = 3e-4", "neither memory nor time follows from it"),
    ],
)
def test_what_a_plan_says_otherwise_or_not_at_all_is_told(written: str, said: str) -> None:
    """gpus led to accelerators_per_node, and gradient_accumulation_steps to gradient_accumulation, which is another thing."""
    assert said in refused(f"format = 1\n{written}\n").message


def test_one_is_no_plural() -> None:
    assert [numbered(count, "number") for count in (0, 1, 2, 1000)] == [
        "0 numbers",
        "1 number",
        "2 numbers",
        "1,000 numbers",
    ]


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("training.gradient_checkpointing", "parallelism.recompute"),
        ("training.hosts", "cluster.nodes"),
        ("training.tokens", "data.train_tokens"),
        ("model.num_experts", "model.moe.num_experts"),
        ("model.top_k", "model.moe.num_experts_per_tok"),
        ("data.train_token", "train_tokens"),
        ("parallelism.tp", "tensor"),
    ],
)
def test_a_name_that_another_table_has_comes_before_one_that_looks_alike(written: str, nearest: str) -> None:
    from trainplan.plan.edit import resolve
    from trainplan.plan.read import UnknownPath, plan_of_text

    with pytest.raises(UnknownPath) as caught:
        resolve(written, plan_of_text("format = 1\n", "plan.toml"))
    assert caught.value.nearest == nearest
