"""A layout as the rules look at it, and a rule that does not hold; the rules themselves are beside this file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import isqrt
from typing import Any, Literal

from trainplan.budgets.shape import Shape
from trainplan.budgets.situation import Situation
from trainplan.budgets.stretches import kinds, microbatches_in
from trainplan.budgets.tokens import MeshBudget, Stretch, TokenBudget
from trainplan.frozen import frozen
from trainplan.quantity.figure import Blocked


@frozen
class Broken:
    """A rule that does not hold: what is so, which number would be legal, and the fields that decide.

    `reason` says the same of every layout that breaks the rule so, without the layout's own numbers: a search counts by it.
    `unreleased` is the word that only forks of the framework have: a search leaves such layouts out.
    """

    code: str
    message: str
    fix: str
    paths: tuple[str, ...]
    reason: str
    severity: Literal["error", "warning"] = "error"
    unreleased: str | None = None


@frozen
class Layout:
    """The whole numbers that the rules look at; None where a field is missing."""

    situation: Situation
    shape: Shape
    world: int | None
    data: int | None
    microbatches: int | None
    sequence_length: int | None

    def size(self, path: str) -> int | None:
        """A count at a plan path."""
        return whole(self.situation[path])

    def degree(self, name: str) -> int:
        """A degree of the mesh, one unless the plan says otherwise."""
        return whole(self.situation[f"parallelism.{name}"]) or 1


def whole(figure: Any) -> int | None:
    """A figure as a whole number; None where it is blocked."""
    return None if isinstance(figure, Blocked) else int(figure)


def layout_of(s: Situation, shape: Shape, mesh: MeshBudget, tokens: TokenBudget) -> Layout:
    """What the rules look at, at the last stretch's length."""
    length = tokens.stretches[-1].sequence_length
    return Layout(s, shape, whole(mesh.world_size), whole(mesh.data), whole(tokens.microbatches), whole(length))


def layouts_of(s: Situation, shape: Shape, mesh: MeshBudget, tokens: TokenBudget) -> tuple[tuple[str, Layout], ...]:
    """What the rules look at in every kind of stretch, the last one first, each with its name: `stage warm`, `batches of 256`."""
    last = len(tokens.stretches) - 1
    found = [(named(s, tokens.stretches[last]), layout_of(s, shape, mesh, tokens))]
    for place in sorted(set(kinds(tokens)) - {last}):
        one, count = tokens.stretches[place], microbatches_in(s, mesh, tokens, place)
        layout = Layout(s, shape, whole(mesh.world_size), whole(mesh.data), whole(count), whole(one.sequence_length))
        found.append((named(s, one), layout))
    return tuple(found)


def named(s: Situation, one: Stretch) -> str:
    """A stretch in words: the stage's name, or its batches; nothing where the run is one."""
    batch = whole(one.global_batch_sequences)
    return f"stage {one.name}" if s.plan.data.stages else "" if batch is None else f"batches of {batch:,}"


@lru_cache(256)
def divisors(number: int) -> tuple[int, ...]:
    """Divisors of a whole number, rising; one alone where there is none."""
    small = [step for step in range(1, isqrt(max(number, 0)) + 1) if number % step == 0]
    return tuple(sorted({*small, *(number // step for step in small)})) or (1,)


def nearest(size: int, degree: int) -> str:
    """The nearest divisors of `size` below and above a degree."""
    return nearest_of(divisors(size), degree) or "1"


def nearest_of(legal: Iterable[int], here: int) -> str:
    """The nearest of some numbers below and above one that is not among them; nothing where there are none."""
    numbers = tuple(legal)
    below = max((one for one in numbers if one < here), default=None)
    above = min((one for one in numbers if one > here), default=None)
    return " or ".join(str(one) for one in (below, above) if one is not None)
