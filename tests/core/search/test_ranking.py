"""The best few are the best of all, and the front is what nothing beats."""

from __future__ import annotations

import numpy as np
import pytest

from trainplan.search.pieces import NUMBERS
from trainplan.search.ranking import Rows, enters, no_rows, not_beaten

TARGET = 6.0


def rows(count: int, seed: int) -> Rows:
    """Layouts with many ties."""
    chance = np.random.default_rng(seed)
    step, sent, memory = (chance.integers(1, 9, count).astype(float) for _ in range(3))
    return Rows(step, sent, memory, memory > TARGET, np.arange(count), np.zeros((count, len(NUMBERS)), dtype=np.int64))


def keys(found: Rows, order: str) -> list[tuple[float, ...]]:
    parts = (
        (found.memory, found.step, found.sent)
        if order == "memory"
        else (found.above, found.step, found.sent, found.memory)
    )
    return list(zip(*(part.tolist() for part in parts), strict=True))


@pytest.mark.parametrize("order", ["time", "memory", "cost"])
@pytest.mark.parametrize("seed", range(5))
def test_kept_in_portions_is_kept_of_all(order: str, seed: int) -> None:
    whole, kept = rows(400, seed), no_rows()
    for begin in range(0, 400, 37):
        part = whole.taken(slice(begin, begin + 37))
        part = part.taken(enters(kept, order, 20, part.step, part.memory, part.above))
        kept = kept.joined(part).best(order, 20)
    assert keys(kept, order) == sorted(keys(whole, order))[:20]


@pytest.mark.parametrize("seed", range(5))
def test_the_front_is_what_no_other_beats(seed: int) -> None:
    whole, front = rows(300, seed), no_rows()
    for begin in range(0, 300, 29):
        part = whole.taken(slice(begin, begin + 29))
        front = front.joined(part.taken(not_beaten(front, part.step, part.memory))).front()
    pairs = {*zip(whole.step.tolist(), whole.memory.tolist(), strict=True)}
    unbeaten = {(s, m) for s, m in pairs if not any((a <= s and b <= m) and (a, b) != (s, m) for a, b in pairs)}
    assert [*zip(front.step.tolist(), front.memory.tolist(), strict=True)] == sorted(unbeaten)


def test_layouts_above_the_target_come_last_in_time() -> None:
    best = rows(200, 1).best("time", 200)
    assert best.above.tolist() == sorted(best.above.tolist())
