"""What a recipe keeps of one parameter on a rank, in full and sharded, and of a product's input, as traits with their source.

The words are the plan's, or the framework's defaults. Nothing here knows the model or the layout's sizes.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.memory.start import held_again
from trainplan.budgets.recipe import ONE_COPY, moment_bytes, moment_count, one_copy
from trainplan.budgets.situation import Situation
from trainplan.formulas import memory_layers as ml
from trainplan.formulas import memory_states as f
from trainplan.formulas.memory_work import between_ranks
from trainplan.frozen import record
from trainplan.quantity.figure import Figure, given
from trainplan.quantity.formula import named_sum

STUDY: Final = "tests/golden/memory.toml and saved_bytes.toml"

WHOLE_INPUTS: Final = ("torchtitan", "fsdp")
"""Frameworks whose tensor parallelism is DTensor's: it gathers tokens once, before the products."""

WITH_INPUTS: Final = named_sum("bytes", "layer", "gathered")

ALL_ON_HOST: Final = ("torchtitan", "fsdp")
"""Frameworks whose offload moves weights and gradients with the moments: PyTorch's CPUOffloadPolicy keeps all three on the host,
copies shards in before each gather and reduced gradients out (torch.distributed.fsdp.fully_shard documentation)."""

ELEMENT: Final = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0}
_DIST: Final = "Megatron-LM docs dist_optimizer.md"
_TITAN: Final = "torchtitan configs.py: fp32 shards, bf16 compute"
_HOST: Final = "PyTorch CPUOffloadPolicy: sharded weights and gradients live on the host"
_DEEP: Final = "DeepSpeed engine; checked on BLOOM prequel rows"

FP8_INPUTS: Final = (
    "TransformerEngine issue 1764: the fp8 input, or its transpose on Hopper, is kept for backward; Megatron-Bridge 067f987, "
    "skills/nemo-mbridge-perf-moe-optimization-workflow/card.yaml: 12 % of DeepSeek-V3's activations"
)

SHARDED: Final = {
    "none": (),
    "zero-1": ("optimizer",),
    "zero-2": ("optimizer", "gradients"),
    "zero-3": ("optimizer", "gradients", "weights"),
    "hsdp": ("optimizer", "gradients", "weights"),
}
"""Which states each kind of sharding divides over the shard ranks."""


NO_OTHER: Final = given("bytes of a gradient, other way", 0.0, "bytes", "full gradients", kind="default")
SHARED_OUT: Final = given("bytes on every rank", 0.0, "bytes", "sharded", kind="default")


@record
class State:
    """Bytes of one kind of state a parameter: on every rank, and over the shard ranks."""

    whole: Figure
    shared: Figure


@record
class Recipe:
    """The three states, the optimizer's while a checkpoint is read, the bytes of a compute element and of a reduced gradient."""

    weights: State
    gradients: State
    optimizer: State
    restored: State
    element: Figure
    reduced: Figure
    gathers: bool


def word(s: Situation, path: str) -> str:
    """A word of the plan, or its default by framework."""
    return str(s.word(path))


def element_bytes(s: Situation) -> Figure:
    """Bytes of an element in compute: activations, gathered weights, gradients before reduction."""
    kind, _ = s.origin("training.precision")
    return _element(s.word("training.precision") == "fp32", kind)


@cache
def _element(whole: bool, kind: str) -> Figure:
    name = "bytes of a compute element"
    return _of_field("training.precision", name, 4.0 if whole else 2.0, _DIST, "bytes", kind, True)


def in_fp8(s: Situation) -> bool:
    """Whether inputs of products are kept in one byte."""
    return s.plan.training.precision == "fp8-mixed" and word(s, "training.kernels") == "megatron-te"


def input_bytes(s: Situation) -> Figure:
    """Bytes of an element of a product's input that is kept for backward."""
    return _one_byte() if in_fp8(s) else element_bytes(s)


