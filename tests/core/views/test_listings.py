"""Listings say what the ledgers say: no number of theirs is their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainplan.alternatives.reverse import tried
from trainplan.estimation import estimate
from trainplan.plan.read import open_plan, plan_of_text
from trainplan.views.listings import GIB, answers, changes, commands, ranks, tasks, transfers

PLANS = sorted((Path(__file__).resolve().parents[3] / "plans").glob("*.toml"))


@pytest.fixture(params=PLANS, ids=lambda path: path.stem)
def here(request: pytest.FixtureRequest):
    return estimate(open_plan(request.param).plan)


def test_categories_of_a_rank_sum_to_its_total_and_the_worst_is_the_plans(here) -> None:
    rows = ranks(here).rows
    for row in rows:
        *parts, total, _ = (0.0 if text.startswith("<") else float(text.replace(",", "")) for text in row[1:-1])
        assert sum(parts) == pytest.approx(total, abs=0.4)
    assert max(float(row[-3].replace(",", "")) for row in rows) == pytest.approx(
        float(here.memory.total) / GIB, abs=0.051
    )


def test_every_rank_is_in_one_row(here) -> None:
    counted = 0
    for row in ranks(here).rows:
        first, _, last = row[0].partition(" to ")
        counted += int(last or first) - int(first) + 1
    assert counted == len(here.memory.table)


def test_ranks_stand_beside_a_device_whose_memory_is_not_known() -> None:
    """What a rank holds follows from the layout alone; what is free does not. A launch file names no part."""
    text = """format = 1
[model]
preset = "llama-3.1-8b"
[data]
sequence_length = 8192
[batch]
global_batch_sequences = 128
[cluster]
nodes = 4
accelerators_per_node = 8
[parallelism]
pipeline = 2
"""
    rows = ranks(estimate(plan_of_text(text, "plan.toml"))).rows
    named = text.replace("nodes = 4", 'nodes = 4\naccelerator = "h100-sxm"')
    known = ranks(estimate(plan_of_text(named, "plan.toml")))
    assert [row[-2] for row in rows] == ["?", "?"]
    assert [row[:-2] for row in rows] == [row[:-2] for row in known.rows]


def test_answers_fit_and_one_more_does_not(here) -> None:
    told = {row[0].split(",")[0]: row[2] for row in answers(here).rows}
    assert set(told) == {"largest microbatch", "longest sequence", "fewest nodes"}
    if told["fewest nodes"] != "no number of them":
        assert (
            int(told["fewest nodes"].replace(",", "")) <= int(here.plan.cluster.nodes)
            or float(here.memory.headroom) < 0
        )


def test_every_change_fits_and_breaks_no_rule(here) -> None:
    from trainplan.alternatives.changes import single_changes

    known = tried(here.plan).broken
    for change in single_changes(here.plan):
        assert tried(here.plan, {change.path: change.value}).fits(1.0, known)
    assert len(changes(here).rows) == len(changes(here).paths)


def test_commands_are_the_plans_own_degrees(here) -> None:
    for shows, command in commands(here).rows:
        assert shows
        if here.plan.training.framework == "megatron":
            assert f"--pipeline-model-parallel-size {int(here.plan.parallelism.pipeline)}" in command


def test_transfers_leave_out_what_sends_nothing_and_tasks_are_all_there(here) -> None:
    assert all(not row[2].startswith("0 ") for row in transfers(here).rows)
    assert [row[0] for row in tasks(here).rows] == [one.name for one in here.evaluation.rows]
