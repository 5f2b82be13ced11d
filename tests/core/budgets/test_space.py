"""Space on the file system, row by row, the curve over time, and what loaders and start-up ask."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from trainplan.estimation import Estimate
from trainplan.formulas import storage as f
from trainplan.quantity.figure import Blocked, Figure
from trainplan.views.space import space_curve

SIZE = 262_464 * 14
PARTS = [
    "raw",
    "dataset",
    "index",
    "manifests",
    "full_kept",
    "light_kept",
    "local",
    "loader_state",
    "logs",
    "evaluation_outputs",
]


def number(found: Estimate, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


def test_megatron_index_is_exact() -> None:
    """Header of 34, 20 a document and 8 for the last document's end."""
    assert f.megatron_index(1000.0) == 34 + 20 * 1000 + 8
    assert f.megatron_cache(1000.0, 2.0, 500.0, 0.5) == 4 * 2 * 1000 + 8 * 251 + 4 * 250
    assert f.megatron_cache(2.0**31, 1.0, 500.0, 1.0) == 4 * 2**31 + 16 * 501 + 4 * 500
    assert f.megatron_blend(244e6) == 2.44e9


def test_shards_take_2_or_4_bytes_by_vocabulary(varied: Any) -> None:
    assert number(varied(), "storage.dataset") == 2e9 * 2
    assert number(varied("model.vocab_size=65500"), "storage.dataset") == 2e9 * 4
    assert number(varied("data.bytes_per_token=4"), "storage.dataset") == 2e9 * 4
    assert number(varied("storage.processed_copies=3"), "storage.dataset") == 3 * 2e9 * 2


def test_documents_come_from_the_plan_else_from_a_default(varied: Any) -> None:
    index = lambda *changes: number(varied(*changes), "storage.index")  # noqa: E731
    assert index("data.sampler=nanoset", "data.sources.web.documents=3_000_000") == 8 * 3_000_000
    assert index("data.sampler=nanoset", "data.sources.web.mean_document_tokens=500") == 8 * 4_000_000
    assert index("data.sampler=nanoset") == 8 * 2_000_000


def test_megatron_counts_index_and_caches(varied: Any) -> None:
    found = varied("data.sources.web.documents=1_000_000")
    assert number(found, "storage.index") == 34 + 20e6 + 8 + 4e6 + 8 * (1_024_000 + 1) + 4 * 1_024_000


def test_the_peak_is_the_sum_of_its_rows(varied: Any) -> None:
    found = varied("storage.raw_data=5GB", "storage.keep_full_every=100M", "storage.keep_light_every=10M")
    assert number(found, "storage.peak") == sum(number(found, f"storage.{part}") for part in PARTS)
    assert number(found, "storage.raw") == 5e9
    assert number(found, "storage.full_kept") == 10 * SIZE
    assert number(found, "storage.light_kept") == 104 * 262_464 * 2


def test_local_copies_are_the_newest_one_in_flight_and_the_backlog(varied: Any) -> None:
    assert number(varied(), "storage.local") == 3 * SIZE
    assert number(varied("storage.keep_full_local=4"), "storage.local") == 5 * SIZE
    uploading = varied("storage.upload_bandwidth=1GB/s")
    assert number(uploading, "storage.backlog") == 1
    assert number(uploading, "storage.local") == 4 * SIZE
    slow = varied("storage.upload_bandwidth=1kB/s", "reliability.checkpoint_interval=20min")
    assert number(slow, "storage.backlog") == 4  # 3,674 s of upload in intervals of 1,200 s


def test_capacity_is_needed_for_the_verdict_only(varied: Any) -> None:
    found = varied(left_out=("storage.capacity",))
    assert isinstance(found.figure("storage.usable"), Blocked)
    assert isinstance(found.figure("storage.filled_share"), Blocked)
    assert number(found, "storage.needed_capacity") == pytest.approx(number(found, "storage.peak") / 0.8, rel=1e-15)
    assert number(varied(), "storage.usable") == 0.8e15


def test_loader_bandwidth_of_smollm3() -> None:
    """384 x 14,000 x 4 = 21.5 MB/s (domain notes, section 5.2)."""
    assert round(f.loader_bandwidth(384.0, 14_000.0, 4.0) / 1e6, 1) == 21.5


def test_start_up_opens_staging_and_writes(varied: Any) -> None:
    found = varied()
    assert number(found, "storage.start_up_opens") == 16 * 2339
    assert number(found, "storage.staging_memory") == 4 * SIZE / 2
    assert isinstance(varied("storage.async_checkpoint=false").figure("storage.staging_memory"), Blocked)
    assert number(found, "storage.checkpoints_written") == 1
    interval = number(found, "reliability.interval")
    assert number(found, "storage.write_rate") == pytest.approx(SIZE / interval, rel=1e-15)


def test_drill_age_is_counted_to_the_day_that_was_handed_in(varied: Any) -> None:
    found = varied("storage.last_restore_drill=2026-11-01", today=dt.date(2026, 12, 1))
    assert number(found, "storage.restore_drill_age") == 30 * 86400
    assert isinstance(varied().figure("storage.restore_drill_age"), Blocked)


LONG = (
    "data.train_tokens=1000T",
    "storage.keep_full_every=100T",
    "storage.keep_light_every=10T",
    "storage.raw_data=1GB",
)


def test_curve_rises_to_the_peak(varied: Any) -> None:
    found = varied(*LONG)
    curve = space_curve(found)
    assert curve is not None
    times, fills = zip(*curve.points, strict=True)
    assert list(times) == sorted(times)
    assert times[0] == 0
    assert times[-1] == number(found, "compute.wall_time")
    assert curve.peak == pytest.approx(number(found, "storage.peak"), rel=1e-12)
    assert fills[0] < fills[len(fills) // 2] < fills[-1]
    assert curve.crosses is None


def test_curve_says_when_it_crosses_the_usable_line(varied: Any) -> None:
    found = varied(*LONG, "storage.capacity=29.6TB")
    curve = space_curve(found)
    assert curve is not None
    assert curve.usable == pytest.approx(23.68e12)
    assert curve.crosses is not None
    assert 0 < curve.crosses < number(found, "compute.wall_time")
    at_once = space_curve(varied(*LONG, "storage.capacity=2GB"))
    assert at_once is not None
    assert at_once.crosses == 0


def test_no_time_is_no_curve(varied: Any) -> None:
    assert space_curve(varied(left_out=("utilization.value",))) is None


def test_loaders_feed_the_fastest_stage(varied: Any) -> None:
    """A short sequence costs less a token: the stage before a long one reads more bytes a second than the last."""
    stages = '\n[[data.stages]]\nname = "short"\nuntil_tokens = "500M"\n[[data.stages]]\nname = "long"\nsequence_length = 8192\n'
    alone, staged = varied(), varied(more=stages)
    assert float(staged.figure("storage.loader_bandwidth")) == float(alone.figure("storage.loader_bandwidth"))
