"""Precision, optimizer, kernels, recomputation and saving as a torchtitan configuration says them, in the plan's terms.

pytorch/torchtitan 238fa9953, config/job_config.py, with its defaults: fp32 weights, bf16 compute, no compilation, selective
recomputation, saving that training waits for.
"""

from __future__ import annotations

from typing import Any, Final, cast

from trainplan.interop.launchers.settings import Settings

_DTYPES: Final = ("float32", "bfloat16")
_PRECISIONS: Final = {
    ("float32", "bfloat16"): "bf16-mixed",
    ("float32", "float32"): "fp32",
    ("bfloat16", "bfloat16"): "bf16-pure",
}
_OPTIMIZERS: Final = {"AdamW": "adamw", "Adam": "adamw", "Muon": "muon"}


def training(s: Settings) -> None:
    """Everything under `training.`, `parallelism.recompute`, and what is said of saving."""
    _precision(s)
    _optimizer(s)
    _compiled(s)
    _recompute(s)
    _saving(s)
    if s.setting("training.dataset") is not None:
        s.say("data.sampler", "torchtitan", "training.dataset")


def _taken(s: Settings, path: str, value: Any, words: str) -> None:
    s.telling.say(path, value, s.telling.said["training.framework"].place, words, implied=True)


def _precision(s: Settings) -> None:
    dtype = s.word(_DTYPES, "training.dtype")
    compute = s.word(_DTYPES, "training.mixed_precision_param")
    s.word(_DTYPES, "training.mixed_precision_reduce")
    eight = s.flag("float8.enable_float8_linear", "float8.enable_fp8_linear", "training.fp8_linear")
    listed = s.setting("model.converters")
    converters: Any = listed.value if listed is not None else []
    if isinstance(converters, list) and any(
        "float8" in str(one) or "mx" in str(one) for one in cast("list[Any]", converters)
    ):
        s.say("training.precision", "fp8-mixed", "model.converters")
    elif eight:
        s.say(
            "training.precision",
            "fp8-mixed",
            "float8.enable_float8_linear",
            "float8.enable_fp8_linear",
            "training.fp8_linear",
        )
    else:
        pair = (dtype or "float32", compute or "bfloat16")
        word = _PRECISIONS.get(pair)
        said = [name for name in ("training.dtype", "training.mixed_precision_param") if name in s.found]
        if word is None:
            found = s.found["training.dtype"]
            s.telling.notes.append(
                f"{found.place}: {' weights, compute in '.join(pair)} is no precision of a plan; left out"
            )
        elif said:
            s.say("training.precision", word, *said)
        else:
            _taken(s, "training.precision", word, "neither training.dtype nor mixed_precision_param")


def _optimizer(s: Settings) -> None:
    found = s.setting("optimizer.name")
    if found is not None:
        word = _OPTIMIZERS.get(str(found.value))
        if word is None:
            s.telling.notes.append(
                f"{found.place}: {found.words} is no optimizer of a plan; training.optimizer is left out, which means adamw"
            )
        s.say("training.optimizer", word, "optimizer.name")
    names = ("training.enable_cpu_offload", "experimental.enable_cpu_offload")
    if s.flag(*names):
        s.say("training.optimizer_offload", True, *names)
        place = next(s.found[name].place for name in names if name in s.found)
        s.telling.notes.append(
            f"{place}: weights and gradients are on the host too; a plan has optimizer states alone there"
        )


def _compiled(s: Settings) -> None:
    names = ("compile.enable", "training.compile")
    compiled, listed = s.flag(*names), s.setting("compile.components")
    parts: Any = listed.value if listed is not None and isinstance(listed.value, list) else ["model", "loss"]
    if compiled is None and not any(s.has(name) for name in names):
        _taken(s, "training.kernels", "torch-eager", "no compile.enable")
        _taken(s, "training.loss", "plain", "no compile.enable")
    elif compiled is not None:
        s.say("training.kernels", "torch-compile" if compiled and "model" in parts else "torch-eager", *names)
        s.say("training.loss", "compiled" if compiled and "loss" in parts else "plain", *names)


def _recompute(s: Settings) -> None:
    """`mode` in TOML; the JSON has the policy's own settings: null is none, a list of shapes selective, a budget the compiler's."""
    mode = s.word(("none", "selective", "full", "memory_budget"), "activation_checkpoint.mode")
    option = s.setting("activation_checkpoint.selective_ac_option")
    if mode == "memory_budget" or (s.setting("activation_checkpoint.memory_budget") is not None and mode is None):
        return
    if mode is not None:
        s.say("parallelism.recompute", mode, "activation_checkpoint.mode")
        if mode == "selective" and option is not None and str(option.value) not in ("op", "1"):
            s.telling.notes.append(
                f"{option.place}: {option.words}: every so many layers are recomputed; a plan has all alike"
            )
        return
    shapes = "activation_checkpoint.force_recompute_mm_shapes_by_fqns"
    if shapes in s.found:
        s.say("parallelism.recompute", "selective", shapes)
        s.used.add(shapes)
    elif "activation_checkpoint" in s.found and s.found["activation_checkpoint"].value is None:
        s.say("parallelism.recompute", "none", "activation_checkpoint")
        s.used.add("activation_checkpoint")
    elif any(name.startswith("activation_checkpoint.") for name in s.found):
        name = next(name for name in s.found if name.startswith("activation_checkpoint."))
        s.say("parallelism.recompute", "full", name)
    else:
        _taken(s, "parallelism.recompute", "selective", "no activation_checkpoint.mode")


def _saving(s: Settings) -> None:
    enabled = s.flag("checkpoint.enable", "checkpoint.enable_checkpoint")
    if enabled is False:
        s.telling.fieldless.append("checkpoint.enable (it is false, and a plan saves all the same)")
    mode = s.word(("disabled", "async", "async_with_pinned_mem"), "checkpoint.async_mode")
    s.say("storage.async_checkpoint", None if mode is None else mode != "disabled", "checkpoint.async_mode")
    if mode is None:
        _taken(s, "storage.async_checkpoint", False, "no checkpoint.async_mode")
    kept = s.count("checkpoint.keep_latest_k", least=0)
    s.say("storage.keep_full_local", kept or None, "checkpoint.keep_latest_k")
    folder = s.setting("checkpoint.folder")
    if enabled and folder is not None and isinstance(folder.value, str):
        s.say("paths.checkpoints", folder.value, "checkpoint.folder")
