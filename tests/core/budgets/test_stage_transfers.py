"""What stages wait for between them: the link, how many messages, and which of them virtual stages hide."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.budgets.communication import Operation
from trainplan.estimation import Estimate
from trainplan.formulas.pipeline import shown_messages, waited_messages

DEEP = ("model.num_hidden_layers=16", "parallelism.pipeline=4", "cluster.nodes=4", "batch.global_batch_sequences=512")
CHUNKS = (*DEEP, "parallelism.virtual_pipeline=4", "parallelism.schedule=interleaved")


def stages(found: Estimate) -> Operation:
    """The transfers between stages."""
    return next(one for one in found.communication.table if one.dimension == "pipeline")


@pytest.mark.parametrize(
    ("microbatches", "virtual", "pipeline", "waited", "shown"),
    [
        (64, 1, 4, 64, 64),  # 1F1B hides nothing
        (64, 2, 4, 128, 10),  # 6 + 4 chunks before the first backward of rank 0, and as many backward at the end
        (64, 8, 16, 512, 142),
        (8, 2, 8, 16, 16),  # it never runs full
        (64, 1, 1, 0, 0),
    ],
)
def test_messages_of_a_step(microbatches: int, virtual: int, pipeline: int, waited: int, shown: int) -> None:
    """Megatron-LM core/pipeline_parallel/schedules.py: (p - rank - 1) 2 + (v - 1) p microbatches of warm-up."""
    sizes = (float(microbatches), float(virtual), float(pipeline))
    assert waited_messages(*sizes) == waited
    assert shown_messages(*sizes) == shown


def test_virtual_stages_hide_what_they_send_while_the_pipeline_is_full(varied: Any) -> None:
    plain, chunks = varied(*DEEP), varied(*CHUNKS)
    assert float(stages(plain).exposed) == float(stages(plain).time)
    count, filling = float(chunks.tokens.microbatches) * 4, 2 * 3 + 3 * 4
    assert count > filling
    assert float(stages(chunks).exposed) == pytest.approx(float(stages(chunks).time) * filling / count)
    assert float(chunks.step.waterfall["pipeline"]) == pytest.approx(float(stages(chunks).exposed))


@pytest.mark.parametrize("change", ["training.framework=torchtitan", "training.attention=eager"])
def test_others_hide_nothing(varied: Any, change: str) -> None:
    """PyTorch waits for each transfer before it goes on; Megatron of 2022 had no such overlap."""
    found = varied(*CHUNKS, change)
    assert float(stages(found).exposed) == float(stages(found).time)


def test_a_job_inside_one_domain_sends_over_its_link(varied: Any) -> None:
    """One node's stages use the scale-up link, at 10 us a message; those of many nodes the fabric, at 20."""
    inside = varied("parallelism.pipeline=2", "cluster.nodes=1", "cluster.accelerators_per_node=8")
    across = varied("parallelism.pipeline=2", "cluster.nodes=2", "cluster.accelerators_per_node=8")
    assert [stages(found).link for found in (inside, across)] == ["scale-up", "fabric"]
    each = [float(stages(found).time) / float(found.tokens.microbatches) for found in (inside, across)]
    assert each[0] < each[1]
    same = ("cluster.scale_up_bandwidth=80GB/s", "cluster.scale_out_bandwidth=85.33333333GB/s")
    pair = [varied("parallelism.pipeline=2", f"cluster.nodes={nodes}", *same) for nodes in (1, 2)]
    waits = [float(stages(found).time) / float(found.tokens.microbatches) for found in pair]
    assert waits[1] - waits[0] == pytest.approx(10e-6)
