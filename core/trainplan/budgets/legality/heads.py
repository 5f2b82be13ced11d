"""Rules of tensor parallelism: what of a layer is cut over tensor ranks, and what becomes of heads that do not divide."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Final

from trainplan.budgets.layout import Broken, Layout, divisors, nearest_of, whole

COPYLESS: Final = {
    "torchtitan": "torchtitan keeps",
    "fsdp": "tensor ranks beside FSDP keep",
    "deepspeed": "DeepSpeed keeps",
    "maxtext": "MaxText keeps",
}
"""Frameworks with which a rank holds whole key heads of its own.

torchtitan b5bcd76, models/common/decoder.py; huggingface/transformers issue 48307; DeepSpeed edaa722, module_inject/tp_shard.py,
get_shard_size; MaxText e591f30, kernels/attention: validate_head_sharding.
"""


def heads_and_widths(layout: Layout) -> Iterator[Broken]:
    """G6 and G7: tensor ranks divide query heads, the MLP width, and key heads or the other way round.

    What one number of ranks mends is one finding. Key heads that do not divide the query heads are the model's fault, not G7's.
    """
    tensor, keys = layout.degree("tensor"), None if layout.shape.latent else whole(layout.shape.key_value_heads)
    uneven, rests = spread_unevenly(layout, keys), _rests(layout, tensor)
    heads = layout.size("model.num_attention_heads") or 0
    keys_left = keys is not None and keys % tensor != 0 and heads % keys == 0
    if rests and uneven and keys_left:
        rests["model.num_key_value_heads"] = f"{keys} key heads"
    if rests:
        yield _uncut(layout, rests, tensor, uneven=uneven)
    if keys is not None and keys_left and not {"model.num_attention_heads", "model.num_key_value_heads"} & set(rests):
        yield _key_heads(layout, keys, tensor, uneven=uneven)


def _rests(layout: Layout, tensor: int) -> dict[str, str]:
    """What tensor ranks do not divide of query heads and MLP width, in words by field."""
    names = {"model.num_attention_heads": "query heads"}
    if not all(layout.shape.sparse):
        names["model.intermediate_size"] = "columns of the MLP"
    sizes = {path: layout.size(path) for path in names}
    return {path: f"{size:,} {names[path]}" for path, size in sizes.items() if size is not None and size % tensor}


def _uncut(layout: Layout, rests: dict[str, str], tensor: int, *, uneven: bool) -> Broken:
    """G6: all that does not divide, and ranks that divide it: with uneven parts the key heads too."""
    *others, last = rests.values()
    told = f"{', '.join(others)} and {last}" if others else last
    near = nearest_of(tensors(layout), tensor)
    message = f"{told} do not divide over {tensor} tensor ranks{UNEVENLY if uneven else ''}"
    paths, reason = ("parallelism.tensor", *rests), f"{told} not divisible by tensor"
    return Broken("G6", message, f"tensor = {near}", paths, reason, "warning" if uneven else "error")


UNEVENLY: Final = ": AutoTP gives some more, and all wait for these; Megatron-DeepSpeed refuses"


def spread_unevenly(layout: Layout, keys: int | None) -> bool:
    """Whether DeepSpeed's AutoTP cuts what does not divide: each rank has a key head at least.

    DeepSpeed edaa722, module_inject/tp_shard.py, get_shard_size: heads in slices of a key head, widths in grains.
    """
    return (
        layout.situation.plan.training.framework == "deepspeed" and keys is not None and keys >= layout.degree("tensor")
    )


def _key_heads(layout: Layout, keys: int, tensor: int, *, uneven: bool) -> Broken:
    paths, reason = ("parallelism.tensor", "model.num_key_value_heads"), f"{keys} key heads not divisible by tensor"
    most = f"tensor = {_most_keys(layout, keys, tensor)}"
    owner = COPYLESS.get(layout.situation.plan.training.framework)
    if uneven:
        return Broken(
            "G7", f"{keys} key heads do not divide over {tensor} tensor ranks{UNEVENLY}", most, paths, reason, "warning"
        )
    if owner is not None:
        message = f"{keys} key heads do not divide over {tensor} tensor ranks, and {owner} no copies"
        return Broken("G7", message, most, paths, reason)
    if tensor % keys:
        message = f"{keys} key heads are neither a multiple nor a divisor of {tensor} tensor ranks"
        return Broken("G7", message, most, paths, reason)
    message = f"{keys} key heads on {tensor} tensor ranks: Megatron core 0.16 keeps copies, older versions refuse"
    return Broken("G7", message, f"tensor = {keys}, or a version that keeps copies", paths, reason, "warning")


def _most_keys(layout: Layout, keys: int, tensor: int) -> str:
    """The nearest tensor ranks that divide the key heads too."""
    return nearest_of([step for step in tensors(layout) if keys % step == 0], tensor)


def tensors(layout: Layout) -> list[int]:
    """Tensor ranks that divide query heads and the MLP width, and key heads or, where they are copied, the other way round."""
    heads, width = layout.size("model.num_attention_heads") or 0, layout.size("model.intermediate_size") or 0
    keys = 0 if layout.shape.latent else whole(layout.shape.key_value_heads) or 0
    common = gcd(heads, 0 if layout.shape.sparse and all(layout.shape.sparse) else width) or keys
    copies = layout.situation.plan.training.framework not in COPYLESS
    return [step for step in divisors(common) if not keys or keys % step == 0 or (copies and step % keys == 0)]
