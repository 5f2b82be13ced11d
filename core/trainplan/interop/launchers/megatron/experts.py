"""Experts as Megatron's arguments say them, and in which layers they stand; Megatron-DeepSpeed has options of its own for them.

Megatron-LM d98e8a6: moe_layer_freq of core/models/gpt/gpt_layer_specs.py, moe_ffn_hidden_size and moe_router_topk of arguments.py;
microsoft/Megatron-DeepSpeed f4157be: num_experts, expert_interval, topk.
"""

from __future__ import annotations

from typing import Final

from trainplan.interop.huggingface.layers import spacing
from trainplan.interop.launchers.megatron.patterns import pattern_of
from trainplan.interop.launchers.megatron.saying import Saying

_EVERY: Final = 2
"""`--expert-interval` of Megatron-DeepSpeed where it is not said."""


def experts(s: Saying, layers: int | None, width: int | None) -> None:
    """Everything under `model.moe.`; nothing for a dense model."""
    a = s.arguments
    listed = a.option("num_experts")
    numbers = {one.text for one in listed.values} if listed is not None and s.deep else set[str]()
    if listed is not None and len(numbers) > 1:
        s.problem("num_experts", f"{listed.words}: layers have experts of their own number. A plan has one for all")
        return
    token = a.token("num_experts", several=s.deep)
    if token is None or token.text in ("[1]", "0", "1"):
        _unused(s)
        return
    if a.listing and token.text.strip("[]").isdigit():
        number: int | None = int(token.text.strip("[]"))
    else:
        number = a.count("num_experts", 2)
    s.given("model.moe.num_experts", "num_experts", number)
    _chosen(s, number)
    own = a.count("moe_ffn_hidden_size")
    s.either("model.moe.moe_intermediate_size", "moe_ffn_hidden_size", width, "no --moe-ffn-hidden-size", own)
    _shared(s)
    if a.flag("add_bias_linear", default=True):
        s.taken("model.moe.expert_bias", True, "no --disable-bias-linear")
    if layers is not None:
        _layers(s, layers)


def _unused(s: Saying) -> None:
    s.arguments.used.update(
        ("moe_router_topk", "moe_ffn_hidden_size", "moe_layer_freq", "moe_shared_expert_intermediate_size", "topk")
    )
    s.arguments.used.update(("moe_shared_expert_gate", "expert_interval", "mlp_type"))


def _chosen(s: Saying, number: int | None) -> None:
    a = s.arguments
    name, default = ("topk", 1) if s.deep else ("moe_router_topk", 2)
    chosen = a.count(name)
    if number and chosen and chosen > number:
        s.problem(name, f"{a.names[name].words} is more than the {number} experts. At most {number} is right")
        return
    s.either("model.moe.num_experts_per_tok", name, default, f"no --{name.replace('_', '-')}", chosen)


def _shared(s: Saying) -> None:
    a = s.arguments
    if a.word("mlp_type", ("standard", "residual")) == "residual":
        s.problem("mlp_type", "--mlp-type residual has a dense MLP beside the experts. A plan cannot say it")
    width = a.count("moe_shared_expert_intermediate_size", 0)
    if width:
        s.given("model.moe.num_shared_experts", "moe_shared_expert_intermediate_size", 1)
        s.given("model.moe.shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", width)
    if a.flag("moe_shared_expert_gate"):
        s.given("model.moe.shared_expert_gate", "moe_shared_expert_gate", True)


def _layers(s: Saying, layers: int) -> None:
    """Which layers have experts: every Nth from the first, or a list; every Nth from the Nth in Megatron-DeepSpeed."""
    a = s.arguments
    name = "expert_interval" if s.deep else "moe_layer_freq"
    if a.open(name):
        return
    if s.deep:
        every = a.count(name) or _EVERY
        sparse = [(n + 1) % every == 0 for n in range(layers)]
    else:
        token = a.token(name)
        text = token.text if token is not None else "1"
        listed = pattern_of(text)
        if (not text.isdigit() and listed is None) or text == "0":
            s.problem(name, f"--moe-layer-freq is {text[:60]!r}. A number, or a list such as ([0]*3+[1]*58), is right")
            return
        if listed is not None and len(listed) != layers:
            s.problem(name, f"--moe-layer-freq lists {len(listed)} layers, --num-layers is {layers}. As many are right")
            return
        sparse = [bool(one) for one in listed] if listed is not None else [n % int(text) == 0 for n in range(layers)]
    pair = spacing(tuple(sparse))
    words = a.names[name].words if a.has(name) else f"no --{name.replace('_', '-')}"
    place = a.names[name].place if a.has(name) else s.place
    if pair is None:
        kinds = ["sparse" if one else "dense" for one in sparse]
        s.telling.say("model.mlp_layer_types", kinds, place, words)
        return
    s.telling.say("model.moe.first_k_dense_replace", pair[0], place, words, implied=not a.has(name))
    s.telling.say("model.moe.moe_layer_freq", pair[1], place, words, implied=not a.has(name))
