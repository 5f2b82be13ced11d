"""What an optimizer in host memory adds to a step: copies over the host link, and Adam where it runs.

Computed from bytes and rates, never fitted; rates that nobody measured here are defaults and marked so. Nothing overlaps.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.memory.recipe import moves_all, reduced_bytes, reshards
from trainplan.budgets.recipe import ONE_COPY
from trainplan.budgets.situation import Situation
from trainplan.formulas import offload as f
from trainplan.quantity.figure import Figure, given

LINK: Final = given(
    "rate of the host link, one way",
    25e9,
    "bytes/s",
    "default, not measured: the catalogue has none for the part; a PCIe 4 link of 16 lanes as copies reach it",
    kind="default",
    verified=False,
)
REACHED: Final = given(
    "share of the host link that copies reach",
    0.8,
    "1",
    "product judgement: pinned memory",
    kind="default",
    verified=False,
)
WHOLE: Final = given("share of a default rate", 1.0, "1", "definition", kind="default")
HOST_ADAM: Final = given(
    "parameters a second that Adam updates on a host",
    2e9,
    "1/s",
    "default, not measured here: DeepSpeed issue 6834, 72 B on 4 nodes in about 10 s; 1.1e9 in ISEEKYAN/Megatron-LM issue 188, "
    "14e9 on 8 H200 in PrimeIntellect prime-rl pull request 3234",
    kind="default",
    verified=False,
)


def over_host_link(s: Situation, sent: Figure) -> Figure:
    """Seconds of bytes one way over the part's host link, or over the default where the catalogue has none."""
    rate = s.part_fact("host_bandwidth")
    return f.link_time(sent, rate, REACHED) if isinstance(rate, Figure) else f.link_time(sent, LINK, WHOLE)


def host_optimizer(s: Situation, parameters: Figure, microbatches: Figure) -> dict[str, Figure]:
    """Seconds of gradients out and weights back, and of Adam on the host, of the parameters that one rank updates.

    FSDP copies shards in before each gather and gradients out after each reduction, so once or twice a microbatch.
    """
    weight = 4.0 if s.plan.training.precision == "fp32" or _single(s) else 2.0
    back = given("bytes of a weight that comes back", weight, "bytes", "as it stays on the device", kind="default")
    sent = f.offloaded_bytes(parameters, reduced_bytes(s), back)
    if moves_all(s):
        gathers = given(
            "gathers of a microbatch", 2.0 if reshards(s) else 1.0, "1", "forward, and backward", kind="default"
        )
        sent = f.offloaded_shards(parameters, reduced_bytes(s), back, gathers, microbatches)
    return {
        "copies": over_host_link(s, sent),
        "adam": f.host_update_time(parameters, s["cluster.accelerators_per_node"], HOST_ADAM),
    }


def _single(s: Situation) -> bool:
    return s.plan.training.framework in ONE_COPY and s.plan.training.precision != "bf16-pure"
