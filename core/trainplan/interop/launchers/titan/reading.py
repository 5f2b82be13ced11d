"""torchtitan's configurations as what they say of a plan: TOML job files of any age, and the JSON that its new form saves.

pytorch/torchtitan 238fa9953 (config/job_config.py, the last with TOML), older files of train_configs, and b5bcd76
(config/configs.py, trainer.py: to_dict). Models go by name and flavor there: the shape is that of the catalogue's entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from trainplan.interop.launchers.placed_json import JsonError, Node, placed
from trainplan.interop.launchers.places import Page
from trainplan.interop.launchers.settings import Setting, Settings, worded
from trainplan.interop.launchers.telling import Telling, unheard
from trainplan.interop.launchers.titan.layout import layout
from trainplan.interop.launchers.titan.training import training

_WORDS: Final = (
    "job. job profiling. profiler. metrics. lr_scheduler. comm. debug. validation. validator. memory_estimation. "
    "fault_tolerance.enable experimental.custom optimizer. training.warmup_steps training.max_norm training.gc training.seed "
    "training.deterministic training.dataset training.dataloader model.hf_assets_path model.tokenizer model.norm_type "
    "model.print_after model.flavor checkpoint. activation_checkpoint. quantize. float8. mx. compile. model_spec. dump_folder "
    "hf_assets_path tokenizer. dataloader. override. loss. training.data_parallel_type training.compile comm.mode "
    "training.dataset_path parallelism.disable_loss_parallel parallelism.context_parallel_ training.enable_loss_parallel "
    "parallelism.expert_parallel_comm_backend parallelism.pipeline_parallel_schedule_csv training.disable_cuda_graphs "
    "parallelism.spmd_backend parallelism.enable_fsdp_symm_mem experimental.context_parallel_ training.num_workers "
    "parallelism.enable_compiled_autograd experimental.enable_compiled_autograd training.fp8_linear lr_scheduler"
)
_SILENT: Final = tuple(_WORDS.split())
"""Beginnings of names that no plan rests on, or that a reader has asked for where they do."""

_FIELDLESS: Final = {
    "parallelism.enable_async_tensor_parallel": "a plan says a share, parallelism.overlap_tensor",
    "experimental.enable_async_tensor_parallel": "a plan says a share, parallelism.overlap_tensor",
    "parallelism.pipeline_parallel_expert_parallel_overlap": "a plan says a share, parallelism.overlap_expert",
    "parallelism.module_fqns_per_model_part": "a plan says the layers of the first and the last stage",
    "experimental.pipeline_parallel_split_points": "a plan says the layers of the first and the last stage",
    "parallelism.pipeline_parallel_split_points": "a plan says the layers of the first and the last stage",
    "parallelism.pipeline_parallel_first_stage_less_layers": "a plan says the layers of the first and the last stage",
    "parallelism.pipeline_parallel_last_stage_less_layers": "a plan says the layers of the first and the last stage",
    "optimizer.early_step_in_backward": "a plan steps after all gradients",
    "activation_checkpoint.memory_budget": "a plan says none, selective or full",
    "checkpoint.interval": "a plan says a time, reliability.checkpoint_interval",
    "checkpoint.last_save_model_only": "a plan has no word for it; what S7 says of the last checkpoint holds where it is true",
    "fault_tolerance.": "a plan's replicas are as many as its accelerators make",
}


def telling_of_titan(page: Page) -> Telling:
    """What a job file or a saved configuration says."""
    t = Telling()
    try:
        found = dict(_of_json(page) if page.text.lstrip().startswith("{") else _of_toml(page))
    except JsonError as error:
        t.problems.append(f"{error}. A torchtitan configuration")
        return t
    except tomllib.TOMLDecodeError as error:
        t.problems.append(f"{page.place(0)}: not TOML: {error}. A torchtitan job file")
        return t
    except RecursionError:
        t.problems.append(f"{page.place(0)}: nested too deeply. A torchtitan job file")
        return t
    s = Settings(found, t)
    first = next(iter(found.values()), Setting(None, page.place(0), ""))
    t.say("training.framework", "torchtitan", first.place, "a torchtitan configuration")
    _model(s)
    layout(s)
    training(s)
    for name in s.left:
        known = next((words for start, words in _FIELDLESS.items() if name.startswith(start)), "")
        if known and (found[name].value not in (False, None) or name == "checkpoint.last_save_model_only"):
            t.fieldless.append(f"{name} ({known})")
        elif known or name.startswith(_SILENT):
            t.silent.append(name)
        else:
            t.unknown.append(f"{name} of line {found[name].place.line}")
    model = ("model.name", "model.flavor")
    t.idle.extend(unheard(t, [name for name in found if name in s.used and name not in model]))
    return t


def _of_json(page: Page) -> Iterator[tuple[str, Setting]]:
    node = placed(page)
    if isinstance(node.value, dict):
        yield from _members(page, node, "")


def _members(page: Page, node: Node, path: str) -> Iterator[tuple[str, Setting]]:
    for key, inner in node.value.items():
        name = f"{path}.{key}" if path else key
        if isinstance(inner.value, dict) and inner.value:
            yield from _members(page, inner, name)
            continue
        value: Any = inner.value
        if isinstance(value, list):
            value = [one.value for one in cast("list[Node]", value)]
        yield name, Setting(value, page.place(inner.offset), worded(name, _short(value)))


def _of_toml(page: Page) -> Iterator[tuple[str, Setting]]:
    data = tomllib.loads(page.text.replace("\r\n", "\n"))
    from trainplan.plan.places import scan

    places = scan(page.text.replace("\r\n", "\n"))
    plain = Page(page.file, page.text.replace("\r\n", "\n"))
    for path, value in _leaves(data, ()):
        span = places.value(path) or places.key(path)
        name = ".".join(path)
        yield name, Setting(value, plain.place(span.start if span is not None else 0), worded(name, _short(value)))


def _leaves(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value), (*path, key))
        else:
            yield (*path, key), value


def _short(value: Any) -> Any:
    return f"[{len(cast('list[Any]', value))} entries]" if isinstance(value, list) else value


def _model(s: Settings) -> None:
    """The shape of the catalogue's entry by name and flavor; a model that it has not is told by its name and left out."""
    from trainplan.catalogue import entry
    from trainplan.interop.export.titan_models import MODELS
    from trainplan.plan.shape import Model

    name, flavor = s.setting("model.name", "model_spec.name"), s.setting("model.flavor", "model_spec.flavor")
    if name is None or flavor is None:
        return
    shape = str(flavor.value)
    for end in _SAME_SHAPE:
        shape = shape.removesuffix(end)
    shapes = {(one[0], one[1]): preset for preset, one in MODELS.items()} | _MORE
    preset = shapes.get((str(name.value), shape))
    found = entry("models", preset) if preset else None
    told = f"{str(name.value)[:60]} {str(flavor.value)[:60]}"
    if found is None:
        s.telling.notes.append(
            f"{flavor.place}: model {told} has no entry in the catalogue here; the model is left out"
        )
        return
    for key, fact in found.facts.items():
        if key.split(".")[0] in Model.model_fields:
            s.telling.say(f"model.{key}", fact.value, flavor.place, f"{told} of torchtitan, {preset} of the catalogue")
    listed = s.setting("model_spec.model.layers")
    layers: Any = listed.value if listed is not None else None
    planned = s.telling.value("model.num_hidden_layers")
    if listed is not None and isinstance(layers, list) and len(cast("list[Any]", layers)) != planned:
        s.telling.problems.append(
            f"{listed.place}: {len(cast('list[Any]', layers))} layers, where {told} has {planned}. A model of the registry is right"
        )


_SAME_SHAPE: Final = ("_flex_attn", "_varlen_attn", "_flex", "_varlen")
"""Ends of flavors that differ in the attention kernel and its mask alone."""

_MORE: Final = {
    ("qwen3", "4B"): "qwen3-4b",
    ("qwen3", "8B"): "qwen3-8b",
    ("qwen3", "235B-A22B"): "qwen3-235b-a22b",
    ("llama2", "7B"): "llama-2-7b",
    ("llama2", "13B"): "llama-2-13b",
    ("llama2", "70B"): "llama-2-70b",
}
"""Models of older registries, 238fa9953 and before, that the newest builds no configuration for."""
