"""Framework, precision, optimizer and kernels as Megatron's arguments say them, in the plan's terms.

NVIDIA/Megatron-LM d98e8a6, training/arguments.py: dropouts of 0.1, types of gradients in validate_args; Megatron-DeepSpeed of
bigscience-workshop (8387ae1) and microsoft (f4157be) attend with whole scores unless a flag says otherwise.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.launchers.megatron.saying import Saying

_OPTIMIZERS: Final = {
    "adam": "adamw",
    "adamw": "adamw",
    "sgd": "sgd-momentum",
    "muon": "muon",
    "dist_muon": "muon",
    "adaptive_muon": "muon",
    "lion": "lion",
    "soap": "",
}
_DTYPES: Final = ("fp32", "bf16", "fp16", "fp8", "float32", "bfloat16", "float16", "uint8")
_SHORT: Final = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "uint8": "fp8"}
_DROPOUT: Final = 0.1


def training(s: Saying) -> None:
    """Everything under `training.`, and what is said of saving."""
    a = s.arguments
    s.telling.say("training.framework", "deepspeed" if s.deep else "megatron", s.place, _program(s), implied=not s.deep)
    _precision(s)
    _optimizer(s)
    _kernels(s)
    _dropout(s)
    if s.deep:
        return
    s.flag("storage.async_checkpoint", "async_save", "no --async-save")
    a.used.add("async_save")


def _program(s: Saying) -> str:
    return "options of DeepSpeed" if s.deep else "options of Megatron-LM"


def _precision(s: Saying) -> None:
    a = s.arguments
    if a.option("fp4") is not None:
        s.note("fp4", f"{a.names['fp4'].words} has no precision in a plan; training.precision is left out")
        return
    fp8 = a.word("fp8", ("e4m3", "hybrid"))
    brain, half = a.flag("bf16"), a.flag("fp16")
    if brain and half:
        s.problem("fp16", "--bf16 and --fp16 stand together. One of them is right")
    if a.open("fp8"):
        pass  # the note on it says so; neither it nor --bf16 alone is the precision
    elif fp8:
        s.given("training.precision", "fp8", "fp8-mixed")
    elif brain or half:
        s.given("training.precision", "bf16" if brain else "fp16", "bf16-mixed" if brain else "fp16-mixed")
    elif brain is False and half is False:
        s.taken("training.precision", "fp32", "neither --bf16 nor --fp16")
    if a.flag("grad_reduce_in_bf16"):
        s.given("training.gradient_dtype", "grad_reduce_in_bf16", "bf16")
    elif a.flag("accumulate_allreduce_grads_in_fp32") and (fp8 or brain or half):
        s.given("training.gradient_dtype", "accumulate_allreduce_grads_in_fp32", "fp32")


def _optimizer(s: Saying) -> None:
    a = s.arguments
    word = a.word("optimizer", _OPTIMIZERS)
    if word == "soap":
        s.note(
            "optimizer", "--optimizer soap is no optimizer of a plan; training.optimizer is left out, which means adamw"
        )
    elif word:
        s.given("training.optimizer", "optimizer", _OPTIMIZERS[word])
    if a.flag("use_precision_aware_optimizer"):
        moments = [a.word(name, _DTYPES) for name in ("exp_avg_dtype", "exp_avg_sq_dtype")]
        kinds = {_SHORT.get(one or "fp32", one or "fp32") for one in moments}
        if kinds <= {"fp32", "bf16"} and len(kinds) == 1:
            s.given("training.moment_dtype", "exp_avg_dtype", kinds.pop() if a.has("exp_avg_dtype") else None)
        else:
            s.note(
                "exp_avg_dtype",
                f"moments in {' and '.join(sorted(kinds))} have no field in a plan; training.moment_dtype is left out",
            )
    a.used.update(("exp_avg_dtype", "exp_avg_sq_dtype"))
    for name in ("optimizer_cpu_offload", "cpu_optimizer"):
        if a.flag(name):
            s.given("training.optimizer_offload", name, True)
    share = a.real("optimizer_offload_fraction", 1.0)
    if share is not None and share < 1.0 and a.flag("optimizer_cpu_offload"):
        s.note("optimizer_offload_fraction", f"{share:g} of the states are on the host; a plan has all of them there")


def _kernels(s: Saying) -> None:
    a = s.arguments
    impl = a.word("transformer_impl", ("local", "transformer_engine", "inference_optimized"))
    if impl == "local" and not s.deep:
        s.given("training.kernels", "transformer_impl", "torch-eager")
    backend = a.word("attention_backend", ("flash", "fused", "unfused", "local", "auto"))
    if backend is not None:
        s.given("training.attention", "attention_backend", "eager" if backend in ("unfused", "local") else "flash")
    elif a.flag("use_flash_attn"):
        s.given("training.attention", "use_flash_attn", "flash")
    elif impl == "local":
        s.given("training.attention", "transformer_impl", "eager")
    elif s.deep and a.flag("use_flash_attn") is False:
        s.taken("training.attention", "eager", "no --use-flash-attn")
    if s.deep:
        return
    _newer(s)
    fused, kind = a.flag("cross_entropy_loss_fusion"), a.word("cross_entropy_fusion_impl", ("native", "te", "linear"))
    if fused:
        s.given("training.loss", "cross_entropy_loss_fusion", "fused-in-place" if kind == "te" else "fused")
    elif fused is False:
        s.taken("training.loss", "plain", "no --cross-entropy-loss-fusion")


def _newer(s: Saying) -> None:
    """Fused experts and a graph of a whole iteration; of smaller graphs a plan has no word. A listing says fp8 attention too."""
    a = s.arguments
    if a.flag("use_transformer_engine_op_fuser") and a.has("num_experts"):
        s.given("training.expert_kernels", "use_transformer_engine_op_fuser", "fused")
    graphs = a.word("cuda_graph_impl", ("none", "local", "transformer_engine", "full_iteration"))
    if graphs == "full_iteration":
        s.given("training.cuda_graphs", "cuda_graph_impl", "full-iteration")
    elif graphs in ("local", "transformer_engine"):
        s.note(
            "cuda_graph_impl",
            f"--cuda-graph-impl {graphs}: graphs of layers have no field in a plan, which has none then",
        )
    if a.flag("fp8_dot_product_attention"):
        s.given("training.attention_precision", "fp8_dot_product_attention", "fp8")


def _dropout(s: Saying) -> None:
    a = s.arguments
    pair = {name: a.real(name, 0.9999) for name in ("attention_dropout", "hidden_dropout")}
    if any(a.open(name) for name in pair):
        return
    values = {name: _DROPOUT if value is None else value for name, value in pair.items()}
    if len(set(values.values())) > 1:
        told = " and ".join(f"{name} {value:g}" for name, value in values.items())
        s.note("hidden_dropout", f"{told}: a plan has one dropout; training.dropout is left out")
        return
    value = values["hidden_dropout"]
    name = next((name for name in pair if a.has(name)), "")
    if name:
        s.given("training.dropout", name, value)
    else:
        s.taken("training.dropout", value, "neither --attention-dropout nor --hidden-dropout")