def with_gathered(s: Situation, norms: Figure, layer: Figure, tokens: Figure, ranks: Figure, *, sparse: bool) -> Figure:
    """A layer whose products keep the tokens that sequence-parallel ranks gathered for them, as DTensor's do."""
    if s.plan.training.framework not in WHOLE_INPUTS:
        return layer
    if sparse and not s.value("model.moe.num_shared_experts"):
        norms = ml.routed_inputs(norms, s["parallelism.expert"])
    gathered = ml.gathered_kept(tokens, norms, input_bytes(s), s["model.hidden_size"], ranks)
    return WITH_INPUTS(layer=layer, gathered=gathered)


def input_share(s: Situation) -> Figure:
    """An input that is kept, over what it is in the compute type."""
    return ml.kept_share(input_bytes(s), element_bytes(s))


def cast_output(s: Situation, width: Figure) -> dict[str, Figure]:
    """Attention keeps its output in 16 bits, and the product after it a copy in fp8; otherwise they share one."""
    return {"cast_output": ml.cast_kept(input_bytes(s), width)} if in_fp8(s) else {}


COPIES: Final = named_sum("1", "before", "product")


def mlp_copies(s: Situation) -> Figure:
    """Tensors of its width that an MLP keeps, in the compute type: gate, up and their product, which is the input of a product."""
    gated, eager = s.flag("model.gated_mlp"), word(s, "training.kernels") == "torch-eager"
    return COPIES(before=_before(gated, eager), product=input_share(s))


@cache
def _before(gated: bool, eager: bool) -> Figure:
    count = (3.0 if eager else 2.0) if gated else 1.0
    return given("tensors kept before the product", count, "1", "tests/golden/saved_bytes.toml")


@cache
def _one_byte() -> Figure:
    return given("bytes of a kept input in fp8", 1.0, "bytes", FP8_INPUTS)


def uncast(s: Situation) -> bool:
    """Whether compute takes the only copy of the weights as it is: nothing is gathered then where one rank has all of them."""
    return s.plan.training.framework in ONE_COPY and not one_copy(s)


def recipe(s: Situation, microbatches: Figure, ranks: Figure) -> Recipe:
    """States by framework, precision, optimizer and sharding over so many ranks."""
    sharding = word(s, "parallelism.sharding")
    cut = SHARDED[sharding]
    single = s.plan.training.framework in ONE_COPY
    gathers = "weights" in cut
    optimizer, restored = _optimizer(s, "optimizer" in cut, single)
    return Recipe(
        weights=_weights(s, gathers, single, ranks),
        gradients=_gradients(s, "gradients" in cut, single, microbatches),
        optimizer=optimizer,
        restored=restored,
        element=element_bytes(s),
        reduced=reduced_bytes(s),
        gathers=gathers and reshards(s),
    )


def reduced_bytes(s: Situation) -> Figure:
    """Bytes of a gradient in the type in which it is reduced."""
    dtype = word(s, "training.gradient_dtype")
    return _trait(s, "training.gradient_dtype", "bytes of a reduced gradient", ELEMENT[dtype], dtype)


def reshards(s: Situation) -> bool:
    """Whether gathered weights are dropped after forward; torchtitan keeps them with pipeline unless told otherwise."""
    if s.written("parallelism.reshard_after_forward"):
        return s.plan.parallelism.reshard_after_forward
    return not (s.plan.training.framework == "torchtitan" and s.plan.parallelism.pipeline > 1)


def goes_round(s: Situation) -> bool:
    """Whether PyTorch's ring attention gathers keys and values; Megatron-LM and DeepSpeed have their own."""
    one = isinstance(s["parallelism.context"], Figure) and s["parallelism.context"] == 1.0
    return s.plan.training.framework in ("torchtitan", "fsdp") and s.plan.parallelism.context_type == "ring" and not one


def moves_all(s: Situation) -> bool:
    """Whether an offload moves weights and gradients too: that of FSDP does, where it shards them at all."""
    sharded = word(s, "parallelism.sharding") not in ("none", "zero-1")
    return s.plan.training.framework in ALL_ON_HOST and sharded


def all_on_host(s: Situation) -> bool:
    """Whether weights, gradients and moments all live on the host."""
    return s.plan.training.optimizer_offload and moves_all(s)


