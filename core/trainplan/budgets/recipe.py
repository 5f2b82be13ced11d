"""What a precision recipe and an optimizer keep of each parameter, as traits looked up, each with its source."""

from __future__ import annotations

from functools import cache
from typing import Final

from trainplan.budgets.situation import Situation
from trainplan.catalogue import entry
from trainplan.formulas.storage import saved_bytes_per_parameter
from trainplan.quantity.figure import Figure, given

MEGATRON: Final = "Megatron-LM docs dist_optimizer.md"
TORCHTITAN: Final = "torchtitan configs.py: parameters are kept in float32 shards, compute in bf16"

WEIGHT_BYTES: Final = {"fp32": 4.0, "bf16-mixed": 2.0, "bf16-pure": 2.0, "fp16-mixed": 2.0, "fp8-mixed": 2.0}
"""Bytes of a weight in a checkpoint, by precision; fp8 recipes save bf16 weights beside the master copy."""

MASTER_BYTES: Final = {"fp32": 0.0, "bf16-mixed": 4.0, "bf16-pure": 0.0, "fp16-mixed": 4.0, "fp8-mixed": 4.0}
"""Bytes of the master copy, by precision."""

ONE_COPY: Final = ("torchtitan", "fsdp", "maxtext")
"""Frameworks whose only copy of a mixed-precision weight is the fp32 one."""

MOMENT_BYTES: Final = {"fp32": 4.0, "bf16": 2.0}


def checkpoint_bytes_per_parameter(s: Situation) -> Figure:
    """Bytes that a full checkpoint saves of each parameter: weights, master copy, optimizer moments."""
    training, single = s.plan.training, one_copy(s)
    weight = 0.0 if single else WEIGHT_BYTES[training.precision]
    master = MASTER_BYTES[training.precision]
    source = TORCHTITAN if single else MEGATRON
    return saved_bytes_per_parameter(
        _saved("bytes of a saved weight", weight, source),
        _saved("bytes of a saved master copy", master, source),
        moment_count(s),
        moment_bytes(s),
    )


def one_copy(s: Situation) -> bool:
    """Whether a mixed-precision weight has its fp32 copy alone, which is cast for compute: no second weight is saved or written."""
    return s.plan.training.framework in ONE_COPY and MASTER_BYTES[s.plan.training.precision] > 0.0


@cache
def _saved(name: str, value: float, source: str) -> Figure:
    return given(name, value, "bytes", source)


def moment_count(s: Situation) -> Figure:
    """Moments that the optimizer keeps of each parameter."""
    return _trait(s, "moments")


def moment_bytes(s: Situation) -> Figure:
    """Bytes of one moment: the optimizer's own type where it has one, else the plan's."""
    optimizer = entry("optimizers", s.plan.training.optimizer)
    if optimizer is not None and optimizer.get("moment_bytes") is not None:
        return _trait(s, "moment_bytes")
    return _of_type(s.plan.training.moment_dtype, "file" if s.written("training.moment_dtype") else "default")


@cache
def _of_type(dtype: str, kind: str) -> Figure:
    return given("bytes of a moment", MOMENT_BYTES[dtype], "bytes", f"training.moment_dtype {dtype}", kind=kind)


def _trait(s: Situation, key: str) -> Figure:
    return _of_optimizer(s.plan.training.optimizer, key)


@cache
def _of_optimizer(name: str, key: str) -> Figure:
    optimizer = entry("optimizers", name)
    if optimizer is None:
        raise LookupError(f"catalogue has no optimizer {name}")
    fact = optimizer[key]
    return given(
        f"catalogue.optimizers.{name}.{key}", float(fact.value), fact.unit, fact.source, verified=fact.verified
    )
