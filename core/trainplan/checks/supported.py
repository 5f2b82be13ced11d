"""Findings C18, C19, C20 and P14: a number type, a kernel, a head or a side that the part or the kernel does not take.

C18 and C19 are said only of parts whose entry has a compute capability: what nobody read is not judged.
"""

from __future__ import annotations

from typing import Final

from trainplan.budgets.shape import WIDEST, leaves_fused, older
from trainplan.estimation import Estimate
from trainplan.figure import Figure
from trainplan.finding import Finding
from trainplan.unit import whole

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
    """C19: FlashAttention on a part older than Ampere; LlamaFactory issue 3508 and Megatron-LM issue 525, on V100."""
    part = estimate.situation.part
    if part is None or estimate.plan.training.attention != "flash" or not older(estimate.situation):
        return []
    then = f"FlashAttention has no kernel for {part.name}"
    message = then + (KEPT if leaves_fused(estimate.situation) else "; it is counted as if another one stood in")
    paths = ("training.attention", "cluster.accelerator")
    return [Finding("C19", "warning", "compute", message, 'attention = "eager"', paths, 60)]


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


SUPPORTED_CHECKS: Final = (no_bf16, no_flash, wide_heads, uneven_fp8)
