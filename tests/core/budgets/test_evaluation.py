"""Evaluation: tokens, time and errors of tasks from the catalogue and from the plan, and where their cost goes."""

from __future__ import annotations

from typing import Any

import pytest

from trainplan.catalogue import entry, names
from trainplan.quantity.figure import Blocked, Figure

MMLU = '\n[evaluation]\ninterval_tokens = "100M"\naccelerators = 8\n[[evaluation.tasks]]\ntask = "mmlu"\n'
GSM8K = '[[evaluation.tasks]]\ntask = "gsm8k"\n'


def number(found: Any, key: str) -> float:
    value = found.figure(key)
    assert isinstance(value, Figure), f"{key} is {value!r}"
    return float(value)


def test_mmlu_reads_its_prompt_once_an_item(varied: Any) -> None:
    """10.1 M tokens: 720 tokens at 5 shots and the answer's one, 14,042 times (domain notes, section 7.2)."""
    assert number(varied(more=MMLU), "evaluation.tasks.mmlu.tokens") == 14_042 * 721


def test_answers_of_several_tokens_are_read_one_by_one(varied: Any) -> None:
    found = varied(more=MMLU.replace("mmlu", "hellaswag"))
    assert number(found, "evaluation.tasks.hellaswag.tokens") == 10_042 * 4 * (75 + 10 * 100 + 25)


def test_shots_lengthen_the_prompt_and_the_plan_overrides_the_catalogue(varied: Any) -> None:
    zero = varied(more=MMLU + "shots = 0\n")
    own = varied(more=MMLU + "items = 1000\ncontext_tokens = 50\n")
    assert number(zero, "evaluation.tasks.mmlu.tokens") == 14_042 * 121
    assert number(own, "evaluation.tasks.mmlu.tokens") == 1000 * 51


def test_generated_answers_are_read_once_and_written(varied: Any) -> None:
    found = varied(more=MMLU + GSM8K)
    assert number(found, "evaluation.tasks.gsm8k.tokens") == 1319 * (65 + 5 * 180 + 200)
    twice = varied(more=MMLU + GSM8K + "repeats = 2\n")
    assert number(twice, "evaluation.tasks.gsm8k.tokens") == 2 * 1319 * (65 + 5 * 180 + 200)


def test_time_of_scoring_is_a_forward_at_its_utilization(varied: Any) -> None:
    """2 x 196,608 FLOP and scores of 393,216 x 720 / 1,024 a token (a third of the trained token's), 0.30 of 1 PFLOP/s."""
    found = varied(more=MMLU)
    flops = (1_179_648 + 786_432 * 720 / 1024) / 3
    time = 14_042 * 721 * flops / (0.30 * 1e15 * 8)
    assert number(found, "evaluation.tasks.mmlu.time") == pytest.approx(time, rel=1e-12)


def test_decoding_reads_weights_and_caches_once_a_step(varied: Any) -> None:
    """Half of what 3.35 TB/s allow: 32 sequences, 262,464 parameters, 4 x 2 x 4 x 16 x 965 bytes of cache."""
    found = varied(more=MMLU.replace("mmlu", "gsm8k"))
    rate = 0.5 * 32 * 3.35e12 / (2 * 262_464 + 32 * 4 * 2 * 4 * 16 * 965)
    reading = 1319 * 965 * (1_179_648 + 786_432 * 965 / 1024) / 3 / (0.30 * 1e15 * 8)
    assert number(found, "evaluation.tasks.gsm8k.time") == pytest.approx(reading + 1319 * 200 / rate / 8, rel=1e-9)


@pytest.mark.parametrize(
    ("task", "error", "difference"),
    [
        ("mmlu", 0.42, 1.2),
        ("hellaswag", 0.50, 1.4),
        ("arc-easy", 1.0, 2.8),
        ("arc-challenge", 1.5, 4.0),
        ("winogrande", 1.4, 3.9),
        ("piqa", 1.2, 3.2),
        ("boolq", 0.9, 2.4),
        ("openbookqa", 2.2, 6.2),
        ("commonsenseqa", 1.4, 4.0),
        ("lambada", 0.7, 1.9),
        ("triviaqa", 0.4, 1.0),
        ("gsm8k", 1.4, 3.8),
        ("math", 0.7, 2.0),
        ("math-500", 2.2, 6.2),
        ("humaneval", 3.9, 10.8),
        ("mbpp", 2.2, 6.2),
        ("bbh", 0.6, 1.7),
        ("mmlu-pro", 0.5, 1.3),
        ("gpqa-diamond", 3.6, 9.8),
        ("ifeval", 2.1, 6.0),
    ],
)
def test_standard_errors_and_smallest_differences(varied: Any, task: str, error: float, difference: float) -> None:
    """Percentage points, the table of domain notes 7.2; two of its last digits are rounded up, 4.05 and 9.85."""
    found = varied(more=MMLU.replace("mmlu", task))
    digits = 2 if error < 0.55 and error not in (0.4, 0.5) else 1
    assert round(100 * number(found, f"evaluation.tasks.{task}.standard_error"), digits) == error
    assert 100 * number(found, f"evaluation.tasks.{task}.smallest_difference") == pytest.approx(difference, abs=0.06)


