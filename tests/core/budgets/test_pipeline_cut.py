"""Layers that do not divide over torchtitan's chunks: the figures of the ends are those of the chunks, and nothing is lost."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trainplan.budgets.memory.stages import chunk_layers
from trainplan.budgets.situation import Situation
from trainplan.formulas.pipeline import (
    first_layers,
    fullest_layers,
    last_layers,
    turned_first_layers,
    turned_fullest_layers,
)
from trainplan.plan.plan import Plan


def ranks(layers: int, **parallel: Any) -> list[int]:
    """Layers of each pipeline rank."""
    training = {"framework": "torchtitan"}
    told = Plan.model_validate({"format": 1, "training": training, "parallelism": parallel})
    return [dense + sparse for dense, sparse in chunk_layers(Situation(told), (False,) * layers)]


def test_chunks_of_torchtitan_count_the_embedding_and_the_loss_as_a_layer_each() -> None:
    """pytorch/torchtitan pull 1103; 38 over 8 are 5, 5, 5, 5, 5, 5, 4, 4, of which the first and the last hold one less."""
    assert ranks(36, pipeline=4, virtual_pipeline=2, schedule="interleaved") == [9, 10, 9, 8]
    assert ranks(40, pipeline=4, virtual_pipeline=2, schedule="interleaved") == [10, 10, 10, 10]
    assert ranks(61, pipeline=8) == [7, 8, 8, 8, 8, 8, 8, 6]
    assert ranks(30, pipeline=4, schedule="zb-v") == [6, 8, 8, 8]


@given(layers=st.integers(1, 130), pipeline=st.integers(2, 32), virtual=st.integers(1, 6))
def test_the_ends_by_formula_are_those_of_the_chunks(layers: int, pipeline: int, virtual: int) -> None:
    if pipeline * virtual > layers + 2:
        return
    counts = ranks(layers, pipeline=pipeline, virtual_pipeline=virtual, schedule="interleaved")
    cut = float(layers), float(pipeline), float(virtual)
    assert sum(counts) == layers
    assert [counts[0], max(counts[1:-1], default=0), counts[-1]] == [
        first_layers(*cut),
        fullest_layers(*cut),
        last_layers(*cut),
    ]


@given(layers=st.integers(1, 130), pipeline=st.integers(2, 32))
def test_the_ends_of_a_v_by_formula_are_those_of_its_chunks(layers: int, pipeline: int) -> None:
    """torchtitan b5bcd76, distributed/pipeline_parallel.py: rank 0 has the first chunk and the last, with embedding and loss."""
    if 2 * pipeline > layers + 2:
        return
    counts = ranks(layers, pipeline=pipeline, schedule="zb-v")
    assert sum(counts) == layers
    cut = float(layers), float(pipeline)
    assert [counts[0], max(counts[1:])] == [turned_first_layers(*cut), turned_fullest_layers(*cut)]
