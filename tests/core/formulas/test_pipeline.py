"""Bubbles of schedules: never negative, none without a pipeline, and the tables' values where they were printed."""

from __future__ import annotations

import pytest

from trainplan.formulas import pipeline as f


@pytest.mark.parametrize("microbatches", [1.0, 8.0, 1024.0])
def test_without_a_pipeline_nothing_is_idle(microbatches: float) -> None:
    bubbles = (
        f.fill_bubble(1.0, microbatches),
        f.interleaved_bubble(1.0, microbatches, 1.0),
        f.split_backward_bubble(1.0, microbatches),
        f.no_bubble(1.0),
        f.dual_bubble(1.0, microbatches),
    )
    assert [float(bubble) for bubble in bubbles] == [0.0] * 5


def test_dualpipe_idles_a_third_of_what_its_table_gives_one_forward_one_backward() -> None:
    """DeepSeek's table with T_F = T_W = 1, T_B = 2: (p - 1) 3 against (p/2 - 1) 2 over m 3."""
    assert float(f.dual_bubble(8.0, 32.0)) == pytest.approx(3.0 * 2.0 / (32.0 * 3.0))
    assert float(f.dual_bubble(2.0, 4.0)) == 0.0


@pytest.mark.parametrize(("recomputed", "first", "second"), [(0.0, 1 / 3, 0.0), (1.0, 2 / 4, 1 / 4)])
def test_a_split_backward_waits_for_what_is_computed_again(recomputed: float, first: float, second: float) -> None:
    """arXiv 2401.10241, table 2, with T_F = T_W = 1 and T_B = 1 + recomputed, of one more rank and one microbatch."""
    shares = (2.0 / 3.0, 1.0)
    one, two = (float(f.recomputed_bubble(2.0, 1.0, recomputed, share)) for share in shares)
    assert float(f.split_backward_bubble(2.0, 1.0)) + one == pytest.approx(first)
    assert float(f.no_bubble(2.0)) + two == pytest.approx(second)
