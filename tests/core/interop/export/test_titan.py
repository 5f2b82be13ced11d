"""torchtitan: the module and the TOML say what the plan says; what torchtitan has no word for is refused or named."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from trainplan.catalogue import entry
from trainplan.estimation import Estimate, estimate
from trainplan.interop.export.pilot import run_of
from trainplan.interop.export.run import ExportError
from trainplan.interop.export.titan import titan_module, titan_toml
from trainplan.interop.export.titan_models import MODELS
from trainplan.plan.edit import set_all
from trainplan.plan.read import plan_of_text

PLANS = Path(__file__).resolve().parents[4] / "plans"
TITAN = ["training.framework=torchtitan", "parallelism.sharding=zero-3"]


def estimated(*edits: str) -> Estimate:
    text = (PLANS / "llama-3.1-8b.toml").read_text(encoding="utf-8")
    plan = plan_of_text(text, "plan.toml")
    return estimate(set_all(text, plan, [*TITAN, *edits], "plan.toml").plan)


def module(*edits: str, rung: str = "") -> dict[str, str]:
    """Assignments of the module by their path."""
    lines = titan_module(run_of(estimated(*edits), rung)).splitlines()
    pairs = [line.strip().split(" = ", 1) for line in lines if line.startswith("    config.")]
    return {path.removeprefix("config."): value for path, value in pairs}


def toml(*edits: str, rung: str = "") -> dict[str, Any]:
    return tomllib.loads(titan_toml(run_of(estimated(*edits), rung)))


def test_both_texts_say_what_the_plan_says() -> None:
    told, table = module(), toml()
    assert told["training.global_batch_size"] == "1024"
    assert table["training"]["seq_len"] == 8192
    assert told["parallelism.data_parallel_shard_degree"] == "1024"
    assert table["model"] == {"name": "llama3", "flavor": "8B"}
    for path, value in told.items():
        section, _, name = path.partition(".")
        if name in table.get(section, {}):
            assert str(table[section][name]) == value.strip("'"), path


def test_a_rung_cuts_layers_in_python_and_is_refused_in_toml() -> None:
    text = titan_module(run_of(estimated(), "one-device"))
    assert "config.model_spec.model.layers = config.model_spec.model.layers[:" in text
    with pytest.raises(ExportError, match=r"layers, which torchtitan 0\.2\.2 TOML cannot say"):
        titan_toml(run_of(estimated(), "one-device"))
    assert toml(rung="one-node")["training"]["steps"] == 1000


def test_a_pipeline_has_its_schedule_and_all_its_microbatches() -> None:
    edits = ("parallelism.pipeline=4", "parallelism.virtual_pipeline=2", "parallelism.schedule=interleaved")
    told, found = module(*edits), estimated(*edits)
    assert told["parallelism.pipeline_parallel_schedule"] == "'Interleaved1F1B'"
    assert told["parallelism.pipeline_parallel_layers_per_stage"] == "4"
    assert int(told["training.local_batch_size"]) == int(found.tokens.microbatches)
    assert told["parallelism.pipeline_parallel_microbatch_size"] == "1"
    assert told["training.disable_cuda_graphs"] == "True"
    assert "training.disable_cuda_graphs" not in module()


def test_graphs_are_torchtitans_default_unless_a_plan_says_none_and_refused_with_stages() -> None:
    """torchtitan b5bcd76, trainer.py: captured without stages and expert ranks alone."""
    assert module("training.cuda_graphs=none")["training.disable_cuda_graphs"] == "True"
    assert "training.disable_cuda_graphs" not in module("training.cuda_graphs=full-iteration")
    for edit in ("parallelism.pipeline=4", "parallelism.expert=2"):
        with pytest.raises(ExportError, match=r"training\.cuda_graphs with stages or expert ranks"):
            module(edit, "training.cuda_graphs=full-iteration")
    with pytest.raises(ExportError, match=r"training\.cuda_graphs has no torchtitan 0\.2\.2"):
        titan_toml(run_of(estimated("training.cuda_graphs=full-iteration")))


@pytest.mark.parametrize(
    ("edits", "each", "less"),
    [(("virtual_pipeline=3", "schedule=interleaved"), "3", "1"), (("schedule=zb-v",), "4", "0"), ((), "8", "0")],
)
def test_chunks_that_are_not_even_are_cut_as_torchtitan_does(edits: tuple[str, ...], each: str, less: str) -> None:
    told = module("parallelism.pipeline=4", *(f"parallelism.{one}" for one in edits))
    assert told["parallelism.pipeline_parallel_layers_per_stage"] == each
    assert told["parallelism.pipeline_parallel_first_stage_less_layers"] == less
    assert told["parallelism.pipeline_parallel_last_stage_less_layers"] == less


@pytest.mark.parametrize(
    ("edits", "replicas", "shard", "kept"),
    [
        (["parallelism.sharding=none"], "1024", "1", "'always'"),
        (["parallelism.sharding=zero-2"], "1", "1024", "'never'"),
        (["parallelism.sharding=zero-3"], "1", "1024", "'always'"),
        (["parallelism.reshard_after_forward=false"], "1", "1024", "'never'"),
        (["parallelism.sharding=hsdp", "parallelism.shard_size=8"], "128", "8", "'always'"),
    ],
)
def test_sharding(edits: list[str], replicas: str, shard: str, kept: str) -> None:
    told = module(*edits)
    assert told["parallelism.data_parallel_replicate_degree"] == replicas
    assert told["parallelism.data_parallel_shard_degree"] == shard
    assert told["parallelism.fsdp_reshard_after_forward"] == kept


@pytest.mark.parametrize(
    ("word", "told"), [("none", "None"), ("selective", "SelectiveAC.Config()"), ("full", "FullAC.Config()")]
)
def test_recompute(word: str, told: str) -> None:
    assert module(f"parallelism.recompute={word}")["activation_checkpoint"] == told
    assert toml(f"parallelism.recompute={word}")["activation_checkpoint"]["mode"] == word


@pytest.mark.parametrize(
    ("edit", "names_it"),
    [
        ("training.framework=fsdp", "training.framework"),
        ("training.precision=fp16-mixed", "training.precision"),
        ("training.precision=fp8-mixed", "training.precision"),
        ("training.optimizer=muon", "training.optimizer"),
        ("training.moment_dtype=bf16", "training.moment_dtype"),
        ("training.gradient_dtype=bf16", "training.gradient_dtype"),
        ("training.dropout=0.1", "training.dropout"),
        ("training.attention=eager", "training.attention"),
        ("training.kernels=megatron-te", "training.kernels"),
        ("training.attention_precision=fp8", "training.attention_precision"),
        ("training.expert_kernels=fused", "training.expert_kernels"),
        ("training.optimizer_offload=true", "training.optimizer_offload"),
        ("training.activation_offload=true", "training.activation_offload"),
        ("parallelism.sharding=zero-1", "zero-1"),
        ("parallelism.expert_tensor=2", "parallelism.expert_tensor"),
        ("model.hidden_size=4097", r"llama3 8B with .*, differs in model\.hidden_size"),
        ("model.num_hidden_layers=31", r"llama3 8B with .*, differs in model\.num_hidden_layers"),
        ("model.tie_word_embeddings=true", r"llama3 8B with .*, differs in model\.tie_word_embeddings"),
        ("model.qk_norm=true", r"llama3 8B with .*, differs in model\.qk_norm"),
        ("model.mtp.num_nextn_predict_layers=1", r"llama3 8B with .*, differs in model\.mtp"),
    ],
)
def test_what_has_no_word_is_refused_by_name(edit: str, names_it: str) -> None:
    with pytest.raises(ExportError, match=names_it):
        titan_module(run_of(estimated(edit)))


@pytest.mark.parametrize(
    ("edits", "names_it"),
    [
        (["parallelism.context=2", "parallelism.context_type=all-to-all"], "parallelism.context_type"),
        (["parallelism.pipeline=4", "parallelism.schedule=dualpipe"], "parallelism.schedule"),
        (["parallelism.pipeline=4", "parallelism.first_stage_layers=7"], "parallelism.first_stage_layers"),
        (["parallelism.pipeline=4", "parallelism.virtual_pipeline=5"], "cuts 32 layers into 20 chunks"),
        (
            [
                "batch.schedule=[{from_tokens=0,global_batch_sequences=512},{from_tokens=1e12,global_batch_sequences=1024}]"
            ],
            "batch",
        ),
    ],
)
def test_layouts_that_torchtitan_cannot_say_are_refused(edits: list[str], names_it: str) -> None:
    text = (PLANS / "llama-3.1-8b.toml").read_text(encoding="utf-8").partition("[[data.stages]]")
    whole = text[0] + ("[batch]" + text[2].partition("[batch]")[2] if text[1] else "")
    plan = plan_of_text(whole, "plan.toml")
    with pytest.raises(ExportError, match=names_it):
        titan_module(run_of(estimate(set_all(whole, plan, [*TITAN, *edits], "plan.toml").plan)))


def test_toml_without_sequence_parallel_is_refused() -> None:
    with pytest.raises(ExportError, match=r"parallelism\.sequence_parallel"):
        titan_toml(run_of(estimated("parallelism.tensor=2", "parallelism.sequence_parallel=false")))


def test_what_is_not_said_is_named() -> None:
    text = titan_module(run_of(estimated("data.packing=best-fit", "training.loss=chunked")))
    (line,) = [line for line in text.splitlines() if "not said here" in line]
    assert "data.packing = best-fit" in line
    assert "training.loss = chunked" in line
    assert "cluster" not in line


@pytest.mark.parametrize("name", MODELS)
def test_presets_of_the_catalogue_with_these_shapes_export(name: str) -> None:
    assert entry("models", name) is not None
    assert "config_registry import" in titan_module(run_of(estimated(f"model.preset={name}")))


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            ["model.hidden_size=6144", "model.intermediate_size=20000", "model.tie_word_embeddings=true"],
            "llama3 8B with 8.03B parameters where the plan has 15.6B, differs in model.hidden_size (4,096 there, "
            "6,144 here); model.intermediate_size (14,336 there, 20,000 here); model.head_dim (128 there, 192 here); "
            "model.tie_word_embeddings (false there, true here)",
        ),
        (
            ["model.preset=smollm2-135m"],
            "qwen3 0.6B with 596M parameters where the plan has 134.5M, differs in model.hidden",
        ),
        (
            ["model.preset=gpt3-175b"],
            "llama3 405B with 405.9B parameters where the plan has 174.6B, differs in model.hidden",
        ),
    ],
)
def test_the_nearest_model_says_how_far_it_is(edits: list[str], said: str) -> None:
    """A plan of 135M was told that llama3 405B is the nearest, which differs in hidden_size."""
    with pytest.raises(ExportError) as caught:
        titan_module(run_of(estimated(*edits)))
    assert said in str(caught.value)


def test_a_shard_group_counts_its_context_ranks() -> None:
    """16 ranks of a group over 2 context ranks are 8 data ranks, on 512 replicas 64 copies; three ranks are no group."""
    edits = ("parallelism.sharding=hsdp", "parallelism.context=2")
    told = toml(*edits, "parallelism.shard_size=16")["parallelism"]
    assert (told["data_parallel_shard_degree"], told["data_parallel_replicate_degree"]) == (8, 64)
    with pytest.raises(ExportError, match=r"parallelism\.shard_size is 3; torchtitan shards over all 2 context ranks"):
        toml(*edits, "parallelism.shard_size=3")


def test_latent_attention_does_not_differ_in_heads_that_it_has_not() -> None:
    with pytest.raises(ExportError) as refused:
        titan_module(
            run_of(estimated("model.preset=deepseek-v3", "model.hidden_size=4096", "model.num_key_value_heads=8"))
        )
    assert "deepseek_v3" in str(refused.value)
    assert "num_key_value_heads" not in str(refused.value)
    assert "head_dim (" not in str(refused.value).replace("v_head_dim (", "").replace("rope_head_dim (", "")
