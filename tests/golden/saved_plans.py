"""Plans of the measured CPU layers, and the peak of live bytes that follows from the shipped formulas."""

from __future__ import annotations

from typing import Any

from trainplan.budgets.memory.layers import Kept, layer_kept, split
from trainplan.budgets.model import model_budget
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_layers as fl
from trainplan.formulas import memory_work as fw
from trainplan.plan.read import plan_of_text

Row = dict[str, Any]


def element(row: Row) -> float:
    """Bytes of an element."""
    return 2.0 if row["dtype"] == "bf16" else 4.0


def plan_text(row: Row) -> str:
    """One accelerator, one microbatch, the row's own layers and kernels; the core alone is recomputed where selective."""
    kernels = "torch-compile" if row["kernel_set"] == "torch-compile" else "torch-eager"
    bias = str(bool(row.get("bias"))).lower()
    model = {
        "num_hidden_layers": row.get("layers", 1),
        "hidden_size": row["hidden"],
        "intermediate_size": row["ffn"],
        "num_attention_heads": row["heads"],
        "num_key_value_heads": row["kv_heads"],
        "vocab_size": row.get("vocab", 1024),
        "gated_mlp": str(row["gated"]).lower(),
        "norm": '"layernorm"' if row["norm"] == "layernorm" else '"rmsnorm"',
        "tie_word_embeddings": str(bool(row.get("tied"))).lower(),
        "qk_norm": str(bool(row.get("qk_norm"))).lower(),
        "post_norms": str(bool(row.get("post_norms"))).lower(),
        "parallel_block": str(bool(row.get("parallel"))).lower(),
        "attention_bias": bias,
        "attention_output_bias": bias,
        "mlp_bias": bias,
        "position_embedding": '"rope"' if row.get("rope", True) else '"learned"',
        "max_position_embeddings": row["seq"],
    }
    if "q_lora" not in row:
        model["head_dim"] = row["head_dim"]
    if "norms" in row:
        model["norms_per_block"] = row["norms"]
    lines = "\n".join(f"{key} = {value}" for key, value in model.items())
    return f"""format = 1
[model]
{lines}
{_experts(row)}{_latent(row)}
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
framework = "deepspeed"
precision = "{"bf16-pure" if row["dtype"] == "bf16" else "fp32"}"
kernels = "{kernels}"
attention = "{"flash" if row["attn"] == "sdpa" else "eager"}"
dropout = {row["dropout"]}
moe_imbalance = 1.0
[cluster]
accelerator = "h100-sxm"
nodes = 1
accelerators_per_node = 1
[parallelism]
recompute = "{row["recompute"]}"
"""


def _experts(row: Row) -> str:
    if "experts" not in row:
        return ""
    return (
        f"[model.moe]\nnum_experts = {row['experts']}\nnum_experts_per_tok = {row['topk']}\n"
        f"moe_intermediate_size = {row['moe_ffn']}\n"
    )


def _latent(row: Row) -> str:
    if "q_lora" not in row:
        return ""
    return (
        f"[model.mla]\nq_lora_rank = {row['q_lora']}\nkv_lora_rank = {row['kv_lora']}\n"
        f"qk_nope_head_dim = {row['qk_nope']}\nqk_rope_head_dim = {row['qk_rope']}\nv_head_dim = {row['v_dim']}\n"
    )


def kept(row: Row) -> Kept:
    """The row's layer as the ledger keeps it."""
    s = Situation(plan_of_text(plan_text(row), str(row["id"])))
    return layer_kept(s, model_budget(s), split(s), sparse="experts" in row)


