"""States against other tools to their printed digits, and closed forms against what their authors print."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from trainplan.estimation import estimate
from trainplan.formulas import memory_textbook as f
from trainplan.plan.read import plan_of_text

GIB = 2.0**30
HERE = Path(__file__).parent


def _rows(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))["row"]


PEERS = _rows("peers_memory")
MEGATRON = [row for row in PEERS if row["peer"] == "megatron-lm"]
DEEPSPEED = [row for row in PEERS if row["peer"] == "deepspeed"]
ANALYTIC = [row for row in _rows("memory") if row.get("kind") == "analytic"]


def _digits(value: float) -> float:
    """Half a unit of the sixth digit, as the tools print."""
    return abs(value) * 5e-6


PRESET = {"llama3-8B": "llama-3-8b", "llama3-70B": "llama-3-70b", "mixtral-8x7B": "mixtral-8x7b"}


def _plan(row: dict[str, Any]) -> str:
    ranks = row["tp"] * row["pp"] * row["cp"] * row["dp"]
    return f"""format = 1
[model]
preset = "{PRESET[row["case"].split()[0]]}"
[data]
train_tokens = "1T"
sequence_length = {row["s"]}
sampler = "megatron-blended"
[[data.sources]]
name = "web"
unique_tokens = "1T"
[batch]
global_batch_sequences = {row["gbs"]}
[training]
framework = "megatron"
[cluster]
accelerator = "h100-sxm"
nodes = {ranks}
accelerators_per_node = 1
[parallelism]
tensor = {row["tp"]}
pipeline = {row["pp"]}
context = {row["cp"]}
expert = {row["ep"]}
sharding = "zero-1"
"""


@pytest.mark.parametrize(
    "row",
    [row for row in MEGATRON if row["case"].split()[0] in PRESET],
    ids=lambda row: row["case"],
)
def test_states_equal_megatron_and_simumax(row: dict[str, Any]) -> None:
    """Weights, gradients and optimizer states of the first stage."""
    made = estimate(plan_of_text(_plan(row), "plan.toml"))
    parts = made.memory.table[0].worst.parts
    states = parts["weights"] + parts["gradients"] + parts["optimizer_states"]
    assert states / GIB == pytest.approx(row["value"], abs=_digits(row["value"]))


@pytest.mark.parametrize("row", DEEPSPEED, ids=lambda row: f"{row['case']} {row['quantity']} {row['offload_opt']}")
def test_deepspeed_estimators(row: dict[str, Any]) -> None:
    ranks, parameters = row["gpus_per_node"] * row["nodes"], float(row["total_params"])
    optimizer, weights = float(row["offload_opt"]), float(row.get("offload_param", False))
    if row["quantity"] == "zero2.gpu_model_states":
        found = f.deepspeed_zero2(parameters, ranks, optimizer)
    elif row["quantity"] == "zero3.gpu_model_states":
        found = f.deepspeed_zero3(parameters, float(row["largest_layer"]), ranks, optimizer, weights)
    elif row["quantity"] == "zero2.cpu_per_node":
        processes, floor = (ranks, 16.0) if optimizer else (row["gpus_per_node"], 0.0)
        found = f.deepspeed_zero2_host(parameters, processes, floor, row["buffer_factor"])
    else:
        each = (18.0 if weights else 16.0) / row["nodes"] if optimizer else 4.0 * row["gpus_per_node"]
        base = parameters if optimizer else float(row["largest_layer"])
        found = base * each * row["buffer_factor"]
    assert found / GIB == pytest.approx(row["value"], abs=_digits(row["value"]) * 10)


@pytest.mark.parametrize("row", [row for row in ANALYTIC if row["source"] == "zero"], ids=lambda row: row["id"])
def test_zero_table(row: dict[str, Any]) -> None:
    """Printed with one decimal; stage 0 keeps all 16 bytes."""
    stage = int(row["fsdp"][-1])
    ranks = float(row["dp"]) if stage else 1.0
    found = f.zero_states(float(row["params"]), ranks, float(stage == 3), float(stage >= 2))
    assert found / 1e9 == pytest.approx(row["value"], abs=0.05)


def _korthikanti(row: dict[str, Any], kind: str) -> float:
    tokens, hidden, heads, keys = (float(row[key]) for key in ("seq", "hidden", "heads", "seq"))
    tokens, tensor = tokens * row["mbs"], float(row["tp"])
    return {
        "none": f.tensor_parallel_layer(tokens, hidden, heads, keys, tensor),
        "seq": f.sequence_parallel_layer(tokens, hidden, heads, keys, tensor),
        "sel": f.selective_layer(tokens, hidden, 10.0, 24.0, tensor),
        "seqsel": f.selective_layer(tokens, hidden, 0.0, 34.0, tensor),
        "full": f.checkpointed_layer(tokens, hidden),
    }[kind]


@pytest.mark.parametrize("row", [row for row in ANALYTIC if row["source"] == "korth"], ids=lambda row: row["id"])
def test_korthikanti(row: dict[str, Any]) -> None:
    """GiB rows to the printed digit; shares of figure 7 within 0.14 points, because they are read off a plot."""
    kind = row["id"].rsplit(".", 1)[-1]
    if kind == "params_opt":
        found = f.layer_states(float(row["layers"]), float(row["hidden"]), float(row["tp"]), float(row["pp"]))
        assert found / GIB == row["value"]
    elif kind.startswith("act_"):
        layer = _korthikanti(row, kind.removeprefix("act_"))
        found = f.first_stage_activations(layer, float(row["layers"]), float(row["pp"]), float(row["vp"]))
        assert found / GIB == pytest.approx(row["value"], rel=1e-12)
    else:
        share = 100.0 * _korthikanti(row, row["technique"]) / _korthikanti(row, "none")
        assert share == pytest.approx(row["value"], abs=0.14)


def test_the_ledger_keeps_what_korthikanti_counts() -> None:
    """A GPT layer with dropout and eager attention: 10h + 24h/t + 5as/t, and norm statistics of 8 bytes a token on top."""
    row = next(row for row in ANALYTIC if row["id"] == "mem.korth.22b.act_none")
    text = f"""format = 1
[model]
num_hidden_layers = {row["layers"]}
hidden_size = {row["hidden"]}
intermediate_size = {row["ffn"]}
num_attention_heads = {row["heads"]}
vocab_size = 51200
gated_mlp = false
norm = "layernorm"
position_embedding = "learned"
max_position_embeddings = 2048
tie_word_embeddings = true
[data]
train_tokens = "1T"
sequence_length = {row["seq"]}
sampler = "megatron-blended"
[[data.sources]]
name = "web"
unique_tokens = "1T"
[batch]
global_batch_sequences = {row["mbs"]}
micro_batch_sequences = {row["mbs"]}
[training]
precision = "fp16-mixed"
attention = "eager"
dropout = 0.1
[cluster]
accelerator = "a100-sxm-80"
nodes = 1
[parallelism]
tensor = {row["tp"]}
sequence_parallel = false
"""
    made = estimate(plan_of_text(text, "plan.toml")).memory.table[0]
    loss = next(instant for instant in made.instants if instant.name == "loss")
    tokens = row["seq"] * row["mbs"]
    extra = tokens * (8.0 * row["layers"] + 4.0 * row["hidden"])  # statistics, and the final norm's input and output
    assert loss.parts["activations"] - extra == pytest.approx(row["value"] * GIB, rel=1e-12)
