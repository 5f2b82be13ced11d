"""Bubbles of pipeline schedules, idle time over ideal step time with equal stages, and the transfers between stages."""

from __future__ import annotations

from trainplan.quantity.formula import formula
from trainplan.quantity.numeric import ceil, floor, maximum, minimum, where

CUT = "torchtitan b5bcd76, distributed/pipeline_parallel.py: _generate_llm_fqn_per_model_part"
STUDY = "step-time study, section 2.5; checked on published rows, catalogue/evidence"
OVERLAP = (
    "NeMo docs features/optimizations/communication_overlap.rst: hidden in 1F1B of virtual stages, in sight in fill and flush; "
    "Megatron-LM core/pipeline_parallel/schedules.py, num_warmup_microbatches"
)
TABLE = "Qi et al. 2023, arXiv 2401.10241, table 2: (p - 1)(T_F + T_B - T_W) and (p - 1)(T_F + T_B - 2 T_W)"


@formula("1", source="Narayanan et al. 2021, arXiv 2104.04473")
def fill_bubble(pipeline: float, microbatches: float) -> float:
    """Bubble of GPipe and 1F1B: (p - 1) / m."""
    return (pipeline - 1.0) / microbatches


@formula("1", source="Narayanan et al. 2021, arXiv 2104.04473")
def interleaved_bubble(pipeline: float, microbatches: float, virtual: float) -> float:
    """Bubble of interleaved 1F1B: (p - 1) / (v m)."""
    return (pipeline - 1.0) / (virtual * microbatches)


@formula("1", source=TABLE)
def split_backward_bubble(pipeline: float, microbatches: float) -> float:
    """Bubble of ZB-H1 where forward and both halves of backward take the same time: (p - 1) / (3 m)."""
    return (pipeline - 1.0) / (3.0 * microbatches)


@formula("1", source=TABLE)
def no_bubble(pipeline: float) -> float:
    """Bubble of ZB-H2 and ZB-V where all three take the same time: nothing, and nothing waits for the whole gradient."""
    return 0.0 * pipeline


@formula("1", source=TABLE)
def recomputed_bubble(pipeline: float, microbatches: float, recomputed: float, share: float) -> float:
    """What recompute adds to the bubble of a split backward: T_B is T_F longer by what is computed again, T_W is not.

    `share` is 2 / 3 of ZB-H1 and 1 of ZB-H2 and ZB-V. Attention, which has no T_W either, is not counted.
    """
    return share * (pipeline - 1.0) * recomputed / ((3.0 + recomputed) * microbatches)


@formula(
    "1", source="DeepSeek DualPipe README, table; backward = 2 forward, an overlapped pair = their sum", verified=False
)
def dual_bubble(pipeline: float, microbatches: float) -> float:
    """Bubble of DualPipe, (p/2 - 1)(T_FB + T_B - 3 T_W) over m (T_F + T_B), with T_F = T_W = 1, T_B = 2, T_FB = 3; 0 to p = 2."""
    return maximum(pipeline / 2.0 - 1.0, 0.0) * 2.0 / (3.0 * microbatches)


@formula("1", source=CUT)
def first_layers(layers: float, pipeline: float, virtual: float) -> float:
    """Layers of the first rank: even, or the embedding and the loss count one each and the first chunks take what is over."""
    chunks = pipeline * virtual
    over = layers + 2.0 - floor((layers + 2.0) / chunks) * chunks
    uneven = virtual * floor((layers + 2.0) / chunks) + ceil(over / pipeline) - 1.0
    return where(layers - floor(layers / chunks) * chunks == 0.0, layers / pipeline, uneven)


@formula("1", source=CUT)
def fullest_layers(layers: float, pipeline: float, virtual: float) -> float:
    """The same of the second rank, which has the most of those between the ends; none where a pipeline has two."""
    chunks = pipeline * virtual
    over = maximum(layers + 1.0 - floor((layers + 2.0) / chunks) * chunks, 0.0)
    uneven = virtual * floor((layers + 2.0) / chunks) + ceil(over / pipeline)
    here = where(layers - floor(layers / chunks) * chunks == 0.0, layers / pipeline, uneven)
    return where(pipeline > 2.0, here, 0.0)


