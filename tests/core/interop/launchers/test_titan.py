"""torchtitan's job files of any age and its saved JSON, by the models of its registry.

pytorch/torchtitan 238fa9953: models/*/train_configs; b5bcd76: trainer.py, to_dict.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainplan.estimation import estimate
from trainplan.interop.launchers.reading import Made
from trainplan.plan.plan import Plan
from trainplan.plan.read import plan_of_text

DEEPSEEK = """[job]
dump_folder = "./outputs"
[model]
name = "deepseek_v3"
flavor = "671B"
[optimizer]
name = "AdamW"
lr = 2.2e-4
[training]
local_batch_size = 4
seq_len = 4096
steps = 10_000
dataset = "c4"
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
pipeline_parallel_degree = 1
expert_parallel_degree = 1
expert_tensor_parallel_degree = 1
[checkpoint]
async_mode = "disabled"
[activation_checkpoint]
mode = "selective"
selective_ac_option = 'op'
[compile]
enable = true
components = ["loss"]
"""
"""models/deepseek_v3/train_configs/deepseek_v3_671b.toml at 238fa9953."""

OLD = """[model]
name = "llama3"
flavor = "70B"
[training]
batch_size = 8
seq_len = 8192
data_parallel_replicate_degree = 2
data_parallel_shard_degree = 4
tensor_parallel_degree = 8
compile = false
steps = 1000
[experimental]
pipeline_parallel_degree = 1
[activation_checkpoint]
mode = 'full'
"""
"""train_configs/llama3_70b.toml of January 2025, with degrees of its own."""

NEW = """{"model_spec": {"name": "llama3", "flavor": "8B", "model": {"dim": 4096}},
 "training": {"num_tokens_per_microbatch_per_dp_rank": 16384, "num_tokens_per_train_step": 1048576,
  "max_context_length": 8192, "steps": 100, "dtype": "float32", "mixed_precision_param": "bfloat16"},
 "parallelism": {"data_parallel_replicate_degree": 1, "data_parallel_shard_degree": 16, "tensor_parallel_degree": 2,
  "enable_sequence_parallel": true, "pipeline_parallel_degree": 1, "num_pp_microbatches": 1},
 "activation_checkpoint": null, "compile": {"enable": true, "components": ["model", "loss"]}}
"""
"""The form of Trainer.Config.to_dict at b5bcd76."""


def test_a_job_file_names_its_model(plan: Callable[..., Plan], made: Callable[..., Made]) -> None:
    whole = plan(DEEPSEEK)
    assert float(estimate(whole).quantities["model.parameters"]) == 671_026_404_352  # type: ignore[arg-type]
    assert whole.model.preset is None
    assert (whole.parallelism.sharding, whole.parallelism.recompute) == ("zero-3", "selective")
    assert (whole.training.kernels, whole.training.loss, whole.training.precision) == (
        "torch-eager",
        "compiled",
        "bf16-mixed",
    )
    assert (whole.batch.micro_batch_sequences, whole.batch.global_batch_sequences) == (4, None)
    assert whole.data.sampler == "torchtitan"
    assert made(DEEPSEEK).unknown == ()


def test_an_old_job_file_is_read_by_its_old_names(plan: Callable[..., Plan]) -> None:
    whole = plan(OLD)
    p = whole.parallelism
    assert (p.tensor, p.sharding, p.shard_size, p.recompute) == (8, "hsdp", 4, "full")
    assert whole.batch.global_batch_sequences == 64
    assert whole.data.train_tokens == 1000 * 64 * 8192
    assert (whole.training.kernels, whole.model.num_hidden_layers) == ("torch-eager", 80)


def test_the_saved_form_counts_tokens(plan: Callable[..., Plan]) -> None:
    whole = plan(NEW)
    assert (whole.batch.micro_batch_sequences, whole.batch.global_batch_sequences) == (2, 128)
    assert whole.data.train_tokens == 100 * 1_048_576
    assert (whole.parallelism.recompute, whole.training.kernels) == ("none", "torch-compile")
    assert whole.model.num_key_value_heads == 8


def test_a_model_without_an_entry_is_told_and_left_out(made: Callable[..., Made]) -> None:
    found = made(DEEPSEEK.replace('"671B"', '"debugmodel"'))
    assert "[model]" not in found.text
    assert found.notes[0] == (
        "a.txt:5:10: model deepseek_v3 debugmodel has no entry in the catalogue here; the model is left out"
    )


def test_a_flavor_with_another_attention_kernel_has_the_same_shape(plan: Callable[..., Plan]) -> None:
    assert plan(OLD.replace("70B", "8B_flex")).model.num_hidden_layers == 32


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("seq_len = 4096", "seq_len = 0", "a.txt:11:11: training.seq_len = 0. A whole number from 1 is right"),
        ("seq_len = 4096", 'seq_len = "long"', "a.txt:11:11: training.seq_len = long. A whole number from 1 is right"),
        (
            'mode = "selective"',
            'mode = "some"',
            "a.txt:24:8: activation_checkpoint.mode = some. One of none, selective",
        ),
        ("shard_degree = -1", "shard_degree = 0", "a.txt:16:30: parallelism.data_parallel_shard_degree = 0. A whole"),
        ("lr = 2.2e-4", "lr = = 2", "a.txt:1:1: not TOML: Invalid value (at line 8, column 6). A torchtitan job file"),
    ],
)
def test_what_is_wrong_is_refused(refused: Callable[..., list[str]], old: str, new: str, why: str) -> None:
    (told,) = refused(DEEPSEEK.replace(old, new))
    assert told.startswith(why)


def test_settings_without_a_bearing_are_listed(made: Callable[..., Made]) -> None:
    found = made(DEEPSEEK + "[mine]\nx = 1\n")
    assert {"job.dump_folder", "optimizer.lr"} <= set(found.silent)
    assert found.unknown == ("mine.x of line 30",)


def test_line_ends_of_another_system_change_nothing(made: Callable[..., Made]) -> None:
    assert made(DEEPSEEK.replace("\n", "\r\n")).text == made(DEEPSEEK).text


def test_the_text_is_a_plan(made: Callable[..., Made]) -> None:
    assert plan_of_text(made(DEEPSEEK).text, "plan.toml").name == "a"


def test_context_ranks_are_sharded_too(plan: Callable[..., Plan]) -> None:
    """The mesh that FSDP shards over is data-parallel shards by context ranks: distributed/parallel_dims.py."""
    text = OLD.replace("[experimental]\n", "[experimental]\ncontext_parallel_degree = 2\n")
    assert plan(text).parallelism.shard_size == 8


def test_what_is_read_and_decides_nothing_alone_is_named(made: Callable[..., Made]) -> None:
    """Saves that a file turns off, a folder without them, degrees of one: each was dropped without a word."""
    more = '[checkpoint]\nenable = false\nfolder = "checkpoint"\nlast_save_model_only = false\n'
    found = made(DEEPSEEK.replace("[checkpoint]\n", more))
    assert "checkpoint.folder" in found.idle
    assert any(one.startswith("checkpoint.enable (it is false") for one in found.fieldless)
    assert any(one.startswith("checkpoint.last_save_model_only (") for one in found.fieldless)
