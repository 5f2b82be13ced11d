"""Findings C18 to C22 and P14: a number type, a kernel, a head or a side that the part, the kernel or the framework does not take.

C18 and C19 judge only parts whose entry has a compute capability: what nobody read is not judged.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.legality.frameworks import Released
from trainplan.budgets.shape import WIDEST, in_fp32, leaves_fused, local, older
from trainplan.estimation import Estimate
from trainplan.finding import Finding
from trainplan.quantity.figure import Figure
from trainplan.quantity.unit import whole

KEPT: Final = ": TransformerEngine keeps every score instead, in memory and time"
FP8_SIDE: Final = 16
"""Elements of which the sides of an fp8 product are multiples: TransformerEngine's own message, and torch._scaled_mm."""


def no_bf16(estimate: Estimate) -> list[Finding]:
    """C18: bf16 on a part without it; stanford_alpaca issue 133, dolly issue 11 and nanoGPT pull request 277, on V100."""
    precision, part = estimate.plan.training.precision, estimate.situation.part
    if part is None or not precision.startswith("bf16") or not older(estimate.situation):
        return []
    message = f"{part.name} has no bf16: frameworks refuse it, or compute it in fp32"
    return [Finding("C18", "error", "compute", message, 'precision = "fp16-mixed"', ("training.precision",), 1e5)]


def no_flash(estimate: Estimate) -> list[Finding]:
    """C19: FlashAttention on a part older than Ampere, in fp32, or in Megatron-LM's own layers.

    LlamaFactory issue 3508 and Megatron-LM issue 525, on V100. PyTorch's own attention has a kernel for fp32, so that is said of
    TransformerEngine alone.
    """
    s, part = estimate.situation, estimate.situation.part
    if estimate.plan.training.attention != "flash":
        return []
    fix = 'attention = "eager"'
    if part is not None and older(s):
        lacking, field = f"FlashAttention has no kernel for {part.name}", "cluster.accelerator"
    elif local(s):
        lacking, field = "Megatron-LM's own layers have no FlashAttention", "training.kernels"
        fix = 'kernels = "megatron-te", or attention = "eager"'
    elif in_fp32(s) and leaves_fused(s):
        lacking, field = "FlashAttention has no kernel for fp32", "training.precision"
    else:
        return []
    kept = KEPT.replace("TransformerEngine keeps", "they keep") if local(s) else KEPT
    message = lacking + (kept if leaves_fused(s) else "; it is counted as if another one stood in")
    return [Finding("C19", "warning", "compute", message, fix, ("training.attention", field), 60)]


def wide_heads(estimate: Estimate) -> list[Finding]:
    """P14: a head wider than FlashAttention takes; xformers issue 1027 and flash-attention issues 277 and 801."""
    shape = estimate.model.shape
    sizes = [size for size in (shape.query_size, shape.value_size) if isinstance(size, Figure) and size > WIDEST]
    if estimate.plan.training.attention != "flash" or not sizes:
        return []
    message = f"FlashAttention takes heads of {WIDEST:.0f} at most, and one here has {whole(max(sizes))}"
    message += KEPT if leaves_fused(estimate.situation) else "; it is counted as if another kernel stood in"
    fix = 'attention = "eager", or narrower heads'
    return [Finding("P14", "warning", "model", message, fix, ("model.head_dim", "training.attention"), 60)]


def uneven_fp8(estimate: Estimate) -> list[Finding]:
    """C20: a product in fp8 whose sides are no multiple of 16, outside Megatron, whose own rule is G19 of the layout.

    torch._scaled_mm refuses such sides, and what converts layers to fp8 leaves them in 16 bits or pads them.
    """
    s, sides = estimate.situation, _sides(estimate)
    if estimate.plan.training.precision != "fp8-mixed" or estimate.plan.training.framework == "megatron":
        return []
    wrong = {path: told for path, (size, told) in sides.items() if size % 1.0 == 0.0 and size % FP8_SIDE != 0}
    if not wrong:
        return []
    message = f"{' and '.join(wrong.values())}: no multiple of {FP8_SIDE}, which fp8 products ask for"
    near = next(iter(wrong))
    size = s.value(near)
    known = isinstance(size, int | float) and size > FP8_SIDE
    fix = f"{near.partition('.')[2]} = {int(size // FP8_SIDE) * FP8_SIDE}, or " if known else ""
    fix += 'precision = "bf16-mixed"'
    return [Finding("C20", "warning", "compute", message, fix, ("training.precision", *wrong), 1e4)]


def _sides(estimate: Estimate) -> dict[str, tuple[float, str]]:
    """Sides of a dense block's products on one rank by the field that decides them, with words; 0 where none is known."""
    s = estimate.situation
    tokens = _side(s["data.sequence_length"], s["batch.micro_batch_sequences"], s["parallelism.context"])
    hidden = _side(s["model.hidden_size"])
    dense = not estimate.model.shape.sparse or not all(estimate.model.shape.sparse)
    width = _side(s["model.intermediate_size"], ranks=s["parallelism.tensor"]) if dense else 0.0
    return {
        "data.sequence_length": (tokens, f"{tokens:,.0f} tokens of a context rank"),
        "model.hidden_size": (hidden, f"{hidden:,.0f} hidden_size"),
        "model.intermediate_size": (width, f"{width:,.0f} MLP columns of a tensor rank"),
    }


