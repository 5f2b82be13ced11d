"""Every finding of the storage budget: a plan that brings it, its words and fix, and a plan beside it that does not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from trainplan.checks import findings
from trainplan.finding import Finding


def one(found: Any, code: str) -> Finding:
    """The only finding of that code."""
    (finding,) = [item for item in findings(found) if item.code == code]
    return finding


def codes(found: Any) -> set[str]:
    return {item.code for item in findings(found)}


LONG = ("data.train_tokens=10000T", "cluster.nodes=64", "reliability.spare_nodes=9")


def test_s1_peak_above_what_may_be_filled(varied: Any) -> None:
    finding = one(varied("storage.raw_data=900TB"), "S1")
    assert (finding.severity, finding.budget) == ("error", "storage")
    assert finding.message == "900.0 TB at most of 800.0 TB usable: 100.0 TB too much"
    assert finding.fix == "a capacity of 1.125 PB leaves two checkpoints free"
    assert finding.paths[0] == "storage.capacity"
    assert "S1" not in codes(varied("storage.raw_data=700TB"))


def test_s1_says_when_no_checkpoint_or_no_second_one_is_free(varied: Any) -> None:
    from trainplan.estimation import Estimate

    found: Estimate = varied()
    peak, size = float(found.space.peak), float(found.checkpoint.checkpoint)
    free = {copies: (peak + copies * size) / 0.8 for copies in (0.5, 1.5, 2.5)}
    none = one(varied(f"storage.capacity={free[0.5]}"), "S1")
    assert none.severity == "error"
    assert none.message.endswith("not one checkpoint of 3.674 MB is free")
    second = one(varied(f"storage.capacity={free[1.5]}"), "S1")
    assert second.severity == "warning"
    assert second.message.endswith("less than two checkpoints are free")
    assert "S1" not in codes(varied(f"storage.capacity={free[2.5]}"))


def test_s2_many_files(varied: Any) -> None:
    many = varied("storage.keep_full_every=1M", "cluster.nodes=128")
    assert (
        one(many, "S2").message == "checkpoints hold 2,152,448 files at two a rank; quotas on files are often a million"
    )
    assert "S2" not in codes(varied("storage.keep_full_every=100M", "cluster.nodes=128"))


def test_s3_upload_slower_than_the_interval(varied: Any) -> None:
    slow = ("storage.upload_bandwidth=1kB/s", "reliability.checkpoint_interval=20min")
    finding = one(varied(*slow), "S3")
    assert finding.severity == "error"
    assert finding.message == "an upload takes 1.02 h, the interval is 20min: copies pile up for ever"
    assert finding.fix == "an interval of 1.03 h or more"  # 1.02 h are 2.5 s too short
    assert "S3" not in codes(varied(slow[0]))


@pytest.mark.parametrize(("floor", "severity"), [("20s", "warning"), ("90s", "error")])
def test_s4_stalls(varied: Any, floor: str, severity: str) -> None:
    finding = one(varied(f"storage.checkpoint_floor={floor}", "reliability.checkpoint_interval=20min"), "S4")
    assert finding.severity == severity
    assert f"stalls {floor[:-1]} s of every 20min" in finding.message
    assert "S4" not in codes(varied("storage.checkpoint_floor=10s", "reliability.checkpoint_interval=20min"))


def test_s4_fix_is_asynchronous_saving_where_it_is_off(varied: Any) -> None:
    off = varied(
        "storage.async_checkpoint=false", "storage.checkpoint_floor=90s", "reliability.checkpoint_interval=20min"
    )
    assert one(off, "S4").fix == "asynchronous saves, or more write bandwidth"


def test_s5_only_one_checkpoint(varied: Any) -> None:
    alone = one(varied("storage.keep_full_local=1"), "S5")
    assert (alone.severity, alone.fix) == ("error", "keep 2 locally, or upload each")
    assert one(varied("storage.keep_full_local=1", "storage.keep_full_every=10M"), "S5").severity == "warning"
    assert "S5" not in codes(varied("storage.keep_full_local=1", "storage.upload_bandwidth=1GB/s"))
    assert "S5" not in codes(varied("storage.keep_full_local=2"))


def test_s7_torchtitan_saves_weights_at_the_end(varied: Any) -> None:
    finding = one(varied("training.framework=torchtitan"), "S7")
    assert (finding.severity, finding.fix) == ("info", "last_save_model_only set to false in torchtitan")
    assert "S7" not in codes(varied())


def test_s8_light_checkpoints_are_no_recovery(varied: Any) -> None:
    light = ("storage.keep_light_every=100M", "reliability.checkpoint_interval=20min")
    finding = one(varied(*light), "S8")
    assert finding.message == "light checkpoints cannot be resumed; full ones reach 40min back"
    assert "S8" not in codes(varied(*light, "storage.keep_full_every=500M"))
    assert "S8" not in codes(varied(*light, "storage.upload_bandwidth=1GB/s"))


def test_s10_restore_drills(varied: Any) -> None:
    today = dt.date(2026, 12, 31)
    old = one(varied("storage.last_restore_drill=2026-11-30", today=today), "S10")
    assert old.message == "the restore drill is 31 days old; it holds for 30"
    assert "S10" not in codes(varied("storage.last_restore_drill=2026-12-01", today=today))
    assert one(varied(*LONG), "S10").message.endswith("and no restore drill has a date")
    assert "S10" not in codes(varied())


def test_s11_staging_takes_host_memory(varied: Any) -> None:
    finding = one(varied("cluster.host_memory_per_node=1MB"), "S11")
    assert (finding.severity, finding.fix) == ("error", "more nodes, or a synchronous save")
    assert "S11" not in codes(varied("cluster.host_memory_per_node=1TB"))
    assert "S11" not in codes(varied("cluster.host_memory_per_node=1MB", "storage.async_checkpoint=false"))


def test_s11_writes_that_never_end(varied: Any) -> None:
    slow = ("storage.write_bandwidth=5kB/s", "reliability.checkpoint_interval=20min")
    assert (
        one(varied(*slow), "S11").message
        == "a save is being written 12min 15s of every 20min; steps beside it are slower"
    )
    assert "S11" not in codes(varied("storage.write_bandwidth=7kB/s", slow[1]))


def test_s14_write_bandwidth_above_the_links(varied: Any) -> None:
    finding = one(varied("storage.write_bandwidth=1TB/s"), "S14")
    assert finding.message == "writing at 1.000 TB/s is above the 800.0 GB/s of all links"
    assert "S14" not in codes(varied("storage.write_bandwidth=700GB/s"))
