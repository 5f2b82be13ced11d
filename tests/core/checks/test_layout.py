"""G1, G2 and D22: batch, stages and mesh. Each fix is a plan without the finding."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.checks import findings, findings_at_once
from trainplan.finding import Finding

STAGES = """
[[data.stages]]
name = "first"
until_tokens = 500_000_000

[[data.stages]]
name = "second"
until_tokens = 1_048_576_000
"""
SCHEDULE = """
[[batch.schedule]]
from_tokens = 0
global_batch_sequences = 512

[[batch.schedule]]
from_tokens = 524_288_000
global_batch_sequences = 1024
"""


def all_of(found: Any, code: str) -> list[Finding]:
    return [item for item in findings(found) if item.code == code]


def one(found: Any, code: str) -> Finding:
    (finding,) = all_of(found, code)
    return finding


def test_g1_accelerators_that_do_not_divide(varied: Any) -> None:
    finding = one(varied("parallelism.tensor=3", "parallelism.pipeline=2"), "G1")
    assert finding.message == "16 accelerators do not divide into groups of 6 (tensor x pipeline x context)"
    assert (finding.severity, finding.fix) == ("error", "3 nodes")
    assert finding.paths == ("parallelism.tensor", "cluster.nodes")
    assert not all_of(varied("parallelism.tensor=3", "parallelism.pipeline=2", "cluster.nodes=3"), "G1")


def test_g1_offers_the_nodes_below_and_above(varied: Any) -> None:
    finding = one(varied("parallelism.tensor=3", "cluster.nodes=10"), "G1")
    assert finding.fix == "12 nodes"  # 9 make 24 replicas, over which 1,024 sequences do not divide
    (at_once,) = [
        item for item in findings_at_once(varied("parallelism.tensor=3", "cluster.nodes=10")) if item.code == "G1"
    ]
    assert at_once.untried == "9 or 12 nodes"
    for nodes in (9, 12):
        assert not all_of(varied("parallelism.tensor=3", f"cluster.nodes={nodes}"), "G1")


def test_g2_batch_that_does_not_divide(varied: Any) -> None:
    finding = one(varied("batch.global_batch_sequences=1000"), "G2")
    assert finding.message == "1,000 sequences do not divide over 16 replicas of 1"
    assert (finding.severity, finding.fix) == ("error", "992 or 1,008 sequences")
    for batch in (992, 1008):
        assert not all_of(varied(f"batch.global_batch_sequences={batch}"), "G2")


def test_g2_counts_the_micro_batch(varied: Any) -> None:
    assert (
        one(varied("batch.micro_batch_sequences=3"), "G2").fix
        == "micro_batch_sequences = 2, or 1,008 or 1,056 sequences"
    )
    assert not all_of(varied("batch.micro_batch_sequences=4"), "G2")


def test_g2_smaller_than_one_replica_offers_only_more(varied: Any) -> None:
    assert one(varied("batch.global_batch_sequences=8"), "G2").fix == "16 sequences"


def test_g2_names_fewer_nodes_where_they_are_near(varied: Any) -> None:
    """18 trays of a rack are 72 accelerators, on which powers of two do not divide: 16 trays, 64 of them, are."""
    rack = ("cluster.accelerator=gb200-nvl72", "cluster.accelerators_per_node=4", "batch.global_batch_sequences=1024")
    assert one(varied(*rack, "cluster.nodes=18"), "G2").fix == "1,008 or 1,080 sequences, or 16 nodes"
    assert not all_of(varied(*rack, "cluster.nodes=16"), "G2")


def test_g2_looks_at_stages_and_schedules(varied: Any) -> None:
    stage = one(varied("data.stages.first.global_batch_sequences=100", more=STAGES), "G2")
    assert stage.paths[0] == "data.stages.first.global_batch_sequences"
    change = one(varied("batch.schedule.1.global_batch_sequences=100", more=SCHEDULE), "G2")
    assert change.paths[0] == "batch.schedule.1.global_batch_sequences"
    assert not all_of(varied(more=SCHEDULE), "G2")


def test_d22_stages_and_a_schedule_together(varied: Any) -> None:
    finding = one(varied(more=STAGES + SCHEDULE), "D22")
    assert finding.fix == "give each stage its global_batch_sequences and leave batch.schedule out"
    assert not all_of(varied(more=STAGES), "D22")
    assert not all_of(varied(more=SCHEDULE), "D22")


def test_d22_stage_that_ends_before_the_one_before(varied: Any) -> None:
    more = STAGES.replace("until_tokens = 500_000_000", "until_tokens = 2_000_000_000")
    finding = one(varied(more=more), "D22")
    assert finding.message == "stage second ends at 1.049B tokens, and the one before it at 2B"
    assert finding.fix == "more than 2B tokens"


def test_d22_last_stage_that_ends_elsewhere(varied: Any) -> None:
    finding = one(varied("data.stages.second.until_tokens=900_000_000", more=STAGES), "D22")
    assert finding.fix == "leave until_tokens of the last stage out"
    assert not all_of(varied(more=STAGES, left_out=("data.stages.second.until_tokens",)), "D22")


@pytest.mark.parametrize(
    ("change", "fix"),
    [
        ("batch.schedule.0.from_tokens=1", "0"),
        ("batch.schedule.1.from_tokens=0", "more than 0 tokens"),
    ],
)
def test_d22_schedule_out_of_order(varied: Any, change: str, fix: str) -> None:
    assert one(varied(change, more=SCHEDULE), "D22").fix == fix


def test_d22_schedule_that_begins_after_the_run(varied: Any) -> None:
    finding = one(varied("batch.schedule.1.from_tokens=2B", more=SCHEDULE), "D22")
    assert finding.message == "entry 2 of the batch schedule begins at 2B tokens, and the run ends at 1.049B"
    assert finding.fix == "less than 1.048B tokens"


def test_g2_of_a_stage_offers_the_batch_of_that_stage(varied: Any) -> None:
    """Sixteen replicas of one: 1,026 sequences in a stage are two too many; what is tried is the stage's batch, not the run's."""
    found = varied("data.stages.first.global_batch_sequences=1026", more=STAGES)
    (told,) = [one for one in findings(found) if one.code == "G2"]
    assert told.fix.replace(", which brings C16", "").startswith("1,024 sequences, or 1,040 sequences"), told.fix
