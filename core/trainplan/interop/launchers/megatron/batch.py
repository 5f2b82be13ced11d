"""Batch, length, steps and data as Megatron's arguments say them, in the plan's terms.

NVIDIA/Megatron-LM d98e8a6, core/num_microbatches_calculator.py: batches by steps and the ramp; training/arguments.py: `--data-path`
as weights and prefixes, core/datasets/utils.py.
"""

from __future__ import annotations

import math
import re
from typing import Final

from trainplan.interop.launchers.megatron.saying import Saying
from trainplan.interop.launchers.options import Option
from trainplan.interop.manifests.counts import source_name

_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)([KMBT]?):(\d+)")
_TIMES: Final = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
MOST_STEPS: Final = 500
"""Entries of a batch schedule that are written."""


def batch(s: Saying) -> None:
    """Everything under `batch.` and `data.`, and the steps of the run as facts."""
    a = s.arguments
    length = a.count("seq_length") if a.has("seq_length") else None
    name = "seq_length" if length else "encoder_seq_length"
    length = length or (a.count(name) if not a.open("seq_length") else None)
    s.given("data.sequence_length", name, length)
    s.count("batch.micro_batch_sequences", "micro_batch_size")
    _global(s, length)
    s.count("run.steps", "train_iters")
    s.count("run.samples", "train_samples")
    s.count("run.tokens", "train_tokens")
    if a.listing:
        s.count("run.world_size", "world_size")
        s.count("run.replicas", "data_parallel_size")
    _data(s)
    save = a.option("save")
    if save is not None and len(save.values) == 1 and not save.unknown and "<" not in save.values[0].text:
        s.given("paths.checkpoints", "save", save.values[0].text)


def _global(s: Saying, length: int | None) -> None:
    a = s.arguments
    steps = a.option("step_batch_size_schedule")
    ramp = a.option("rampup_batch_size")
    size = a.count("global_batch_size")
    if steps is not None and not steps.unknown:
        entries = _steps(s, steps)
        if entries and length is None:
            s.note(
                "step_batch_size_schedule",
                "its thresholds are tokens where --seq-length is said, which it is not; left out",
            )
        elif entries:
            _schedule(s, "step_batch_size_schedule", entries, size)
        return
    s.given("batch.global_batch_sequences", "global_batch_size", size)
    if size is None and not a.open("global_batch_size"):
        s.telling.say("run.one_microbatch", True, s.place, "no --global-batch-size", implied=True)
    if ramp is not None and not ramp.unknown and size is not None and length is not None:
        entries = _ramp(s, ramp, size, length)
        if entries:
            _schedule(s, "rampup_batch_size", entries, size)


def _schedule(s: Saying, name: str, entries: list[tuple[int, int]], size: int | None) -> None:
    if len(entries) > MOST_STEPS:
        s.note(name, f"{len(entries):,} batch sizes; a plan written here has {MOST_STEPS} at most, left out")
        return
    if size is not None and size != entries[-1][1]:
        s.note(name, f"it ends with {entries[-1][1]:,} sequences, --global-batch-size is {size:,}; the schedule holds")
    s.given("batch.global_batch_sequences", name, entries[-1][1])
    if len(entries) > 1:
        listed = [{"from_tokens": begin, "global_batch_sequences": one} for begin, one in entries]
        s.given("batch.schedule", name, listed)


def _steps(s: Saying, option: Option) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for word in " ".join(one.text for one in option.values).split():
        match = _STEP.fullmatch(word)
        begin = round(float(match[1]) * _TIMES[match[2]]) if match else -1
        if match is None or not int(match[3]) or (found and begin <= found[-1][0]) or (not found and begin):
            s.problem(option.name, f"{option.words}: {word[:40]!r}. TOKENS:SEQUENCES in rising order from 0 is right")
            return []
        found.append((begin, int(match[3])))
    return found


def _ramp(s: Saying, option: Option, size: int, length: int) -> list[tuple[int, int]]:
    """Start, increment and samples: the batch grows by the increment each `samples / increments`, as the calculator has it."""
    texts = [part for one in option.values for part in re.findall(r"[\w.-]+", one.text)]
    numbers = [int(text.replace("_", "")) for text in texts if re.fullmatch(r"\d+(?:_\d+)*", text)]
    if len(numbers) != 3 or len(texts) != 3 or not numbers[1]:
        s.problem(option.name, f"{option.words}: three whole numbers, first batch, increment and samples, are right")
        return []
    first, more, samples = numbers
    if first > size or (size - first) % more or not first:
        s.problem(
            option.name,
            f"{option.words}: steps of {more:,} do not lead from {first:,} to the {size:,} of --global-batch-size. "
            "An increment that does is right",
        )
        return []
    increments = (size - first) // more
    each = samples / increments if increments else 0.0
    return [(math.ceil(each * number) * length, first + number * more) for number in range(increments + 1)]


def _data(s: Saying) -> None:
    a = s.arguments
    masks = ("reset_attention_mask", "dataloader_inter_document_masking")
    name = next((one for one in masks if a.flag(one)), "")
    if name:
        s.given("data.document_mask", name, True)
    elif a.has("seq_length"):
        s.taken("data.document_mask", False, "no --reset-attention-mask")
    a.used.update(masks)
    option = next((a.option(one) for one in ("data_path", "train_data_path") if a.has(one)), None)
    if option is None:
        return
    words = [part for one in option.values for part in (_listed(one.text) if a.listing else [one.text])]
    if any(one.unknown for one in option.values):
        a.telling.notes.append(f"{option.place}: {option.words}: {option.unknown}; sources are left out")
        return
    weights, names = words[0::2], words[1::2]
    if len(words) % 2 or not words or not all(re.fullmatch(r"\d*\.?\d+(?:[eE][+-]?\d+)?", one) for one in weights):
        return
    _sources(s, option, [float(one) for one in weights], names)


def _listed(text: str) -> list[str]:
    return re.findall(r"[^\s,'\"\[\]]+", text)


def _sources(s: Saying, option: Option, weights: list[float], names: list[str]) -> None:
    total, called = sum(weights), [source_name(one.rpartition("/")[2]) for one in names]
    if total <= 0 or len(set(called)) < len(called):
        s.note(option.name, f"{option.words}: sources of one name, or no weight; sources are left out")
        return
    listed = [{"name": name, "weight": float(f"{one / total:.12g}")} for name, one in zip(called, weights, strict=True)]
    s.given("data.sources", option.name, listed)
    s.given("data.sampler", option.name, "megatron-blended")
