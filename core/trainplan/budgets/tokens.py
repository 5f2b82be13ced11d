"""Stretches of a run, steps and batches: what the token budget says before any source is looked at."""

from __future__ import annotations

from typing import Any

from trainplan.budgets.situation import Situation
from trainplan.formulas import tokens as f
from trainplan.frozen import record
from trainplan.quantity.figure import Blocked, Figure, blocked, given, require, total_of
from trainplan.quantity.numeric import floor

START = given("start of the run", 0.0, "tokens", "definition", kind="file")


@record
class Stretch:
    """Tokens with one sequence length and one batch: a stage, or an entry of the batch schedule."""

    name: str
    begin: Figure
    tokens: Figure
    sequence_length: Figure
    global_batch_sequences: Figure
    step_tokens: Figure
    steps: Figure
    situation: Situation


@record
class TokenBudget:
    """Tokens, steps and microbatches of the whole run; step and microbatches are the last stretch's."""

    train_tokens: Figure
    global_batch_tokens: Figure
    steps: Figure
    microbatches: Figure
    overshoot: Figure
    tokens_per_parameter: Figure
    sequences: Figure
    stretches: tuple[Stretch, ...]


@record
class MeshBudget:
    """Accelerators and replicas."""

    world_size: Figure
    data: Figure


def mesh_budget(s: Situation) -> MeshBudget:
    """World size and data-parallel degree; the degree is blocked by G1 where the mesh does not divide the accelerators."""
    world = f.world_size(s["cluster.nodes"], s["cluster.accelerators_per_node"])
    data = f.data_degree(world, s["parallelism.tensor"], s["parallelism.pipeline"], s["parallelism.context"])
    return MeshBudget(world, require(data, is_whole(data), "G1"))


def is_whole(figure: Any) -> bool:
    """Whether a count is whole, row by row of a column; a blocked one is not asked."""
    if isinstance(figure, Figure):
        return figure == int(figure)
    return True if isinstance(figure, Blocked) else figure == floor(figure)


def token_budget(s: Situation, active_parameters: Figure, data: Figure) -> TokenBudget:
    """Steps of every stretch, left to right; blocked by D22 where stages and a batch schedule or their order disagree."""
    stretches = _stretches(s)
    last = stretches[-1]
    train = s["data.train_tokens"]
    count = f.microbatches(last.global_batch_sequences, s["batch.micro_batch_sequences"], data)
    consumed = over_stretches(stretches, [f.consumed_tokens(one.steps, one.step_tokens) for one in stretches])
    return TokenBudget(
        train_tokens=train,
        global_batch_tokens=last.step_tokens,
        steps=over_stretches(stretches, [one.steps for one in stretches]),
        microbatches=require(count, is_whole(count), "G2"),
        overshoot=f.overshoot(consumed, train),
        tokens_per_parameter=f.tokens_per_parameter(train, active_parameters),
        sequences=over_stretches(stretches, [f.sequences(one.tokens, one.sequence_length) for one in stretches]),
        stretches=stretches,
    )


def longest(tokens: TokenBudget, s: Situation, data: Figure) -> tuple[Situation, Figure]:
    """The stretch with the longest sequences, the last of several, and its microbatches: memory has to hold it too."""
    found = longest_of(tokens.stretches)
    if found is tokens.stretches[-1]:
        return found.situation, tokens.microbatches
    count = f.microbatches(found.global_batch_sequences, s["batch.micro_batch_sequences"], data)
    return found.situation, require(count, is_whole(count), "G2")


def longest_of(stretches: tuple[Stretch, ...]) -> Stretch:
    """The stretch with the longest sequences, the last of several."""
    found = stretches[-1]
    for one in reversed(stretches[:-1]):
        if isinstance(one.sequence_length, Figure) and isinstance(found.sequence_length, Figure):
            found = one if one.sequence_length > found.sequence_length else found
    return found


def over_stretches(stretches: tuple[Stretch, ...], parts: list[Figure]) -> Figure:
    """The sum over the stretches of a run, each under its name; the one part itself where there is one stretch."""
    if len(parts) == 1:
        return parts[0]
    return total_of({_word(i, one): part for i, (one, part) in enumerate(zip(stretches, parts, strict=True))})


def _word(index: int, stretch: Stretch) -> str:
    """A name that a sum can carry: the stage's, or its position."""
    return stretch.name if stretch.name else f"stretch {index + 1}"


def _stretches(s: Situation) -> tuple[Stretch, ...]:
    stages, schedule = s.plan.data.stages, s.plan.batch.schedule
    if stages and schedule:
        return (_stretch(s, "whole run", blocked("D22", "tokens"), blocked("D22", "tokens"), None, None),)
    if stages:
        return _stage_stretches(s)
    if schedule:
        return _schedule_stretches(s)
    begin = START
    return (_stretch(s, "", begin, s["data.train_tokens"], None, None),)


def _stage_stretches(s: Situation) -> tuple[Stretch, ...]:
    found: list[Stretch] = []
    begin = START
    stages = s.plan.data.stages
    for index, stage in enumerate(stages):
        path = f"data.stages.{stage.name if stage.name else index}"
        last = index == len(stages) - 1
        until = s["data.train_tokens"] if last else s.entry(f"{path}.until_tokens", stage.until_tokens, "tokens")
        if isinstance(until, Figure) and isinstance(begin, Figure) and until <= begin:
            until = blocked("D22", "tokens")
        found.append(
            _stretch(
                s,
                stage.name or f"stage {index + 1}",
                begin,
                until,
                None
                if stage.sequence_length is None
                else s.entry(f"{path}.sequence_length", stage.sequence_length, "tokens"),
                None
                if stage.global_batch_sequences is None
                else s.entry(f"{path}.global_batch_sequences", stage.global_batch_sequences, "1"),
            )
        )
        begin = until
    return tuple(found)


def _schedule_stretches(s: Situation) -> tuple[Stretch, ...]:
    schedule = s.plan.batch.schedule
    found: list[Stretch] = []
    for index, change in enumerate(schedule):
        path = f"batch.schedule.{index}"
        begin = s.entry(f"{path}.from_tokens", change.from_tokens, "tokens")
        following = schedule[index + 1] if index + 1 < len(schedule) else None
        until = (
            s["data.train_tokens"]
            if following is None
            else s.entry(f"batch.schedule.{index + 1}.from_tokens", following.from_tokens, "tokens")
        )
        if isinstance(until, Figure) and isinstance(begin, Figure) and (until <= begin or (index == 0 and begin > 0)):
            until = blocked("D22", "tokens")
        batch = s.entry(f"{path}.global_batch_sequences", change.global_batch_sequences, "1")
        found.append(_stretch(s, f"batch {index + 1}", begin, until, None, batch))
    return tuple(found)


def _stretch(
    s: Situation, name: str, begin: Figure, until: Figure, length: Figure | None, batch: Figure | None
) -> Stretch:
    columns = {
        path: figure
        for path, figure in (("data.sequence_length", length), ("batch.global_batch_sequences", batch))
        if figure is not None
    }
    _ = s["data.sequence_length"], s["batch.global_batch_sequences"]  # read once, so that stretches share the figures
    inside = s.replaced(columns) if columns else s
    step = f.batch_tokens(inside["batch.global_batch_sequences"], inside["data.sequence_length"])
    tokens = until if isinstance(begin, Figure) and begin <= 0 else f.stretch_tokens(until, begin)
    return Stretch(
        name,
        begin,
        tokens,
        inside["data.sequence_length"],
        inside["batch.global_batch_sequences"],
        step,
        f.stretch_steps(tokens, step),
        inside,
    )
