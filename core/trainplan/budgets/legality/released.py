"""Rules of the frameworks' own code: what it refuses at start-up, and ranks or exchanges that only forks of it have.

Each was read in the release that `released` names. What divides what in every framework is beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainplan.budgets.layout import Broken, Layout, nearest_of
from trainplan.budgets.legality.frameworks import EXCHANGES, LEFT_OUT, left_out
from trainplan.budgets.legality.stages import divides_world

CHUNKED: Final = ("1f1b", "interleaved")
"""Schedules of which virtual stages are a choice; zb-v has two of its own, the others one a rank."""

DEPTHS: Final = "model.mtp.num_nextn_predict_layers"


def fixed_chunks(layout: Layout) -> Iterator[Broken]:
    """G17: virtual stages in a schedule that has as many chunks as it has.

    torchtitan b5bcd76, distributed/pipeline_parallel.py: a single-stage schedule has one stage a rank, zb-v two.
    """
    schedule, virtual = layout.situation.plan.parallelism.schedule, layout.degree("virtual_pipeline")
    if schedule in CHUNKED or virtual == 1:
        return
    has = "two chunks of its own" if schedule == "zb-v" else "one chunk"
    message = f"{virtual} virtual stages with {schedule}, which has {has} on each rank"
    paths, reason = ("parallelism.virtual_pipeline", "parallelism.schedule"), f"virtual stages with {schedule}"
    yield Broken("G17", message, "virtual_pipeline = 1", paths, reason)


def uneven_chunks(layout: Layout) -> Iterator[Broken]:
    """G17: virtual stages cut every stage, the ends too.

    Megatron-LM d98e8a6, core/transformer/transformer_config.py: both ends and the stages between divide by the virtual stages,
    unless the ends are one layer short for the embedding and the loss.
    """
    parallel, virtual, pipeline = (
        layout.situation.plan.parallelism,
        *map(layout.degree, ("virtual_pipeline", "pipeline")),
    )
    first, last = (
        None if one is None else int(one) for one in (parallel.first_stage_layers, parallel.last_stage_layers)
    )
    told, layers = [one for one in (first, last) if one is not None], len(layout.shape.sparse)
    if layout.situation.plan.training.framework != "megatron" or virtual == 1 or pipeline == 1 or not told:
        return
    short = first == last and (layers + 2) % (pipeline * virtual) == 0 and first == (layers + 2) // pipeline - 1
    free = (layers - sum(told)) // max(pipeline - len(told), 1)
    if short or not any(one % virtual for one in (*told, free)):
        return
    message = f"ends of {' and '.join(map(str, told))} layers, {free} on the others: not all divide into {virtual} virtual stages"
    paths = ("parallelism.virtual_pipeline", "parallelism.first_stage_layers", "parallelism.last_stage_layers")
    yield Broken("G17", message, "virtual_pipeline = 1", paths, "layers of the ends not divisible by virtual stages")


def windows_in_ring(layout: Layout) -> Iterator[Broken]:
    """G18: TransformerEngine attention/dot_product_attention/context_parallel.py: a ring cannot run windows."""
    plan, kinds = layout.situation.plan, layout.situation.value("model.layer_types") or ()
    ring = plan.parallelism.context_type == "ring" and layout.degree("context") > 1
    if plan.training.framework != "megatron" or not ring or all(one == "full_attention" for one in kinds):
        return
    message = f"context {layout.degree('context')} by ring in a model with windows: TransformerEngine's ring has none"
    paths, reason = ("parallelism.context", "parallelism.context_type"), "windows on a ring of context ranks"
    yield Broken("G18", message, 'context = 1, or context_type = "all-to-all"', paths, reason)


def own_ranks(layout: Layout) -> Iterator[Broken]:
    """G20: PyTorch 0aafd81, distributed/fsdp: FSDP shards data ranks; whoever uses it brings other ranks along."""
    names = [name for name in ("tensor", "context", "expert") if layout.degree(name) > 1]
    if layout.situation.plan.training.framework != "fsdp" or not names:
        return
    ranks = f"{' and '.join(names)} ranks"
    message = f"FSDP has no {ranks} of its own"
    fix = " and ".join(f"{name} = 1" for name in (*names, *(["expert_tensor"] if "expert" in names else [])))
    paths = (f"parallelism.{names[0]}", "training.framework")
    reason = f"{ranks} that FSDP's {LEFT_OUT}"
    yield Broken(
        "G20", message, f"{fix}; the plan stands for code that has them", paths, reason, "warning", unreleased=ranks
    )


def exchange(layout: Layout) -> Iterator[Broken]:
    """G20: how context ranks exchange keys in the framework's released code."""
    plan = layout.situation.plan
    word, has = plan.parallelism.context_type, EXCHANGES[plan.training.framework]
    if layout.degree("context") == 1 or not has.words or word in has.words:
        return
    message = f"{has.name}'s released code has no {word} over context ranks: it has {' and '.join(has.words)}"
    fix = f'context_type = "{has.words[0]}"; the plan stands for a fork that has {word}'
    paths = ("parallelism.context_type", "training.framework")
    yield Broken("G20", message, fix, paths, left_out(f"{word} context ranks", has), "warning", unreleased=word)


