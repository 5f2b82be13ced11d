"""Rules of the pipeline: layers over stages, chunks of them, and what a schedule needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainplan.budgets.layout import Broken, Layout, nearest
from trainplan.budgets.released import SCHEDULES, left_out, nearest_word, used_schedule

ENDS_BY_THEMSELVES: Final = ("deepspeed", "torchtitan")
"""Frameworks that spread layers over stages unevenly without being told."""


def layers_over_stages(layout: Layout) -> Iterator[Broken]:
    """G4: every stage has a layer, and as many as the others unless the ends are given."""
    layers, pipeline = len(layout.shape.sparse), layout.degree("pipeline")
    parallel = layout.situation.plan.parallelism
    paths = ("parallelism.pipeline", "parallelism.first_stage_layers", "parallelism.last_stage_layers")
    if not layers or pipeline == 1:
        return
    if pipeline > layers:
        message = f"{pipeline} pipeline stages for {layers} layers: a stage has none"
        yield Broken("G4", message, f"at most {layers}", paths, f"more pipeline stages than {layers} layers")
    elif parallel.first_stage_layers is not None or parallel.last_stage_layers is not None:
        yield from _ends(layout, layers, pipeline, paths)
    elif layers % pipeline and layout.situation.plan.training.framework not in ENDS_BY_THEMSELVES:
        message = f"{layers} layers do not divide over {pipeline} stages: {layers % pipeline} would be dropped"
        yield Broken("G4", message, _split(layers, pipeline), paths, f"{layers} layers not divisible by pipeline")


def _split(layers: int, pipeline: int) -> str:
    """The nearest legal pipelines, and ends that make this one legal."""
    each = -(-layers // pipeline)
    rest = layers - each * (pipeline - 2)
    fix = f"pipeline = {nearest(layers, pipeline)}"
    if pipeline > 2 and rest >= 2:
        return f"{fix}, or first_stage_layers = {rest // 2} and last_stage_layers = {rest - rest // 2}"
    return fix


def _ends(layout: Layout, layers: int, pipeline: int, paths: tuple[str, ...]) -> Iterator[Broken]:
    parallel = layout.situation.plan.parallelism
    ends = [int(count) for count in (parallel.first_stage_layers, parallel.last_stage_layers) if count is not None]
    free, rest = pipeline - len(ends), layers - sum(ends)
    if rest < free or (free and rest % free) or (not free and rest):
        message = f"{rest} layers are left for {free} stages between the ends"
        below = rest // free if free else 0
        fix = (
            f"ends that leave a multiple of {free}: {layers - free * below} layers on both"
            if free
            else f"ends of {layers}"
        )
        yield Broken("G4", message, fix, paths[1:], "layers between the ends not divisible over their stages")


def chunks(layout: Layout) -> Iterator[Broken]:
    """G5: virtual stages need a pipeline, whole layers in each chunk, and whole groups of microbatches."""
    virtual, pipeline, layers = layout.degree("virtual_pipeline"), layout.degree("pipeline"), len(layout.shape.sparse)
    if virtual == 1:
        return
    paths = ("parallelism.virtual_pipeline", "parallelism.pipeline")
    if pipeline == 1:
        message = f"{virtual} virtual stages need a pipeline"
        yield Broken("G5", message, "1", paths, "virtual stages need pipeline > 1")
    elif layers % (pipeline * virtual) and (layers + 2) % (pipeline * virtual):
        message = f"{layers} layers do not divide into {pipeline} x {virtual} chunks: {layers % (pipeline * virtual)} left over"
        fix = f"virtual_pipeline = {nearest(max(layers // pipeline, 1), virtual)}"
        reason = f"{layers} layers not divisible by pipeline x virtual stages"
        yield Broken("G5", message, fix, paths, reason)
    elif layout.microbatches is not None and layout.microbatches % pipeline:
        message = f"{layout.microbatches} microbatches are no multiple of {pipeline} stages, which interleaving needs"
        fix, paths = f"a multiple of {pipeline} microbatches", ("batch.global_batch_sequences", *paths)
        yield Broken("G5", message, fix, paths, "interleaved: microbatches not divisible by pipeline")


def schedule(layout: Layout) -> Iterator[Broken]:
    """G13: DualPipe needs an even pipeline and twice as many microbatches."""
    pipeline, count = layout.degree("pipeline"), layout.microbatches
    if layout.situation.plan.parallelism.schedule != "dualpipe" or pipeline == 1:
        return
    if pipeline % 2:
        message = f"DualPipe pairs stages, and {pipeline} is odd"
        fix = f"pipeline = {pipeline - 1} or {pipeline + 1}"
        yield Broken("G13", message, fix, ("parallelism.pipeline",), "DualPipe: pipeline is odd")
    elif count is not None and count < 2 * pipeline:
        message = f"DualPipe needs {2 * pipeline} microbatches at least, and a step has {count}"
        fix, paths = f"{2 * pipeline} microbatches", ("batch.global_batch_sequences",)
        yield Broken("G13", message, fix, paths, "DualPipe: fewer than 2 microbatches a stage")


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
        yield Broken(
            "G15", message, "pipeline = 1, or framework = torchtitan", paths, reason, "warning", unreleased=word
        )
        return
    message = f"{has.name}'s released code has no {word}: it has {' and '.join(has.words)}"
    fix = f"{nearest_word(word, has) or has.words[0]} is nearest; the plan stands for a fork that has {word}"
    yield Broken("G15", message, fix, paths, left_out("schedules", has), "warning", unreleased=word)