def _side(size: object, times: object = 1.0, ranks: object = 1.0) -> float:
    """Elements of a side on one rank; none where its size is not known."""
    numbers = (size, times, ranks)
    if not all(isinstance(one, float | int) for one in numbers):
        return 0.0
    return float(size) * float(times) / float(ranks)  # type: ignore[arg-type]


OPTIMIZERS: Final[dict[str, Released]] = {
    "megatron": Released(
        "Megatron-LM",
        ("adamw", "muon", "lion", "sgd-momentum"),
        "Megatron-LM d98e8a6, training/arguments.py: --optimizer adam, sgd, muon, lion, soap, adaptive_muon",
    ),
    "torchtitan": Released(
        "torchtitan",
        ("adamw", "muon"),
        "torchtitan b5bcd76, components/optimizer/optimizer.py: Adam, AdamW, DistMuon, and NotImplementedError for others",
    ),
    "maxtext": Released(
        "MaxText",
        ("adamw", "muon", "sgd-momentum"),
        "MaxText e591f30, configs/types.py, OptimizerType: adamw, adam_pax, sgd, muon",
    ),
}
"""Optimizers by framework; DeepSpeed and FSDP take what they are handed."""

TESTED: Final = ("adamw", "lion", "muon")
"""Optimizers that DeepSpeed's stages take unasked: DeepSpeed edaa722, runtime/zero/utils.py, ZERO_SUPPORTED_OPTIMIZERS."""


def unreleased_optimizer(estimate: Estimate) -> list[Finding]:
    """C21: an optimizer that the framework's released code has not, or that its sharding takes on request alone."""
    training, paths = estimate.plan.training, ("training.optimizer", "training.framework")
    word, has = training.optimizer, OPTIMIZERS.get(training.framework)
    if has is not None and word not in has.words:
        message = f"{has.name}'s released code has no {word}: it has {', '.join(has.words[:-1])} and {has.words[-1]}"
        fix = f'optimizer = "adamw"; the plan stands for a fork that has {word}'
        return [Finding("C21", "warning", "compute", message, fix, paths, 1e4)]
    sharded = estimate.situation.word("parallelism.sharding") != "none"
    if training.framework != "deepspeed" or word in TESTED or not sharded:
        return []
    message = f"DeepSpeed's stages refuse {word} unless zero_allow_untested_optimizer is set"
    return [Finding("C21", "warning", "compute", message, 'optimizer = "adamw", or that key set', paths, 1e4)]


def refused_types(estimate: Estimate) -> list[Finding]:
    """C22: number types that the framework refuses with the optimizer, or has not.

    Megatron-LM d98e8a6, core/optimizer: __init__.py, no fp16 with emerging optimizers; optimizer_config.py, the precision-aware
    optimizer is Adam's. torchtitan b5bcd76, config/configs.py: mixed_precision_param is bfloat16 or float32.
    """
    training, found = estimate.plan.training, list[tuple[str, str, tuple[str, ...]]]()
    word = training.optimizer
    if training.framework == "torchtitan" and training.precision == "fp16-mixed":
        told, paths = (
            "torchtitan has no fp16: it computes in bf16 or fp32",
            ("training.precision", "training.framework"),
        )
        found.append((told, 'precision = "bf16-mixed"', paths))
    if training.framework == "megatron" and word in EMERGING and training.precision == "fp16-mixed":
        paths = ("training.precision", "training.optimizer")
        found.append((f"{word} in fp16: Megatron-LM refuses it", 'precision = "bf16-mixed"', paths))
    if training.framework == "megatron" and word != "adamw":
        for name, on, fix in (
            ("moment_dtype", training.moment_dtype == "bf16", 'moment_dtype = "fp32"'),
            ("optimizer_offload", training.optimizer_offload, "optimizer_offload = false"),
        ):
            told = f"{name} with {word}: Megatron-LM's precision-aware optimizer, which it needs, is Adam's alone"
            found.extend([(told, fix, (f"training.{name}", "training.optimizer"))] if on else [])
    return [Finding("C22", "error", "compute", told, fix, paths, 1e5) for told, fix, paths in found]


def scattered_muon(estimate: Estimate) -> list[Finding]:
    """C22: DeepSpeed edaa722, runtime/zero: stage3.py, and stage_1_and_2.py with offload, refuse muon over reduce-scatter."""
    training, sharding = estimate.plan.training, estimate.situation.word("parallelism.sharding")
    offloaded = training.optimizer_offload and sharding in ("zero-1", "zero-2")
    if training.framework != "deepspeed" or training.optimizer != "muon":
        return []
    if sharding not in ("zero-3", "hsdp") and not offloaded:
        return []
    what = f"{sharding} and optimizer_offload" if offloaded else str(sharding)
    message = f"muon with {what}: DeepSpeed refuses it while reduce_scatter is on, as it is unless told otherwise"
    paths = ("training.optimizer", "parallelism.sharding", *(["training.optimizer_offload"] if offloaded else []))
    return [Finding("C22", "warning", "compute", message, 'optimizer = "adamw", or reduce_scatter off', paths, 1e4)]


EMERGING: Final = ("muon", "lion")
"""What Megatron-LM calls emerging optimizers, of the plan format's words."""

SUPPORTED_CHECKS: Final = (
    no_bf16,
    no_flash,
    wide_heads,
    uneven_fp8,
    unreleased_optimizer,
    refused_types,
    scattered_muon,
)
