"""One layer's forward and backward as Korthikanti et al. 2022 measured it, arXiv 2205.05198, table 4: passes that no fit has seen.

Whole steps of the same model are rows of the fit. The 22B model, 4 sequences of 2,048 tokens over 8 tensor ranks of one A100
node, in milliseconds of all passes of one layer. What a whole step has besides is left out: head, optimizer, pipeline. Published
to a tenth of a millisecond, 0.4 points of an overhead.
"""

from __future__ import annotations

import pytest
from throughput_plans import case, predicted

LAYERS = 48
MEASURED = {
    ("none", False): 19.6,
    ("none", True): 19.0,
    ("full", False): 27.2,
    ("selective", False): 20.9,
    ("selective", True): 20.3,
}
"""Milliseconds by recompute and sequence parallelism."""


def told(recompute: str, sequence: bool) -> float:
    """Milliseconds of one layer."""
    facts = {
        "id": "korthikanti2022.table4",
        "model": "gpt-22b",
        "accelerator": "a100-sxm-80",
        "hidden": 6144,
        "layers": LAYERS,
        "heads": 64,
        "vocab": 51200,
        "tp": 8,
        "gpus": 8,
        "pp": 1,
        "mbs": 4,
        "gbs": 4,
        "seq": 2048,
        "precision": "fp16",
        "recompute": recompute,
        "sequence_parallel": sequence,
    }
    waterfall = predicted(case("korthikanti2022", facts))[0].waterfall
    return 1e3 / LAYERS * sum(float(waterfall[part]) for part in ("products", "attention", "elementwise", "tensor"))


@pytest.mark.parametrize("kind", MEASURED, ids=lambda kind: f"{kind[0]}{'-sequence' if kind[1] else ''}")
def test_a_layer_takes_what_was_measured(kind: tuple[str, bool]) -> None:
    """The node measured ran its layers 4 to 5 % faster than the numbers of all A100 rows say, whatever was computed again."""
    assert told(*kind) == pytest.approx(MEASURED[kind], rel=0.05)


@pytest.mark.parametrize("kind", list(MEASURED)[1:], ids=lambda kind: f"{kind[0]}{'-sequence' if kind[1] else ''}")
def test_what_recompute_and_sequence_parallelism_add_is_what_was_measured(kind: tuple[str, bool]) -> None:
    """Over the layer that does neither: -3, 39, 7 and 4 % as published; within one point and a half."""
    plain = ("none", False)
    assert told(*kind) / told(*plain) == pytest.approx(MEASURED[kind] / MEASURED[plain], abs=0.015)
