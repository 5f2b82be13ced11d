"""The stretches of a run as places where a step is predicted and rules are asked: length, batch, microbatches and bubble of each.

Stages and batch schedules change the length or the batch on the way. What holds for the last stretch need not hold for the others,
and they are most of the run. It knows no layout but what microbatches and bubbles follow from.
"""

from __future__ import annotations

from collections.abc import Callable

from trainplan.budgets.compute import Throughput
from trainplan.budgets.flops import FlopsBudget
from trainplan.budgets.pipeline import pipeline_bubble
from trainplan.budgets.situation import Situation
from trainplan.budgets.tokens import MeshBudget, Stretch, TokenBudget, is_whole, over_stretches
from trainplan.formulas import compute as f
from trainplan.formulas.tokens import microbatches
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, require


@record
class At:
    """Where a step is predicted: a stretch's situation, FLOPs of its tokens, its microbatches (1) and its bubble (1)."""

    s: Situation
    flops: FlopsBudget
    microbatches: Figure
    bubble: Figure


def kinds(tokens: TokenBudget) -> tuple[int, ...]:
    """For each stretch the place of the last one with the same length and batch, which stands for it."""
    return tuple(
        max(i for i, other in enumerate(tokens.stretches) if other is one or _alike(one, other))
        for one in tokens.stretches
    )


def _alike(one: Stretch, other: Stretch) -> bool:
    pairs = (
        (one.sequence_length, other.sequence_length),
        (one.global_batch_sequences, other.global_batch_sequences),
    )
    return all(a is b or (isinstance(a, Figure) and isinstance(b, Figure) and a == b) for a, b in pairs)


def microbatches_in(s: Situation, mesh: MeshBudget, tokens: TokenBudget, place: int) -> Figure:
    """Microbatches of a step of one stretch; blocked by G2 where they are not whole."""
    if place == len(tokens.stretches) - 1:
        return tokens.microbatches
    count = microbatches(tokens.stretches[place].global_batch_sequences, s["batch.micro_batch_sequences"], mesh.data)
    return require(count, is_whole(count), "G2")


def places(s: Situation, mesh: MeshBudget, tokens: TokenBudget, speed: Throughput) -> dict[int, At]:
    """Each kind of stretch by the place that stands for it; one alone where the run has one length and one batch."""
    found: dict[int, At] = {}
    for place in sorted(set(kinds(tokens))):
        here, count = tokens.stretches[place].situation, microbatches_in(s, mesh, tokens, place)
        found[place] = At(here, speed.paces[place].flops, count, pipeline_bubble(here, count))
    return found


def run_bubble(
    s: Situation,
    mesh: MeshBudget,
    tokens: TokenBudget,
    speed: Throughput,
    of: Callable[[Situation, Figure], Figure] = pipeline_bubble,
) -> Figure:
    """Idle time of the pipeline over the ideal time of the whole run: each stretch's bubble, weighted by its FLOPs."""
    stands = kinds(tokens)
    if len(set(stands)) == 1:
        return of(tokens.stretches[-1].situation, tokens.microbatches)
    bubbles = {place: of(s, microbatches_in(s, mesh, tokens, place)) for place in set(stands)}
    shares = zip(stands, speed.worked, strict=True)
    idle = [f.share_of_run(bubbles[place], worked, speed.training_flops) for place, worked in shares]
    return over_stretches(tokens.stretches, idle)
