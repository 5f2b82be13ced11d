"""Plans of published memory measurements: what each row says, and the settings that its source must be given.

The settings are those that the sources do not print in their rows and that decide a prediction. They are stated once for
each source and never for a row. The facts are in memory.toml beside this file, with their citations.
"""

from __future__ import annotations

from typing import Any, Final

from trainplan.estimation import Estimate, estimate
from trainplan.plan.read import plan_of_text

Row = dict[str, Any]
GIB: Final = 2.0**30

USABLE: Final = {40: "39.4GiB", 80: "79.2GiB", 96: "94.5GiB", 141: "139.8GiB"}
"""What the driver reports of parts of a nominal size, by GB."""


RECOMPUTE: Final = {"none": "none", "full": "full", "selective_op": "selective", "selective": "selective"}
SHARDING: Final = {
    "zero0": "none",
    "zero1": "zero-1",
    "zero2": "zero-2",
    "zero3": "zero-3",
    "zero3 over dp*cp": "zero-3",
}
PRECISION: Final = {"bf16": "bf16-mixed", "fp16": "fp16-mixed", "fp8": "fp8-mixed"}


def settings(row: Row) -> Row:
    """Framework, kernels, loss and the rest that the row's source must be given."""
    source = str(row["source"])
    if source == "simumax":
        return {"framework": "megatron", "kernels": "megatron-te", "loss": "fused-in-place", "moe_imbalance": 1.0}
    if source == "torchtitan":
        kernels = "torch-compile" if row.get("compile", True) else "torch-eager"
        return {"framework": "torchtitan", "kernels": kernels, "loss": "plain"}
    if source == "bloom":
        words = {"framework": "deepspeed", "kernels": "torch-compile", "loss": "fused", "attention": "eager"}
        return {**words, "dropout": 0.1}
    if source == "llmf":
        dtype = {"gradient_dtype": "bf16"}
        return {"framework": "fsdp", "kernels": "torch-eager", "loss": "fused", **dtype}
    raise LookupError(f"no settings for {source}")


def model_text(row: Row) -> str:
    """[model] of a row: a preset, or its printed shape."""
    if row.get("preset"):
        extra = f"num_hidden_layers = {row['layers']}\n" if "layers" in row else ""
        return f'[model]\npreset = "{row["preset"]}"\n{extra}'
    plain = row["source"] in ("bloom", "llmf")
    lines = [
        "[model]",
        f"num_hidden_layers = {row['layers']}",
        f"hidden_size = {row['hidden']}",
        f"intermediate_size = {row.get('ffn', 4 * row['hidden'])}",
        f"num_attention_heads = {row['heads']}",
        f"vocab_size = {row['vocab']}",
        f"num_key_value_heads = {row.get('kv_heads', row['heads'])}",
    ]
    if row["hidden"] % row["heads"]:
        lines.append(f"head_dim = {-(-row['hidden'] // row['heads'])}")
    if plain:
        lines += [
            "gated_mlp = false",
            'norm = "layernorm"',
            "norm_bias = true",
            "attention_bias = true",
            "attention_output_bias = true",
            "mlp_bias = true",
            "tie_word_embeddings = true",
            f'position_embedding = "{"alibi" if row["source"] == "bloom" else "learned"}"',
            f"max_position_embeddings = {row['seq']}",
        ]
    if "experts" in row:
        lines += [
            "[model.moe]",
            f"num_experts = {row['experts']}",
            f"num_experts_per_tok = {row['topk']}",
            f"moe_intermediate_size = {row['moe_ffn']}",
            f"num_shared_experts = {1 if row.get('shared_ffn') else 0}",
            f"first_k_dense_replace = {row.get('dense_layers', 0)}",
        ]
        if row.get("shared_ffn"):
            lines.append(f"shared_expert_intermediate_size = {row['shared_ffn']}")
    if "kv_lora" in row:
        lines += [
            "[model.mla]",
            f"q_lora_rank = {row['q_lora']}",
            f"kv_lora_rank = {row['kv_lora']}",
            f"qk_nope_head_dim = {row['qk_nope']}",
            f"qk_rope_head_dim = {row['qk_rope']}",
            f"v_head_dim = {row['v_dim']}",
        ]
    return "\n".join(lines) + "\n"


def plan_text(row: Row, micro_batch: int | None = None) -> str:
    """The plan of a row, with another microbatch where a test doubles it."""
    made, micro = settings(row), int(micro_batch or row["mbs"])
    tensor, pipeline, context = (int(row.get(key, 1)) for key in ("tp", "pp", "cp"))
    data = int(row["gpus"]) // (tensor * pipeline * context)
    steps = int(row.get("grad_accum") or max(1, round(row.get("gbs", data * micro) / (data * micro))))
    words = {key: value for key, value in made.items() if isinstance(value, str)}
    numbers = {key: value for key, value in made.items() if not isinstance(value, str)}
    training = "".join(f'{key} = "{value}"\n' for key, value in words.items())
    training += "".join(f"{key} = {value}\n" for key, value in numbers.items())
    sequence = "true" if row["source"] == "simumax" else "false"
    usable = USABLE[int(row.get("device_memory_gb", 80))]
    return f"""format = 1
{model_text(row)}
[data]
train_tokens = "1T"
sequence_length = {row["seq"]}
sampler = "megatron-blended"
[[data.sources]]
name = "web"
unique_tokens = "1T"
[batch]
global_batch_sequences = {data * micro * steps}
micro_batch_sequences = {micro}
[training]
precision = "{PRECISION[row["precision"]]}"
{training}
[cluster]
accelerator = "h100-sxm"
nodes = {row["gpus"]}
accelerators_per_node = 1
memory_per_accelerator = "{usable}"
[parallelism]
tensor = {tensor}
pipeline = {pipeline}
context = {context}
expert = {row.get("ep", 1)}
sharding = "{SHARDING[row["fsdp"]]}"
recompute = "{RECOMPUTE[row["recompute"]]}"
sequence_parallel = {sequence}
"""


def estimated(row: Row, micro_batch: int | None = None) -> Estimate:
    """The estimate of a row."""
    return estimate(plan_of_text(plan_text(row, micro_batch), str(row["id"])))
