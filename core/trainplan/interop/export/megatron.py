"""The arguments of Megatron-LM that a plan decides, by the names of its `arguments.py`.

What has no argument known here is refused in a sentence, never guessed. Learning rates, data paths and initialisation are
no part of a plan and are left to whoever launches.
"""

from __future__ import annotations

import math
from typing import Any, Final

from trainplan.estimation import Estimate
from trainplan.figure import Figure

Arguments = list[tuple[str, str]]
"""Names with their values in order; a flag has the value ""."""

_OPTIMIZERS: Final = {"adamw": "adam", "sgd-momentum": "sgd"}
_PRECISIONS: Final[dict[str, Arguments]] = {
    "fp32": [],
    "bf16-mixed": [("--bf16", "")],
    "fp16-mixed": [("--fp16", "")],
    "fp8-mixed": [("--bf16", ""), ("--fp8-format", "hybrid")],
}
_POSITIONS: Final = {"rope": "rope", "learned": "learned_absolute", "none": "none"}
_NORMS: Final = {"rmsnorm": "RMSNorm", "layernorm": "LayerNorm"}
_FSDP: Final[Arguments] = [
    ("--use-megatron-fsdp", ""),
    ("--use-distributed-optimizer", ""),
    ("--no-gradient-accumulation-fusion", ""),
    ("--ckpt-format", "fsdp_dtensor"),
]
"""Flags that Megatron-FSDP needs beside the strategy: README of Megatron-FSDP in NVIDIA/Megatron-LM, read in a copy."""

_SHARDINGS: Final[dict[str, Arguments]] = {
    "none": [],
    "zero-1": [("--use-distributed-optimizer", "")],
    "zero-2": [*_FSDP, ("--data-parallel-sharding-strategy", "optim_grads")],
    "zero-3": [*_FSDP, ("--data-parallel-sharding-strategy", "optim_grads_params")],
}


class ExportError(Exception):
    """What of a plan cannot be said to this launcher, in one sentence."""


def megatron_arguments(estimate: Estimate) -> Arguments:
    """The arguments of a plan. Raises ExportError where the plan lacks a field or asks for what has no argument here."""
    framework = estimate.situation.word("training.framework")
    if framework != "megatron":
        raise ExportError(f"training.framework is {framework}; Megatron arguments are written for megatron")
    parts = (_model, _attention, _experts, _latent, _layout, _batch, _training, _saving)
    return [argument for part in parts for argument in part(estimate)]


def whole(estimate: Estimate, path: str) -> int:
    """The whole number at a plan path or quantity key. Raises ExportError where it is missing."""
    value: Any = estimate.quantities[path] if path in estimate.quantities else estimate.situation[path]
    if not isinstance(value, Figure):
        raise ExportError(f"{path} cannot be told: {value.code}")
    return int(value)


def _known(estimate: Estimate, path: str, words: dict[str, Any]) -> Any:
    word = estimate.situation.word(path) or ""
    if word not in words:
        raise ExportError(f'{path} is "{word}", for which no Megatron argument is known here')
    return words[word]


def _flag(there: bool, name: str) -> Arguments:
    return [(name, "")] if there else []


def _model(e: Estimate) -> Arguments:
    s = e.situation
    if s.value("model.sliding_window") or any(kind != "full_attention" for kind in s.value("model.layer_types") or ()):
        raise ExportError("model.layer_types: windows have no Megatron argument that is known here")
    positions = s.value("model.max_position_embeddings")
    lengths = [s["data.sequence_length"], *([positions] if positions else [])]
    return [
        ("--num-layers", f"{whole(e, 'model.num_hidden_layers')}"),
        ("--hidden-size", f"{whole(e, 'model.hidden_size')}"),
        ("--ffn-hidden-size", f"{whole(e, 'model.intermediate_size')}"),
        ("--vocab-size", f"{whole(e, 'model.vocab_size')}"),
        ("--max-position-embeddings", f"{int(max(lengths))}"),
        ("--position-embedding-type", _known(e, "model.position_embedding", _POSITIONS)),
        ("--normalization", _known(e, "model.norm", _NORMS)),
        *_flag(s.flag("model.gated_mlp"), "--swiglu"),
        *_flag(not s.flag("model.tie_word_embeddings"), "--untie-embeddings-and-output-weights"),
        *_flag(not s.flag("model.mlp_bias"), "--disable-bias-linear"),
    ]


def _attention(e: Estimate) -> Arguments:
    s = e.situation
    heads = whole(e, "model.num_attention_heads")
    found: Arguments = [("--num-attention-heads", f"{heads}")]
    groups = s.value("model.num_key_value_heads")
    if groups and int(groups) != heads and e.plan.model.mla is None:
        found += [("--group-query-attention", ""), ("--num-query-groups", f"{int(groups)}")]
    width = s.value("model.head_dim")
    if width and int(width) * heads != whole(e, "model.hidden_size"):
        found.append(("--kv-channels", f"{int(width)}"))
    bias = s.flag("model.attention_bias") and not s.flag("model.mlp_bias")
    return [*found, *_flag(bias, "--add-qkv-bias"), *_flag(s.flag("model.qk_norm"), "--qk-layernorm")]


