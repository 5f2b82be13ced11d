"""What a layer keeps for backward, and the peak of live bytes, against measurements on real tensors."""

from __future__ import annotations

import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest
from saved_plans import beyond_the_plan, kept, peak, whole_model

ROWS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("saved_bytes.toml").read_text(encoding="utf-8"))[
    "row"
]
WHOLE = [row for row in ROWS if "saved_total" in row]
PEAKS = [row for row in ROWS if "peak_live" in row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"].removeprefix("mem.saved."))
def test_a_layer_keeps_what_was_measured(row: dict[str, Any]) -> None:
    """Within 0.1 %, for all three kernel sets."""
    assert float(kept(row).stored) + beyond_the_plan(row) == pytest.approx(row["layer_bytes"], rel=1e-3)


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row["id"].removeprefix("mem.saved."))
def test_a_model_keeps_what_was_measured(row: dict[str, Any]) -> None:
    """Within 0.2 %, which is how far the two instruments agree."""
    assert whole_model(row) == pytest.approx(row["saved_total"], rel=2e-3)


def test_the_peak_of_live_bytes() -> None:
    """Median within 1 %, nine of ten within 8 %, none beyond 12 %."""
    errors = sorted(abs(peak(row) / row["peak_live"] - 1.0) for row in PEAKS)
    assert statistics.median(errors) <= 0.01
    assert statistics.quantiles(errors, n=10)[8] <= 0.08
    assert errors[-1] <= 0.12


def test_every_kernel_set_is_measured() -> None:
    assert {row["kernel_set"] for row in ROWS} == {"torch-eager", "torch-compile", "transformers-5.24"}
    assert len(ROWS) == 90
