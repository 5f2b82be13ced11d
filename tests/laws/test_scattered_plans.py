"""Plans of which anything may be missing, taken from another plan or absurd, as files are while a person writes them."""

from __future__ import annotations

import contextlib
import copy
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from trainplan.checks import findings_at_once
from trainplan.estimation import estimate
from trainplan.interop.export import kinds
from trainplan.plan.read import Unusable, plan_of_text
from trainplan.rows.ledgers import TABLES
from trainplan.rows.table import FieldRow, FigureRow, cells

PLANS = [
    tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).resolve().parents[2] / "plans").glob("*.toml"))
]
ROWS = [row for table in TABLES.values() for row in table.rows if isinstance(row, FieldRow | FigureRow)]
FRAMEWORKS = ("megatron", "torchtitan", "deepspeed", "maxtext", "nanotron", "olmo-core", "nemo")
ABSURD = (0, 1, 2, 3, 7, 1_000_000, 10**12, 1e-9, 0.5)
A_SEED = 70


def scattered(seed: random.Random) -> dict[str, Any]:
    """A plan with tables of another one, then with holes and numbers of no sense."""
    whole, other = copy.deepcopy(seed.choice(PLANS)), seed.choice(PLANS)
    whole |= {name: copy.deepcopy(other[name]) for name in other if seed.random() < 0.15}
    if isinstance(whole.get("training"), dict) and seed.random() < 0.5:
        whole["training"]["framework"] = seed.choice(FRAMEWORKS)
    return {**_holed(whole, seed, seed.choice((0.0, 0.02, 0.05, 0.1, 0.3, 0.6))), "format": 1}


def _holed(value: Any, seed: random.Random, share: float) -> Any:
    if isinstance(value, dict):
        kept = {
            name: inner
            for name, inner in value.items()
            if seed.random() >= (share / 2 if isinstance(inner, dict | list) else share)
        }
        return {name: _holed(inner, seed, share) for name, inner in kept.items()}
    if isinstance(value, list):
        return [_holed(inner, seed, share) for inner in value if seed.random() >= share * 0.3]
    if isinstance(value, bool):
        return value if seed.random() > 0.1 else not value
    if isinstance(value, int | float) and seed.random() < 0.04:
        return seed.choice((*ABSURD, value * 2, value * 3))
    return value


@pytest.mark.parametrize("seed", range(12))
def test_scattered_plans_are_refused_in_words_or_estimated_checked_and_drawn(seed: int) -> None:
    drawn, read = random.Random(seed), 0
    for _ in range(A_SEED):
        text = tomli_w.dumps(scattered(drawn))
        try:
            plan = plan_of_text(text, "plan.toml")
        except Unusable:
            continue
        read += 1
        found = estimate(plan)
        assert all(finding.code for finding in findings_at_once(found)), text
        assert all(cells(row, found).label for row in ROWS), text
        assert found.all_quantities
        for kind in kinds.KINDS:
            with contextlib.suppress(kinds.ExportError):
                assert kinds.exported(kind, found), text
    assert read > A_SEED / 3