@formula("1", source=CUT)
def last_layers(layers: float, pipeline: float, virtual: float) -> float:
    """The same of the last rank, which has the loss."""
    chunks = pipeline * virtual
    over = maximum(layers + 3.0 - pipeline - floor((layers + 2.0) / chunks) * chunks, 0.0)
    uneven = virtual * floor((layers + 2.0) / chunks) + ceil(over / pipeline) - 1.0
    return where(layers - floor(layers / chunks) * chunks == 0.0, layers / pipeline, uneven)


@formula("1", source=CUT)
def turned_first_layers(layers: float, pipeline: float) -> float:
    """Layers of the first rank of a V, which has both ends: its chunks are the first and the last of two for each rank."""
    chunks = 2.0 * pipeline
    over = layers + 2.0 - floor((layers + 2.0) / chunks) * chunks
    uneven = 2.0 * floor((layers + 2.0) / chunks) + minimum(over, 1.0) - 2.0
    return where(layers - floor(layers / chunks) * chunks == 0.0, layers / pipeline, uneven)


@formula("1", source=CUT)
def turned_fullest_layers(layers: float, pipeline: float) -> float:
    """The most layers of the ranks behind it: chunks that are over go down the V first, and then up again."""
    chunks = 2.0 * pipeline
    over = layers + 2.0 - floor((layers + 2.0) / chunks) * chunks
    uneven = 2.0 * floor((layers + 2.0) / chunks) + where(over > pipeline, 2.0, where(over > 1.0, 1.0, 0.0))
    return where(layers - floor(layers / chunks) * chunks == 0.0, layers / pipeline, uneven)


@formula("bytes", source="Megatron-LM p2p_communication.py: activations forward, gradients backward")
def pipeline_bytes(
    tokens: float, hidden: float, element: float, split: float, borders: float, microbatches: float, pipeline: float
) -> float:
    """Pipeline, the mean over ranks: both ways over every border between ranks."""
    return 2.0 * borders * element * tokens * hidden / split * microbatches / pipeline


@formula("1", source="definition")
def chain_borders(pipeline: float, virtual: float) -> float:
    """Borders between ranks that one microbatch crosses forward: one less than the chunks, none without a pipeline."""
    return where(pipeline > 1.0, pipeline * virtual - 1.0, 0.0)


@formula("1", source="Qi et al., zero bubble pipeline parallelism: the V turns on the last rank")
def turned_borders(pipeline: float) -> float:
    """Borders of a V: the chunks at its turn are on one rank."""
    return 2.0 * (pipeline - 1.0)


@formula("s", source=STUDY)
def message_time(tokens: float, hidden: float, element: float, split: float, rate: float) -> float:
    """One transfer between stages: the activations of a microbatch, or what one of its tensor ranks sends of them."""
    return element * tokens * hidden / (split * rate)


@formula("1", source=STUDY)
def waited_messages(microbatches: float, virtual: float, pipeline: float) -> float:
    """Transfers between stages that a step waits for: one for each chunk and microbatch for both ways, none without a pipeline."""
    return where(pipeline > 1.0, microbatches * virtual, 0.0)


@formula("1", source=OVERLAP)
def shown_messages(microbatches: float, virtual: float, pipeline: float) -> float:
    """Of these, what virtual stages do not hide: the chunks of the first rank before its first backward.

    Megatron sends while it computes where each rank has several chunks, but not while the pipeline fills and drains. A chunk's
    transfer counts once for both ways: those that fill it wait forward, as many that drain it backward.
    """
    filling = 2.0 * (pipeline - 1.0) + (virtual - 1.0) * pipeline
    every = where(pipeline > 1.0, microbatches * virtual, 0.0)
    return where(virtual > 1.0, minimum(every, filling), every)
