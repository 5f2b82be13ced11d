"""Layouts as columns: a narrow window shortens heads and cells before it leaves anything out."""

from __future__ import annotations

from math import gcd
from pathlib import Path

import pytest

from trainplan.alternatives.reverse import changed
from trainplan.plan.read import open_plan
from trainplan.search.listing import Listed, aligned, own_layout, predicted, table
from trainplan.search.searching import searched
from trainplan.search.space import own_fields

PLANS = Path(__file__).resolve().parents[3] / "plans"
ROOM = 77
RECOMPUTE_COUNTED = ("bloom-176b", "opt-175b")
"""Plans whose published utilization counts recompute."""


def own(name: str) -> list[Listed]:
    """The plan's own layout as a list."""
    plan = open_plan(PLANS / f"{name}.toml").plan
    here = own_layout(plan, own_fields(plan), float("inf"))
    assert here is not None
    return [here]


@pytest.mark.parametrize("name", sorted(file.stem for file in PLANS.glob("*.toml")))
def test_at_80_columns_no_layout_of_a_plan_loses_a_column(name: str) -> None:
    rows = table(own(name), "time")
    lines = aligned(rows, ROOM)
    assert max(map(len, lines)) <= ROOM
    assert len(lines[0].replace("step s", "step").replace("mean s", "mean").replace("GB sent", "sent").split()) == len(
        rows[0]
    )
    assert {"D", "HFU" if name in RECOMPUTE_COUNTED else "MFU"} <= set(lines[0].split())
    assert {"exp", "expos"} & set(lines[0].split())


def test_utilization_is_named_by_what_the_convention_counts() -> None:
    """With recompute counted a slower layout may show the higher figure: that is no MFU."""
    assert "HFU" in table(own("bloom-176b"))[0]
    assert "MFU" in table(own("gpt3-175b"))[0]


def test_without_a_width_nothing_is_short() -> None:
    lines = aligned(table(own("deepseek-v3")))
    assert "dualpipe 3..2" in lines[1]
    assert "GB sent" in lines[0]
    assert "recompute" in lines[0]


def test_cells_are_short_where_whole_ones_have_no_room() -> None:
    head, row = aligned(table(own("deepseek-v3")), ROOM)
    assert head.split()[-7:] == ["m", "GiB", "sent", "mean", "s", "MFU", "exp"]
    assert "dualpipe" in row
    assert "3..2" not in row


def test_columns_go_last_of_all_and_the_least_missed_first() -> None:
    rows = table(own("deepseek-v3"))
    head = aligned(rows, 60)[0].split()
    assert "m" not in head
    assert "MFU" in head
    assert aligned(rows, 10)[0].split()[:3] == ["#", "t", "p"]


def test_the_order_by_cost_has_a_column_of_what_a_run_costs() -> None:
    listed = own("llama-3.1-8b")
    assert "cost" not in table(listed)[0]
    head, cells = table(listed, "cost")
    cost = predicted(listed[0].estimate.plan).money.cost
    told = cells[head.index("cost")]
    assert told.endswith("M")
    assert float(told[:-1]) == pytest.approx(float(cost) / 1e6, rel=5e-4)


def test_context_ranks_that_undo_the_micro_batch_are_not_listed() -> None:
    """`c 2, b 2` is `c 1, b 1` with more to send; the plan's own is listed all the same."""
    plan = changed(open_plan(PLANS / "smollm3-3b.toml").plan, {"parallelism.context": 2})
    own = plan.parallelism.context, plan.batch.micro_batch_sequences
    cuts = {
        (one.fields["parallelism.context"], one.fields["batch.micro_batch_sequences"])
        for order in ("time", "memory")
        for one in searched(plan).best(order, 1000)
    }
    assert all(gcd(*cut) == 1 for cut in cuts - {own})
    assert any(context > 1 for context, _ in cuts)
