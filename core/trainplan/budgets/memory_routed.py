"""What experts keep for backward: routed tokens on their way through them, and what selective recompute leaves of that.

The bytes of each piece are in `formulas.memory_layers`; which layers have experts, and the rest of a layer, is beside this file.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.memory_recipe import element_bytes, word
from trainplan.budgets.situation import Situation
from trainplan.figure import Figure, given, total
from trainplan.formulas import memory_layers as f

ORACLE: Final = "tests/golden/saved_bytes.toml"


@cache
def trait(name: str, value: float, unit: str = "bytes", source: str = ORACLE) -> Figure:
    """A number of a kernel set or of a framework's recompute, by name."""
    return given(name, value, unit, source)


def experts_kept(s: Situation, copies: Figure) -> Figure:
    """Bytes of a token in a layer with experts whose MLPs keep `copies` tensors: router, routed copies, shared experts."""
    element = element_bytes(s)
    parts = {
        "router": f.router_kept(s["model.moe.num_experts"]),
        "choice": f.choice_kept(s["model.moe.num_experts_per_tok"], element),
        "routed": f.routed_kept(
            s["model.moe.num_experts_per_tok"],
            s["training.moe_imbalance"],
            element,
            f.routed_streams(s["parallelism.expert_tensor"], _returned(s)),
            s["model.hidden_size"],
            copies,
            s["model.moe.moe_intermediate_size"],
        ),
    }
    if s.value("model.moe.num_shared_experts"):
        parts["shared"] = f.mlp_kept(element, copies, shared_width(s))
    return total(**parts)


RETURNED: Final = {"megatron-te": 0.0, "torch-compile": 1.0, "torch-eager": 2.0}
"""Copies of a routed token kept beside what experts read: Megatron-LM weighs tokens inside the experts, so none comes back.

Megatron-LM d98e8a6, core/transformer/moe: experts.py weighs the activation, token_dispatcher.py unpermutes without probabilities.
"""


def _returned(s: Situation) -> Figure:
    kernels = word(s, "training.kernels")
    return trait("other copies of a routed token", RETURNED[kernels], "1")


def shared_width(s: Situation) -> Figure:
    """Width of all shared experts of a layer together."""
    own = s.value("model.moe.shared_expert_intermediate_size") is not None
    width = s["model.moe.shared_expert_intermediate_size" if own else "model.moe.moe_intermediate_size"]
    return f.times(s["model.moe.num_shared_experts"], width)


def mlp_width(s: Situation, *, sparse: bool) -> Figure:
    """Elements of the MLP of a token: its width, or that of the routed and shared experts it goes through."""
    if not sparse:
        return s["model.intermediate_size"]
    routed = f.routed_width(
        s["model.moe.num_experts_per_tok"], s["training.moe_imbalance"], s["model.moe.moe_intermediate_size"]
    )
    if not s.value("model.moe.num_shared_experts"):
        return routed
    return total(routed=routed, shared=shared_width(s))


def experts_selected(s: Situation, query: Figure, key_value: Figure) -> tuple[Figure, Figure]:
    """Residual stream and interior that torchtitan's selective recompute keeps of a token in a layer with experts.

    Its policy keeps every second product of dense weights, attention and what expert ranks exchange; grouped products of
    experts are none of these. b5bcd76, distributed/activation_checkpoint.py; exchanges since commit c4e2291, September 2025.
    """
    element, hidden = element_bytes(s), s["model.hidden_size"]
    has_shared = bool(s.value("model.moe.num_shared_experts"))
    shared = shared_width(s) if has_shared else trait("nothing", 0.0, "1")
    parts = {"products": f.alternate_kept(element, query, key_value, shared)}
    if s["parallelism.expert"] > 1.0:
        chosen, imbalance = s["model.moe.num_experts_per_tok"], s["training.moe_imbalance"]
        parts["exchanged"] = f.exchanged_kept(element, chosen, imbalance, hidden)
    stream = f.alternate_residual_kept if has_shared else f.checkpointed_kept
    return stream(element, hidden), total(**parts)
