"""A DeepSpeed configuration as what it says of a plan: batch, accumulation, ZeRO stage, offload and precision.

Names: DeepSpeed docs/_pages/config-json.md and runtime/{config,constants}.py, edaa722. Its world is the data-parallel ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainplan.interop.launchers.placed_json import JsonError, Node, placed
from trainplan.interop.launchers.places import Page
from trainplan.interop.launchers.settings import Setting, Settings, worded
from trainplan.interop.launchers.telling import Telling, unheard

_OPTIMIZERS: Final = {
    "adam": "adamw",
    "adamw": "adamw",
    "fusedadam": "adamw",
    "cpuadam": "adamw",
    "deepspeedcpuadam": "adamw",
    "lion": "lion",
    "sgd": "sgd-momentum",
    "muon": "muon",
}
_GRADIENTS: Final = {
    "fp32": "fp32",
    "float32": "fp32",
    "bf16": "bf16",
    "bfloat16": "bf16",
    "fp16": "fp16",
    "float16": "fp16",
}
_ZERO: Final = "zero_optimization"
_WORDS: Final = (
    "steps_per_print wall_clock_breakdown dump_state gradient_clipping prescale_gradients gradient_predivide_factor scheduler "
    "optimizer.params optimizer.legacy_fusion zero_allow_untested_optimizer zero_force_ds_cpu_optimizer fp16. bf16. bfloat16. "
    "tensorboard wandb csv_monitor comet flops_profiler autotuning comms_logger aio checkpoint memory_breakdown verbose "
    "disable_allgather logging dataloader_drop_last train_config trainplan amp use_node_local_storage seed monitor_config nebula "
    "timers data_types.gradient sparse_gradients communication_data_type seq_parallel_communication_data_type pipeline "
    f"{_ZERO}.contiguous_gradients {_ZERO}.round_robin_gradients {_ZERO}.stage3_ {_ZERO}.sub_group_size {_ZERO}.load_from "
    f"{_ZERO}.elastic_checkpoint {_ZERO}.memory_efficient_linear {_ZERO}.ignore_unused_parameters {_ZERO}.legacy_stage1 "
    f"{_ZERO}.gather_16bit_weights {_ZERO}.allgather_partitions {_ZERO}.reduce_scatter {_ZERO}.use_all_reduce "
    f"{_ZERO}.offload_optimizer. {_ZERO}.param_persistence_threshold {_ZERO}.max_ {_ZERO}.prefetch_bucket_size "
    f"{_ZERO}.model_persistence_threshold {_ZERO}.module_granularity_threshold {_ZERO}.override_module_apply {_ZERO}.log_trace"
)
_SILENT: Final = tuple(_WORDS.split())
"""Beginnings of names that no plan rests on."""

_FIELDLESS: Final = {
    f"{_ZERO}.offload_param": "a plan offloads optimizer states, not weights",
    f"{_ZERO}.overlap_comm": "a plan says a share, parallelism.overlap_data",
    f"{_ZERO}.zero_quantized": "a plan sends weights and gradients in their own types",
    f"{_ZERO}.zero_hpz_partition_size": "a second copy of the weights in each node has no name in a plan",
    f"{_ZERO}.mics_": "a plan says hsdp and parallelism.shard_size",
    "activation_checkpointing": "parallelism.recompute is the program's own",
    "sparse_attention": "a plan's attention is dense or windowed",
    "curriculum_learning": "a plan says data.stages",
    "data_efficiency": "a plan says data.stages",
    "progressive_layer_drop": "a plan's layers all run",
    "compression_training": "a plan has no compression",
    "elasticity": "a plan has one number of accelerators",
    "eigenvalue": "a plan has no compression",
    "quantize_training": "a plan has no compression",
    "hybrid_engine": "a plan is of pretraining",
    "compile": "a plan says training.kernels",
    "expert_data": "a plan says parallelism.expert",
    "weight_quantization": "a plan has no compression",
}


def telling_of_deepspeed(page: Page) -> Telling:
    """What a configuration says."""
    t = Telling()
    try:
        node = placed(page)
    except JsonError as error:
        t.problems.append(f"{error}. A DeepSpeed configuration")
        return t
    if not isinstance(node.value, dict):
        t.problems.append(f"{page.place(node.offset)}: not an object. A DeepSpeed configuration")
        return t
    s = Settings(dict(_flat(page, node, "")), t)
    t.say("training.framework", "deepspeed", page.place(node.offset), "a DeepSpeed configuration")
    _batch(s)
    _precision(s)
    _zero(s)
    _optimizer(s)
    for name in s.left:
        known = next((words for start, words in _FIELDLESS.items() if name.startswith(start)), "")
        if known:
            t.fieldless.append(f"{name} ({known})")
        elif name.startswith(_SILENT):
            t.silent.append(name)
        else:
            t.unknown.append(f"{name} of line {s.found[name].place.line}")
    t.idle.extend(unheard(t, [name for name in s.found if name in s.used]))
    return t


def _flat(page: Page, node: Node, path: str) -> Iterator[tuple[str, Setting]]:
    for key, inner in node.value.items():
        name = f"{path}.{key}" if path else key
        if isinstance(inner.value, dict):
            yield from _flat(page, inner, name)
        else:
            value: Any = "a list" if isinstance(inner.value, list) else inner.value
            yield name, Setting(value, page.place(inner.offset), worded(name, value))


def _batch(s: Settings) -> None:
    s.say("batch.global_batch_sequences", s.count("train_batch_size"), "train_batch_size")
    s.say("run.shared_batch", True if s.setting("train_batch_size") else None, "train_batch_size")
    names = ("train_micro_batch_size_per_gpu", "train_micro_batch_size_per_device")
    s.say("batch.micro_batch_sequences", s.count(*names), *names)
    s.say("run.accumulation", s.count("gradient_accumulation_steps"), "gradient_accumulation_steps")
    tensor = s.count("tensor_parallel.autotp_size", "tensor_parallel.tp.tp_size", least=0)
    s.say("parallelism.tensor", tensor or None, "tensor_parallel.autotp_size", "tensor_parallel.tp.tp_size")
    sequence = s.count("sequence_parallel_size")
    if sequence and sequence > 1:
        s.say("parallelism.context", sequence, "sequence_parallel_size")
        s.say("parallelism.context_type", "all-to-all", "sequence_parallel_size")


def _precision(s: Settings) -> None:
    brain, half = s.flag("bf16.enabled", "bfloat16.enabled"), s.flag("fp16.enabled")
    master, states = s.flag("bf16.bf16_master_weights_and_grads"), s.flag("bf16.bf16_optimizer_states")
    names = ("bf16.enabled", "bfloat16.enabled")
    if brain and half:
        s.telling.problems.append(
            f"{s.found['fp16.enabled'].place}: bf16 and fp16 are enabled together. One of them is right"
        )
    elif brain:
        s.say("training.precision", "bf16-pure" if master else "bf16-mixed", *names)
        s.say("training.moment_dtype", "bf16" if master and states else None, "bf16.bf16_optimizer_states")
    elif half:
        s.say("training.precision", "fp16-mixed", "fp16.enabled")
    elif not any(s.has(name) for name in (*names, "fp16.enabled", "amp.enabled")) or (brain is False or half is False):
        open_ones = [
            name for name in (*names, "fp16.enabled", "amp.enabled") if s.has(name) and s.found[name].value == "auto"
        ]
        place = s.telling.said["training.framework"].place
        if not open_ones:
            s.telling.say("training.precision", "fp32", place, "neither bf16 nor fp16 is enabled", implied=True)
    gradients = s.word(_GRADIENTS, "data_types.grad_accum_dtype")
    s.say("training.gradient_dtype", _GRADIENTS.get(gradients or ""), "data_types.grad_accum_dtype")


def _zero(s: Settings) -> None:
    stage = s.setting(f"{_ZERO}.stage")
    whole = s.setting(_ZERO)
    if whole is not None and isinstance(whole.value, bool):
        s.say("run.zero_stage", int(whole.value), _ZERO)  # the form of 2020: true is stage 1
    elif stage is not None:
        number = s.count(f"{_ZERO}.stage", least=0)
        if number is not None and number > 3:
            s.telling.problems.append(f"{stage.place}: {stage.words}. A stage from 0 to 3 is right")
        s.say("run.zero_stage", number, f"{_ZERO}.stage")
    elif not s.has(f"{_ZERO}.stage"):
        place = s.telling.said["training.framework"].place
        s.telling.say("run.zero_stage", 0, place, f"no {_ZERO} stage", implied=True)
    device = s.word(("none", "cpu", "nvme"), f"{_ZERO}.offload_optimizer.device")
    if device == "nvme":
        found = s.found[f"{_ZERO}.offload_optimizer.device"]
        s.telling.notes.append(f"{found.place}: {found.words}: a plan has states on the host, not on a disk; left out")
    elif device is not None:
        s.say("training.optimizer_offload", device == "cpu", f"{_ZERO}.offload_optimizer.device")
    old = s.flag(f"{_ZERO}.cpu_offload")
    s.say("training.optimizer_offload", old, f"{_ZERO}.cpu_offload")
    bucket = s.count(f"{_ZERO}.reduce_bucket_size")
    other = s.count(f"{_ZERO}.allgather_bucket_size")
    if bucket and other and other != bucket:
        found = s.found[f"{_ZERO}.allgather_bucket_size"]
        s.telling.notes.append(f"{found.place}: {found.words}: a plan has one size of buckets, that of the reduction")
    s.say("parallelism.bucket_elements", bucket, f"{_ZERO}.reduce_bucket_size")


def _optimizer(s: Settings) -> None:
    found = s.setting("optimizer.type")
    if found is None:
        return
    word = _OPTIMIZERS.get(str(found.value).lower())
    if word is None:
        s.telling.notes.append(
            f"{found.place}: {found.words} is no optimizer of a plan; training.optimizer is left out, which means adamw"
        )
    s.say("training.optimizer", word, "optimizer.type")
