"""Which layers have a window and which have experts, by the rules of each architecture, as one word for each layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from trainplan.interop.huggingface.reading import Reading

FULL: Final = "full_attention"
SLIDING: Final = "sliding_attention"
CHUNKED: Final = "chunked_attention"

MOST_LAYERS: Final = 10_000
"""Above it a depth is a mistake; lists of layers are not made for it."""


def layer_types(reading: Reading, rule: str, depth: int) -> tuple[str, ...]:
    """Kind of attention of each layer: the file's own list, else the rule of the architecture."""
    listed = reading.value("layer_types")
    if listed is not None:
        return _listed(reading, listed, depth)
    return WINDOWS[rule](reading, depth)


def _listed(reading: Reading, listed: Any, depth: int) -> tuple[str, ...]:
    words = tuple(cast("list[str]", listed)) if isinstance(listed, list) else ()
    other = sorted({str(word) for word in words} - {FULL, SLIDING, CHUNKED})
    if other:
        reading.problems.append(
            f"layer_types holds {', '.join(other)}. A plan knows full, sliding and chunked attention."
        )
        return ()
    if len(words) != depth:
        reading.problems.append(f"layer_types has {len(words)} entries. One for each of {depth} layers is right.")
        return ()
    return words


def _full(reading: Reading, depth: int) -> tuple[str, ...]:
    return (FULL,) * depth


def _every(reading: Reading, depth: int) -> tuple[str, ...]:
    return (SLIDING if reading.value("sliding_window") else FULL,) * depth


def _late(reading: Reading, depth: int) -> tuple[str, ...]:
    used, first = reading.flag("use_sliding_window", False), reading.count("max_window_layers", least=0)
    if not used or not reading.value("sliding_window"):
        return (FULL,) * depth
    return tuple(SLIDING if layer >= (28 if first is None else first) else FULL for layer in range(depth))


def _alternate(reading: Reading, depth: int) -> tuple[str, ...]:
    return tuple(FULL if layer % 2 else SLIDING for layer in range(depth))


def _pattern(reading: Reading, depth: int) -> tuple[str, ...]:
    names = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
    letters = reading.value(*names)
    if not reading.value("sliding_window"):
        return (FULL,) * depth
    if isinstance(letters, str) and letters:
        return tuple(SLIDING if letters[layer % len(letters)] == "L" else FULL for layer in range(depth))
    every = reading.count(*names) or 1
    return tuple(FULL if (layer + 1) % every == 0 else SLIDING for layer in range(depth))


def _spaced(reading: Reading, depth: int) -> tuple[str, ...]:
    return tuple(SLIDING if layer % 4 else FULL for layer in range(depth))


def _chunked(reading: Reading, depth: int) -> tuple[str, ...]:
    if not reading.value("attention_chunk_size"):
        return (FULL,) * depth
    rotated, every = reading.value("no_rope_layers"), reading.count("no_rope_layer_interval") or 4
    if isinstance(rotated, list) and len(cast("list[Any]", rotated)) == depth:
        return tuple(CHUNKED if flag else FULL for flag in cast("list[Any]", rotated))
    return tuple(FULL if (layer + 1) % every == 0 else CHUNKED for layer in range(depth))


def _local(reading: Reading, depth: int) -> tuple[str, ...]:
    groups: Any = reading.value("attention_types") or [[["global", "local"], depth]]
    try:
        names = [str(name) for kinds, times in groups for name in list(kinds) * min(int(times), depth)]
    except (TypeError, ValueError):
        reading.problems.append(f"attention_types is {groups!r}. Pairs of a list of kinds and a number are right.")
        names = []
    return tuple(SLIDING if name == "local" else FULL for name in names[:depth])


WINDOWS: Final[dict[str, Callable[[Reading, int], tuple[str, ...]]]] = {
    "listed": _full,
    "every": _every,
    "late": _late,
    "alternate": _alternate,
    "pattern": _pattern,
    "spaced": _spaced,
    "chunked": _chunked,
    "local": _local,
}


def sparse_layers(reading: Reading, rule: str, depth: int) -> tuple[bool, ...]:
    """Which layers have experts: the file's own list, else the rule of the architecture."""
    listed = reading.value("mlp_layer_types")
    if isinstance(listed, list) and len(cast("list[Any]", listed)) == depth:
        return tuple(word == "sparse" for word in cast("list[Any]", listed))
    if listed is not None:
        reading.problems.append(
            f"mlp_layer_types is {listed!r}. One of dense and sparse for each of {depth} layers is right."
        )
    return SPARSE[rule](reading, depth)


def _all(reading: Reading, depth: int) -> tuple[bool, ...]:
    return (True,) * depth


def _leading(reading: Reading, depth: int) -> tuple[bool, ...]:
    first = reading.count("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", least=0) or 0
    end, flags = reading.count("moe_layer_end_index", least=-1), reading.value("moe_layer_freq")
    if isinstance(flags, list) and len(cast("list[Any]", flags)) == depth:
        return tuple(bool(flag) for flag in cast("list[Any]", flags))
    every, step = reading.count("moe_layer_freq") or 1, reading.count("moe_layer_interval") or 1
    last = depth - 1 if end in (None, -1) else end
    return tuple(first <= layer <= last and layer % every == 0 and (layer + 1) % step == 0 for layer in range(depth))


def _stepped(reading: Reading, depth: int) -> tuple[bool, ...]:
    listed, step = reading.value("mlp_only_layers"), reading.count("decoder_sparse_step") or 1
    dense = cast("list[Any]", listed) if isinstance(listed, list) else []
    return tuple(layer not in dense and (layer + 1) % step == 0 for layer in range(depth))


def _interleaved(reading: Reading, depth: int) -> tuple[bool, ...]:
    listed, step = reading.value("moe_layers"), reading.count("interleave_moe_layer_step") or 1
    if isinstance(listed, list):
        return tuple(layer in cast("list[Any]", listed) for layer in range(depth))
    return tuple((layer + 1) % step == 0 for layer in range(depth))


SPARSE: Final[dict[str, Callable[[Reading, int], tuple[bool, ...]]]] = {
    "every": _all,
    "leading": _leading,
    "stepped": _stepped,
    "interleaved": _interleaved,
}


def spacing(sparse: tuple[bool, ...]) -> tuple[int, int] | None:
    """The plan's `first_k_dense_replace` and `moe_layer_freq` that mean these layers; None where no pair does."""
    if True not in sparse:
        return None
    first = sparse.index(True)
    for every in range(1, len(sparse) + 1):
        for start in {0, first}:
            if all(one == (layer >= start and layer % every == 0) for layer, one in enumerate(sparse)):
                return start, every
    return None
