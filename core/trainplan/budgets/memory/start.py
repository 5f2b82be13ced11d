"""What is on the device before a run is under way: while a checkpoint is read, and while kernels are tuned for the first time.

How often a framework holds a state then was read in its source, and for Megatron measured by its users; what nobody measured
is marked unverified. The allocator keeps blocks that reading left behind; those are not counted.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_states as f
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given


class Reading(NamedTuple):
    """While a framework reads a checkpoint: moments and weights held once more, gradients allocated, and who says so."""

    moments: float
    weights: float
    gradients: float
    source: str
    verified: bool


_IN_PLACE: Final = (
    "torch.distributed.checkpoint filesystem.py: each tensor is read on the host and copied into the one on the device"
)
READING: Final = {
    "megatron": Reading(
        1.0,
        0.0,
        1.0,
        "Megatron-LM distrib_optimizer.py load_state_dict allocates empty moments on the device, and FusedAdam its own; "
        "Megatron-LM issue 1746: 18.7 GiB for 5 B parameters on 2 ranks, pull request 7288: one shard exactly",
        True,
    ),
    "deepspeed": Reading(
        0.0,
        0.0,
        0.0,
        "DeepSpeed engine.py reads into host memory; stage_1_and_2.py and bf16_optimizer.py have no moments before the first step",
        False,
    ),
    "torchtitan": Reading(0.0, 0.0, 0.0, _IN_PLACE, False),
    "fsdp": Reading(0.0, 0.0, 0.0, _IN_PLACE, False),
    "maxtext": Reading(
        1.0,
        1.0,
        0.0,
        "MaxText maxtext_utils.py setup_initial_state builds a state and lays the restored one over it",
        False,
    ),
}
"""By framework; gradients of Megatron are allocated with the model."""

ACCUMULATED: Final = 4.0 / 6.0
"""Share of DeepSpeed's bf16 gradients that its bf16 optimizer allocates at the start: fp32 sums, not the 16-bit ones."""

TUNED: Final = ("torchtitan", "fsdp")
"""Frameworks that compile layers with torch.compile; the others' kernels are built beforehand, or by XLA in its own pool."""

WORKSPACE: Final = 2.0**30
_WORKSPACE: Final = (
    "0.1 to 3 GiB, not measured here: PyTorch issue 151995, 0.07 and 0.75 GB in the first run of a 7B; "
    "pull request 184479, 256 MB to clear the cache; issue 129258, copies of what a kernel changes"
)


@cache
def held_again(framework: str, what: str) -> Figure:
    """How many times more than in a step a framework holds `moments` or `weights` while it reads a checkpoint."""
    here = READING[framework]
    count = here.moments if what == "moments" else here.weights
    return given(f"{what} held once more", count, "1", here.source, kind="default", verified=here.verified)


@record
class Start:
    """What differs from a step: weights once more, gradients that are allocated (shares), bytes while kernels are tuned.

    None where weights are held once, where no gradient or every one is allocated, and where nothing is tuned.
    """

    weights: Figure | None
    gradients: Figure | None
    no_gradients: bool
    workspace: Figure | None


def start(s: Situation, *, full_gradients: bool) -> Start:
    """By framework and kernels; the moments are in the recipe, because precision decides what goes with them."""
    framework = s.plan.training.framework
    tuned = framework in TUNED and s.word("training.kernels") == "torch-compile"
    summed = framework == "deepspeed" and full_gradients and _sums_in_fp32(s)
    return _start(framework, summed, tuned)


def _sums_in_fp32(s: Situation) -> bool:
    return s.plan.training.precision == "bf16-mixed" and s.word("training.gradient_dtype") == "fp32"


@cache
def _start(framework: str, summed: bool, tuned: bool) -> Start:
    here = READING[framework]
    return Start(
        held_again(framework, "weights") if here.weights else None,
        _sums() if summed else None,
        not here.gradients and not summed,
        _workspace() if tuned else None,
    )


@cache
def _sums() -> Figure:
    source = READING["deepspeed"].source
    return given("share of gradients summed in fp32", ACCUMULATED, "1", source, kind="default", verified=False)


@cache
def _workspace() -> Figure:
    return given("memory while kernels are tuned", WORKSPACE, "bytes", _WORKSPACE, kind="default", verified=False)


@cache
def _unallocated() -> Figure:
    return given(
        "gradients while a checkpoint is read", 0.0, "bytes", "allocated in the first backward", kind="default"
    )


def restored(begin: Start, weights: Figure, gradients: Figure) -> tuple[Figure, Figure]:
    """Weights and gradients of a rank while a checkpoint is read, of those in a step."""
    if begin.weights is not None:
        weights = f.held_more(weights, begin.weights)
    if begin.gradients is not None:
        gradients = f.share_allocated(gradients, begin.gradients)
    return weights, _unallocated() if begin.no_gradients else gradients