def test_every_task_of_the_catalogue_can_be_planned(varied: Any) -> None:
    for name in names("tasks"):
        found = varied(more=MMLU.replace("mmlu", name))
        assert number(found, f"evaluation.tasks.{name}.time") > 0


def test_token_lengths_of_the_catalogue_are_marked_as_not_measured() -> None:
    """None was measured but MMLU's, whose source prints it."""
    for name in names("tasks"):
        task = entry("tasks", name)
        assert task is not None
        assert task["question_tokens"].verified == (name == "mmlu")


def test_separate_hours_are_paid_and_do_not_stop_training(varied: Any) -> None:
    none, some = varied(), varied(more=MMLU)
    assert number(some, "evaluation.evaluations") == 10
    assert number(some, "evaluation.tokens") == 10 * 14_042 * 721
    assert number(some, "compute.wall_time") == number(none, "compute.wall_time")
    hours = number(some, "evaluation.accelerator_hours")
    assert hours == pytest.approx(10 * 8 * number(some, "evaluation.time_each") / 3600, rel=1e-15)
    assert number(some, "compute.cost") == pytest.approx(number(none, "compute.cost") + 2.0 * hours, rel=1e-12)
    assert number(some, "evaluation.share") == pytest.approx(
        hours / (hours + number(some, "compute.accelerator_hours")), rel=1e-12
    )


def test_in_the_loop_all_accelerators_stop_for_it(varied: Any) -> None:
    none, some = varied(), varied("evaluation.mode=in-loop", more=MMLU)
    blocking = number(some, "evaluation.blocking_time")
    assert number(some, "compute.wall_time") == pytest.approx(number(none, "compute.wall_time") + blocking, rel=1e-12)
    assert number(some, "evaluation.accelerators") == 16
    assert number(some, "evaluation.separate_hours") == 0
    assert 0 < number(some, "evaluation.share") < 1


def test_no_task_is_no_cost(varied: Any) -> None:
    found = varied()
    for key in ("tokens", "accelerator_hours", "share", "evaluations"):
        assert number(found, f"evaluation.{key}") == 0


def test_what_is_missing_blocks_and_is_named(varied: Any) -> None:
    alone = '\n[[evaluation.tasks]]\ntask = "mmlu"\n'
    cost = varied(more=alone).figure("compute.cost")
    assert isinstance(cost, Blocked)
    assert cost.code == "missing:evaluation.interval_tokens"
    hours = varied("evaluation.interval_tokens=1B", more=alone).figure("evaluation.accelerator_hours")
    assert isinstance(hours, Blocked)
    assert hours.code == "missing:evaluation.accelerators"


def test_a_task_that_stands_twice_has_two_names(varied: Any) -> None:
    found = varied(more=MMLU + '[[evaluation.tasks]]\ntask = "mmlu"\nshots = 0\n')
    assert number(found, "evaluation.tasks.mmlu.tokens") == 14_042 * 721
    assert number(found, "evaluation.tasks.mmlu 2.tokens") == 14_042 * 121


def test_latent_attention_keeps_a_small_cache(varied: Any) -> None:
    """One vector of 512 and a rotating part of 64 a layer, in place of keys and values of every head."""
    from trainplan.formulas.evaluation import cache_bytes

    assert cache_bytes(61.0, 1.0, 512.0, 64.0, 1000.0) == 2 * 61 * 576 * 1000


LATER = (
    '\n[[data.stages]]\nname = "short"\nuntil_tokens = "500M"\n[[data.stages]]\nname = "long"\nsequence_length = 8192\n'
)


def test_a_prompt_is_as_long_in_a_run_that_ends_with_long_sequences(varied: Any) -> None:
    """The length of a training sequence is in no forward of a prompt: neither the plan's own nor the last stage's."""
    once, staged = varied(more=MMLU + GSM8K), varied(more=MMLU + GSM8K + LATER)
    for task in ("mmlu", "gsm8k"):
        assert number(staged, f"evaluation.tasks.{task}.time") == number(once, f"evaluation.tasks.{task}.time")


def test_a_window_is_read_at_the_length_of_the_prompt(varied: Any) -> None:
    """Two layers with a window of 500: of 720 tokens one sees 500 - 500 x 499 / 1,440 keys, twelve FLOP a key and width."""
    text = ("model.sliding_window=500", 'model.layer_types=["sliding_attention", "sliding_attention"]')
    found = varied(*text, more=MMLU)
    flops = (1_179_648 + 12 * 64 * 2 * (500 - 500 * 499 / 1440)) / 3
    assert number(found, "evaluation.tasks.mmlu.time") == pytest.approx(
        14_042 * 721 * flops / (0.30 * 1e15 * 8), rel=1e-12
    )
