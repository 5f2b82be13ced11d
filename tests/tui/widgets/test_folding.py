"""Sentences over several rows."""

from __future__ import annotations

import pytest

from trainplan_tui.text.folding import folded


def test_an_option_is_never_parted() -> None:
    said = "known, and no plan rests on it: --moe-mlp-glu-interleave-size, --exit-signal-handler"
    assert folded(said, 40, 2) == [
        "known, and no plan rests on it:",
        "  --moe-mlp-glu-interleave-size,",
        "  --exit-signal-handler",
    ]


@pytest.mark.parametrize("width", [-3, 0, 1, 7])
def test_whatever_the_width_nothing_is_lost(width: int) -> None:
    assert "".join(folded("--tensor-model-parallel-size", width)) == "--tensor-model-parallel-size"
    assert folded("", width) == [""]
