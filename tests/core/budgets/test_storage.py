"""Sizes and times of checkpoints: published sizes through the formulas, recipes, and the plan's two modes of saving."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.formulas import storage as f
from trainplan.quantity.figure import Blocked, Figure

GIB, TIB = 2.0**30, 2.0**40
SMALL = 262_464
"""Parameters of the small plan: 131,392 and two tables of 65,536."""


def number(found: Any, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


def test_bloom_sizes_are_binary_units_written_as_decimal() -> None:
    """329GB and 2.3TB in the README of the run: 328.3 GiB and 2.244 TiB at 2 and 14 bytes a parameter."""
    assert round(f.checkpoint_bytes(176_247_271_424.0, 2.0) / GIB, 1) == 328.3
    assert round(f.checkpoint_bytes(176_247_271_424.0, 14.0) / TIB, 3) == 2.244
    assert round(f.checkpoint_bytes(176_247_271_424.0, 14.0) / 1e12, 3) == 2.467


def test_torchtitan_and_universal_checkpoints() -> None:
    """12 bytes a parameter: 96.4 GB (torchtitan issue 1301), 84.8 GB (Megatron-DeepSpeed issue 343)."""
    assert round(f.checkpoint_bytes(8_030_261_248.0, 12.0) / 1e9, 1) == 96.4
    assert round(f.checkpoint_bytes(7.07e9, 12.0) / 1e9, 1) == 84.8


def test_bloom_write_bandwidth_and_daily_writes() -> None:
    """2.3 TB in 40 s are 57.5 GB/s; one every 3 hours is 18.4 TB a day (domain notes, section 13)."""
    assert f.transfer_time(2.3e12, 57.5e9) == pytest.approx(40.0, rel=1e-12)
    assert pytest.approx(18.4) == 2.3 * 24 / 3


@pytest.mark.parametrize(
    ("settings", "each"),
    [
        ((), 14),
        (("training.moment_dtype=bf16",), 10),
        (("training.framework=torchtitan",), 12),
        (("training.framework=fsdp",), 12),
        (("training.precision=fp32",), 12),
        (("training.precision=bf16-pure",), 10),
        (("training.optimizer=sgd-momentum",), 10),
        (("training.optimizer=lion",), 10),
        (("training.precision=fp8-mixed",), 14),
    ],
)
def test_bytes_that_a_recipe_saves(varied: Any, settings: tuple[str, ...], each: int) -> None:
    """Weights and master copy by precision and framework, moments by optimizer; gradients are never saved."""
    assert number(varied(*settings), "storage.checkpoint") == SMALL * each


def test_light_checkpoint_is_two_bytes_each(varied: Any) -> None:
    assert number(varied(), "storage.light_checkpoint") == SMALL * 2


def test_padded_vocabulary_is_saved(varied: Any) -> None:
    """1,000 entries are padded to 1,024, in both tables; a tied head once. Others train the model's own vocabulary."""
    assert number(varied("model.vocab_size=1000"), "storage.parameters") == SMALL
    tied = varied("model.vocab_size=1000", "model.tie_word_embeddings=true")
    assert number(tied, "storage.parameters") == SMALL - 65_536
    own = varied("model.vocab_size=1000", "training.framework=fsdp")
    assert number(own, "storage.parameters") == SMALL - 2 * 24 * 64


def test_checkpoint_does_not_depend_on_the_layout(varied: Any) -> None:
    """At a vocabulary that every layout pads alike."""
    sizes = {
        number(varied(*layout), "storage.checkpoint")
        for layout in ((), ("cluster.nodes=4",), ("parallelism.tensor=2",), ("parallelism.pipeline=2",))
    }
    assert sizes == {SMALL * 14}


def test_asynchronous_stall_is_the_copy_to_the_host(varied: Any) -> None:
    size = SMALL * 14
    assert number(varied(), "storage.checkpoint_stall") == pytest.approx(5.0 + size / (16 * 25e9), rel=1e-15)


def test_synchronous_stall_is_the_whole_write(varied: Any) -> None:
    found = varied("storage.async_checkpoint=false", "storage.checkpoint_floor=0s")
    assert number(found, "storage.checkpoint_stall") == pytest.approx(SMALL * 14 / 10e9, rel=1e-15)
    assert number(found, "storage.checkpoint_stall") == number(found, "storage.write_time")


def test_read_and_upload_times(varied: Any) -> None:
    found = varied("storage.upload_bandwidth=1GB/s")
    assert number(found, "storage.restore_time") == pytest.approx(SMALL * 14 / 20e9, rel=1e-15)
    assert number(found, "storage.upload_time") == pytest.approx(SMALL * 14 / 1e9, rel=1e-15)


def test_no_upload_is_open_and_not_missing(varied: Any) -> None:
    found = varied().figure("storage.upload_time")
    assert isinstance(found, Blocked)
    assert found.code == "none"


def test_missing_write_bandwidth_blocks_only_what_waits_for_the_write(varied: Any) -> None:
    found = varied(left_out=("storage.write_bandwidth",))
    assert isinstance(found.figure("storage.write_time"), Blocked)
    assert isinstance(found.figure("compute.wall_time"), Figure)
    stopped = varied("storage.async_checkpoint=false", left_out=("storage.write_bandwidth",))
    stall = stopped.figure("storage.checkpoint_stall")
    assert isinstance(stall, Blocked)
    assert stall.code == "missing:storage.write_bandwidth"
