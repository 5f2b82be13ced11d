"""Defaults that depend on the framework: which recipe of states, kernels, loss and sharding an absent field means.

Words only. A plan that says the field is never overruled. What was not read again in its source is marked so.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.defaults import Default
from trainplan.plan.plan import Plan

_MEGATRON: Final = "Megatron-LM arguments.py"
_TITAN: Final = "torchtitan configs.py"
_STUDY: Final = "settings of published runs, section 4 of the memory study"

WORDS: Final[dict[str, dict[str, Default]]] = {
    "training.kernels": {
        "megatron": Default("megatron-te", f"{_MEGATRON}: transformer_impl = transformer_engine"),
        "deepspeed": Default("torch-compile", "fused kernels of Megatron-DeepSpeed keep the same set"),
        "torchtitan": Default("torch-compile", f"{_TITAN}: layers are compiled in published runs"),
        "fsdp": Default("torch-eager", "plain PyTorch operators unless the plan says otherwise"),
        "maxtext": Default("torch-compile", "XLA fuses as a min-cut partition does", verified=False),
    },
    "training.loss": {
        "megatron": Default("fused-in-place", "TransformerEngine parallel cross entropy, gradient in place"),
        "deepspeed": Default("fused", "Megatron-DeepSpeed vocabulary-parallel cross entropy"),
        "torchtitan": Default("compiled", f"{_TITAN}: the loss is compiled"),
        "fsdp": Default("plain", "cross_entropy(logits.float()) unless the plan says otherwise"),
        "maxtext": Default("compiled", "XLA fuses the loss", verified=False),
    },
    "training.head": {
        "megatron": Default("vocab-parallel", f"{_MEGATRON}: parallel output", verified=True),
        "deepspeed": Default("vocab-parallel", "Megatron-DeepSpeed: parallel output", verified=True),
        "torchtitan": Default("vocab-parallel", f"{_TITAN}: loss parallel is on"),
        "fsdp": Default("gathered", _STUDY),
        "maxtext": Default("vocab-parallel", "MaxText shards the vocabulary", verified=False),
    },
    "parallelism.sharding": {
        "megatron": Default("zero-1", "Megatron-LM docs dist_optimizer.md, as its recipes set it"),
        "deepspeed": Default("zero-1", "DeepSpeed, as published Megatron-DeepSpeed runs set it"),
        "torchtitan": Default("zero-3", f"{_TITAN}: data_parallel_shard_degree = -1", verified=True),
        "fsdp": Default("zero-3", "FULL_SHARD is the default strategy of FSDP", verified=True),
        "maxtext": Default("zero-3", "MaxText base.yml: fsdp takes the remaining axis"),
    },
}
"""The word that an absent field means, by framework."""

_FULL: Final = Default("full", "torchtitan with pipeline: gradients are reduced after the last microbatch")
_SHARDED: Final = Default("sharded", "gradients are reduced in every microbatch")


def framework_default(path: str, plan: Plan) -> Default | None:
    """The default of a path for the plan's framework, layout and precision; None where the format has none."""
    words = WORDS.get(path)
    if words is not None:
        return words[plan.training.framework]
    if path == "training.gradient_dtype":
        return _gradient_dtype(plan.training.framework, plan.training.precision)
    if path == "training.gradient_accumulation":
        return _FULL if plan.training.framework == "torchtitan" and plan.parallelism.pipeline > 1 else _SHARDED
    return None


def _gradient_dtype(framework: str, precision: str) -> Default:
    if precision == "fp32":
        return Default("fp32", "gradients in the type of the weights", verified=True)
    if precision == "bf16-pure" and framework not in ("torchtitan", "fsdp"):
        return Default("bf16", "gradients in the type of the weights")
    if precision == "fp16-mixed":
        return Default(
            "fp16", "gradients in the type of the weights, Megatron-LM docs dist_optimizer.md", verified=True
        )
    return Default("fp32", f"{_MEGATRON}: bf16 accumulates and reduces in fp32; {_TITAN}: reduces in fp32", True)
