"""Of which kind a file is that import reads, by the words in it; what no reader knows is of none.

A kind is told before anything is parsed, so that a broken file is refused by its own reader, with the place of the fault.
"""

from __future__ import annotations

import re
from typing import Final

from trainplan.interop.launchers.places import Page


def kind_of(page: Page) -> str:
    """`model`, `deepspeed`, `titan`, `listing`, `lines`, `script`, or empty for what no reader knows."""
    from trainplan.interop.launchers.megatron.lines import in_lines
    from trainplan.interop.launchers.megatron.listing import listed

    text = page.text.lstrip()
    if text.startswith("{"):
        return json_kind(text)
    if listed(page.text):
        return "listing"
    if _is_titan(page):
        return "titan"
    if in_lines(page.text):
        return "lines"
    named = page.file.endswith((".sh", ".bash", ".slurm", ".sbatch")) or page.text.startswith(_SHELLS)
    return "script" if named or _is_script(page.text) else ""


_SHELLS: Final = ("#!/bin/bash", "#!/bin/sh", "#!/usr/bin/env bash", "#!/usr/bin/env sh", "#!/usr/bin/bash")


def json_kind(text: str) -> str:
    """What a JSON text is by the words in it."""
    from trainplan.interop.otherfiles import words_of

    words = set(words_of(text))
    if words & {"model_type", "architectures"}:
        return "model"
    if words & _DEEP:
        return "deepspeed"
    return "titan" if len(words & _TITAN) >= 2 else "model"


_DEEP_WORDS: Final = (
    "zero_optimization train_micro_batch_size_per_gpu zero_allow_untested_optimizer wall_clock_breakdown "
    "train_batch_size"
)
_DEEP: Final = frozenset(_DEEP_WORDS.split())
_TITAN_WORDS: Final = (
    "data_parallel_shard_degree data_parallel_replicate_degree tensor_parallel_degree local_batch_size dump_folder "
    "hf_assets_path flavor num_tokens_per_microbatch_per_dp_rank pipeline_parallel_degree"
)
_TITAN: Final = frozenset(_TITAN_WORDS.split())


def _is_titan(page: Page) -> bool:
    from trainplan.interop.otherfiles import words_of

    return "[" in page.text and len(set(words_of(page.text)) & _TITAN) >= 2 and "--" not in page.text.split("[", 1)[0]


def _is_script(text: str) -> bool:
    from trainplan.interop.otherfiles import options_in

    found = options_in(text)
    return len(found) >= 2 or (len(found) == 1 and len(text) < 200) or _LAUNCH.search(text) is not None


_LAUNCH: Final = re.compile(
    r"(?m)^#SBATCH[ \t]|^[ \t]*(?:\w+=\S+[ \t]+)*"
    r"(?:torchrun|deepspeed|srun|accelerate launch|python3? -m torch\.distributed).* --\w"
)