def _experts(e: Estimate) -> Arguments:
    if not e.situation.value("model.moe.num_experts"):
        return []
    s, dense = e.situation, int(e.situation.value("model.moe.first_k_dense_replace") or 0)
    found: Arguments = [
        ("--num-experts", f"{whole(e, 'model.moe.num_experts')}"),
        ("--moe-router-topk", f"{whole(e, 'model.moe.num_experts_per_tok')}"),
        ("--moe-ffn-hidden-size", f"{whole(e, 'model.moe.moe_intermediate_size')}"),
    ]
    shared = int(s.value("model.moe.num_shared_experts") or 0)
    if shared:
        width = s.value("model.moe.shared_expert_intermediate_size") or s.value("model.moe.moe_intermediate_size")
        found.append(("--moe-shared-expert-intermediate-size", f"{shared * int(width)}"))
    every = int(s.value("model.moe.moe_layer_freq") or 1)
    if dense and every == 1:
        found.append(("--moe-layer-freq", f"([0]*{dense}+[1]*{whole(e, 'model.num_hidden_layers') - dense})"))
    elif every > 1:
        found.append(("--moe-layer-freq", f"{every}"))
    return found


def _latent(e: Estimate) -> Arguments:
    s = e.situation
    if not s.value("model.mla.kv_lora_rank"):
        return []
    names = {
        "--q-lora-rank": "q_lora_rank",
        "--kv-lora-rank": "kv_lora_rank",
        "--qk-head-dim": "qk_nope_head_dim",
        "--qk-pos-emb-head-dim": "qk_rope_head_dim",
        "--v-head-dim": "v_head_dim",
    }
    told = [(name, s.value(f"model.mla.{field}")) for name, field in names.items()]
    return [("--multi-latent-attention", ""), *((name, f"{int(value)}") for name, value in told if value)]


def _layout(e: Estimate) -> Arguments:
    p, found = e.plan.parallelism, list[tuple[str, str]]()
    degrees = {
        "--tensor-model-parallel-size": p.tensor,
        "--pipeline-model-parallel-size": p.pipeline,
        "--context-parallel-size": p.context,
        "--expert-model-parallel-size": p.expert,
        "--expert-tensor-parallel-size": p.expert_tensor,
    }
    experts = bool(e.situation.value("model.moe.num_experts"))
    found += [(name, f"{int(value)}") for name, value in degrees.items() if experts or "expert" not in name]
    if p.virtual_pipeline > 1:
        found.append(("--num-virtual-stages-per-pipeline-rank", f"{int(p.virtual_pipeline)}"))
    if p.first_stage_layers:
        found.append(("--decoder-first-pipeline-num-layers", f"{int(p.first_stage_layers)}"))
    if p.last_stage_layers:
        found.append(("--decoder-last-pipeline-num-layers", f"{int(p.last_stage_layers)}"))
    if p.context > 1:
        found.append(("--cp-comm-type", "p2p" if p.context_type == "ring" else "a2a"))
    return [*found, *_flag(p.sequence_parallel and p.tensor > 1, "--sequence-parallel"), *_sharding(e)]


def _sharding(e: Estimate) -> Arguments:
    if e.plan.parallelism.schedule not in ("1f1b", "interleaved"):
        raise ExportError(f"parallelism.schedule {e.plan.parallelism.schedule} has no Megatron argument known here")
    return _known(e, "parallelism.sharding", _SHARDINGS)


def _batch(e: Estimate) -> Arguments:
    batches = {(float(one.global_batch_sequences), float(one.sequence_length)) for one in e.tokens.stretches}
    if len(batches) > 1:
        raise ExportError("the batch or the sequence length changes during the run; Megatron arguments say one of each")
    return [
        ("--seq-length", f"{whole(e, 'data.sequence_length')}"),
        ("--micro-batch-size", f"{whole(e, 'batch.micro_batch_sequences')}"),
        ("--global-batch-size", f"{whole(e, 'batch.global_batch_sequences')}"),
        ("--train-iters", f"{whole(e, 'tokens.steps')}"),
    ]


def _training(e: Estimate) -> Arguments:
    found: Arguments = [
        *_known(e, "training.precision", _PRECISIONS),
        ("--optimizer", _known(e, "training.optimizer", _OPTIMIZERS)),
    ]
    fp32 = e.situation.word("training.gradient_dtype") == "fp32" and e.plan.training.precision != "fp32"
    found += _flag(fp32, "--accumulate-allreduce-grads-in-fp32")
    if e.plan.parallelism.recompute == "selective":
        found.append(("--recompute-granularity", "selective"))
    if e.plan.parallelism.recompute == "full":
        found += [
            ("--recompute-granularity", "full"),
            ("--recompute-method", "uniform"),
            ("--recompute-num-layers", "1"),
        ]
    return found


def _saving(e: Estimate) -> Arguments:
    found: Arguments = []
    interval, step = e.quantities["reliability.interval"], e.quantities["compute.step_time"]
    if isinstance(interval, Figure) and isinstance(step, Figure):
        found.append(("--save-interval", f"{max(1, math.floor(interval / step))}"))
    folder = e.plan.paths.checkpoints
    found += [("--save", folder), ("--load", folder)] if folder else []
    found += _flag(e.plan.storage.async_checkpoint, "--async-save")
    return [*found, ("--exit-signal-handler", "")]
