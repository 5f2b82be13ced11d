"""Which program a file is of that `import` does not read, by the words in it: named in the refusal, with what to do instead.

Words are told from the text as they stand, in JSON, TOML, YAML, Python or a shell script: nothing is parsed, run or followed.
It refuses to translate: words that have a field here are named with its path, and a person sets it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from trainplan.plan.othernames import ALIASES

_WORD: Final = re.compile(
    r"""(?m)^[ \t{,]*["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=]|[{,]\s*"(\w+)"\s*:|(?<![\w-])--([a-z][\w-]*)"""
)
OWN: Final = frozenset({"model_type", "architectures"})
"""Words of a config.json, which is read; what is wrong with one is said by its reader."""
_IMPORTED: Final = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]+(torchtitan|nemo)\b")
MOST: Final = 200_000
"""Characters that are looked at: settings stand at the head."""
TOLD: Final = 6


class Kind(NamedTuple):
    """One kind of file: what it is called, words of which it has some, how many at least, and what is done with it instead."""

    name: str
    words: frozenset[str]
    least: int
    instead: str


READS: Final = "a Hugging Face config.json, Megatron arguments, a DeepSpeed or torchtitan configuration"
"""What import reads, in words."""

_BESIDE: Final = "The config.json that import reads lies beside it"
_SET: Final = "Import the model's config.json, or begin with trainplan-tui new, and set what this file says"


def _kind(name: str, words: str, least: int = 1, instead: str = _SET) -> Kind:
    return Kind(name, frozenset(words.split()), least, instead)


KINDS: Final = (
    _kind(
        "a plan of this program",
        "train_tokens global_batch_sequences accelerators_per_node num_hidden_layers format",
        3,
        "trainplan-tui show, set and check take it as it is",
    ),
    _kind("an index of weights", "weight_map", 1, _BESIDE),
    _kind("a tokenizer", "added_tokens pre_tokenizer post_processor chat_template added_tokens_decoder", 2, _BESIDE),
    _kind(
        "a DeepSpeed configuration",
        "zero_optimization train_micro_batch_size_per_gpu zero_allow_untested_optimizer wall_clock_breakdown",
    ),
    _kind("a torchtitan configuration in Python", "import:torchtitan"),
    _kind(
        "a torchtitan configuration",
        "data_parallel_shard_degree data_parallel_replicate_degree tensor_parallel_degree local_batch_size dump_folder "
        "hf_assets_path flavor",
        2,
    ),
    _kind("a NeMo configuration", "exp_manager mcore_gpt restore_from_path megatron_amp_o2 nemo_version import:nemo"),
    _kind("arguments of the Transformers Trainer", "per_device_train_batch_size num_train_epochs"),
    _kind("a configuration of accelerate", "distributed_type compute_environment fsdp_config deepspeed_config"),
    _kind(
        "arguments of Megatron-LM",
        "tensor_model_parallel_size pipeline_model_parallel_size micro_batch_size global_batch_size seq_length "
        "num_layers_per_virtual_pipeline_stage use_distributed_optimizer use_mcore_models",
    ),
)
"""Kinds in the order in which they are tried: a word of a later one stands in files of an earlier one too.

DeepSpeed's and torchtitan's documented configuration keys, NeMo's megatron_gpt_config.yaml, accelerate's default_config.yaml,
Transformers' TrainingArguments and Megatron-LM's training/arguments.py.
"""


def recognised(text: str) -> str:
    """What the file is and what to do instead, as sentences; empty where no kind is known by it."""
    words = dict.fromkeys(words_of(text[:MOST]))
    kind = next((one for one in KINDS if len(one.words & words.keys()) >= one.least), None)
    if kind is None or words.keys() & OWN:
        return ""
    ours = [f"{word} is {path}" for word in words if (path := _path(word))] if kind.instead == _SET else []
    more = f", and {len(ours) - TOLD} more" if len(ours) > TOLD else ""
    listed = f": {', '.join(ours[:TOLD])}{more}" if ours else ""
    return f"recognised as {kind.name}, in a form that import does not read: it reads {READS}. {kind.instead}{listed}"


def words_of(text: str) -> list[str]:
    """Keys and options in the order in which they stand, with underscores; the modules that Python imports."""
    found = [next(filter(None, match)).rpartition(".")[2].lower().replace("-", "_") for match in _WORD.findall(text)]
    return found + [f"import:{name}" for name in _IMPORTED.findall(text)]


def _path(word: str) -> str:
    """The field that a word leads to; empty where it leads to none."""
    return next((path for path in ALIASES.get(word, ()) if "." in path), "")


_OPTION: Final = re.compile(r"""(?<![\w-])[-‐‑‒–—―−]{1,2}([a-z][\w-]*)""")
"""An option, also where a wiki made its dashes prettier, which its reader refuses in words."""


def options_in(text: str) -> set[str]:
    """Options of Megatron that stand in a text, by the names of its arguments."""
    from trainplan.interop.launchers.script.commands import CORE

    return {name.replace("-", "_") for name in _OPTION.findall(text)} & CORE
