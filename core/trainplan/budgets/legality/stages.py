"""Rules of the pipeline: layers over stages, chunks of them, and what a schedule needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainplan.budgets.layout import Broken, Layout, nearest, nearest_of
from trainplan.budgets.legality.frameworks import SCHEDULES, left_out, nearest_schedule, used_schedule
from trainplan.budgets.memory.stages import BY_ITSELF, most_stages

ENDS_BY_THEMSELVES: Final = ("deepspeed", "torchtitan")
"""Frameworks that spread layers over stages unevenly without being told."""

ALIKE: Final = "maxtext"
"""The framework whose stages are all alike, in a rule of its own: `legality.released.even_stages`."""


def layers_over_stages(layout: Layout) -> Iterator[Broken]:
    """G4: every stage has a layer, and as many as the others unless the ends are given."""
    layers, pipeline = len(layout.shape.sparse), layout.degree("pipeline")
    parallel = layout.situation.plan.parallelism
    paths = ("parallelism.pipeline", "parallelism.first_stage_layers", "parallelism.last_stage_layers")
    if pipeline == 1:
        yield from _ends_alone(layout, layers, paths)
    if not layers or pipeline == 1 or layout.situation.plan.training.framework == ALIKE:
        return
    if pipeline > (most := most_stages(layout.situation, layers)):
        message = f"{pipeline} pipeline stages for {layers} layers: a stage has none"
        yield Broken(
            "G4",
            message,
            f"at most {most}",
            (paths[0], "model.num_hidden_layers"),
            f"more pipeline stages than {layers} layers",
        )
    elif parallel.first_stage_layers is not None or parallel.last_stage_layers is not None:
        yield from _ends(layout, layers, pipeline, paths)
    elif layers % pipeline and layout.situation.plan.training.framework not in ENDS_BY_THEMSELVES:
        fate = "dropped" if layout.situation.plan.training.framework == "megatron" else "left over"
        message = f"{layers} layers do not divide over {pipeline} stages: {layers % pipeline} would be {fate}"
        yield Broken("G4", message, _split(layers, pipeline), paths, f"{layers} layers not divisible by pipeline")


def _split(layers: int, pipeline: int) -> str:
    """The nearest legal pipelines, and ends that make this one legal."""
    each = -(-layers // pipeline)
    rest = layers - each * (pipeline - 2)
    fix = f"pipeline = {nearest(layers, pipeline)}"
    if pipeline > 2 and rest >= 2:
        return f"{fix}, or first_stage_layers = {rest // 2} and last_stage_layers = {rest - rest // 2}"
    return fix


def _ends_alone(layout: Layout, layers: int, paths: tuple[str, ...]) -> Iterator[Broken]:
    """Ends of one stage: Megatron-LM d98e8a6, transformer_config.py, refuses a rest; before, it built the last: issue 1778."""
    parallel = layout.situation.plan.parallelism
    ends = [int(one) for one in (parallel.first_stage_layers, parallel.last_stage_layers) if one is not None]
    if layout.situation.plan.training.framework != "megatron" or not layers or not ends or ends == [layers]:
        return
    message = f"ends of {' and '.join(map(str, ends))} layers and one stage: {layers - sum(ends)} have no place in Megatron-LM"
    fix = "leave first_stage_layers and last_stage_layers out, or pipeline > 1"
    yield Broken("G4", message, fix, paths[1:], "layers of ends without a pipeline")


def _ends(layout: Layout, layers: int, pipeline: int, paths: tuple[str, ...]) -> Iterator[Broken]:
    parallel = layout.situation.plan.parallelism
    ends = [int(count) for count in (parallel.first_stage_layers, parallel.last_stage_layers) if count is not None]
    free, rest = pipeline - len(ends), layers - sum(ends)
    if rest < free or (free and rest % free) or (not free and rest):
        message = f"{rest} layers are left for {free} stages between the ends"
        fix = _legal_ends(layout, layers - free * max(rest // free, 1) if free else layers, free)
        yield Broken("G4", message, fix, paths[1:], "layers between the ends not divisible over their stages")


def _legal_ends(layout: Layout, spare: int, free: int) -> str:
    """Ends that take the layers which the stages between them leave, in the fields that the plan gives."""
    parallel, leave = layout.situation.plan.parallelism, f"ends that leave a multiple of {free}: " if free else ""
    first, last = parallel.first_stage_layers, parallel.last_stage_layers
    if first is None or last is None:
        return f"{leave}{'last' if first is None else 'first'}_stage_layers = {spare}"
    kept = min(max(spare - int(last), 1), spare - 1)
    return f"{leave}first_stage_layers = {kept} and last_stage_layers = {spare - kept}"


def chunks(layout: Layout) -> Iterator[Broken]:
    """G5: virtual stages need a pipeline, whole layers in each chunk, and whole groups of microbatches."""
    virtual, pipeline, layers = layout.degree("virtual_pipeline"), layout.degree("pipeline"), len(layout.shape.sparse)
    if virtual == 1:
        return
    paths = ("parallelism.virtual_pipeline", "parallelism.pipeline")
    if pipeline == 1:
        message = f"{virtual} virtual stages need a pipeline"
        yield Broken("G5", message, "virtual_pipeline = 1", paths, "virtual stages need pipeline > 1")
    elif layout.situation.plan.training.framework == ALIKE:
        return
    elif layout.situation.plan.training.framework == BY_ITSELF:
        yield from _own_chunks(layout, layers, pipeline, virtual)
    elif not whole_chunks(layers, pipeline, virtual):
        message = f"{layers} layers do not divide into {pipeline} x {virtual} chunks: {layers % (pipeline * virtual)} left over"
        fix = _legal_chunks(layout, layers, pipeline, virtual)
        reason = f"{layers} layers not divisible by pipeline x virtual stages"
        yield Broken("G5", message, fix, paths, reason)
    else:
        yield from _whole_rounds(layout, pipeline, paths)


def _own_chunks(layout: Layout, layers: int, pipeline: int, virtual: int) -> Iterator[Broken]:
    """torchtitan b5bcd76, distributed/pipeline_parallel.py: layers that do not divide are spread, two chunks a rank by default.

    Other numbers of chunks come from layers for each stage, or from a list of the modules of each.
    """
    paths, stages = ("parallelism.virtual_pipeline", "parallelism.pipeline"), pipeline * virtual
    if stages > layers + 2:
        message = f"{pipeline} x {virtual} chunks for {layers} layers, the embedding and the loss: a chunk has nothing"
        fix = f"virtual_pipeline = {max((layers + 2) // pipeline, 1)}"
        yield Broken("G5", message, fix, paths, f"more chunks than {layers} layers, the embedding and the loss")
        return
    yield from _whole_rounds(layout, pipeline, paths)
    if not counted(layers, stages) and virtual != 2:
        others = nearest_of(
            (one for one in range(1, virtual + 4) if counted(layers, pipeline * one) or one == 2), virtual
        )
        message = f"{layers} layers: no layers_per_stage of torchtitan gives {pipeline} x {virtual} chunks"
        fix = f"virtual_pipeline = {others}, or every chunk's modules in module_fqns_per_model_part"
        yield Broken("G5", message, fix, paths, "chunks that torchtitan has to be told one by one", "warning")


def counted(layers: int, stages: int) -> bool:
    """Whether some number of layers for each stage gives so many stages: even, or with the ends a layer less."""
    each = -(-(layers + 2) // stages)
    return layers % stages == 0 or -(-(layers + 2) // each) == stages


def _whole_rounds(layout: Layout, pipeline: int, paths: tuple[str, ...]) -> Iterator[Broken]:
    if not whole_rounds(layout, pipeline):
        step = _rounds(layout, pipeline)
        what = f"{step} rounds" if step != pipeline else f"{pipeline} stages"
        count = layout.microbatches or 0
        have = "1 microbatch is" if count == 1 else f"{count} microbatches are"
        message = f"{have} no multiple of {what}, which interleaving needs"
        fix = f"a multiple of {pipeline} microbatches, or virtual_pipeline = 1{_longer_rounds(layout, count, pipeline)}"
        paths = ("batch.global_batch_sequences", *paths)
        yield Broken("G5", message, fix, paths, "interleaved: microbatches not divisible by pipeline")


def _longer_rounds(layout: Layout, count: int, pipeline: int) -> str:
    """Rounds with which Megatron-LM takes the microbatches: a rest is none, or one of each stage at least.

    Megatron-LM d98e8a6, core/pipeline_parallel/schedules.py: final_microbatch_group_size.
    """
    if layout.situation.plan.training.framework != "megatron" or count < pipeline:
        return ""
    size = next(one for one in range(pipeline, count + 1) if not 0 < count % one < pipeline)
    return f", or rounds of {size} (microbatch_group_size_per_vp_stage), which keep more microbatches"


def whole_rounds(layout: Layout, pipeline: int) -> bool:
    """Whether microbatches come in whole rounds of an interleaved schedule; taken so where their number is not known."""
    return layout.microbatches is None or layout.microbatches % _rounds(layout, pipeline) == 0


def _rounds(layout: Layout, pipeline: int) -> int:
    """What microbatches have to be a multiple of: Megatron-LM's rounds have one of each stage, PyTorch's one or more.

    PyTorch, distributed/pipelining/schedules.py, ScheduleInterleaved1F1B: number_of_rounds = max(1, microbatches // stages).
    """
    if layout.situation.plan.training.framework != "torchtitan":
        return pipeline
    return max(1, (layout.microbatches or 0) // pipeline)


def whole_chunks(layers: int, pipeline: int, virtual: int) -> bool:
    """Whether layers, or layers with the embedding and the loss as one each, divide into chunks; one a stage always does."""
    return virtual == 1 or not layers % (pipeline * virtual) or not (layers + 2) % (pipeline * virtual)


def _legal_chunks(layout: Layout, layers: int, pipeline: int, virtual: int) -> str:
    """Virtual stages by the same rule, and a pipeline that keeps the plan's where only one a stage would be legal."""
    grouped = whole_rounds(layout, pipeline)
    most = (layers + 2) // pipeline if grouped else 1
    legal = [1, *(count for count in range(2, most + 1) if whole_chunks(layers, pipeline, count))]
    fix = f"virtual_pipeline = {nearest_of(legal, virtual)}"
    known = grouped and layout.microbatches is not None
    others = nearest_of(_pipelines(layout, layers, virtual), pipeline) if known and len(legal) == 1 else ""
    return f"{fix}, or pipeline = {others}" if others else fix


def _pipelines(layout: Layout, layers: int, virtual: int) -> list[int]:
    """Pipelines that the accelerators divide into, with whole chunks of so many virtual stages and whole stages."""
    counts = range(2, layers // virtual + 1)
    return [count for count in counts if not layers % (count * virtual) and divides_world(layout, count)]


def divides_world(layout: Layout, pipeline: int) -> bool:
    """Whether the accelerators divide into groups with that pipeline; taken so where their number is not known."""
    return layout.world is None or not layout.world % (pipeline * layout.degree("tensor") * layout.degree("context"))


def schedule(layout: Layout) -> Iterator[Broken]:
    """G13: DualPipe needs an even pipeline and twice as many microbatches, ZB-V something to hold for two chunks a rank."""
    pipeline, count, layers = layout.degree("pipeline"), layout.microbatches, len(layout.shape.sparse)
    most = most_stages(layout.situation, layers)
    if (
        layout.situation.plan.parallelism.schedule == "zb-v"
        and pipeline > 1
        and layers
        and most < 2 * pipeline <= 2 * most
    ):
        message = f"zb-v cuts {2 * pipeline} chunks of {layers} layers: a chunk has none"
        near = next((one for one in range(most // 2, 1, -1) if divides_world(layout, one)), 1)
        fix, paths = f"pipeline = {near} at most", ("parallelism.pipeline", "parallelism.schedule")
        yield Broken("G13", message, fix, paths, f"zb-v: more chunks than {layers} layers")
    if layout.situation.plan.parallelism.schedule != "dualpipe" or pipeline == 1:
        return
    if pipeline % 2:
        message = f"DualPipe pairs stages, and {pipeline} is odd"
        even = nearest_of((one for one in (pipeline - 1, pipeline + 1) if divides_world(layout, one)), pipeline)
        few = count is not None and count < 2 * pipeline
        fix = f"pipeline = {even}" if even and not few else 'schedule = "1f1b"'
        yield Broken("G13", message, fix, ("parallelism.pipeline",), "DualPipe: pipeline is odd")
    elif count is not None and count < 2 * pipeline:
        message = f"DualPipe needs {2 * pipeline} microbatches at least, and a step has {count}"
        fix, paths = f"{2 * pipeline} microbatches", ("batch.global_batch_sequences",)
        yield Broken("G13", message, fix, paths, "DualPipe: fewer than 2 microbatches a stage")


def filled_stages(layout: Layout) -> Iterator[Broken]:
    """G13: PyTorch 00722e6, distributed/pipelining/schedules.py, Schedule1F1B refuses fewer microbatches than stages.

    torchtitan issue 775: before, the run hung. Its interleaved schedule and gpipe take fewer.
    """
    plan, pipeline, count = layout.situation.plan, layout.degree("pipeline"), layout.microbatches
    word = used_schedule(plan.parallelism.schedule, layout.degree("virtual_pipeline"))
    if plan.training.framework != "torchtitan" or word != "1f1b" or count is None or count >= pipeline:
        return
    message = f"1f1b needs a microbatch for each of {pipeline} stages, and a step has {count}: PyTorch refuses fewer"
    fix, paths = f"{pipeline} microbatches", ("batch.global_batch_sequences", "parallelism.pipeline")
    yield Broken("G13", message, fix, paths, "1f1b of PyTorch: fewer microbatches than stages")


def released_schedule(layout: Layout) -> Iterator[Broken]:
    """G15: the released code of the framework has the schedule of a pipeline. Forks may have it."""
    plan, pipeline = layout.situation.plan, layout.degree("pipeline")
    word = used_schedule(plan.parallelism.schedule, layout.degree("virtual_pipeline"))
    has, paths = SCHEDULES[plan.training.framework], ("parallelism.schedule", "training.framework")
    if pipeline == 1 or word in has.words:
        return
    if not has.words:
        message = f"{has.name} has no pipeline of its own, and the plan has {pipeline} stages"
        reason, paths = left_out("pipelines", has), ("parallelism.pipeline", *paths[1:])
        other = next((name for name in ("torchtitan", *SCHEDULES) if word in SCHEDULES[name].words), None)
        fix = f'pipeline = 1, or framework = "{other}"' if other else "pipeline = 1"
        yield Broken("G15", message, fix, paths, reason, "warning", unreleased=word)
        return
    message = f"{has.name}'s released code has no {word}: it has {' and '.join(has.words)}"
    fix = f"{nearest_schedule(word, has, layout.degree('virtual_pipeline'))} is nearest; the plan stands for a fork that has {word}"
    yield Broken("G15", message, fix, paths, left_out("schedules", has), "warning", unreleased=word)
