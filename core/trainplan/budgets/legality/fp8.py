"""What products in fp8 refuse: sizes of a layer on one rank, and tokens of a microbatch, that tensor cores do not divide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainplan.budgets.layout import Broken, Layout, divisors, whole

ROWS: Final = 8
COLUMNS: Final = 16
"""What the sizes of a matrix are multiples of in fp8: all but the last together, and the last.

TransformerEngine pytorch/utils.py: assert_dim_for_fp8_exec.
"""


def fp8_sizes(layout: Layout) -> Iterator[Broken]:
    """G19: sizes of a layer's products on one rank that fp8 of TransformerEngine refuses."""
    plan = layout.situation.plan
    if plan.training.precision != "fp8-mixed" or plan.training.framework != "megatron":
        return
    tensor = layout.degree("tensor")
    for name, size, ranks in _products(layout):
        if size % ranks == 0 and size // ranks % COLUMNS:
            message = f"{name} {size:,} on {ranks} ranks is no multiple of {COLUMNS}, which fp8 products need"
            legal = [step for step in divisors(size) if ranks == tensor and _all_fit(layout, step)]
            fewer = f", or tensor = {max(legal)}" if legal else ""
            paths, reason = (
                ("training.precision", "parallelism.tensor"),
                f"{size:,} {name} not divisible by {COLUMNS} x tensor",
            )
            yield Broken("G19", message, f'precision = "bf16-mixed"{fewer}', paths, reason)
            return


def _products(layout: Layout, tensor: int | None = None) -> Iterator[tuple[str, int, int]]:
    """Sizes that fp8 products have, and the ranks that divide them."""
    ranks = layout.degree("tensor") if tensor is None else tensor
    heads, value = layout.size("model.num_attention_heads"), whole(layout.shape.value_size)
    width, experts = layout.size("model.intermediate_size"), layout.size("model.moe.moe_intermediate_size")
    if hidden := layout.size("model.hidden_size"):
        yield "width", hidden, 1
    if heads and value:
        yield "attention output", heads * value, ranks
    if width and not all(layout.shape.sparse):
        yield "MLP width", width, ranks
    if experts and layout.shape.expert_layers is not None:
        yield "expert width", experts, layout.degree("expert_tensor")


def _all_fit(layout: Layout, tensor: int) -> bool:
    return all(size % ranks == 0 and size // ranks % COLUMNS == 0 for _, size, ranks in _products(layout, tensor))


def fp8_tokens(layout: Layout) -> Iterator[Broken]:
    """G19: tokens of a microbatch on one rank, which are the rows of every product; NVIDIA-NeMo/Speech pull 8869 pads them."""
    plan, length, micro = layout.situation.plan, layout.sequence_length, layout.size("batch.micro_batch_sequences")
    if (
        plan.training.precision != "fp8-mixed"
        or plan.training.framework != "megatron"
        or length is None
        or micro is None
    ):
        return
    ranks = layout.degree("context") * (layout.degree("tensor") if plan.parallelism.sequence_parallel else 1)
    rows, over = divmod(length * micro, ranks)
    if over or rows % ROWS == 0:
        return
    message = f"{rows:,} tokens of a microbatch on one rank are no multiple of {ROWS}, which fp8 products need"
    near = length // (ROWS * ranks) * ROWS * ranks
    told = " or ".join(f"{count:,}" for count in (near, near + ROWS * ranks) if count)
    paths, reason = ("data.sequence_length", "training.precision"), f"tokens on a rank not divisible by {ROWS}, in fp8"
    yield Broken("G19", message, f'a sequence of {told} tokens, or precision = "bf16-mixed"', paths, reason)


def accumulated_fp8(layout: Layout) -> Iterator[Broken]:
    """G19: MaxText e591f30, configs/types.py: fp8 with delayed scales or its own recipe accumulates no gradients."""
    plan, count = layout.situation.plan, layout.microbatches
    alone = layout.degree("pipeline") == 1
    if plan.training.framework != "maxtext" or plan.training.precision != "fp8-mixed" or not alone:
        return
    if count is None or count == 1:
        return
    message = f"fp8 with {count} microbatches accumulated: MaxText refuses it but for current scaling and MXFP8"
    paths, reason = ("training.precision", "batch.micro_batch_sequences"), "MaxText's fp8 with accumulated gradients"
    yield Broken("G19", message, "larger microbatches, or te_fp8_currentscaling", paths, reason, "warning")