def _weights(s: Situation, cut: bool, single: bool, ranks: Figure) -> State:
    """FSDP's zero-2 shards its one copy too, and keeps what it gathered until backward."""
    precision = s.plan.training.precision
    kept = 4.0 if precision == "fp32" or (single and precision != "bf16-pure") else 2.0
    gathered = single and word(s, "parallelism.sharding") == "zero-2"
    copy = float(element_bytes(s)) if gathered or (cut and not reshards(s)) else 0.0
    if all_on_host(s):
        return _state(s, "weight", 0.0, True, _HOST, copy)
    state = _state(s, "weight", kept, cut or gathered, _TITAN if single else _DIST, copy)
    return State(between_ranks(state.whole, ranks), state.shared) if copy and uncast(s) else state


def _gradients(s: Situation, cut: bool, single: bool, microbatches: Figure) -> State:
    dtype, precision = word(s, "training.gradient_dtype"), s.plan.training.precision
    kept = 4.0 if single and precision != "bf16-pure" else 2.0 if single else ELEMENT[dtype]
    if s.plan.training.framework == "deepspeed" and precision == "bf16-mixed" and dtype == "fp32":
        kept = 2.0 if cut else 6.0  # a bf16 gradient and, unless it is sharded, a full fp32 one
    if all_on_host(s):
        kept = 0.0
    state = _state(
        s, "gradient", kept, cut, _HOST if all_on_host(s) else _TITAN if single else _DEEP if kept == 6.0 else _DIST
    )
    if not cut or word(s, "training.gradient_accumulation") != "full":
        return state
    full = reduced_bytes(s)
    return State(
        f.accumulated_bytes(microbatches, full, state.whole), f.accumulated_bytes(microbatches, NO_OTHER, state.shared)
    )


def _optimizer(s: Situation, cut: bool, single: bool) -> tuple[State, State]:
    """From step to step, and while a checkpoint is read."""
    precision = s.plan.training.precision
    mixed = precision in ("bf16-mixed", "fp16-mixed", "fp8-mixed")
    host = s.plan.training.optimizer_offload
    kept = 4.0 if mixed and not single and not host else 0.0
    copied = not single and not host and precision == "fp16-mixed" and word(s, "training.gradient_dtype") == "fp16"
    master = _trait(s, "training.precision", "bytes of a master copy", kept, _DIST)
    count = (
        _trait(s, "training.optimizer_offload", "moments on the device", 0.0, "host memory", "1")
        if host
        else moment_count(s)
    )
    each, copy = moment_bytes(s), 4.0 if copied else 0.0
    stays = f.optimizer_bytes(
        master, count, each, _trait(s, "training.precision", "bytes of an fp32 gradient in the step", copy, _DIST)
    )
    steady, again = _divided(stays, cut), held_again(s.plan.training.framework, "moments")
    if host or (float(again) == 0.0 and not copied):
        return steady, steady
    aware = s.plan.training.framework == "megatron" and s.plan.training.moment_dtype != "fp32"
    loaded = f.restored_bytes(master, count, each, again if aware else _none_again(), again)
    return steady, _divided(loaded, cut)


@cache
def _none_again() -> Figure:
    return given("main weights held once more", 0.0, "1", "read into the ones that are there", kind="default")


def _divided(each: Figure, cut: bool) -> State:
    return State(SHARED_OUT, each) if cut else State(each, SHARED_OUT)


def _state(s: Situation, name: str, kept: float, cut: bool, source: str, copy: float = 0.0) -> State:
    whole = _trait(s, "training.precision", f"bytes of a {name} on every rank", copy if cut else kept + copy, source)
    return State(whole, _trait(s, "training.precision", f"bytes of a {name}, sharded", kept if cut else 0.0, source))


def _trait(s: Situation, path: str, name: str, value: float, source: str, unit: str = "bytes") -> Figure:
    return _of_field(path, name, value, source, unit, *s.origin(path))


@cache
def _of_field(path: str, name: str, value: float, source: str, unit: str, kind: str, verified: bool) -> Figure:
    return given(path, value, unit, f"{name}; {source}", kind=kind, verified=verified, is_field=True)