def even_stages(layout: Layout) -> Iterator[Broken]:
    """G21: MaxText e591f30, configs/types.py: stages x repeats x layers are all layers, and rounds of microbatches are whole."""
    pipeline, virtual, count = layout.degree("pipeline"), layout.degree("virtual_pipeline"), layout.microbatches
    parallel, layers = layout.situation.plan.parallelism, piped_layers(layout.shape.sparse)
    if layout.situation.plan.training.framework != "maxtext" or pipeline == 1:
        return
    ends = parallel.first_stage_layers is not None or parallel.last_stage_layers is not None
    if ends or layers % (pipeline * virtual):
        which = "layers" if layers == len(layout.shape.sparse) else "layers with experts"
        message = f"{layers} {which} in {pipeline} x {virtual} chunks: MaxText's are all alike"
        fix = (
            "leave first_stage_layers and last_stage_layers out" if ends else _alike(layout, layers, pipeline, virtual)
        )
        reason = "stages that are not alike, which MaxText has not"
        yield Broken("G21", message, fix, ("parallelism.pipeline", "parallelism.virtual_pipeline"), reason)
    elif count is not None and count % pipeline:
        message = f"{count} microbatches are no multiple of {pipeline} stages, which MaxText's pipeline needs"
        fix = f"a multiple of {pipeline} microbatches (num_pipeline_microbatches), or pipeline = 1 and virtual_pipeline = 1"
        paths = ("batch.global_batch_sequences", "parallelism.pipeline")
        yield Broken("G21", message, fix, paths, "MaxText: microbatches not divisible by pipeline")


def beside_stages(layout: Layout) -> Iterator[Broken]:
    """G4: MaxText e591f30, configs/types.py, pipeline_parallel_layers: dense layers before those with experts have no stage."""
    pipeline, layers, inside = layout.degree("pipeline"), len(layout.shape.sparse), piped_layers(layout.shape.sparse)
    if layout.situation.plan.training.framework != "maxtext" or pipeline == 1 or inside == layers:
        return
    message = f"MaxText pipelines {inside} of {layers} layers: the {layers - inside} dense ones before run on every stage's data"
    fix = "pipeline = 1, or a measurement: memory and time here count all layers in the stages"
    paths, reason = ("parallelism.pipeline", "model.moe.first_k_dense_replace"), "layers beside MaxText's pipeline"
    yield Broken("G4", message, fix, paths, reason, "warning")


def piped_layers(sparse: tuple[bool, ...]) -> int:
    """Layers that MaxText pipelines: those after dense ones at the front, which run beside the pipeline (DeepSeek's block)."""
    dense = sparse.index(True) if True in sparse else 0
    return len(sparse) - dense