def beyond_the_plan(row: Row) -> float:
    """Bytes of a layer that a plan cannot say: F.rms_norm on CPU, and GELU and softmax of the library's GPT-2."""
    tokens, size = float(row["seq"] * row["mbs"]), element(row)
    if row["norm"] == "rms_func" and row["kernel_set"] == "torch-eager" and row["recompute"] != "full":
        wide = fl.norm_kept(float(row["hidden"]), 4.0, 4.0, size, 4.0)
        return 2.0 * tokens * (wide - fl.norm_kept(float(row["hidden"]), 4.0, size, size, 4.0))
    if row.get("arch") != "gpt2":
        return 0.0
    copies = fl.mlp_kept(size, 5.0, float(row["ffn"])) - fl.mlp_kept(size, 2.0, float(row["ffn"]))
    scores = fl.scores_kept(float(row["heads"]), float(row["seq"]), size)
    eager = scores - fl.scores_kept(float(row["heads"]), float(row["seq"]), 4.0 + size)
    return tokens * (copies + (eager if row["attn"] == "eager" else 0.0))


def whole_model(row: Row) -> float:
    """Bytes kept by the whole model: ids and positions, layers, the final norm, the head's input, the loss."""
    tokens, size, hidden = float(row["seq"] * row["mbs"]), element(row), float(row["hidden"])
    layers = row["layers"] * (float(kept(row).stored) + beyond_the_plan(row))
    wide = size if row["norm"] == "layernorm" else 4.0
    inner = {"layernorm": 0.0, "rms_manual": size, "rms_func": 4.0}[row["norm"]]
    statistics = 2.0 * size if row["norm"] == "layernorm" else 4.0
    ends = tokens * (8.0 + fl.norm_kept(hidden, wide, inner, size, statistics))
    positions = 8.0 * row["seq"] if row.get("learned_positions") else 0.0
    noise = tokens * size * hidden if row["dropout"] else 0.0
    return (
        layers + ends + positions + noise + _loss(row, 4.0 if row["loss"] == "plain_fp32" else size) + 8.0 * tokens + 4
    )


def _loss(row: Row, each: float) -> float:
    return fw.logit_bytes(float(row["seq"] * row["mbs"]), float(row["vocab"]), 1.0, each, 1.0)


def peak(row: Row) -> float:
    """The most alive: at the loss, in either half of the backward of the last or the first layer, or at the end.

    Gradients come layer by layer, so that the first layer has all of them; parameters are not in it.
    """
    layer, size = kept(row), element(row)
    stored, layers = float(layer.stored) + beyond_the_plan(row), float(row["layers"])
    outside = whole_model(row) - layers * stored - _loss(row, 4.0 if row["loss"] == "plain_fp32" else size)
    head = size * row["vocab"] * row["hidden"]
    tables = head * (1.0 if row["tied"] else 2.0) + (size * row["hidden"] * row["seq"] if not row["rope"] else 0.0)
    each = (row["grads_bytes"] - tables) / layers
    loss = outside + layers * stored + _loss(row, 12.0 if row["loss"] == "plain_fp32" else 3.0 * size)
    halves = [
        fw.activations_with_layer(stored, last, float(layer.again)) + gradients + half
        for last, gradients in ((layers, 0.0), (1.0, (layers - 1.0) * each))
        for half in _halves(row, layer)
    ]
    return max(loss, outside + head + max(halves), outside + row["grads_bytes"])


def _halves(row: Row, layer: Kept) -> tuple[float, float]:
    """Temporaries in the MLP half, and in the attention half, in which the MLP is done."""
    tokens, size, hidden = float(row["seq"] * row["mbs"]), element(row), float(row["hidden"])
    width = float(row["topk"] * row["moe_ffn"] if "experts" in row else row["ffn"])
    mlp = fw.backward_temporaries(tokens, size, hidden, 1.0, width, 1.0)
    query = float(row["heads"] * row["head_dim"])
    attention = fw.attention_temporaries(tokens, size, hidden, 1.0, query, 1.0) - float(layer.mlp)
    if row["attn"] == "eager":
        saved = 4.0 + (2.0 * size if row["dropout"] else size if size < 4.0 else 0.0)
        beside = max(12.0 - saved, size)
        attention += fw.score_temporaries(tokens, float(row["heads"]), float(row["seq"]), beside, 1.0)
    return mlp, attention
