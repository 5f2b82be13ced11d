"""Score matrices of unfused attention, against what public reports measured of them."""

from __future__ import annotations

from typing import Any

import pytest
from test_layout_cases import GIB, made, model

GROUPED = {"num_key_value_heads": 8}
PHI3 = model(hidden_size=3072, intermediate_size=8192, vocab_size=32064)


def parts(kind: str, name: str, shape: Any = PHI3, **changes: Any) -> dict[str, float]:
    """One part of each instant of the only stage (GiB), with flash or with eager attention."""
    fields = {"cluster__nodes": 1, "data__sequence_length": 4096, **changes}
    (rank,) = made(model=shape, training__attention=kind, **fields).memory.table
    return {one.name: float(one.parts[name]) / GIB for one in rank.instants}


def test_megatron_keeps_a_score_buffer_and_five_bytes_of_a_score() -> None:
    """NVIDIA/Megatron-LM issue 965, 4,096 tokens and 32 heads: 1 GiB once for the products' input, then 1 + 0.5 + 1 a layer."""
    laid = {"training__dropout": 0.1, "parallelism__recompute": "full"}
    beside = parts("eager", "attention_temporaries", **laid)
    assert beside["loss"] == beside["optimizer step"] == pytest.approx(1.0)
    assert 2.0 < beside["attention of the first layer"] < 2.2, (
        "the buffer, the gradient of the dropped scores, products"
    )
    eager, flash = (parts(kind, "activations", **laid)["first layer of backward"] for kind in ("eager", "flash"))
    assert eager - flash == pytest.approx(2.5, rel=1e-3)


def test_megatron_repeats_key_heads_for_every_query_head() -> None:
    """Issue 965's second line, repeat_interleave: four copies of 8 key and value heads are kept where flash keeps one."""
    laid = {"shape": {**PHI3, **GROUPED}, "parallelism__recompute": "full"}
    eager, flash = (parts(kind, "activations", **laid)["first layer of backward"] for kind in ("eager", "flash"))
    copies = 4096 * 2 * 2 * 3072 * (1 - 8 / 32) / GIB
    assert eager - flash == pytest.approx(copies + 1.0, rel=1e-3)


@pytest.mark.parametrize("framework", ["deepspeed", "fsdp"])
def test_others_keep_no_score_buffer(framework: str) -> None:
    beside = parts("eager", "attention_temporaries", training__framework=framework, training__kernels="torch-compile")
    assert beside["loss"] == 0.0
    assert 1.0 < beside["attention of the first layer"] < 1.2
