"""The text of a new plan: what was answered, and in comments what every default means and what is still asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainplan.plan.edit import literal_of_typed
from trainplan.plan.literals import literal_of

if TYPE_CHECKING:
    from trainplan.interop.huggingface import Imported


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person said of a new plan; None is left open. Numbers are as typed."""

    name: str
    model: str | None = None
    accelerator: str | None = None
    nodes: str | None = None
    train_tokens: str | None = None
    sequence_length: str | None = None
    global_batch: str | None = None
    price: str | None = None


def new_plan_text(answers: Answers) -> str:
    """A plan file of the answers. What was not answered stands as a comment with what it decides."""
    lines = ["format = 1", f"name = {literal_of(answers.name)}", ""]
    lines += ["[model]", _line("preset", _text(answers.model), "a catalogue entry: trainplan-tui catalog models"), ""]
    lines += ["[data]"]
    lines += [_line("train_tokens", _typed(answers.train_tokens), "tokens consumed over the whole run, such as 15.6T")]
    lines += [_line("sequence_length", _typed(answers.sequence_length), "tokens in one training sequence")]
    lines += ['# sampler = "megatron-blended"   # the loader\'s contract: trainplan-tui catalog samplers']
    lines += ["# document_mask = true            # default", "# max_passes = 4                  # default", ""]
    lines += ["# [[data.sources]]", '# name = "web"', '# unique_tokens = "13.5T"', "# weight = 1.0", ""]
    lines += [
        "[batch]",
        _line("global_batch_sequences", _typed(answers.global_batch), "sequences in one optimizer step"),
    ]
    lines += ["# micro_batch_sequences = 1       # default", ""]
    lines += [
        "[cluster]",
        _line("accelerator", _text(answers.accelerator), "a catalogue entry: trainplan-tui catalog accelerators"),
    ]
    lines += [_line("nodes", _typed(answers.nodes), "nodes that train")]
    lines += [_line("price_per_accelerator_hour", _typed(answers.price), "without it there is no cost"), ""]
    lines += [
        "[utilization]",
        "# value = 0.40                    # without it there is no time",
        '# evidence = "assumed"            # default',
        "",
    ]
    lines += ["[storage]", '# write_bandwidth = "100GB/s"     # of the whole system', ""]
    return "\n".join(lines)


def _line(key: str, literal: str | None, sentence: str) -> str:
    if literal is None:
        return f"# {key} =   # {sentence}"
    return f"{key} = {literal}"


def _text(value: str | None) -> str | None:
    return None if value is None else literal_of(value)


def _typed(value: str | None) -> str | None:
    return None if value is None else literal_of_typed(value)


def imported_plan_text(name: str, imported: Imported) -> str:
    """A plan file whose [model] is in full; the rest is for the person to say."""
    import tomli_w

    return tomli_w.dumps({"format": 1, "name": name, "model": dict(imported.model)})