def _alike(layout: Layout, layers: int, pipeline: int, virtual: int) -> str:
    """One stage, the nearest pipelines of like chunks, and MaxText's own way: some layers outside the pipeline."""
    fix, chunks = "pipeline = 1 and virtual_pipeline = 1", pipeline * virtual
    inside = layers // chunks * chunks
    if not (layout.microbatches or 0) % pipeline:  # microbatches grow with the stages, so rounds stay whole
        even = [
            one
            for one in range(2, layers // virtual + 1)
            if not layers % (one * virtual) and divides_world(layout, one)
        ]
        fix += f", or pipeline = {nearest_of(even, pipeline)}" if even else ""
    if inside:
        fix += f", or MaxText's pipeline_parallel_layers of {inside}: the other {layers - inside} run on every stage's data"
    return fix


def tied_stages(layout: Layout) -> Iterator[Broken]:
    """G21: torchtitan b5bcd76, models/common/decoder.py: weight tying is not supported with a pipeline."""
    framework, pipeline = layout.situation.plan.training.framework, layout.degree("pipeline")
    if framework != "torchtitan" or pipeline == 1 or not layout.shape.tied:
        return
    message = f"a tied head and {pipeline} pipeline stages: torchtitan refuses to train it"
    paths, reason = ("parallelism.pipeline", "model.tie_word_embeddings"), "a tied head over torchtitan's pipeline"
    yield Broken("G21", message, "pipeline = 1 and virtual_pipeline = 1", paths, reason)


def prediction_alone(layout: Layout) -> Iterator[Broken]:
    """G21: torchtitan b5bcd76, models/deepseek_v3/mtp.py: prediction depths have neither a pipeline nor context ranks yet."""
    names = [name for name in ("pipeline", "context") if layout.degree(name) > 1]
    if layout.situation.plan.training.framework != "torchtitan" or not names or not layout.size(DEPTHS):
        return
    message = f"prediction depths with {' and '.join(names)} ranks: torchtitan refuses to train them"
    fix = " and ".join(f"{name} = 1" for name in names) + (" and virtual_pipeline = 1" if "pipeline" in names else "")
    paths, reason = (DEPTHS, *(f"parallelism.{name}" for name in names)), "prediction depths over torchtitan's ranks"
    yield Broken("G21", message, fix, paths, reason)


def sequence_groups(layout: Layout) -> Iterator[Broken]:
    """G21: DeepSpeed edaa722, runtime/bf16_optimizer.py asks for tensor ranks that parallel_state_sp.py, Ulysses' own, has not."""
    plan, context = layout.situation.plan, layout.degree("context")
    whole_states = layout.situation.word("parallelism.sharding") == "none" and plan.training.precision != "fp32"
    if plan.training.framework != "deepspeed" or context == 1 or not whole_states:
        return
    message = f"context {context} with nothing sharded: DeepSpeed's 16-bit optimizer fails on the groups of its Ulysses"
    fix = 'sharding = "zero-1", or groups of Megatron-DeepSpeed'
    paths, reason = ("parallelism.sharding", "parallelism.context"), "DeepSpeed's Ulysses with nothing sharded"
    yield Broken("G21", message, fix, paths, reason, "warning")


def offloaded_stages(layout: Layout) -> Iterator[Broken]:
    """G21: Megatron-LM d98e8a6, core/transformer/transformer_config.py: cpu_offloading takes no pipeline and no recompute."""
    plan, stages = layout.situation.plan, layout.degree("pipeline")
    recompute = plan.parallelism.recompute
    if plan.training.framework != "megatron" or not plan.training.activation_offload:
        return
    beside = [f"{stages} pipeline stages"] * (stages > 1) + [f"{recompute} recompute"] * (recompute != "none")
    if not beside:
        return
    message = f"activations in host memory with {' and '.join(beside)}: Megatron-LM's cpu_offloading refuses it"
    fix = (
        "its fine_grained_activation_offloading runs both"
        if stages > 1
        else 'recompute = "none", or offload by modules'
    )
    paths = ("training.activation_offload", "parallelism.pipeline", "parallelism.recompute")
    yield Broken("G21", message, fix, paths, "cpu_offloading over a pipeline or recompute", "warning")


def group_of_one(layout: Layout) -> Iterator[Broken]:
    """G11: a shard group of one rank under FSDP's first version, whose gradients then stay on their rank.

    PyTorch issue 154888, distributed/fsdp/_init_utils.py: HYBRID_SHARD becomes NO_SHARD and reduces in the group of one;
    verl-project/verl issue 7493 trained two months so. fully_shard does not.
    """
    plan, size, data = layout.situation.plan, layout.size("parallelism.shard_size"), layout.data
    grouped = layout.situation.word("parallelism.sharding") == "hsdp" and size == 1
    if plan.training.framework != "fsdp" or not grouped or data is None or data == 1:
        return
    message = f"a shard group of 1 on {data:,} data ranks: FSDP's HYBRID_SHARD reduces no gradient between them then"
    paths, reason = ("parallelism.shard_size", "parallelism.sharding"), "a shard group of one rank in FSDP"
    yield Broken("G11", message, 'sharding = "none", or fully_shard', paths, reason, "warning")


def shared_states(layout: Layout) -> Iterator[Broken]:
    """G24: what an optimizer's states need of the sharding.

    Megatron-LM d98e8a6, core/optimizer: distrib_optimizer.py takes no sgd, and is what the first version of Megatron-FSDP, the
    default of training/arguments.py, keeps its states in; optimizer_config.py and arguments.py want the precision-aware
    optimizer for 16-bit moments and for offload, which __init__.py has with the distributed one alone.
    DeepSpeed edaa722, runtime/zero/config.py: offload_optimizer is valid in stages 1 to 3.
    """
    training, whole_states = layout.situation.plan.training, layout.situation.word("parallelism.sharding") == "none"
    paths = ("parallelism.sharding", "training.optimizer")
    if training.framework == "deepspeed" and whole_states and training.optimizer_offload:
        message = "states in host memory with nothing sharded: DeepSpeed offloads those of its stages 1 to 3 alone"
        paths = ("parallelism.sharding", "training.optimizer_offload")
        yield Broken("G24", message, 'sharding = "zero-1"', paths, "DeepSpeed's offload with nothing sharded")
    if training.framework != "megatron":
        return
    if training.optimizer == "sgd-momentum" and not whole_states:
        kind = layout.situation.word("parallelism.sharding")
        message = (
            f"{kind} with sgd-momentum: Megatron-LM's distributed optimizer takes none but Adam and what is made for it"
        )
        fix, reason = 'sharding = "none", or optimizer = "adamw"', "Megatron-LM: a distributed optimizer with sgd"
        if kind != "zero-1":
            message, fix = f"{message}; Megatron-FSDP 1 is one", f"{fix}, or --megatron-fsdp-version 2"
        yield Broken("G24", message, fix, paths, reason, "error" if kind == "zero-1" else "warning")
    aware = [name for name, on in _precision_aware(layout).items() if on]
    if whole_states and aware:
        message = f"{' and '.join(aware)} with nothing sharded: Megatron-LM has them in its distributed optimizer alone"
        yield Broken("G24", message, 'sharding = "zero-1"', paths, "Megatron-LM: states that need zero-1")


def _precision_aware(layout: Layout) -> dict[str, bool]:
    """What Megatron-LM's precision-aware optimizer is for, in words, and whether the plan asks for it."""
    training = layout.situation.plan.training
    return {"16-bit moments": training.moment_dtype == "bf16", "states in host memory": training.optimizer_offload}
